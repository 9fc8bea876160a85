"""What the server says unasked: requests of its own, and notifications.

`ping` is answered at once. A request is answered by the handler that the host registered for its
method, else refused with "method not found", also just before closing: a server that is left
waiting for `roots/list` can stay alive for a minute. Notifications go to every listener in the
order they came in; one that fails harms neither the others nor the reader. A request that the
server cancels is not handled any further.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from msgspec import Raw

from lockgate.mcp.client.journal import Journal, trace
from lockgate.mcp.client.outbox import Outbox
from lockgate.mcp.client.services import Refusal
from lockgate.mcp.protocol import jsonrpc
from lockgate.mcp.protocol.outgoing import CANCELLED, answer_request

Handler: TypeAlias = Callable[[Any], Awaitable[Any]]
"""Answers one method that servers may call: decoded params (None if absent) to a JSON result.

A `Refusal` becomes the JSON-RPC error that it says; any other exception an "internal error" without
its text, which may hold what the server must not see. Runs in a task of its own, cancelled when the
connection ends.
"""

Listener: TypeAlias = Callable[[str, str, Any], None]
"""Is told of each notification: (server, method, decoded params or None).

Called on the event loop between two frames, so it must return quickly. Never called again once
the connection is closed.
"""

Concern: TypeAlias = Callable[[Any], None]
"""What the client itself does about a notification: decoded params, or None. Must not raise."""
NOTHING: Mapping[str, Concern] = MappingProxyType({})

CLOSING = "the client is closing"
"""What a server is told that asks at the end."""
MAX_HANDLING = 100
"""Requests of one server that may be handled at once; more are refused."""


class Inbound:
    """Takes requests and notifications of one server."""

    def __init__(
        self,
        peer: str,
        outbox: Outbox,
        handlers: Mapping[str, Handler],
        listeners: Sequence[Listener],
        journal: Journal,
        concerns: Mapping[str, Concern] = NOTHING,
    ) -> None:
        """`concerns` is what is done here about a notification, by method, before listeners."""
        self._peer = peer
        self._outbox = outbox
        self._handlers = dict(handlers)
        self._listeners = tuple(listeners)
        self._journal = journal
        self._concerns = {CANCELLED: self._cancelled, **concerns}
        self._handling: dict[asyncio.Task[None], jsonrpc.Request] = {}
        self._ending = False

    def request(self, request: jsonrpc.Request) -> None:
        """Answer, refuse, or start to handle what the server asks. Never waits."""
        handler = self._handlers.get(request.method)
        if handler is None:
            self._outbox.put(answer_request(request))
            return
        if self._ending:
            self._refuse(request, CLOSING)
            return
        if len(self._handling) >= MAX_HANDLING:
            self._refuse(request, f"{MAX_HANDLING} requests are being handled already")
            return
        task = asyncio.get_running_loop().create_task(
            self._handle(handler, request), name=f"lockgate {self._peer} {request.method[:80]}"
        )
        self._handling[task] = request
        task.add_done_callback(self._handling.pop)

    def notification(self, notification: jsonrpc.Notification) -> None:
        """Do what has to be done about it, and tell every listener."""
        concern = self._concerns.get(notification.method)
        if concern is None and not self._listeners:
            return
        params = self._decoded(notification.method, notification.params)
        if concern is not None:
            concern(params)
        for listener in self._listeners:
            try:
                listener(self._peer, notification.method, params)
            except Exception as error:  # noqa: BLE001 - foreign code, its failure is its own
                what = f"a listener failed on {notification.method[:80]}"
                self._journal.error(f"{what}: {trace(error)}")

    def unreadable(self, asked: jsonrpc.RequestId, why: str) -> None:
        """Refuse a request that can not be read, so that nobody waits for it."""
        text = f"the request is {why}"
        self._outbox.put(jsonrpc.error_response(asked, jsonrpc.INVALID_REQUEST, text))

    def _cancelled(self, params: Any) -> None:
        """The server does not want an answer any more; one that is late hears nothing."""
        fields = cast("dict[str, Any]", params) if type(params) is dict else {}
        asked = fields.get("requestId")
        for task, request in self._handling.items():
            if request.id == asked and type(request.id) is type(asked):
                task.cancel()

    def refuse_open(self) -> None:
        """Refuse and cancel what is still being handled: the connection ends. Idempotent."""
        if not self._ending:
            self._ending = True
            for task, request in tuple(self._handling.items()):
                if not task.cancelling():  # else the server wants no answer any more
                    task.cancel()
                    self._refuse(request, CLOSING)

    async def ended(self) -> None:
        """Return when no handler runs any more, at most a second after they were cancelled."""
        self.refuse_open()
        if self._handling:
            _, stubborn = await asyncio.wait(tuple(self._handling), timeout=1)
            for task in stubborn:
                self._journal.error(f"the handler in {task.get_name()} ignores cancellation")

    async def _handle(self, handler: Handler, request: jsonrpc.Request) -> None:
        try:
            params = self._decoded(request.method, request.params)
            answer = jsonrpc.response(request.id, await handler(params))
        except Refusal as refusal:
            answer = jsonrpc.error_response(request.id, refusal.code, refusal.message)
            self._outbox.put(answer)
        except Exception as error:  # noqa: BLE001 - foreign code; the server needs an answer
            what = f"the handler of {request.method[:80]} failed"
            self._journal.error(f"{what}: {trace(error)}")
            self._refuse(request, "the request could not be handled")
        else:
            self._outbox.put(answer)

    def _refuse(self, request: jsonrpc.Request, text: str) -> None:
        self._outbox.put(jsonrpc.error_response(request.id, jsonrpc.INTERNAL_ERROR, text))

    def _decoded(self, method: str, params: Raw | None) -> Any:
        if params is None:
            return None
        try:
            return jsonrpc.decode_value(params)
        except jsonrpc.Unreadable as problem:
            self._journal.noise("params", f"sent params of {method[:80]} that are {problem.reason}")
            return None
