"""Reads a YAML file into nodes: 1.2 rules, bounded, and every fault with its line.

Anchors, aliases, merge keys and tags are refused: in a file that decides which programs run, what
holds for an entry stands in that entry. That also leaves nothing to blow up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockgate.errors import ConfigError, Problem
from lockgate.settings.findings import Findings
from lockgate.settings.nodes import Listing, Node, Place, Scalar, Table
from lockgate.textfile import text_of

if TYPE_CHECKING:
    from ruamel.yaml.error import StringMark

MAX_DEPTH = 32
"""Nesting; the deepest place that means anything is at six."""

_NOT_TEXT = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_WHITE: Mapping[int, None] = dict.fromkeys(map(ord, "\t\n\r"))
_LINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


def decode(data: bytes, file: Path) -> str:
    """The text of a YAML file in UTF-8, a byte order mark taken off. Raises `ConfigError`."""
    text = text_of(data, file)
    if text.isascii() and text.translate(_WHITE).isprintable():
        return text  # as most are: the pattern takes longer to be made than the file to be read
    if found := re.search(_NOT_TEXT, text):
        lines = _LINE.split(text[: found.start()])
        code = ord(found.group())
        raise ConfigError(
            Problem(
                f"holds the character U+{code:04X}, which YAML does not allow",
                file=file,
                line=len(lines),
                column=len(lines[-1]) + 1,
                hint='in double quotes it can be written as an escape, such as "\\u0007"',
            )
        )
    return text


def parse(text: str, file: Path, findings: Findings) -> Node | None:
    """The document's root node; None for an empty document.

    Duplicate keys, anchors, aliases, merge keys and tags go to `findings`. Raises `ConfigError` for
    text that is no YAML, several documents, and nesting over `MAX_DEPTH`.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    problem: Problem | None = None
    try:
        return _Builder(file, findings).build(_events(text))
    except MarkedYAMLError as error:
        problem = _syntax_problem(error, text, file)
    except YAMLError:
        problem = Problem("is not YAML", file=file)
    except (ValueError, IndexError, AttributeError, TypeError, AssertionError, OverflowError):
        # The parser trips over some malformed directives and escapes instead of reporting them.
        problem = Problem("is not YAML", file=file, hint="a directive or an escape is malformed")
    # Outside the handler: the parser's own error quotes the line, which may hold a secret.
    raise ConfigError(problem)


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML

    loader = YAML(typ="safe", pure=True)
    yield from loader.parse(text)  # pyright: ignore[reportUnknownMemberType] - untyped in ruamel


def _syntax_problem(error: Any, text: str, file: Path) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = " ".join(str(part) for part in (error.problem, error.context) if part)
    if "end of stream" in message and error.context_mark is not None:
        mark = error.context_mark  # where what was not closed begins
    line = column = hint = None
    if mark is not None:
        line, column = int(mark.line) + 1, int(mark.column) + 1
        lines = _LINE.split(text)
        here = lines[mark.line] if mark.line < len(lines) else ""
        if "\\t" in message or "\t" in here[: mark.column + 1]:
            message = "a tab where only spaces can stand"
            hint = "indent with spaces, and put a space after the colon"
    if '"mcpServers"' in text:
        hint = "this looks like another program's JSON: run `lockgate mcp import FILE`"
    return Problem(message or "is not YAML", file=file, line=line, column=column, hint=hint)


