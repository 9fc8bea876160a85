"""Grep: what stands in files, found by ripgrep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool
from lockgate.builtin.files import door
from lockgate.builtin.files.below import Below
from lockgate.builtin.files.blocking import Stop, bound, in_pool, opened_in_pool
from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.exclusion import exclusions
from lockgate.builtin.files.glob import SEARCHING, WHERE, entered, shown_name
from lockgate.builtin.files.kind import size_text
from lockgate.builtin.files.listing import View, listed, parted
from lockgate.builtin.files.matches import Found, Matches, Naming, Shows
from lockgate.builtin.files.problem import FileProblem, not_opened, subject_of, wrong_argument
from lockgate.builtin.files.ripgrep import PACKAGE, WALKING, Ran, locate, program_in, run
from lockgate.builtin.files.search import DEFAULT_LIMIT, MAX_FILE, Search
from lockgate.builtin.files.stamp import NotOpened
from lockgate.builtin.files.tally import Tally
from lockgate.content import JSONObject, Text
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath

MAX_COMPLAINT: Final = 1000
"""Characters of what ripgrep has against a pattern."""

_DESCRIPTION: Final = f"""\
Search in files for a regular expression (the syntax of Rust's regex: no look-around, no \
back-references; `literal` takes the pattern as plain text).
`mode` says what you get: `content` (default) the lines, each after its number and `:`, or `-` for \
lines of `context`; `files` the paths; `count` the paths with the number of matching lines. `path` \
is a directory or one file. `glob` (`*.py`, `src/**`, `!*.min.js`) and `type` (`py`, `rust`, \
`ts`, ...) choose files. Hidden files are searched; what .gitignore and .ignore files name is not, \
unless `include_ignored` is true; .git and the like, binary files, symbolic links, files over \
{size_text(MAX_FILE)} and what permission rules withhold never are. Results are by path and \
bounded."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 10_000,
            "description": "What to look for.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The directory or file to search. Default: the working directory.",
        },
        "glob": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Only files whose path matches; with ! before it, all others.",
        },
        "type": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_+-]{1,30}$",
            "description": "Only files of a type that ripgrep knows.",
        },
        "mode": {
            "enum": ["content", "files", "count"],
            "description": "What to give. Default content.",
        },
        "context": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20,
            "description": "Lines to show around each match, in mode content. Default 0.",
        },
        "ignore_case": {"type": "boolean", "description": "Default false."},
        "literal": {
            "type": "boolean",
            "description": "Take the pattern as plain text. Default false.",
        },
        "multiline": {
            "type": "boolean",
            "description": "Let a match go over lines, and . match line ends. Default false.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 2000,
            "description": f"Most matches, or files, to give. Default {DEFAULT_LIMIT}.",
        },
        "include_ignored": {
            "type": "boolean",
            "description": "Also search what .gitignore names. Default false.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


class Grep(BuiltinTool):
    """See its description."""

    def __init__(self, path: str, package: str = PACKAGE) -> None:
        """`path` is the PATH in which ripgrep is looked for, should its `package` not be there."""
        super().__init__(
            "Grep",
            _DESCRIPTION,
            _SCHEMA,
            SEARCHING,
            title="Search in files",
            category="files",
            subjects=WHERE,
        )
        self._path, self._package = path, package

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        try:
            root = subject_of(context)
            search = Search.of(arguments)
            rg = locate(self._path, self._package)
            deadline = bound(context)
            if not root.directory:
                return await _in_file(rg, search, root, deadline, context)
            with await opened_in_pool(lambda: entered(root, context), context) as directory:
                return await _below(
                    rg, search, View.of(root, context), directory, deadline, context
                )
        except FileProblem as problem:
            return problem.result


async def _below(
    rg: str,
    search: Search,
    view: View,
    directory: Directory,
    deadline: float,
    context: ToolContext,
) -> ToolResult | Outcome:
    root = view.root
    without: list[str] = []
    if view.partial:
        # Left out of the search and not of its result: neither its time nor its bounds tell
        # whether something stands in a file that the caller may not read.
        names = await listed(rg, directory, root, deadline, ignored=search.ignored)

        def part(stop: Stop) -> ToolResult:
            without.extend(exclusions(*parted(names, view, stop)))
            return ToolResult()

        done = await in_pool(part, context)
        if not isinstance(done, ToolResult) or done.is_error:
            return done
    ignored = ("--no-ignore",) if search.ignored else ()
    args = (*search.args, *search.chosen, *WALKING, *ignored, *without, "--", "./")
    program = program_in(rg, args, directory, root)
    only = search.only

    def shows(name: str) -> bool:
        if only is not None and not only.matches(name, folds_case=root.folds_case):
            return False
        return view.shows(name)

    found = _taker(search, shows, lambda name: shown_name(root, name))
    ran = await run(program, found.take, separator=b"\n", deadline=deadline)
    _refuse(ran, root)

    def told(stop: Stop) -> ToolResult:
        proven, changed = _proven(found.found, directory, stop)
        return _result(search, proven, found.full, ran, view, changed)

    return await in_pool(told, context)


async def _in_file(
    rg: str, search: Search, root: ResolvedPath, deadline: float, context: ToolContext
) -> ToolResult | Outcome:
    """Search one file, which is handed over: by its name it could be another one by now."""
    held: list[bytes] = []

    def read(stop: Stop) -> ToolResult:
        try:
            data, _ = door.read(root, limit=MAX_FILE)
        except NotOpened as refusal:
            if refusal.reason == "absent":
                entered(root, context).close()  # says what there is instead
            raise not_opened(root, refusal) from None
        if b"\0" in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            raise FileProblem("not_text", f"{root.given} is a binary file, which is not searched")
        held.append(data)
        return ToolResult()

    done = await in_pool(read, context)
    if not held:
        return done
    found = _taker(search, lambda name: True, lambda name: root.given)
    program = program_in(rg, (*search.args, "--", "-"), None, root)
    ran = await run(program, found.take, separator=b"\n", deadline=deadline, data=held[0])
    _refuse(ran, root)
    return _result(search, found.found, found.full, ran, None, 0)


def _proven(found: list[Found], directory: Directory, stop: Stop) -> tuple[list[Found], int]:
    """Those of which all that was said stands in the file that is at its path now, reached through
    no link; and how many files are there and hold something else."""
    proven: list[Found] = []
    changed = 0
    with Below(directory) as below:
        for file in found:
            stop.check()
            data = below.read(file.path, limit=MAX_FILE)
            if data is not None and file.proof.holds(data):
                proven.append(file)
            elif data is not None:
                changed += 1
    return proven, changed


def _taker(search: Search, shows: Shows, name: Naming) -> Matches | Tally:
    if search.mode == "content":
        return Matches(shows, name, search.limit)
    return Tally(shows, name, search.limit, counted=search.mode == "count", each=search.each)


_OPTION_NAMED: Final = re.compile(r"multiline mode with the --multiline flag \(or -U for short\)")
"""How ripgrep names what is an argument here."""


def _refuse(ran: Ran, root: ResolvedPath) -> None:
    """Raise for a search that was none. Files that could not be read are passed over in silence."""
    if ran.code is not None and ran.code > 1 and ran.complaint:
        complaint = ran.complaint.replace(root.real, root.given)
        complaint = _OPTION_NAMED.sub("`multiline`", complaint)[:MAX_COMPLAINT]
        raise wrong_argument("pattern", f"ripgrep refuses the search: {complaint}")


def _result(
    search: Search, found: list[Found], full: bool, ran: Ran, view: View | None, changed: int
) -> ToolResult:
    """What is told; without a view, one file was searched."""
    count = sum(file.count for file in found)
    what = f"{len(found)} file{'' if len(found) == 1 else 's'}"
    if search.mode != "files":
        noun = "match" if search.mode == "content" else "matching line"
        plural = "es" if search.mode == "content" else "s"
        what = f"{count} {noun}{'' if count == 1 else plural} in {what}"
    notes = [what if count else "nothing found"]
    if full:
        notes.append("[there is more than is shown: search more narrowly]")
    elif ran.late:
        notes.append("[the time was up before all was searched: search more narrowly]")
    elif not ran.whole:
        notes.append("[too much was found to look at all of it: search more narrowly]")
    if ran.skipped:
        notes.append(f"[{ran.skipped} matches in lines that are too long are not shown]")
    if changed:
        files = "1 file is" if changed == 1 else f"{changed} files are"
        notes.append(f"[{files} left out, changed during the search: search again]")
    if ran.code is not None and ran.code > 1:
        notes.append("[some files could not be read]")
    if view is not None and view.partial:  # whatever was found: see `_below`
        notes.append("[files that permission rules withhold are not searched]")
    facts = {
        "mode": search.mode,
        "files": len(found),
        "matches": count,
        "complete": ran.whole and not full and not changed,
    }
    head = Text("\n".join(notes))
    if not found:
        return ToolResult((head,), structured=facts)
    between = "\n\n" if search.mode == "content" else "\n"
    shown = between.join("\n".join(file.lines) for file in found)
    return ToolResult((head, Text(shown)), structured=facts)
