"""Adding servers to a file and taking them out, with every other byte of it left as it was.

The result is read again and must say exactly what was wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.nodes import Listing, Node, Scalar, Table
from lockgate.settings.splice import Piece, bare, content, cut_item, parsed, put

_SERVERS: Final = ("mcp", "servers")


def add_servers(text: str, entries: Sequence[ServerEntry], file: Path) -> str:
    """The text with `entries` at the end of `mcp.servers`.

    `text` is empty for a new file. Raises `ConfigError` if the text is no valid YAML, or is laid
    out so that nothing can be put in safely; the message then shows what to write by hand.
    """
    root = parsed(text, file)
    lines = tuple(line for entry in entries for line in entry.block())
    piece = Piece(lines, ", ".join(entry.flow() for entry in entries))
    new = put(text, root, _SERVERS, piece)
    if new is None or not _says(new, _with(root, entries), file):
        shown = "\n  ".join(lines)
        raise ConfigError(
            Problem(
                "is laid out in a way that this command can not edit",
                file=file,
                hint=f"add this to the list mcp, servers yourself:\n  {shown}",
            )
        )
    return new


def remove_server(text: str, name: str, file: Path) -> str:
    """The text without the server `name`; comments outside its entry stay.

    Raises `ConfigError` if there is no such server, or it can not be cut out safely.
    """
    root = parsed(text, file)
    servers = _servers(root)
    names = [_name(item) for item in servers.items] if servers else []
    if servers is None or name not in names:
        raise ConfigError(Problem(f'has no server called "{name}"', file=file))
    index = names.index(name)
    new = cut_item(text, servers, index)
    wanted = cast("dict[str, Any]", bare(root))
    mcp = wanted["mcp"] = dict(wanted["mcp"])
    mcp["servers"] = [item for i, item in enumerate(mcp["servers"]) if i != index]
    if not _says(new, wanted, file):
        message = "is laid out in a way that this command can not edit"
        hint = f'take the entry of "{name}" out yourself'
        raise ConfigError(Problem(message, file=file, hint=hint))
    return new


def _with(root: Node | None, entries: Sequence[ServerEntry]) -> dict[str, Any]:
    """What the file must say with `entries` in it; `put` has seen that it has that shape."""
    wanted = cast("dict[str, Any]", bare(root) or {})
    mcp = wanted["mcp"] = dict(wanted.get("mcp") or {})
    mcp["servers"] = [*(mcp.get("servers") or ()), *(entry.data() for entry in entries)]
    return wanted


def _says(text: str, wanted: dict[str, Any], file: Path) -> bool:
    found = content(text, file)
    if not isinstance(found, dict):
        return False
    got = cast("dict[str, Any]", found)
    for said in (got, wanted):
        mcp: Any = said.get("mcp")
        # An empty list and nothing behind the key are the same.
        if isinstance(mcp, dict) and not cast("dict[str, Any]", mcp).get("servers"):
            said["mcp"] = {**cast("dict[str, Any]", mcp), "servers": None}
    return got == wanted


def _servers(root: Node | None) -> Listing | None:
    mcp = root.get("mcp") if isinstance(root, Table) else None
    servers = mcp.get("servers") if isinstance(mcp, Table) else None
    return servers if isinstance(servers, Listing) else None


def _name(item: Node) -> str | None:
    name = item.get("name") if isinstance(item, Table) else None
    return name.text if isinstance(name, Scalar) else None
