"""A scripted server that speaks HTTP with SSE (2024-11-05), on a loopback port.

    async with SseServer(ScriptedServer()) as server:
        transport = LegacySseTransport(server.stream(), peer="x", environ={})

Faults are those of `HttpServer.on`: `method="GET"` for the stream, POST for messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Self

from lockgate.mcp.endpoint import SseEndpoint
from lockgate.testing.http_heard import Gone, HttpExchange
from lockgate.testing.http_reply import Unasked
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer
from lockgate.testing.scripted_server import decoded

ACCEPTED: Final = (202, b"Accepted", MappingProxyType({"content-type": "text/plain"}))
"""What a message is answered with; its own answer comes on the stream."""


class SseServer(HttpServer):
    """Serves one script: a GET of its path is the stream, which all answers come on."""

    def __init__(
        self,
        script: ScriptedServer,
        *,
        path: str = "/sse",
        place: str = "messages?session=1",
        accepts: tuple[int, bytes, Mapping[str, str]] = ACCEPTED,
    ) -> None:
        """`place` is what the stream says of where messages go, as it stands; `accepts` is what a
        message is answered with: status, body, headers."""
        super().__init__(script, path=path)
        self._place = place
        self._accepts = accepts
        self._mailbox = path.rpartition("/")[0] + "/messages"

    def stream(self, **more: Any) -> SseEndpoint:
        """How a client reaches it; `more` are fields of the endpoint."""
        return SseEndpoint(more.pop("url", self.url), **more)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0, limit=1 << 20)
        self._port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def by_script(self, exchange: HttpExchange) -> None:
        """What a server does that has no faults."""
        heard = exchange.heard
        path = heard.target.partition("?")[0]
        if heard.method == "GET" and path == self._path:
            await self._streams(exchange)
        elif heard.method == "POST" and path == self._mailbox:
            strand = self._talk.received(decoded(heard.body), len(heard.body))
            await self._tell()
            await exchange.answer(*self._accepts)
            if strand is not None:
                self._aside(strand, _OnStream(self))
        elif path in (self._path, self._mailbox):
            await exchange.answer(405, b"Method Not Allowed", {"content-type": "text/plain"})
        else:
            await exchange.answer(404, b"nothing here", {"content-type": "text/plain"})

    async def _streams(self, exchange: HttpExchange) -> None:
        await exchange.event(b"event: endpoint\ndata: " + self._place.encode() + b"\n\n")
        self._listeners.append(exchange)
        await self._tell()
        try:
            await self._strand(self._talk.opening(), _OnStream(self))
            await exchange.silence()
        finally:
            self._listeners.remove(exchange)

    async def say_bytes(self, data: bytes) -> None:
        """Write to every open stream, as it stands."""
        for listener in tuple(self._listeners):
            try:
                await listener.event(data)
            except Gone:
                continue  # whoever listened there is gone


class _OnStream(Unasked):
    """Makes the lines that a script writes events of the stream."""

    def __init__(self, server: SseServer) -> None:
        super().__init__(server.say)
        self._server = server
        self._unfinished = b""

    async def feed(self, data: bytes) -> None:
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            if line.strip():
                await self._server.say_bytes(b"event: message\ndata: " + line + b"\n\n")
