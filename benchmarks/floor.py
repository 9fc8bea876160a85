"""The least code that makes a tool call over pipes: asyncio, msgspec, and futures by id.

It checks nothing, bounds nothing, cancels nothing, decides nothing and records nothing. A governed
call is compared with it, because no client can cost less.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import cast

import msgspec

META = msgspec.Raw(
    b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"},'
    b'"io.modelcontextprotocol/clientCapabilities":{}}'
)
"""What the modern era wants in every request; encoded once."""


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
    """The result of `tools/call`."""

    content: list[Block]


class Response(msgspec.Struct):
    """A response."""

    id: int
    result: Result | None = None


class Pipes(asyncio.SubprocessProtocol):
    """Both ends of the child's pipes."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[Result | None]] = {}
        self._decode = msgspec.json.Decoder(Response).decode
        self._rest = b""
        self.ended = asyncio.Event()

    def process_exited(self) -> None:
        """The server is gone and reaped."""
        self.ended.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what arrived and answer whoever waits for it."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answer = self._decode(line)
            self.waiting.pop(answer.id).set_result(answer.result)


class Floor:
    """A connection by hand. Make it with `open`, end it with `close`."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: Pipes, meta: bool) -> None:
        self._transport = transport
        self._write = cast(asyncio.WriteTransport, transport.get_pipe_transport(0)).write
        self._pipes = pipes
        self._encode = msgspec.json.Encoder().encode
        self._ids = itertools.count(2)
        self._meta = META if meta else None
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, server: Sequence[str], *, modern: bool) -> Floor:
        """Start the server. The echo server needs no handshake."""
        loop = asyncio.get_running_loop()
        transport, pipes = await loop.subprocess_exec(Pipes, *server, stderr=None)
        return cls(transport, pipes, modern)

    async def call(self, name: str, arguments: dict[str, str]) -> Result | None:
        """Make one call."""
        request = Request(next(self._ids), "tools/call", Params(name, arguments, self._meta))
        future: asyncio.Future[Result | None] = self._loop.create_future()
        self._pipes.waiting[request.id] = future
        self._write(self._encode(request) + b"\n")
        return await future

    async def close(self) -> None:
        """End the server and wait for it."""
        self._transport.close()
        await self._pipes.ended.wait()
