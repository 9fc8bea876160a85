"""Servers as they were last seen, one file for each, in the state directory.

The files are the person's own (0600), and nothing depends on them: one that is damaged, too large
or can not be written counts as never seen.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.mcp.host.seen import SeenServer, Sighting, remembering
from lockgate.mcp.protocol.claims import Claims, parse_claims
from lockgate.mcp.protocol.results import LeftOut, ListedTool, read_tool
from lockgate.process.hidden import Hidden

FORMAT: Final = 1
"""A file of another format is not read."""
MAX_BYTES: Final = 16 * 1024 * 1024
"""The largest file that is written or read."""

_SIGHTING: Final = tuple(field.name for field in fields(Sighting))
_log: Final = logging.getLogger(__name__)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file holds, besides the definitions as their servers wrote them."""

    format: int
    server: str
    endpoint: str
    seen: float
    instructions: str | None
    tools: tuple[dict[str, Any], ...]
    disbelieved: dict[str, tuple[str, ...]]
    """Remarks on claims that count for nothing whatever they say, by tool."""
    left_out: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    sightings: dict[str, Sighting]


class LastSeenFolder:
    """The `mcp.host.seen.SeenServers` of one project."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made when something is kept."""
        self._folder = folder

    def last(self, server: str) -> SeenServer | None:
        """The server as it was last seen."""
        try:
            with self._path(server).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.info("what was seen of %s can not be read: %s", server, error.strerror)
            return None
        try:
            return _decoded(data, server)
        except (ValueError, RecursionError) as error:
            _log.info("what was seen of %s is damaged (%s)", server, type(error).__name__)
            return None

    def keep(self, seen: SeenServer, hidden: Hidden) -> None:
        """Keep it, with what is known of its tools from before."""
        try:
            data = _encoded(remembering(self.last(seen.name), seen))
            if hidden.hide(text := data.decode()) != text:
                _log.info("%s says a configured secret, so it is not kept", seen.name)
                self._path(seen.name).unlink(missing_ok=True)
                return
            if len(data) > MAX_BYTES:
                _log.info("%s lists too much to be kept: %d bytes", seen.name, len(data))
                return
            _replace(self._path(seen.name), data)
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            _log.info("%s is not kept: %s", seen.name, reason or type(error).__name__)

    def _path(self, server: str) -> Path:
        return self._folder / f"{server}.json"


def _encoded(seen: SeenServer) -> bytes:
    # The standard library's: an integer of any length is written and read back as it is.
    document = {
        "format": FORMAT,
        "server": seen.name,
        "endpoint": seen.endpoint,
        "seen": seen.seen,
        "instructions": seen.instructions,
        "tools": [tool.raw for tool in seen.tools],
        "disbelieved": {
            tool.name: tool.claims.remarks
            for tool in seen.tools
            if tool.claims != parse_claims(tool.claims.raw)
        },
        "left_out": [(out.tool, out.reason) for out in seen.left_out],
        "remarks": seen.remarks,
        "sightings": {
            tool: {name: getattr(sighting, name) for name in _SIGHTING}
            for tool, sighting in seen.sightings.items()
        },
    }
    return json.dumps(document, separators=(",", ":")).encode()


def _decoded(data: bytes, server: str) -> SeenServer:
    """Raises ValueError for what no `_encoded` has made."""
    if len(data) > MAX_BYTES:
        raise ValueError("too large")
    file = msgspec.convert(json.loads(data), _File)
    if file.format != FORMAT or file.server != server:
        raise ValueError("of another format or server")
    return SeenServer(
        name=file.server,
        endpoint=file.endpoint,
        seen=file.seen,
        instructions=file.instructions,
        tools=tuple(_tool(definition, file.disbelieved) for definition in file.tools),
        left_out=tuple(LeftOut(tool, reason) for tool, reason in file.left_out),
        remarks=file.remarks,
        sightings=file.sightings,
    )


def _tool(definition: dict[str, Any], disbelieved: Mapping[str, tuple[str, ...]]) -> ListedTool:
    tool = read_tool(definition)
    if isinstance(tool, LeftOut):
        raise ValueError("a definition that can not be used")
    if tool.name not in disbelieved:
        return tool
    claims = Claims(raw=tool.claims.raw, remarks=disbelieved[tool.name])
    return msgspec.structs.replace(tool, claims=claims)


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of the file at once. Raises OSError."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = os.open(fresh, flags, 0o600)
    except FileNotFoundError:  # the first of all
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(data)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
