"""Adding servers to a file and taking them out, with every other byte of it left as it was.

The text is cut at the places where its nodes stand, never written anew from values, so comments,
quotes and layout stay. The result is read again and must say exactly what was wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.findings import Findings
from lockgate.settings.nodes import Listing, Node, Scalar, Table, data_of, is_null
from lockgate.settings.yamlfile import parse

_STEP = 2


def add_servers(text: str, entries: Sequence[ServerEntry], file: Path) -> str:
    """The text with `entries` at the end of `mcp.servers`.

    `text` is empty for a new file. Raises `ConfigError` if the text is no valid YAML, or is laid
    out so that nothing can be put in safely; the message then shows what to write by hand.
    """
    root = _parse(text, file)
    new = _insert(text, root, entries)
    if new is None or not _says(new, _with(root, entries), file):
        lines = "\n  ".join(line for entry in entries for line in entry.block())
        raise ConfigError(
            Problem(
                "is laid out in a way that this command can not edit",
                file=file,
                hint=f"add this to the list mcp, servers yourself:\n  {lines}",
            )
        )
    return new


def remove_server(text: str, name: str, file: Path) -> str:
    """The text without the server `name`; comments outside its entry stay.

    Raises `ConfigError` if there is no such server, or it can not be cut out safely.
    """
    root = _parse(text, file)
    servers = _servers(root)
    names = [_name(item) for item in servers.items] if servers else []
    if servers is None or name not in names:
        raise ConfigError(Problem(f'has no server called "{name}"', file=file))
    index = names.index(name)
    new = _cut(text, servers, index)
    wanted = cast("dict[str, Any]", _content(root))
    mcp = wanted["mcp"] = dict(wanted["mcp"])
    mcp["servers"] = [item for i, item in enumerate(mcp["servers"]) if i != index]
    if not _says(new, wanted, file):
        message = "is laid out in a way that this command can not edit"
        hint = f'take the entry of "{name}" out yourself'
        raise ConfigError(Problem(message, file=file, hint=hint))
    return new


def _with(root: Node | None, entries: Sequence[ServerEntry]) -> dict[str, Any]:
    """What the file must say with `entries` in it; `_insert` has seen that it has that shape."""
    wanted = cast("dict[str, Any]", _content(root) or {})
    mcp = wanted["mcp"] = dict(wanted.get("mcp") or {})
    mcp["servers"] = [*(mcp.get("servers") or ()), *(entry.data() for entry in entries)]
    return wanted


def _insert(text: str, root: Node | None, entries: Sequence[ServerEntry]) -> str | None:
    if root is None or (isinstance(root, Table) and not root.entries and not root.flow):
        return _append(text, ["mcp:", *_under(_STEP, "servers:", entries)])
    if not isinstance(root, Table):
        return None
    mcp = root.get("mcp")
    if mcp is None:
        if root.flow:
            return _into_flow(text, root, f'"mcp": {{"servers": [{_flow(entries)}]}}')
        column = root.place.column - 1
        lines = [f"{' ' * column}mcp:", *_under(column + _STEP, "servers:", entries)]
        return _after(text, root.end, lines)
    if is_null(mcp) or _is_empty(mcp):
        key = _key(root, "mcp")
        column = key.place.column - 1 + _STEP
        return _instead(text, key, mcp, _under(column, "servers:", entries))
    if not isinstance(mcp, Table):
        return None
    servers = mcp.get("servers")
    if servers is None:
        if mcp.flow:
            return _into_flow(text, mcp, f'"servers": [{_flow(entries)}]')
        column = mcp.place.column - 1
        return _after(text, mcp.end, _under(column, "servers:", entries))
    if is_null(servers) or (_is_empty(servers) and not mcp.flow):
        key = _key(mcp, "servers")
        column = key.place.column - 1 + _STEP
        return None if mcp.flow else _instead(text, key, servers, _items(column, entries))
    if not isinstance(servers, Listing):
        return None
    if servers.flow:
        return _into_flow(text, servers, _flow(entries))
    return _after(text, servers.end, _items(servers.place.column - 1, entries))


def _under(column: int, head: str, entries: Sequence[ServerEntry]) -> list[str]:
    return [" " * column + head, *_items(column + _STEP, entries)]


def _items(column: int, entries: Sequence[ServerEntry]) -> list[str]:
    return [" " * column + line for entry in entries for line in entry.block()]


def _flow(entries: Sequence[ServerEntry]) -> str:
    return ", ".join(entry.flow() for entry in entries)


def _append(text: str, lines: Sequence[str]) -> str:
    end = _newline(text)
    if text and not text.endswith(("\n", "\r")):
        text += end
    return text + "".join(line + end for line in lines)


def _after(text: str, end: int, lines: Sequence[str]) -> str:
    """Put lines behind the line in which a block's content ends."""
    # A text in | style owns the blank lines behind it; its content ends before them.
    end = len(text[:end].rstrip())
    line_end = text.find("\n", end)
    if line_end < 0:
        return _append(text, lines)
    newline = _newline(text)
    return text[: line_end + 1] + "".join(line + newline for line in lines) + text[line_end + 1 :]


