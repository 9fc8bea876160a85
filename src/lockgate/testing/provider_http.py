"""HTTP/1.1 as a scripted provider of models needs it: kept connections, bodies, streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class ProviderHeard:
    """One request."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    """By name in lower case."""
    body: Mapping[str, Any] = field(repr=False)
    """JSON, decoded."""


class HungUp(Exception):
    """The client has left, or is to be left."""


class ProviderConnection:
    """One connection, on which requests are answered one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def requests(self) -> AsyncIterator[ProviderHeard]:
        """What is asked, until the client leaves."""
        while True:
            try:
                head = await self._reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            first, *lines = head.decode("latin-1").split("\r\n")
            fields = (line.partition(":") for line in lines if line)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
            yield ProviderHeard(first.split(" ")[1], headers, json.loads(body or b"{}"))

    async def answer(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        """A whole answer in JSON."""
        data = json.dumps(body).encode()
        fields = {**headers, "content-type": "application/json", "content-length": str(len(data))}
        await self._write(_head(status, fields) + data)

    async def begin(self) -> None:
        """The head of a stream of events; `piece` and `end` follow."""
        fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        await self._write(_head(200, fields))

    async def piece(self, data: bytes) -> None:
        """A part of the stream."""
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """The proper end of the stream."""
        await self._write(b"0\r\n\r\n")

    async def held(self) -> None:
        """Wait until the client hangs up. Raises `HungUp`."""
        await self._reader.read(1)
        raise HungUp

    def cut(self) -> None:
        """Reset the connection. Raises `HungUp`."""
        self._writer.transport.abort()
        raise HungUp

    async def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise HungUp from None


Answering: TypeAlias = Callable[[ProviderConnection, ProviderHeard], Awaitable[None]]
"""Answers one request."""


async def serve(
    answering: Answering, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer what comes on a connection, until one side leaves."""
    connection = ProviderConnection(reader, writer)
    try:
        async for heard in connection.requests():
            await answering(connection, heard)
    except (HungUp, ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def _head(status: int, fields: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1")
