"""What servers say of themselves when asked to initialize, or to be discovered."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from lockgate.content import JSONObject
from lockgate.mcp.protocol.jsontext import Unreadable, decode_noted, kind_of

LONGEST_MS: Final = 2**53
"""Milliseconds that a time of a server's may have: more would be no number that can be worked with.
"""


class ServerProfile(msgspec.Struct, frozen=True):
    """What a server says of itself. For display; nothing is decided by it (2026-07-28, _meta)."""

    name: str | None = None
    version: str | None = None
    title: str | None = None
    capabilities: JSONObject = msgspec.field(default_factory=dict[str, Any])
    instructions: str | None = None
    remarks: tuple[str, ...] = ()

    def can(self, capability: str) -> bool:
        """Whether a capability is declared; its value may be any object, an empty one too."""
        return isinstance(self.capabilities.get(capability), dict)


class Initialized(msgspec.Struct, frozen=True):
    """The answer to `initialize`."""

    version: str | None
    """The protocol version the server chose; None if it named none. Not checked here."""
    server: ServerProfile


class Discovered(msgspec.Struct, frozen=True):
    """The answer to `server/discover`."""

    versions: tuple[str, ...]
    """The protocol versions it supports, as listed; empty if it listed none."""
    server: ServerProfile
    ttl_ms: int | None = None


def parse_initialize(raw: bytes | msgspec.Raw) -> Initialized:
    """Read the answer to `initialize`. Raises `Unreadable` if it is no JSON object."""
    result, remarks = _object(raw)
    version = result.get("protocolVersion")
    if version is not None and not isinstance(version, str):
        remarks += (f"protocolVersion is {kind_of(version)}, not a string",)
        version = None
    return Initialized(version, _profile(result, result.get("serverInfo"), remarks))


def parse_discover(raw: bytes | msgspec.Raw) -> Discovered:
    """Read the answer to `server/discover`. Raises `Unreadable` if it is no JSON object.

    A server that answers any request with some object lists no versions; the caller sees that.
    """
    result, remarks = _object(raw)
    listed = result.get("supportedVersions")
    versions: tuple[str, ...] = ()
    if isinstance(listed, list):
        members = cast("list[Any]", listed)
        versions = tuple(v for v in members if isinstance(v, str))
        if len(versions) != len(members):
            remarks += ("supportedVersions holds what is no string: left out",)
    else:
        remarks += (f"supportedVersions is {kind_of(listed)}, not an array",)
    meta = result.get("_meta")
    info = cast("dict[str, Any]", meta).get(SERVER_INFO) if isinstance(meta, dict) else None
    profile = _profile(result, info or result.get("serverInfo"), remarks)
    return Discovered(versions, profile, read_ttl(result))


SERVER_INFO = "io.modelcontextprotocol/serverInfo"
"""Where a modern server names itself (2026-07-28, basic: per-response protocol fields)."""


def read_ttl(result: dict[str, Any]) -> int | None:
    """`ttlMs`: milliseconds a list stays fresh, at least 0; None if absent or no integer."""
    return milliseconds(result.get("ttlMs"))


def milliseconds(value: Any) -> int | None:
    """A time that a server says, from 0 to `LONGEST_MS`; None if it is no whole number."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return min(max(value, 0), LONGEST_MS) if type(value) is int else None


def _object(raw: bytes | msgspec.Raw) -> tuple[dict[str, Any], tuple[str, ...]]:
    value, remarks = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    return cast("dict[str, Any]", value), remarks


def _profile(result: dict[str, Any], info: Any, remarks: tuple[str, ...]) -> ServerProfile:
    fields = cast("dict[str, Any]", info) if isinstance(info, dict) else {}
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        if capabilities is not None:
            remarks += (f"capabilities is {kind_of(capabilities)}, not an object: none",)
        capabilities = {}
    texts: list[str | None] = []
    for holder, name in (
        (fields, "name"),
        (fields, "version"),
        (fields, "title"),
        (result, "instructions"),
    ):
        value = holder.get(name)
        if value is not None and not isinstance(value, str):
            remarks += (f"{name} is {kind_of(value)}, not a string: counts as absent",)
            value = None
        texts.append(value)
    name, version, title, instructions = texts
    return ServerProfile(
        name, version, title, cast("dict[str, Any]", capabilities), instructions, remarks
    )
