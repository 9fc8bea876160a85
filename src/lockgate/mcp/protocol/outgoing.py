"""The frames a client sends, in the words of the revision that was agreed upon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from lockgate.mcp.protocol import jsonrpc
from lockgate.mcp.protocol.eras import LATEST_LEGACY, LATEST_MODERN, Revision
from lockgate.mcp.protocol.jsonrpc import Outgoing, RequestId


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """Who we say we are, and what we can be asked for."""

    name: str
    version: str
    title: str | None = None
    capabilities: Mapping[str, Any] | None = None
    """ClientCapabilities; None is none at all."""


class _CallParams(msgspec.Struct, omit_defaults=True):
    name: str
    arguments: Any
    _meta: Raw | UnsetType = UNSET


class _ListParams(msgspec.Struct):
    cursor: str | UnsetType = UNSET
    _meta: Raw | UnsetType = UNSET


class Dialect:
    """Makes requests in one revision. Costs of a request that never change are paid here."""

    __slots__ = ("_meta", "client", "revision")

    def __init__(self, revision: Revision, client: ClientIdentity) -> None:
        self.revision = revision
        self.client = client
        self._meta: Raw | UnsetType = (
            revision.meta(_info(client), client.capabilities or {}) or UNSET
        )

    def request(
        self, id: RequestId, method: str, params: Mapping[str, Any] | None = None
    ) -> Outgoing:
        """Any request, by its method; `_meta` is added where the revision wants it."""
        headers = self.revision.headers(method)
        if self._meta is UNSET:
            return jsonrpc.request(id, method, params, headers=headers)
        return jsonrpc.request(id, method, {**(params or {}), "_meta": self._meta}, headers=headers)

    def list_tools(self, id: RequestId, cursor: str | None = None) -> Outgoing:
        """`tools/list`; `cursor` as the last page gave it, None for the first page."""
        params = _ListParams(UNSET if cursor is None else cursor, self._meta)
        headers = self.revision.headers("tools/list")
        empty = cursor is None and self._meta is UNSET
        return jsonrpc.request(id, "tools/list", None if empty else params, headers=headers)

    def call_tool(self, id: RequestId, name: str, arguments: Mapping[str, Any]) -> Outgoing:
        """`tools/call`, by the tool's original name."""
        headers = self.revision.headers("tools/call", name)
        params = _CallParams(name, arguments, self._meta)
        return jsonrpc.request(id, "tools/call", params, headers=headers)

    def ping(self, id: RequestId) -> Outgoing:
        """`ping`, for revisions that have it (legacy)."""
        return self.request(id, "ping")

    def cancelled(self, id: RequestId, reason: str | None = None) -> Outgoing:
        """`notifications/cancelled` for a request that is still open; never for `initialize`."""
        params = {"requestId": id} if reason is None else {"requestId": id, "reason": reason}
        method = "notifications/cancelled"
        return jsonrpc.notification(method, params, headers=self.revision.headers(method))


def discover(id: RequestId, client: ClientIdentity, revision: Revision = LATEST_MODERN) -> Outgoing:
    """`server/discover`, which only modern servers answer."""
    return Dialect(revision, client).request(id, "server/discover")


def initialize(
    id: RequestId, client: ClientIdentity, revision: Revision = LATEST_LEGACY
) -> Outgoing:
    """`initialize`, offering one legacy revision."""
    params = {
        "protocolVersion": revision.name,
        "capabilities": client.capabilities or {},
        "clientInfo": _info(client),
    }
    return jsonrpc.request(id, "initialize", params)


def initialized(revision: Revision) -> Outgoing:
    """`notifications/initialized`, after `initialize` was answered."""
    method = "notifications/initialized"
    return jsonrpc.notification(method, headers=revision.headers(method))


def answer_request(request: jsonrpc.Request) -> Outgoing:
    """Answer what a server asks when nobody here handles it: `ping` well, all else with -32601."""
    if request.method == "ping":
        return jsonrpc.response(request.id, {})
    text = f"Method not found: {request.method[:200]}"
    return jsonrpc.error_response(request.id, jsonrpc.METHOD_NOT_FOUND, text)


def _info(client: ClientIdentity) -> dict[str, str]:
    info = {"name": client.name, "version": client.version}
    return info if client.title is None else {**info, "title": client.title}