def _instead(text: str, key: Scalar, value: Node, lines: Sequence[str]) -> str:
    """Replace an empty value by lines below its key; a comment behind it stays."""
    if not (isinstance(value, Scalar) and not value.text):
        before = text[: value.start].rstrip(" ")
        text = before + text[value.end :]
    return _after(text, key.end + 1, lines)


def _into_flow(text: str, node: Listing | Table, what: str) -> str:
    """Put something before the closing bracket of a list or mapping in flow style."""
    closing = node.end - 1
    inside = text[node.start + 1 : closing].rstrip()
    at = node.start + 1 + len(inside)
    joint = "" if not inside else " " if inside.endswith(",") else ", "
    return text[:at] + joint + what + text[at:]


def _cut(text: str, servers: Listing, index: int) -> str:
    item = servers.items[index]
    if servers.flow:
        if index + 1 < len(servers.items):
            return text[: item.start] + text[servers.items[index + 1].start :]
        start = servers.items[index - 1].end if index else item.start
        return text[:start] + text[item.end :]
    # The dash stands before the item, on its line or, rarely, on one of its own.
    start = text.rfind("-", 0, item.start)
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", len(text[: item.end].rstrip()))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _parse(text: str, file: Path) -> Node | None:
    findings = Findings()
    root = parse(text, file, findings)
    findings.raise_any()
    return root


def _says(text: str, wanted: dict[str, Any], file: Path) -> bool:
    try:
        found = _content(_parse(text, file))
    except ConfigError:
        return False
    if not isinstance(found, dict):
        return False
    got = cast("dict[str, Any]", found)
    for content in (got, wanted):
        mcp: Any = content.get("mcp")
        # An empty list and nothing behind the key are the same.
        if isinstance(mcp, dict) and not cast("dict[str, Any]", mcp).get("servers"):
            content["mcp"] = {**cast("dict[str, Any]", mcp), "servers": None}
    return got == wanted


def _content(node: Node | None) -> object:
    """`data_of` with single words as bare text, for comparing with an entry's own data."""
    return _bare(data_of(node))


def _bare(data: object) -> object:
    if isinstance(data, tuple):
        return cast("tuple[str, str]", data)[1]
    if isinstance(data, list):
        return [_bare(item) for item in cast("list[object]", data)]
    if isinstance(data, dict):
        return {key: _bare(value) for key, value in cast("dict[str, object]", data).items()}
    return data


def _servers(root: Node | None) -> Listing | None:
    mcp = root.get("mcp") if isinstance(root, Table) else None
    servers = mcp.get("servers") if isinstance(mcp, Table) else None
    return servers if isinstance(servers, Listing) else None


def _name(item: Node) -> str | None:
    name = item.get("name") if isinstance(item, Table) else None
    return name.text if isinstance(name, Scalar) else None


def _key(table: Table, name: str) -> Scalar:
    return next(key for key, _ in table if key.text == name)


def _is_empty(node: Node) -> bool:
    return isinstance(node, Listing | Table) and not (
        node.items if isinstance(node, Listing) else node.entries
    )


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
