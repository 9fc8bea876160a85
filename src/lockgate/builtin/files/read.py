"""Read: the lines of a text file, numbered, or an image."""

from __future__ import annotations

import base64
import codecs
import hashlib
import os
from collections.abc import Mapping
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files import door
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.files.kind import HEAD, binary_type, image_type, size_text
from lockgate.builtin.files.near import absent
from lockgate.builtin.files.page import MAX_CHARACTERS, MAX_LINE, Page
from lockgate.builtin.files.problem import FileProblem, not_opened, subject_of
from lockgate.builtin.files.stamp import NotOpened, Stamp
from lockgate.builtin.files.text import Encoding, NotText, encoding_of, short_stamp, undecodable
from lockgate.content import Image, JSONObject, Text
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import ResolvedPath, Subject, SubjectKind
from lockgate.traits import SideEffectLevel

MAX_FILE: Final = 256 * 1024 * 1024
"""Bytes of a file that is read. It is read to its end, for its stamp and the number of its lines;
this much takes a few seconds."""
MAX_IMAGE: Final = 3_750_000
"""Bytes of an image: what models take is 5 MB of base64."""
DEFAULT_LINES: Final = 2000
"""Lines that are shown unless `limit` says otherwise."""
SLICE: Final = 1024 * 1024
"""Bytes read between two looks at whether anyone still waits."""

