"""Edit: one piece of a text file replaced by another, and every other byte kept."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files import door
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.files.edits import places_of, replace
from lockgate.builtin.files.hints import why_not_found
from lockgate.builtin.files.hunks import diff
from lockgate.builtin.files.kind import size_text
from lockgate.builtin.files.near import absent
from lockgate.builtin.files.problem import FileProblem, not_opened, subject_of, wrong_argument
from lockgate.builtin.files.stamp import NotOpened
from lockgate.builtin.files.text import NotText, Unified, decode, encode, stamp_of
from lockgate.builtin.files.write import LANE, MAX_REPLACED
from lockgate.content import JSONObject, Text
from lockgate.showing import visible
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath, Subject, SubjectKind
from lockgate.traits import SideEffectLevel

MAX_REPLACEMENTS: Final = 100_000
"""Replacements of one call: more were meant by nobody who has read the file."""
MAX_NAMED: Final = 10
"""Line numbers that are told of a piece that is there several times."""

_DESCRIPTION: Final = f"""\
Replace a piece of a text file by another.
Read the file first and give its `stamp`: a file that has changed since is not touched. `old` is \
the piece exactly as the file has it, with its indentation and without the line numbers of Read; \
it must be there once, so give as many of the lines around it as that takes, or `replace_all`. \
Line ends need no care: a plain line feed in `old` and `new` stands for the file's own. Encoding, \
line ends and permissions are kept. The result shows what changed and gives the new stamp. Files \
over {size_text(MAX_REPLACED)} are not edited."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The file, absolute or from the working directory.",
        },
        "old": {"type": "string", "minLength": 1, "description": "The piece to replace."},
        "new": {"type": "string", "description": "What takes its place; may be empty."},
        "stamp": {
            "type": "string",
            "minLength": 1,
            "description": "The file's stamp, as Read, Write or Edit told it last.",
        },
        "replace_all": {
            "type": "boolean",
            "description": "Replace every occurrence of `old`. Default false.",
        },
    },
    "required": ["path", "old", "new", "stamp"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "writes to the file system"),
    destructive=(True, "removes what stood there"),
    idempotent=(False, "the same edit again fails, or changes what the first one put in"),
    concurrent=(False, "two writers of one file would each undo the other"),
    interruptible=(False, "takes a moment; waiting is better than not knowing what is on the disk"),
)


class Edit(BuiltinTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "Edit",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Edit a file",
            category="files",
            subjects=(Subject(SubjectKind.PATH, "path", writes=True),),
        )

    @property
    def lane(self) -> str:
        """All tools that write files share one."""
        return LANE

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        old: str = arguments["old"]
        new: str = arguments["new"]
        stamp: str = arguments["stamp"]
        everywhere = arguments.get("replace_all") is True

        def work(stop: Stop) -> ToolResult:
            path = subject_of(context)
            if path.directory:
                raise FileProblem("not_a_file", f"{path.given} is a directory, not a file")
            try:
                return _edit(path, old, new, stamp, stop, everywhere=everywhere)
            except NotOpened as refusal:
                raise _refused(path, refusal, context) from None

        return await in_pool(work, context, writes=True)


def _edit(
    path: ResolvedPath, old: str, new: str, stamp: str, stop: Stop, *, everywhere: bool
) -> ToolResult:
    data, state = door.read(path, limit=MAX_REPLACED)
    if stamp_of(data) != stamp:
        raise FileProblem(
            "changed",
            f"{path.given} has changed since it was read. Nothing was done: Read it again",
        )
    try:
        decoded = decode(data)
    except NotText as problem:
        raise FileProblem(
            "not_text", f"{path.given} is not text that can be edited: {problem}"
        ) from None
    old, new = _plain("old", old), _plain("new", new)
    if old == new:
        raise wrong_argument("same", "old and new are the same: nothing would change")
    file = Unified(decoded.text)
    places = _places(path, file, old, new, everywhere=everywhere)
    stop.check()
    edited = replace(file, old, new, places)
    written = encode(edited, decoded.encoding)
    if written == data:
        raise wrong_argument("same", "old and new are the same in this file: nothing would change")
    stop.check()
    door.write(path, written, over=state)
    return _result(path, file, Unified(edited).text, places, old, new, stamp_of(written))


def _plain(name: str, piece: str) -> str:
    """With plain line feeds. Raises `FileProblem` for what no file can hold."""
    try:
        piece.encode()
    except UnicodeEncodeError:
        raise wrong_argument("not_text", f"{name} has half a surrogate pair") from None
    return piece.replace("\r\n", "\n")


def _places(
    path: ResolvedPath, file: Unified, old: str, new: str, *, everywhere: bool
) -> list[int]:
    """Where to replace. Raises `FileProblem` unless that is clear."""
    most = MAX_REPLACEMENTS if everywhere else MAX_NAMED
    found = places_of(old, file.text, overlapping=not everywhere)
    places = list(islice(found, most + 1))
    if everywhere and len(places) > most:
        raise FileProblem(
            "too_many", f"{path.given}: `old` is there over {most} times. Nothing was done"
        )
    if not places:
        why = why_not_found(file, old, new)
        raise FileProblem("not_found", f"{path.given}: `old` is not in the file. {why}")
    if everywhere or len(places) == 1:
        return places
    named = ", ".join(str(file.line(at)) for at in places[:MAX_NAMED])
    count = f"more than {MAX_NAMED}" if len(places) > MAX_NAMED else str(len(places))
    raise FileProblem(
        "ambiguous",
        f"{path.given}: `old` is there {count} times, at lines {named}. Nothing was done: give "
        "more of the lines around the one you mean, or `replace_all`",
    )


def _result(
    path: ResolvedPath,
    file: Unified,
    after: str,
    places: list[int],
    old: str,
    new: str,
    stamp: str,
) -> ToolResult:
    count = len(places)
    text = f"{path.given}: {count} replacement{'' if count == 1 else 's'}"
    if path.real != path.lexical:
        text += f"; the file is {visible(path.real)}, where a link leads"
    text += f"; stamp {stamp}"
    shown = diff(file.text, after, places, old, new)
    facts = {
        "path": path.given,
        "replacements": count,
        "firstLine": file.line(places[0]),
        "stamp": stamp,
    }
    return ToolResult((Text(text), Text(shown)), structured=facts)


def _refused(path: ResolvedPath, refusal: NotOpened, context: ToolContext) -> FileProblem:
    match refusal.reason:
        case "absent":
            text = f"{absent(path, context.subjects)}. To make a file use Write"
            return FileProblem("absent", text)
        case "too_large":
            size = size_text(MAX_REPLACED)
            return FileProblem("too_large", f"{path.given} has more than {size}: it is not edited")
        case _:
            return not_opened(path, refusal)
