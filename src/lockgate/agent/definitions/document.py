"""One Markdown file with front matter: what it says of itself, and its text.

    ---
    name: reviewer
    description: Looks through changes for mistakes.
    ---
    You review changes ...

A stranger may have written it, and a model obeys what it says. So it is read once, whole and
bounded, and what hides from a reader's eye is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agent.definitions.front_matter import Written, read_front_matter, told_hidden
from lockgate.errors import ConfigError, Problem
from lockgate.showing import hidden_at
from lockgate.textfile import MAX_BYTES, read_file, text_of

MAX_FRONT_LINES: Final = 200
"""Lines of front matter."""

FENCE: Final = re.compile(r"---[ \t]*")
"""The whole line above and below front matter."""


class Document(msgspec.Struct, frozen=True):
    """A file as it was read."""

    path: Path
    fields: Written
    """The front matter: a mapping, read with `Fields`."""
    body: str
    """What stands below it, without blank lines around."""
    body_line: int
    """The line of the file in which that begins, counted from 1."""
    data: bytes
    """The whole file: what its acceptance is about."""

    def __repr__(self) -> str:
        return f"<Document {self.path.name}>"


def read_document(path: Path, *, limit: int = MAX_BYTES) -> Document:
    """Read one file. Raises `ConfigError` with its place for what can not be used: no regular file,
    over `limit` bytes, not UTF-8, hidden characters, no front matter, front matter that is no YAML.
    """
    data = read_file(path, limit=limit)
    if data is None:
        raise ConfigError(Problem("can not be read: No such file or directory", file=path))
    return parse_document(data, path)


def parse_document(data: bytes, path: Path) -> Document:
    """The document that a file of this content is. Raises as `read_document`."""
    lines = _text(data, path).split("\n")
    if not FENCE.fullmatch(lines[0]):
        hint = "begin with a line ---, then name: and description:, then another line ---"
        raise ConfigError(Problem("has no front matter", file=path, line=1, hint=hint))
    closing = next((n for n, line in enumerate(lines[1:], 1) if FENCE.fullmatch(line)), None)
    if closing is None:
        hint = "end it with a line that is ---"
        raise ConfigError(Problem("its front matter has no end", file=path, line=1, hint=hint))
    if closing > MAX_FRONT_LINES:
        message = f"its front matter is over {MAX_FRONT_LINES} lines"
        raise ConfigError(Problem(message, file=path, line=closing + 1))
    fields = read_front_matter("\n".join(lines[1:closing]), path)
    begin = closing + 1
    while begin < len(lines) and not lines[begin].strip():
        begin += 1
    body = "\n".join(lines[begin:]).rstrip()
    return Document(path, fields, body, begin + 1, data)


def _text(data: bytes, path: Path) -> str:
    text = text_of(data, path)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if (at := hidden_at(text)) is not None:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        message, hint = told_hidden(text[at])
        raise ConfigError(Problem(message, file=path, line=line, column=column, hint=hint))
    return text
