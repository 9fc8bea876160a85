"""Putting things into a configuration file and taking them out, every other byte left as it was.

The text is cut at the places where its nodes stand (`settings.nodes`), never written anew from
values, so comments, quotes and layout stay. Who cuts reads the result again, to see that it says
what was wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from lockgate.errors import ConfigError
from lockgate.settings.findings import Findings
from lockgate.settings.nodes import Listing, Node, Scalar, Table, data_of, is_null
from lockgate.settings.yamlfile import parse

STEP: Final = 2
"""Columns by which what stands below a key is indented."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is put at the end of a list or of a mapping."""

    block: tuple[str, ...]
    """Its lines in block style, without indentation: `- item`, or `key: value`."""
    flow: str
    """The same on one line, for brackets or braces."""
    item: bool = True
    """For a list; else for a mapping."""


def parsed(text: str, file: Path) -> Node | None:
    """The tree of a text; None for an empty one. Raises `ConfigError` for what is not valid."""
    findings = Findings()
    root = parse(text, file, findings)
    findings.raise_any()
    return root


def content(text: str, file: Path) -> object:
    """What a text says, single words as bare text; None if it is not valid."""
    try:
        return bare(parsed(text, file))
    except ConfigError:
        return None


def bare(node: Node | None) -> object:
    """`nodes.data_of` with single words as bare text, for comparing with what was wanted."""
    return _bare(data_of(node))


def put(text: str, root: Node | None, path: Sequence[str], piece: Piece) -> str | None:
    """The text with `piece` at the end of what stands under the keys `path`, made where missing.

    None where the text is laid out so that nothing can be put in.
    """
    if root is None or (isinstance(root, Table) and not root.entries and not root.flow):
        return append(text, _below(path, piece, 0))
    node: Node = root
    for depth, name in enumerate(path):
        if not isinstance(node, Table):
            return None
        child = node.get(name)
        if child is None:
            if node.flow:
                return into_flow(text, node, _in_flow(path[depth:], piece))
            return after(text, node.end, _below(path[depth:], piece, node.place.column - 1))
        if is_null(child) or (is_empty(child) and not node.flow):
            if node.flow:
                return None
            key = key_of(node, name)
            column = key.place.column - 1 + STEP
            return instead(text, key, child, _below(path[depth + 1 :], piece, column))
        node = child
    if not isinstance(node, Listing if piece.item else Table):
        return None
    if node.flow:
        return into_flow(text, node, piece.flow)
    return after(text, node.end, _below((), piece, node.place.column - 1))


def append(text: str, lines: Sequence[str]) -> str:
    """The text with lines at its end."""
    end = _newline(text)
    if text and not text.endswith(("\n", "\r")):
        text += end
    return text + "".join(line + end for line in lines)


def after(text: str, end: int, lines: Sequence[str]) -> str:
    """Put lines behind the line in which a block's content ends."""
    # A text in | style owns the blank lines behind it; its content ends before them.
    end = len(text[:end].rstrip())
    line_end = text.find("\n", end)
    if line_end < 0:
        return append(text, lines)
    newline = _newline(text)
    return text[: line_end + 1] + "".join(line + newline for line in lines) + text[line_end + 1 :]


def into_flow(text: str, node: Listing | Table, what: str) -> str:
    """Put something before the closing bracket of a list or mapping in flow style."""
    closing = node.end - 1
    inside = text[node.start + 1 : closing].rstrip()
    at = node.start + 1 + len(inside)
    joint = "" if not inside else " " if inside.endswith(",") else ", "
    return text[:at] + joint + what + text[at:]


def cut_item(text: str, listing: Listing, index: int) -> str:
    """The text without one item of a list."""
    item = listing.items[index]
    if listing.flow:
        return _cut_flow(text, [(item.start, item.end) for item in listing.items], index)
    # The dash stands before the item, on its line or, rarely, on one of its own.
    return _cut_lines(text, text.rfind("-", 0, item.start), item.end)


def cut_entry(text: str, table: Table, index: int) -> str:
    """The text without one entry of a mapping."""
    key, value = table.entries[index]
    if table.flow:
        return _cut_flow(text, [(key.start, value.end) for key, value in table.entries], index)
    return _cut_lines(text, key.start, max(key.end, value.end))


def _cut_flow(text: str, spans: Sequence[tuple[int, int]], index: int) -> str:
    start, end = spans[index]
    if index + 1 < len(spans):
        return text[:start] + text[spans[index + 1][0] :]
    if index:
        start = spans[index - 1][1]
    return text[:start] + text[end:]


def _cut_lines(text: str, start: int, end: int) -> str:
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", len(text[:end].rstrip()))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def instead(text: str, key: Scalar, value: Node, lines: Sequence[str]) -> str:
    """Replace an empty value by lines below its key; a comment behind it stays."""
    if not (isinstance(value, Scalar) and not value.text):
        before = text[: value.start].rstrip(" ")
        text = before + text[value.end :]
    return after(text, key.end + 1, lines)


def _below(path: Sequence[str], piece: Piece, column: int) -> list[str]:
    """The lines of `piece` under keys that are not there yet, the first at `column`."""
    lines = [" " * (column + STEP * depth) + f"{name}:" for depth, name in enumerate(path)]
    return lines + [" " * (column + STEP * len(path)) + line for line in piece.block]


def _in_flow(path: Sequence[str], piece: Piece) -> str:
    """The same on one line."""
    text = f"[{piece.flow}]" if piece.item else f"{{{piece.flow}}}"
    for name in reversed(path[1:]):
        text = f'{{"{name}": {text}}}'
    return f'"{path[0]}": {text}'


def key_of(table: Table, name: str) -> Scalar:
    """The key `name` of a mapping that has it."""
    return next(key for key, _ in table if key.text == name)


def is_empty(node: Node) -> bool:
    """Whether a list or mapping holds nothing."""
    return isinstance(node, Listing | Table) and not (
        node.items if isinstance(node, Listing) else node.entries
    )


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _bare(data: object) -> object:
    if isinstance(data, tuple):
        return cast("tuple[str, str]", data)[1]
    if isinstance(data, list):
        return [_bare(item) for item in cast("list[object]", data)]
    if isinstance(data, dict):
        return {key: _bare(value) for key, value in cast("dict[str, object]", data).items()}
    return data