_DESCRIPTION: Final = f"""\
Read a text file or look at an image (PNG, JPEG, GIF, WebP).
Text comes as numbered lines: the number, a tab, the line as it is. At most {DEFAULT_LINES} lines, \
or `limit`, from line `offset` on; lines over {MAX_LINE} characters are cut and say so. The first \
block of the result tells the number of all lines, the encoding if it is not UTF-8, and the stamp: \
Edit needs it, and Write takes it, to be sure that the file is still what you have read.
For directories use Glob; to find something in files use Grep."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The file, absolute or from the working directory.",
        },
        "offset": {
            "type": "integer",
            "minimum": 1,
            "description": "Number of the first line to show. Default 1.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20_000,
            "description": f"How many lines to show. Default {DEFAULT_LINES}.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.READ_ONLY, "opens a file for reading and writes nowhere"),
    destructive=(False, "reading leaves a file as it is"),
    idempotent=(True, "reading again changes nothing"),
    concurrent=(True, "keeps nothing between calls and touches nothing that others use"),
    interruptible=(True, "stops between two slices; nothing is left half done"),
)


class Read(BuiltinTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "Read",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Read a file",
            category="files",
            subjects=(Subject(SubjectKind.PATH, "path"),),
        )

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        first = int(arguments.get("offset", 1))
        limit = int(arguments.get("limit", DEFAULT_LINES))

        def work(stop: Stop) -> ToolResult:
            path = subject_of(context)
            if path.directory:
                raise _directory(path)
            try:
                with door.opened(path) as (fd, stamp):
                    return _read(path, fd, stamp, Page(first, limit), first, stop)
            except NotOpened as refusal:
                raise _refused(path, refusal, context) from None

        return await in_pool(work, context)


def _refused(path: ResolvedPath, refusal: NotOpened, context: ToolContext) -> FileProblem:
    if refusal.reason == "absent":
        return FileProblem("absent", absent(path, context.subjects))
    return not_opened(path, refusal)


def _directory(path: ResolvedPath) -> FileProblem:
    return FileProblem(
        "not_a_file", f"{path.given} is a directory: list its files with Glob, pattern `**`"
    )


def _read(
    path: ResolvedPath, fd: int, stamp: Stamp, page: Page, first: int, stop: Stop
) -> ToolResult:
    head = os.read(fd, SLICE)
    media = image_type(head)
    if media is not None:
        return _image(path, fd, head, media, stamp.size)
    if stamp.size > MAX_FILE:
        raise FileProblem(
            "too_large",
            f"{path.given} has {size_text(stamp.size)}, more than the {size_text(MAX_FILE)} that "
            "are read: find the part you need with Grep",
        )
    try:
        encoding = encoding_of(head)
        content = _feed(page, fd, head, encoding, stop)
    except NotText as problem:
        what = binary_type(head[:HEAD])
        raise FileProblem(
            "not_text",
            f"{path.given} is not text that can be shown: {problem}. It begins like {what} and has "
            f"{size_text(stamp.size)}",
        ) from None
    still = Stamp.of(os.fstat(fd)) == stamp
    return _text(path, page, first, encoding, content if still else None, stamp.size)


def _feed(page: Page, fd: int, piece: bytes, encoding: Encoding, stop: Stop) -> str:
    """Read to the end; the stamp of all bytes. Raises `NotText`, and `Stopped`."""
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    digest = hashlib.sha256()
    read = 0
    skip = len(encoding.mark)
    while True:
        stop.check()
        digest.update(piece)
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(piece[skip:], final=not piece)
        except UnicodeDecodeError as error:
            raise undecodable(encoding, read + skip - waiting + error.start) from None
        if "\0" in text:
            raise NotText("it holds NUL characters")
        page.feed(text)
        if not piece:
            page.end()
            return short_stamp(digest.hexdigest())
        read += len(piece)
        if read > MAX_FILE:
            raise FileProblem("too_large", "the file grows while it is read")
        skip = 0
        piece = os.read(fd, SLICE)


def _image(path: ResolvedPath, fd: int, data: bytes, media: str, size: int) -> ToolResult:
    if size > MAX_IMAGE:
        raise FileProblem(
            "too_large",
            f"{path.given} is an image ({media}) of {size_text(size)}; at most "
            f"{size_text(MAX_IMAGE)} can be shown",
        )
    while len(data) <= MAX_IMAGE and (piece := os.read(fd, SLICE)):
        data += piece
    if len(data) > MAX_IMAGE:
        raise FileProblem("too_large", f"{path.given} grows while it is read")
    text = Text(f"{path.given}: an image, {media}, {size_text(len(data))}")
    return ToolResult((text, Image(base64.b64encode(data).decode(), media)))


def _text(
    path: ResolvedPath, page: Page, first: int, encoding: Encoding, stamp: str | None, size: int
) -> ToolResult:
    total, shown = page.total, page.shown
    facts = {
        "path": path.given,
        "stamp": stamp,
        "encoding": encoding.label,
        "lineEnds": page.ends.label or "LF line ends",
        "size": size,
        "totalLines": total,
        "firstLine": first if shown else None,
        "shownLines": shown,
    }
    head = f"{path.given}: {_which(page, first)}"
    details = [
        encoding.label if encoding.label != "UTF-8" else "",
        page.ends.label,
        "the last line has no end" if total and not page.ended else "",
        f"stamp {stamp}" if stamp else "no stamp, as it was written to while it was read",
    ]
    head += "; " + ", ".join(detail for detail in details if detail)
    if page.full:
        head += f"\n[cut at {MAX_CHARACTERS} characters: go on with offset {first + shown}]"
    elif shown and first + shown <= total:
        head += f"\n[there is more: go on with offset {first + shown}]"
    if page.cut_lines:
        lines = "1 line is" if page.cut_lines == 1 else f"{page.cut_lines} lines are"
        head += f"\n[{lines} longer than the {MAX_LINE} characters shown of it]"
    blocks = (Text(head), Text(page.text)) if shown else (Text(head),)
    return ToolResult(blocks, structured=facts)


def _which(page: Page, first: int) -> str:
    """Which lines of how many are shown."""
    total, shown = page.total, page.shown
    if not total:
        return "the file is empty"
    lines = f"{total} line{'' if total == 1 else 's'}"
    if not shown:
        return f"nothing to show from line {first} on, the file has {lines}"
    if shown == total:
        return f"all {lines}" if total > 1 else lines
    return f"lines {first} to {first + shown - 1} of {total}"
