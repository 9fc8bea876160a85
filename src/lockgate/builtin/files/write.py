"""Write: a file's whole content, made or replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files import door
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.files.kind import size_text
from lockgate.builtin.files.problem import FileProblem, not_opened, subject_of, wrong_argument
from lockgate.builtin.files.stamp import NotOpened, Stamp
from lockgate.builtin.files.text import (
    UTF_8,
    Decoded,
    Encoding,
    NotText,
    decode,
    encode,
    line_ends,
    stamp_of,
)
from lockgate.content import JSONObject
from lockgate.showing import visible
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath, Subject, SubjectKind
from lockgate.traits import SideEffectLevel

LANE: Final = "files"
"""What Write and Edit hold while they run: two of them never work on one file at once."""
MAX_REPLACED: Final = 16 * 1024 * 1024
"""Bytes of a file that is replaced or edited: it is held in memory several times over."""
MAX_CONTENT: Final = 8 * 1024 * 1024
"""Characters that are written at once: as UTF-16 no more than that."""

_DESCRIPTION: Final = f"""\
Write a whole text file: make a new one, or replace all that is in one.
To change a part of a file use Edit. Give the `stamp` that Read told to replace the file only if \
it is still what you have read; without it, whatever is there is replaced. The directory must \
exist, unless `create_directories` is true. `content` is written as it is, in UTF-8; a file that \
has UTF-16 or a byte order mark keeps it, and one that has CRLF line ends throughout keeps them if \
`content` has none of its own. Permissions are kept. A reader sees the old content or the new, \
never a part. Files over {size_text(MAX_REPLACED)} are not replaced. Of a file that may not be \
read nothing is told, and no stamp is compared with it."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The file, absolute or from the working directory.",
        },
        "content": {
            "type": "string",
            "maxLength": MAX_CONTENT - 1,
            "description": "All that is to be in it.",
        },
        "stamp": {
            "type": "string",
            "minLength": 1,
            "description": "The stamp of the content that is to be replaced, as Read told it.",
        },
        "create_directories": {
            "type": "boolean",
            "description": "Make the directories above it that do not exist. Default false.",
        },
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "writes to the file system"),
    destructive=(True, "replaces what the file held"),
    idempotent=(True, "the same content again leaves the same file, and it is not touched"),
    concurrent=(False, "two writers of one file would each undo the other"),
    interruptible=(False, "takes a moment; waiting is better than not knowing what is on the disk"),
)


class Write(BuiltinTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "Write",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Write a file",
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
        content: str = arguments["content"]
        stamp: str | None = arguments.get("stamp")
        make = arguments.get("create_directories") is True

        def work(stop: Stop) -> ToolResult:
            path = subject_of(context)
            try:
                if context.subjects.withholds(path):
                    return _write_unseen(path, content, stamp, stop, make=make)
                return _write(path, content, stamp, stop, make=make)
            except NotOpened as refusal:
                raise _refused(path, refusal) from None

        return await in_pool(work, context, writes=True)


@dataclass(frozen=True, slots=True)
class _Before:
    """The file as it was found."""

    data: bytes
    state: Stamp
    text: Decoded | None
    """None: it held no text."""


def _write(
    path: ResolvedPath, content: str, stamp: str | None, stop: Stop, *, make: bool
) -> ToolResult:
    before = _found(path)
    data, notes = _bytes_of(content, before)
    if before is not None and data == before.data:
        return _result(path, "unchanged", data, [], "it held exactly this")
    if stamp is not None:
        _check(path, stamp, before)
    stop.check()
    door.write(path, data, over=None if before is None else before.state, make=make)
    if before is None:
        return _result(path, "created", data, notes, "a new file")
    if before.state.links > 1:
        others = before.state.links - 1
        notes.append(f"{others} other name{'' if others == 1 else 's'} of it keep the old content")
    old = f"it held {size_text(len(before.data))}"
    return _result(path, "replaced", data, notes, old)


def _write_unseen(
    path: ResolvedPath, content: str, stamp: str | None, stop: Stop, *, make: bool
) -> ToolResult:
    """Write a file that rules keep from being read. What it held is not looked at, so that nothing
    in the answer depends on it: who can guess would learn it from one yes or no."""
    if path.directory:
        raise FileProblem("not_a_file", f"{path.given} is a directory, not a file")
    if stamp is not None:
        raise FileProblem(
            "withheld",
            f"{path.given}: a rule about Read keeps what it holds from being known, so no stamp is "
            "compared with it. Nothing was written. Without `stamp`, whatever is there is replaced",
        )
    data, notes = _bytes_of(content, None)
    stop.check()
    door.write(path, data, over=door.stamp(path), make=make)
    return _result(path, "written", data, notes, "and a rule about Read keeps what it held back")


def _found(path: ResolvedPath) -> _Before | None:
    if path.directory:
        raise FileProblem("not_a_file", f"{path.given} is a directory, not a file")
    try:
        data, state = door.read(path, limit=MAX_REPLACED)
    except NotOpened as refusal:
        if refusal.reason == "absent":
            return None
        raise
    try:
        return _Before(data, state, decode(data))
    except NotText:
        return _Before(data, state, None)


def _check(path: ResolvedPath, stamp: str, before: _Before | None) -> None:
    if before is None:
        raise FileProblem(
            "absent",
            f"{path.given}: there is no such file any more, so nothing has that stamp. Leave the "
            "stamp out to make the file",
        )
    if stamp_of(before.data) != stamp:
        raise FileProblem(
            "changed",
            f"{path.given} has changed since it was read. Nothing was written: Read it again",
        )


def _bytes_of(content: str, before: _Before | None) -> tuple[bytes, list[str]]:
    """What is written, and what is to be said about it."""
    encoding: Encoding = UTF_8
    notes: list[str] = []
    if before is not None and before.text is None:
        notes.append("what it held was no text")
    elif before is not None and before.text is not None:
        encoding = before.text.encoding
        if encoding is not UTF_8:
            notes.append(f"written in {encoding.label}, as it was")
            content = content.removeprefix("\ufeff")
        if line_ends(before.text.text).all_crlf and "\n" in content and "\r" not in content:
            content = content.replace("\n", "\r\n")
            notes.append("written with CRLF line ends, as it had")
    try:
        return encode(content, encoding), notes
    except NotText as problem:
        raise wrong_argument("not_text", f"content: {problem}") from None


def _result(
    path: ResolvedPath, what: str, data: bytes, notes: list[str], before: str
) -> ToolResult:
    stamp = stamp_of(data)
    text = f"{path.given}: {what}, {before}" if what != "created" else f"{path.given}: created"
    text += f"; now {size_text(len(data))}"
    if path.real != path.lexical:
        text += f"; the file is {visible(path.real)}, where a link leads"
    text = "; ".join([text, *notes, f"stamp {stamp}"])
    return ToolResult.of(
        text,
        structured={
            "path": path.given,
            "outcome": what,
            "size": len(data),
            "stamp": stamp,
        },
    )


def _refused(path: ResolvedPath, refusal: NotOpened) -> FileProblem:
    match refusal.reason:
        case "absent":
            return FileProblem(
                "no_directory",
                f"{path.given}: its directory does not exist; with `create_directories` true it is "
                "made",
            )
        case "too_large":
            return FileProblem(
                "too_large",
                f"{path.given} has more than {size_text(MAX_REPLACED)}, which is not replaced",
            )
        case _:
            return not_opened(path, refusal)
