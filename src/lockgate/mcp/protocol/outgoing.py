"""The frames a client sends, in the words of the revision that was agreed upon.

The parameters are the structs of `messages`. A `Dialect` is made once for a connection, and what
is the same in every frame is encoded then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, Raw, json

from lockgate.mcp.protocol import jsonrpc
from lockgate.mcp.protocol.capabilities import NONE, Capabilities
from lockgate.mcp.protocol.eras import Era, Revision
from lockgate.mcp.protocol.input_required import InputAnswers
from lockgate.mcp.protocol.jsonrpc import Handling, Outgoing, RequestId
from lockgate.mcp.protocol.messages import v2025_11_25 as legacy
from lockgate.mcp.protocol.messages import v2026_07_28 as modern
from lockgate.mcp.protocol.progress import KEY

DISCOVER = "server/discover"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
LIST_TOOLS = "tools/list"
CALL_TOOL = "tools/call"
CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """Who we say we are. Servers show it; nothing is decided by it."""

    name: str
    version: str
    title: str | None = None


class Dialect:
    """Makes the frames of one client in one revision.

    Making a frame raises TypeError for values that JSON has no form for, and UnicodeEncodeError
    for half a surrogate pair: what can not be written exactly is not written.
    """

    __slots__ = ("_call_headers", "_handling", "_meta", "capabilities", "client", "revision")

    def __init__(
        self, revision: Revision, client: ClientIdentity, capabilities: Capabilities = NONE
    ) -> None:
        """`capabilities` is what servers may ask for in return."""
        self.revision = revision
        self.client = client
        self.capabilities = capabilities
        self._handling = Handling.ALONE if revision.modern else Handling.IN_SESSION
        modern_ = revision.era is Era.MODERN
        self._meta = _meta(revision, client, capabilities) if modern_ else None
        self._call_headers = "", revision.headers(CALL_TOOL, "")
        """The name in the last call and its headers: often those of the next."""

    def request(
        self,
        id: RequestId,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        answers: InputAnswers | None = None,
    ) -> Outgoing:
        """A request by its method; `_meta` is added where the revision wants it.

        `name` is what `Mcp-Name` mirrors, see `Revision.headers`; `answers` what the server asked
        for when the request was made before.
        """
        if answers is not None:
            params = {**(params or {}), **answers.members()}
        if self._meta is not None:
            params = {**(params or {}), "_meta": self._meta}
        headers = self.revision.headers(method, name)
        return jsonrpc.request(id, method, params, headers=headers, handling=self._handling)

    def list_tools(self, id: RequestId, cursor: str | None = None) -> Outgoing:
        """`tools/list`; `cursor` as the last page gave it, None for the first page."""
        after = UNSET if cursor is None else cursor
        if self._meta is not None:
            params = modern.PaginatedRequestParams(meta=self._meta, cursor=after)
        else:
            params = None if cursor is None else legacy.PaginatedRequestParams(cursor=cursor)
        headers = self.revision.headers(LIST_TOOLS)
        return jsonrpc.request(id, LIST_TOOLS, params, headers=headers, handling=self._handling)

    def call_tool(
        self,
        id: RequestId,
        name: str,
        arguments: Mapping[str, Any],
        carried: Mapping[str, str] | None = None,
        mirrored: tuple[tuple[str, str], ...] = (),
        *,
        progress: bool = False,
        answers: InputAnswers | None = None,
    ) -> Outgoing:
        """`tools/call`, by the tool's original name.

        `mirrored` are the headers that its definition wants arguments in (`param_headers`).

        `carried` is the trace context that goes into `_meta`, beside what the revision wants
        there: `traceparent` and `tracestate` (2026-07-28, basic: OpenTelemetry trace context).
        `progress` asks for notifications of it, under the request's id. `answers` is what the
        server asked for when the call was made before.
        """
        extra: Mapping[str, Any] | None = carried
        if progress:
            extra = {**(carried or {}), KEY: id}
        last, headers = self._call_headers
        if name != last:
            headers = self.revision.headers(CALL_TOOL, name)
            self._call_headers = name, headers
        if answers is not None and self._meta is not None:
            meta = self._meta if not extra else _joined(self._meta, extra)
            params = {"name": name, "arguments": arguments, "_meta": meta, **answers.members()}
        elif self._meta is not None:
            meta = self._meta if not extra else _joined(self._meta, extra)
            params = modern.CallToolRequestParams(name=name, arguments=arguments, meta=meta)
        elif extra:
            params = legacy.CallToolRequestParams(name=name, arguments=arguments, meta=extra)
        else:
            params = legacy.CallToolRequestParams(name=name, arguments=arguments)
        if mirrored:
            headers += mirrored
        return jsonrpc.request(id, CALL_TOOL, params, headers=headers, handling=self._handling)

    def cancelled(self, id: RequestId, reason: str | None = None) -> Outgoing:
        """`notifications/cancelled` for a request that is still open; never for `initialize`."""
        text = UNSET if reason is None else reason
        params = legacy.CancelledNotificationParams(request_id=id, reason=text)
        return jsonrpc.notification(CANCELLED, params, headers=self.revision.headers(CANCELLED))


def discover(
    id: RequestId, client: ClientIdentity, revision: Revision, capabilities: Capabilities = NONE
) -> Outgoing:
    """`server/discover`, in a modern revision; legacy servers answer it with some error."""
    params = modern.RequestParams(meta=_meta(revision, client, capabilities))
    return jsonrpc.request(id, DISCOVER, params, headers=revision.headers(DISCOVER))


def initialize(
    id: RequestId, client: ClientIdentity, revision: Revision, capabilities: Capabilities = NONE
) -> Outgoing:
    """`initialize`, offering a legacy revision.

    Carries no version header: nothing is agreed upon yet.
    """
    params = legacy.InitializeRequestParams(
        protocol_version=revision.name,
        capabilities=legacy.ClientCapabilities(**capabilities.declared(revision)),
        client_info=legacy.Implementation(
            name=client.name,
            version=client.version,
            title=UNSET if client.title is None else client.title,
        ),
    )
    return jsonrpc.request(id, INITIALIZE, params, handling=Handling.OPENS_SESSION)


def initialized(revision: Revision) -> Outgoing:
    """`notifications/initialized`, once the answer to `initialize` was accepted."""
    headers = revision.headers(INITIALIZED)
    return jsonrpc.notification(INITIALIZED, headers=headers, handling=Handling.BEGINS_SESSION)


def answer_request(request: jsonrpc.Request) -> Outgoing:
    """The answer to what a server asks and nobody here handles.

    `ping` is answered well (PB-048), all else is refused, `roots/list` too: a server left waiting
    can stay alive for a minute, and no capability was declared that would let it ask.
    """
    if request.method == "ping":
        return jsonrpc.response(request.id, {})
    text = f"Method not found: {request.method[:200]}"
    return jsonrpc.error_response(request.id, jsonrpc.METHOD_NOT_FOUND, text)


def _meta(revision: Revision, client: ClientIdentity, capabilities: Capabilities) -> Raw:
    """What every modern request carries (2026-07-28, basic: per-request protocol fields)."""
    info = modern.Implementation(
        name=client.name,
        version=client.version,
        title=UNSET if client.title is None else client.title,
    )
    meta = modern.RequestMetaObject(
        protocol_version=revision.name,
        client_info=info,
        client_capabilities=modern.ClientCapabilities(**capabilities.declared(revision)),
    )
    return Raw(json.encode(meta))


def _joined(meta: Raw, extra: Mapping[str, Any]) -> Raw:
    """Two objects in one, neither of them empty: `meta`, and after it what is `extra`."""
    return Raw(bytes(meta)[:-1] + b"," + json.encode(extra)[1:])
