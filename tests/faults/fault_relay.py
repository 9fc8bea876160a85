"""A wire to a scripted server that breaks where it is told to: between a client and its server.

It stands on a loopback port, hands HTTP on, and knows where each request and each answer begins
and ends. What it is armed with hits the next requests of one method; the server behind it is
honest, and its ledger says what ran.
"""

from __future__ import annotations

import asyncio
import enum
import re
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from lockgate.testing.turns import turns

CALL = "tools/call"
OTHER = b"/elsewhere"
"""The path that its redirects name; what comes there goes where it was meant to go."""
PEEK = 80
"""Bytes of a body that say what it is about."""


class How(enum.Enum):
    """How a connection ends, or does not."""

    RESET = "reset"
    CLOSE = "closed"
    HALF = "half-closed"
    """The wire says no more, and still listens."""
    STALL = "stall"
    STAY = "stays"


class Where(enum.Enum):
    """How far things come before that."""

    REQUEST = "in the request"
    TAKEN = "before it runs"
    """The whole request was taken, and the server gets nothing of it."""
    RAN = "after it ran"
    """The server has run it, and the client gets nothing of the answer."""
    HEAD = "in the head"
    BODY = "in the body"
    TAIL = "in the tail"
    """The message is whole, what carries it is not."""
    WHOLE = "after the answer"


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to one request and its answer."""

    where: Where
    how: How = How.STAY
    at: float = 0.5
    """Where in that part, from 0 to 1."""
    said: bytes | None = None
    """Whole bytes of an answer in place of what was cut off."""
    body: bytes | None = None
    """The body of the answer, or the data of an event, in place of the server's."""
    shortened: bool = False
    """Whether the message ends too early, behind what says whom it answers; what carries it is
    whole."""
    behind: bytes = b""
    """Said after the answer."""
    restarts: bool = False
    """Whether the server is another one then."""

    @property
    def posted(self) -> bool:
        """Of an exchange whose answer comes on a stream of its own: whether its POST is hit."""
        return self.said is not None or self.where in (Where.REQUEST, Where.TAKEN, Where.HEAD)


class _Over(Exception):
    """The connection is not to be used any more."""


