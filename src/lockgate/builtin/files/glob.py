"""Glob: files by their names, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files import door
from lockgate.builtin.files.below import Below
from lockgate.builtin.files.blocking import Stop, bound, in_pool, opened_in_pool
from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.listing import LOOK, View, listed, parted
from lockgate.builtin.files.near import absent
from lockgate.builtin.files.pattern import FilePattern
from lockgate.builtin.files.problem import FileProblem, not_opened, subject_of
from lockgate.builtin.files.ripgrep import PACKAGE, locate
from lockgate.builtin.files.stamp import NotOpened
from lockgate.content import JSONObject, Text
from lockgate.showing import visible
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath, Subject, SubjectKind
from lockgate.traits import SideEffectLevel

MAX_SHOWN: Final = 200
"""Files that are named: more are better asked for by a narrower pattern."""

_DESCRIPTION: Final = f"""\
Find files by name. The {MAX_SHOWN} that were changed last are named, the newest first.
`*.py` means names at any depth; a pattern with a slash starts at `path`: `src/**/*.{{ts,tsx}}`. \
`*` and `?` do not cross a slash, `**` is any number of directories. Hidden files are found; what \
.gitignore and .ignore files name is not, unless `include_ignored` is true; .git and the like \
never are. Directories and symbolic links are not listed, nor is what permission rules withhold. \
To find something in files use Grep."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Which files, such as `*.md` or `src/**/test_*.py`.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The directory to look in. Default: the working directory.",
        },
        "include_ignored": {
            "type": "boolean",
            "description": "Also find what .gitignore names. Default false.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}

SEARCHING: Final = Declaration(
    level=(SideEffectLevel.READ_ONLY, "looks at names, times and content, and writes nowhere"),
    destructive=(False, "looking leaves files as they are"),
    idempotent=(True, "looking again changes nothing"),
    concurrent=(True, "keeps nothing between calls and touches nothing that others use"),
    interruptible=(True, "the search is ended at once; nothing is left half done"),
)
"""What tools that search declare."""
WHERE: Final = (Subject(SubjectKind.PATH, "path", default="."),)
"""What they are about."""


class GlobFiles(BuiltinTool):
    """See its description. Registered as `Glob`."""

    def __init__(self, path: str, package: str = PACKAGE) -> None:
        """`path` is the PATH in which ripgrep is looked for, should its `package` not be there."""
        super().__init__(
            "Glob",
            _DESCRIPTION,
            _SCHEMA,
            SEARCHING,
            title="Find files by name",
            category="files",
            subjects=WHERE,
        )
        self._path, self._package = path, package

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        try:
            root = subject_of(context)
            pattern = FilePattern.parse(arguments["pattern"])
            rg = locate(self._path, self._package)
            deadline = bound(context)
            with await opened_in_pool(lambda: entered(root, context), context) as directory:
                names = await listed(
                    rg, directory, root, deadline, ignored=arguments.get("include_ignored") is True
                )
                return await in_pool(
                    lambda stop: _found(names, pattern, View.of(root, context), directory, stop),
                    context,
                )
        except FileProblem as problem:
            return problem.result


def entered(root: ResolvedPath, context: ToolContext) -> Directory:
    """The directory to search, held open. Raises `FileProblem`."""
    try:
        if not root.directory:
            if door.stamp(root) is None:
                raise FileProblem("absent", absent(root, context.subjects, "directory"))
            raise FileProblem("not_a_directory", f"{root.given} is a file, not a directory")
        return door.entered(root)
    except NotOpened as refusal:
        raise not_opened(root, refusal) from None


def shown_name(root: ResolvedPath, name: str) -> str:
    """A file as a caller can name it: from where `root` was named. Nothing in it is hidden."""
    if root.given in (".", "./"):
        return visible(name)
    return visible(f"{root.given.rstrip('/')}/{name}")


def left_out(count: int) -> str:
    """What is said of files that a call may not see; whatever it looked for, so that it can not be
    used to ask about them."""
    files = "1 file is" if count == 1 else f"{count} files are"
    return f"[{files} left out by permission rules]"


def _found(
    names: list[bytes], pattern: FilePattern, view: View, directory: Directory, stop: Stop
) -> ToolResult:
    root = view.root
    seen, hidden = parted(names, view, stop)
    found: list[tuple[int, str]] = []
    withheld = 0
    with Below(directory) as below:  # ripgrep may have gone through a link that was there then
        for number, name in enumerate(seen):
            if number % LOOK == 0:
                stop.check()
            if pattern.matches(name, folds_case=root.folds_case):
                stamp = below.stamp(name)
                if stamp is not None:
                    found.append((-stamp.modified, name))
        for number, name in enumerate(hidden):
            if number % LOOK == 0:
                stop.check()
            withheld += below.stamp(name) is not None
    found.sort()
    shown = [shown_name(root, name) for _, name in found[:MAX_SHOWN]]
    more = len(found) - len(shown)
    head = f"{len(found)} file{'' if len(found) == 1 else 's'}"
    if len(found) > 1:
        head += ", the newest first"
    elif not found:
        head = "no file matches (what .gitignore names is left out, unless `include_ignored`)"
        if pattern.anchored:
            head += f"; a pattern with a slash starts at {root.given}: **/ before it is any depth"
    if more:
        head += f"\n[{more} older ones are left out: give a narrower pattern]"
    if withheld:
        head += f"\n{left_out(withheld)}"
    facts = {"files": shown, "found": len(found), "withheld": withheld}
    blocks = (Text(head), Text("\n".join(shown))) if shown else (Text(head),)
    return ToolResult(blocks, structured=facts)
