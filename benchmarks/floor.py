"""The least code that makes a tool call over pipes or HTTP: asyncio, msgspec, nothing else.

It checks nothing, bounds nothing, cancels nothing, decides nothing and records nothing. A governed
call is compared with it, because no client can cost less.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, cast
from urllib.parse import urlsplit

import msgspec

META = msgspec.Raw(
    b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"},'
    b'"io.modelcontextprotocol/clientCapabilities":{}}'
)
"""What the modern era wants in every request; encoded once."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "floor", "version": "1"},
}
"""What the legacy era begins with."""


class Params(msgspec.Struct, omit_defaults=True):
    """The parameters of `tools/call`."""

    name: str
    arguments: dict[str, str]
    _meta: msgspec.Raw | None = None


class Request(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    """A request."""

    id: int
    method: str
    params: Params


class Block(msgspec.Struct):
    """A text block."""

    type: str
    text: str


class Result(msgspec.Struct):
    """The result of `tools/call`; of others, nothing is read."""

    content: list[Block] = []


class Response(msgspec.Struct):
    """A response."""

    id: int
    result: Result | None = None


class Way(Protocol):
    """A way to a server: one message there, its answer back."""

    def ask(self, id: int, method: str, name: str | None, body: bytes) -> Awaitable[Response]:
        """The answer to a request; `name` is that of the tool, if it calls one."""
        ...

    async def tell(self, body: bytes) -> None:
        """Send what has no answer."""
        ...

    async def close(self) -> None:
        """End it, and wait for the end."""
        ...


class Floor:
    """A client by hand over one of the ways below."""

    def __init__(self, way: Way, *, modern: bool) -> None:
        self._way = way
        self._ask = way.ask
        self._encode = msgspec.json.Encoder().encode
        self._ids = itertools.count(1)
        self._meta = META if modern else None

    async def hello(self) -> None:
        """Say hello and list the tools, as the era has it."""
        if self._meta is not None:
            await self._plain("server/discover", {"_meta": self._meta})
            await self._plain("tools/list", {"_meta": self._meta})
            return
        await self._plain("initialize", HELLO)
        await self._way.tell(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await self._plain("tools/list", {})

    async def _plain(self, method: str, params: Mapping[str, object]) -> None:
        id = next(self._ids)
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        if (await self._ask(id, method, None, self._encode(body))).result is None:
            raise SystemExit(f"the server has no {method}")

    async def call(self, name: str, arguments: dict[str, str]) -> str:
        """Make one call; its text."""
        id = next(self._ids)
        body = self._encode(Request(id, "tools/call", Params(name, arguments, self._meta)))
        result = (await self._ask(id, "tools/call", name, body)).result
        return result.content[0].text if result is not None else ""

    async def close(self) -> None:
        """End it."""
        await self._way.close()


# ------------------------------------------------------------------ pipes


class Pipes(asyncio.SubprocessProtocol):
    """Both ends of a child's pipes, and futures by id."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[Response]] = {}
        self._decode = msgspec.json.Decoder(Response).decode
        self._rest: list[bytes] = []
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, server: Sequence[str]) -> Pipes:
        """Start the server."""
        loop = asyncio.get_running_loop()
        _, pipes = await loop.subprocess_exec(cls, *server, stderr=None)
        return pipes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what writes."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._write = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).write

    def process_exited(self) -> None:
        """The server is gone and reaped."""
        self._ended.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what arrived and answer whoever waits for it."""
        *lines, rest = data.split(b"\n")
        if lines and self._rest:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest.clear()
        if rest:
            self._rest.append(rest)
        for line in lines:
            answer = self._decode(line)
            self._waiting.pop(answer.id).set_result(answer)

    def ask(self, id: int, method: str, name: str | None, body: bytes) -> Awaitable[Response]:
        """See `Way`. No coroutine: the future itself is the least that can be waited for."""
        future: asyncio.Future[Response] = self._loop.create_future()
        self._waiting[id] = future
        self._write(body + b"\n")
        return future

    async def tell(self, body: bytes) -> None:
        """See `Way`."""
        self._write(body + b"\n")

    async def close(self) -> None:
        """See `Way`."""
        self._transport.close()
        await self._ended.wait()


# ------------------------------------------------------------------ HTTP


def headers_of(method: str, name: str | None, *, modern: bool) -> dict[str, str]:
    """The headers of a message."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28" if modern else "2025-11-25",
    }
    if modern:
        headers["Mcp-Method"] = method
        if name is not None:
            headers["Mcp-Name"] = name
    return headers


class Exchange(asyncio.Protocol):
    """One connection, one exchange at a time: enough HTTP to read the answers of our server."""

    def __init__(self) -> None:
        self.read = bytearray()
        self.answer: asyncio.Future[bytes] | None = None
        self._whole = -1
        self._head = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what writes."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer whoever waits, once all of it is there: a body of known length, or one chunk."""
        self.read += data
        if self._whole < 0 and not self._measure():
            return
        if len(self.read) < self._whole or self.answer is None:
            return
        body = bytes(memoryview(self.read)[self._head : self._whole])
        self.read.clear()
        self._whole = -1
        self.answer.set_result(body)

    def _measure(self) -> bool:
        end = self.read.find(b"\r\n\r\n") + 4
        if end < 4:
            return False
        head = bytes(self.read[:end]).lower()
        at = head.find(b"content-length:")
        if at >= 0:
            self._head = end
            self._whole = end + int(head[at + 15 : head.index(b"\r", at)])
            return True
        line = self.read.find(b"\r\n", end)
        if line < 0:
            return False
        self._head = line + 2
        self._whole = self._head + int(self.read[end:line], 16) + len(b"\r\n0\r\n\r\n")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Let nobody wait."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(exc or ConnectionResetError())


class ByHand:
    """HTTP by hand, over connections that are kept."""

    def __init__(self, url: str, *, modern: bool) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._heads: dict[str | None, bytes] = {}
        self._first = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        self._modern = modern
        self._idle: list[Exchange] = []
        self._decode = msgspec.json.Decoder(Response).decode
        self._loop = asyncio.get_running_loop()

    async def ask(self, id: int, method: str, name: str | None, body: bytes) -> Response:
        """See `Way`."""
        return self._decode(data_in(await self._exchange(method, name, body)))

    async def tell(self, body: bytes) -> None:
        """See `Way`."""
        await self._exchange("notifications/initialized", None, body)

    async def _exchange(self, method: str, name: str | None, body: bytes) -> bytes:
        head = self._heads.get(method)
        if head is None:
            lines = headers_of(method, name, modern=self._modern).items()
            head = (self._first + "".join(f"{k}: {v}\r\n" for k, v in lines)).encode()
            self._heads[method] = head
        if self._idle:
            exchange = self._idle.pop()
        else:
            _, exchange = await self._loop.create_connection(Exchange, self._host, self._port)
        answer = exchange.answer = self._loop.create_future()
        exchange.transport.write(b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body))
        found = await answer
        self._idle.append(exchange)
        return found

    async def close(self) -> None:
        """See `Way`."""
        for exchange in self._idle:
            exchange.transport.close()


def data_in(body: bytes) -> bytes:
    """The JSON of a body, or of a stream of one event."""
    if body.startswith(b"{"):
        return body
    at = body.find(b"data: ")
    return body[at + 6 : body.rindex(b"}") + 1] if at >= 0 else body


class ByAiohttp:
    """The same through aiohttp, as it comes."""

    def __init__(self, url: str, *, modern: bool) -> None:
        from aiohttp import ClientSession, TCPConnector

        self._url = url
        self._modern = modern
        self._decode = msgspec.json.Decoder(Response).decode
        self._session = ClientSession(connector=TCPConnector(limit=0))
        self._close: Callable[[], Awaitable[None]] = self._session.close

    async def ask(self, id: int, method: str, name: str | None, body: bytes) -> Response:
        """See `Way`."""
        headers = headers_of(method, name, modern=self._modern)
        async with self._session.post(self._url, data=body, headers=headers) as answer:
            return self._decode(data_in(await answer.read()))

    async def tell(self, body: bytes) -> None:
        """See `Way`."""
        headers = headers_of("notifications/initialized", None, modern=self._modern)
        async with self._session.post(self._url, data=body, headers=headers) as answer:
            await answer.read()

    async def close(self) -> None:
        """See `Way`."""
        await self._close()