@dataclass(frozen=True, slots=True)
class _Side:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def end(self, how: How) -> None:
        """Let it end like that. Raises `_Over` unless it stays."""
        if how is How.STAY:
            return
        if how is How.RESET:
            self.reset()
        elif how is How.HALF:
            self.writer.write_eof()
        if how in (How.HALF, How.STALL):
            await self.reader.read()  # until the client hangs up
        raise _Over

    def reset(self) -> None:
        sock = self.writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Relay:
    """Use it in an `async with`; `port` is where the client goes."""

    def __init__(self, upstream: int, *, streams: bool, restart: Callable[[], None]) -> None:
        """`upstream` is the port of the server. `streams`: answers come on a stream that a GET
        opened. `restart` makes the server forget what it knew."""
        self.port = 0
        self._upstream = upstream
        self._streams = streams
        self._restart = restart
        self._plans: list[Plan] = []
        self._method = b""
        self._on_stream: tuple[bytes, Plan] | None = None
        """What happens on a stream to the answer in which this stands."""
        self._gate = asyncio.Event()
        """Cleared while streams are held up."""
        self._gate.set()
        self._door: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], _Side] = {}
        self._target = b""
        """Where the client posts."""

    # -------------------------------------------------------------- for tests

    def arm(self, plans: Sequence[Plan], *, method: str = CALL) -> None:
        """Have these happen to the next requests of that method, one each."""
        self._plans = list(plans)
        self._method = f'"{method}"'.encode()

    def shut(self) -> None:
        """Accept nothing any more, and end what there is."""
        if self._door is not None:
            self._door.close()
            self._door = None
        self.drop()

    def drop(self) -> None:
        """Reset every connection."""
        for side in tuple(self._open.values()):
            side.reset()

    async def heal(self) -> None:
        """From now on all is well."""
        self._plans = []
        self._on_stream = None
        self._gate.set()
        if self._door is None:
            self._door = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = int(self._door.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        await self.heal()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shut()
        tasks = tuple(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await turns(20)  # the server sees that nobody is there any more

    # -------------------------------------------------------------- handing on

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        client = _Side(reader, writer)
        self._open[task] = client
        server: _Side | None = None
        try:
            server = _Side(*await asyncio.open_connection("127.0.0.1", self._upstream))
            rest = b""
            while True:
                rest = await self._exchange(client, server, rest)
        except (ConnectionError, asyncio.IncompleteReadError, _Over):
            pass
        finally:
            del self._open[task]
            for side in (client, server):
                if side is not None:
                    side.writer.close()

    async def _exchange(self, client: _Side, server: _Side, begun: bytes) -> bytes:
        """One request and its answer; what came of the next request."""
        head = begun + await client.reader.readuntil(b"\r\n\r\n")
        head = self._meant(head)
        size = _length(head)
        data = head + await client.reader.readexactly(min(size, PEEK))
        whole = len(head) + size
        plan: Plan | None = None
        if head.startswith(b"POST ") and self._method in data:
            self._gate.set()
            plan = self._plans.pop(0) if self._plans else None
        if plan is not None and plan.where is Where.REQUEST:
            cut = 1 + int(plan.at * (whole - 2))
            data += await client.reader.readexactly(max(0, cut - len(data)))
            await server.write(data[:cut])
            await client.end(plan.how)
        data += await client.reader.readexactly(whole - len(data))
        if plan is None or (self._streams and not plan.posted):
            if plan is not None:
                self._on_stream = _answer_to(data), plan
            await server.write(data)
            return await self._watched(client, server, stream=head.startswith(b"GET "))
        await self._broken(client, server, data, plan)
        return b""

    def _meant(self, head: bytes) -> bytes:
        """A head as it was meant before a redirect."""
        method, target, rest = head.split(b" ", 2)
        if method == b"POST":
            if target == OTHER:
                return b" ".join((method, self._target, rest))
            self._target = target
        return head

    async def _watched(self, client: _Side, server: _Side, *, stream: bool) -> bytes:
        """Hand an answer on until it ends or the client hangs up."""
        handing = asyncio.ensure_future(self._hand_on(client, server, stream=stream))
        watching = asyncio.ensure_future(client.reader.read(1))
        try:
            await asyncio.wait((handing, watching), return_when=asyncio.FIRST_COMPLETED)
            if not handing.done():
                if not watching.result():
                    raise _Over
                await asyncio.wait((handing,))
            handing.result()
            return watching.result() if watching.done() else b""
        finally:
            handing.cancel()
            watching.cancel()
            await asyncio.gather(handing, watching, return_exceptions=True)

    async def _hand_on(self, client: _Side, server: _Side, *, stream: bool) -> None:
        head = await server.reader.readuntil(b"\r\n\r\n")
        await client.write(head)
        if b"chunked" not in head:
            await client.write(await server.reader.readexactly(_length(head)))
            return
        while True:
            chunk = await _chunk(server.reader)
            if stream:
                await self._gate.wait()
                if self._on_stream is not None and self._on_stream[0] in chunk:
                    plan, self._on_stream = self._on_stream[1], None
                    chunk = await self._broken_event(client, chunk, plan)
            await client.write(chunk)
            if chunk == b"0\r\n\r\n":
                return

    # -------------------------------------------------------------- breaking

    async def _broken(self, client: _Side, server: _Side, data: bytes, plan: Plan) -> None:
        """One exchange that goes wrong after the request was taken."""
        if plan.where is Where.TAKEN:
            await client.write(plan.said or b"")
            await client.end(plan.how)
            return
        if self._streams:
            # The answer does not come another way.
            self._on_stream = _answer_to(data), Plan(Where.RAN, said=b"")
        await server.write(data)
        head = await server.reader.readuntil(b"\r\n\r\n")
        body = await _body(server.reader, head)
        if plan.restarts:
            self._restart()
        instead = _instead(body, plan)
        if instead is not None:
            body = _in_place(head, instead)
            head = _resized(head, len(body))
        if plan.said is not None:
            shown = plan.said
        else:
            shown = (head + body)[: _cut(head, body, plan)] + plan.behind
        await client.write(shown)
        await client.end(plan.how)

    async def _broken_event(self, client: _Side, chunk: bytes, plan: Plan) -> bytes:
        """One event that goes wrong; what is left of it to be handed on."""
        if plan.restarts:
            self._restart()
            raise _Over
        if plan.said is not None:
            return plan.said
        instead = _instead(chunk, plan)
        if instead is not None:
            data = b"data: " + instead + b"\n\n"
            chunk = b"%x\r\n%b\r\n" % (len(data), data)
        cut = _cut(b"", chunk, plan)
        await client.write(chunk[:cut])
        if plan.how is How.HALF:
            client.writer.write_eof()
            await asyncio.Event().wait()  # until the client hangs up
        if plan.how is not How.STALL:
            await client.end(plan.how)
            return chunk[cut:]
        self._gate.clear()
        await self._gate.wait()
        return chunk[cut:]


def _answer_to(request: bytes) -> bytes:
    """How the answer to a request begins."""
    found = re.search(rb'"id":(\d+)', request)
    return b'"id":%b,"result"' % (found[1] if found else b"")


def _instead(body: bytes, plan: Plan) -> bytes | None:
    """What takes the place of the message in a body; None if nothing does."""
    found = re.search(rb'\{"jsonrpc".*\}', body)
    if not plan.shortened or found is None:
        return plan.body
    message = found[0]
    least = message.index(b'"result":') + len(b'"result":{')
    return message[: _between(least, len(message) - 1, plan.at)]


def _cut(head: bytes, body: bytes, plan: Plan) -> int:
    """How many bytes of an answer come before it goes wrong."""
    if plan.where is Where.RAN:
        return 0
    if plan.where is Where.HEAD:
        return _between(1, len(head) - 1, plan.at)
    end = len(head) + len(body)
    if plan.where is Where.WHOLE:
        return end
    found = body.find(b"\n\n", max(body.find(b"data:"), 0))
    message = end if found < 0 else len(head) + found + 2
    if plan.where is Where.BODY:
        return _between(len(head) + (not head), message - 1, plan.at)
    return _between(message, end - 1, plan.at)


def _between(first: int, last: int, at: float) -> int:
    return first + round(at * max(0, last - first))


def _length(head: bytes) -> int:
    found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else 0


def _resized(head: bytes, size: int) -> bytes:
    return re.sub(rb"content-length: *\d+", b"content-length: %d" % size, head)


def _in_place(head: bytes, body: bytes) -> bytes:
    """A body of the same form with this in it."""
    if b"chunked" not in head:
        return body
    data = b"data: " + body + b"\n\n"
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    line = await reader.readuntil(b"\r\n")
    return line + await reader.readexactly(int(line, 16) + 2)


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    if b"chunked" not in head:
        return await reader.readexactly(_length(head))
    body = b""
    while not body.endswith(b"0\r\n\r\n"):
        body += await _chunk(reader)
    return body
