"""One request that a scripted HTTP server heard, and the connection that it is answered on."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeAlias

from lockgate.testing.scripted_server import decoded
from lockgate.testing.steps import Message

JSON, EVENTS = "application/json", "text/event-stream"


@dataclass(frozen=True, slots=True)
class HttpHeard:
    """One request."""

    method: str
    target: str
    """Path and query, as they stood in the first line."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name in lower case."""
    body: bytes = b""
    connection: int = 0
    """The number of the connection that it came on, from 1."""

    @property
    def message(self) -> Message:
        """The body as a message; an empty one if it is none."""
        return decoded(self.body) or {}


class Gone(Exception):
    """The connection is not to be used any more."""


class HttpExchange:
    """One request and the connection that it is answered on: what a fault is given."""

    def __init__(
        self,
        heard: HttpHeard,
        writer: asyncio.StreamWriter,
        by_script: Callable[[HttpExchange], Awaitable[None]],
    ) -> None:
        """`by_script` answers it as the script says."""
        self.heard = heard
        self._by_script = by_script
        self._writer = writer
        self._chunked = False

    async def write(self, data: bytes) -> None:
        """These bytes, as they are."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise Gone from None

    async def answer(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        fields = {"content-length": str(len(body)), **(headers or {})}
        await self.write(head(status, fields) + body)

    async def event(self, data: bytes, *, headers: Mapping[str, str] | None = None) -> None:
        """One event of a stream, whose head goes before the first one; lines as they are."""
        if not self._chunked:
            self._chunked = True
            fields = {"content-type": EVENTS, "transfer-encoding": "chunked", **(headers or {})}
            await self.write(head(200, fields))
        if data:
            await self.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """The end of a stream."""
        await self.event(b"")
        await self.write(b"0\r\n\r\n")

    def reset(self) -> None:
        """End the connection at once, so that the client sees it reset."""
        sock = self._writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        raise Gone

    def hang_up(self) -> None:
        """End the connection after what was written."""
        raise Gone

    async def as_scripted(self) -> None:
        """What the script says."""
        await self._by_script(self)

    async def silence(self) -> None:
        """Nothing more, until the client hangs up."""
        await asyncio.Event().wait()


def head(status: int, fields: Mapping[str, str]) -> bytes:
    """A status line and headers."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "surrogateescape")


Action: TypeAlias = Callable[[HttpExchange], Awaitable[None]]
"""Answers one request in place of the script. Raising `Gone` ends the connection."""


async def read_request(reader: asyncio.StreamReader, begun: bytes, connection: int) -> HttpHeard:
    """The next request of a connection, of which `begun` was read already."""
    first, *lines = (begun + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    fields = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(fields.get("content-length", "0")))
    return HttpHeard(method, target, fields, body, connection)