class _Builder:
    """Makes nodes from events with a stack of its own, so depth can not exhaust Python's."""

    def __init__(self, file: Path, findings: Findings) -> None:
        self._file = file
        self._findings = findings
        self._root: Node | None = None
        self._open: list[_Open] = []

    def build(self, events: Iterator[Any]) -> Node | None:
        documents = 0
        for event in events:
            match type(event).__name__:
                case "DocumentStartEvent":
                    documents += 1
                    self._document(event, documents)
                case "MappingStartEvent" | "SequenceStartEvent":
                    self._start(event)
                case "MappingEndEvent" | "SequenceEndEvent":
                    self._finish(event)
                case "ScalarEvent":
                    self._scalar(event)
                case "AliasEvent":
                    # The name is not shown: `TOKEN: *abc` is a secret that lacks its quotes.
                    place = self._place(event.start_mark)
                    self._refuse(place, "an alias (*) is not allowed", "repeat the value")
                    self._add(Scalar("", True, place, event.start_mark.index, event.end_mark.index))
                case _:
                    pass
        root = self._root
        if isinstance(root, Scalar) and root.type == "null":
            return None
        return root

    def _document(self, event: Any, count: int) -> None:
        place = self._place(event.start_mark)
        if count > 1:
            raise ConfigError(
                Problem("holds more than one document", "", place.file, place.line, place.column)
            )
        version = event.version
        if version is not None and tuple(version) != (1, 2):
            self._findings.add(place, "", "is YAML of another version", "write YAML 1.2")

    def _start(self, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            place = self._place(event.start_mark)
            raise ConfigError(
                Problem("is nested too deeply", "", place.file, place.line, place.column)
            )
        self._marks(event)
        self._open.append(
            _Open(type(event).__name__ == "MappingStartEvent", bool(event.flow_style), event)
        )

    def _finish(self, event: Any) -> None:
        opened = self._open.pop()
        place, start = self._place(opened.event.start_mark), int(opened.event.start_mark.index)
        # A block ends where the next thing starts, comments included: its content ends earlier.
        end = int(event.end_mark.index) if opened.flow else opened.content_end(start)
        if not opened.is_map:
            self._add(Listing(tuple(opened.items), opened.flow, place, start, end))
            return
        entries: dict[str, tuple[Scalar, Node]] = {}
        keys = iter(opened.items)
        for key, value in zip(keys, keys, strict=True):
            if not isinstance(key, Scalar):
                self._refuse(key.place, "a key must be a word", None)
            elif key.text == "<<" and key.plain:
                self._refuse(key.place, "a merge key (<<) is not allowed", "repeat the entries")
            elif key.text in entries:
                first = entries[key.text][0].place.line
                self._refuse(
                    key.place, f"{key.text!r} stands twice", f"the first is in line {first}"
                )
            else:
                entries[key.text] = (key, value)
        self._add(Table(tuple(entries.values()), opened.flow, place, start, end))

    def _scalar(self, event: Any) -> None:
        self._marks(event)
        plain = event.style is None
        start, end = int(event.start_mark.index), int(event.end_mark.index)
        self._add(Scalar(str(event.value), plain, self._place(event.start_mark), start, end))

    def _marks(self, event: Any) -> None:
        place = self._place(event.start_mark)
        if event.anchor is not None:
            self._refuse(place, "an anchor (&) is not allowed", "put a text with & in quotes")
        if event.ctag is not None:
            self._refuse(place, "a tag (!) is not allowed", "put a text with ! in quotes")

    def _add(self, node: Node) -> None:
        if self._open:
            self._open[-1].items.append(node)
        else:
            self._root = node

    def _refuse(self, place: Place, message: str, hint: str | None) -> None:
        self._findings.add(place, self._path(), message, hint)

    def _path(self) -> str:
        path = ""
        for opened in self._open:
            if not opened.is_map:
                path += f"[{len(opened.items)}]"
            elif len(opened.items) % 2 and isinstance(key := opened.items[-1], Scalar):
                path += f".{key.text}" if path else key.text
        return path

    def _place(self, mark: StringMark) -> Place:
        return Place(self._file, int(mark.line) + 1, int(mark.column) + 1)


class _Open:
    """A list or mapping whose end has not come yet."""

    def __init__(self, is_map: bool, flow: bool, event: Any) -> None:
        self.is_map = is_map
        self.flow = flow
        self.event = event
        self.items: list[Node] = []
        """Of a mapping: key, value, key, value."""

    def content_end(self, start: int) -> int:
        # An omitted value has its place at the next token; its key ends the content.
        for node in reversed(self.items):
            if not (isinstance(node, Scalar) and node.plain and not node.text):
                return node.end
        return start
