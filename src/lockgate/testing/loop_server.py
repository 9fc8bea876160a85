"""A scripted server in the caller's event loop, over the memory transport or any stream of frames.

What is only about bytes and processes does nothing here: pieces, line ends, standard error,
grandchildren, signals. Bytes that are not a frame are handed over line by line, as on a pipe.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from lockgate.errors import PeerError
from lockgate.mcp.transport.memory import MemoryTransport
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.scripted_server import Conversation, decoded
from lockgate.testing.steps import Do, JsonObject, Message, Step, encoded

if TYPE_CHECKING:  # it exists for the type checker alone, see there
    from lockgate.testing.scripted_server import Effect

PATIENCE = 5.0
"""Seconds after which what was not heard is not waited for any longer."""


class Peer(Protocol):
    """A server's end of a connection, whatever carries it."""

    async def receive(self) -> bytes | None:
        """The next frame of the client; None when it has hung up."""
        ...

    async def send(self, frame: bytes) -> None:
        """Hand a frame to the client; `PeerError` or `ConnectionError` when it has hung up."""
        ...


class LoopServer:
    """Serves a script, keeps what it hears, and does what a test tells it meanwhile.

    server = LoopServer(ScriptedServer(revisions=LEGACY)).on("slow")
    session = await connect(server.transport(), ...)
    call = asyncio.create_task(session.connection.request("slow"))
    asked = await server.hears("slow")
    await server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {}})
    """

    def __init__(self, script: ScriptedServer, *, patience: float = PATIENCE) -> None:
        """The script begins anew with each connection. `patience`: seconds that `hears` waits
        before it says what was heard instead."""
        self.name = script.name
        self.received: list[Message] = []
        """Everything it heard, on every connection, in order."""
        self.connections = 0
        """How often it was started."""
        self._patience = patience
        self._script = script.script()
        self._news = asyncio.Condition()
        self._newest: _Connection | None = None

    def on(
        self,
        method: str,
        *steps: Step,
        tool: str | None = None,
        nth: int | None = None,
        every: int = 1,
    ) -> LoopServer:
        """From now on this rule comes before all others; see `When`. Returns the server."""
        rule = When(method, *steps, tool=tool, nth=nth, every=every)
        self._script["rules"].insert(0, rule.encoded())
        return self

    def transport(self, *, peer: str | None = None, **options: Any) -> MemoryTransport:
        """How a client reaches it over memory; `options` are those of `MemoryTransport`."""
        return MemoryTransport(self.serve, peer=peer or self.name, **options)

    async def serve(self, peer: Peer) -> None:
        """Serve one connection, whatever carries it, until one side hangs up."""
        self.connections += 1
        self._newest = connection = _Connection(self._script, peer, self.received, self._news)
        await connection.run()

    async def say(self, message: JsonObject | bytes) -> None:
        """Send a frame on the newest connection: bytes as they are, anything else as JSON.

        Raises `PeerError` when the client has hung up, RuntimeError before there was one.
        """
        frame = message if isinstance(message, bytes) else json.dumps(message).encode()
        await self._connection.peer.send(frame)

    def hang_up(self) -> None:
        """End the newest connection, in the middle of whatever is going on."""
        self._connection.hang_up.set()

    @property
    def _connection(self) -> _Connection:
        if self._newest is None:
            raise RuntimeError("nobody has connected")
        return self._newest

    def heard(self, method: str) -> list[Message]:
        """The messages with that method so far."""
        return [message for message in self.received if message.get("method") == method]

    def answered(self, identity: int | str) -> list[Message]:
        """The answers of the client to requests of ours with that id so far."""
        return [m for m in self.received if "method" not in m and m.get("id") == identity]

    async def hears(self, method: str, count: int = 1) -> Message:
        """Wait until `method` was heard `count` times, and return the last of these.

        Raises AssertionError when its patience is over, with what was heard.
        """
        return await self._wait(lambda: self.heard(method), count, method)

    async def hears_answer(self, identity: int | str) -> Message:
        """Wait for the client's answer to a request of ours; the same bound."""
        return await self._wait(lambda: self.answered(identity), 1, f"the answer to {identity!r}")

    async def _wait(self, look: Callable[[], list[Message]], count: int, what: str) -> Message:
        try:
            async with asyncio.timeout(self._patience), self._news:
                await self._news.wait_for(lambda: len(look()) >= count)
        except TimeoutError:
            heard = [message.get("method", "an answer") for message in self.received]
            raise AssertionError(f"{what} was not heard {count} times, but {heard}") from None
        return look()[count - 1]


class _HungUp(Exception):
    """The connection ends: the script wants it, or a test, or the client is gone."""


class _Connection:
    """Does the effects of one conversation, side by side where they take time."""

    def __init__(
        self, script: dict[str, Any], peer: Peer, received: list[Message], news: asyncio.Condition
    ) -> None:
        """What is heard goes to `received`, and whoever waits on `news` is told."""
        self.peer = peer
        self.hang_up = asyncio.Event()
        self._talk = Conversation(script)
        self._received = received
        self._news = news
        self._strands = asyncio.TaskGroup()
        self._writing = asyncio.Lock()
        self._unfinished = b""
        self._deaf = False
        self._rate: float = script["read_rate"]

    async def run(self) -> None:
        """Until the client hangs up, or this side does."""
        try:
            async with self._strands:
                self._strands.create_task(self._end_when_told())
                await self._advance(self._talk.opening())
                while (frame := await self._receive()) is not None:
                    await self._take(frame)
                await self._advance(self._talk.ending())
        except* _HungUp:
            pass
        finally:
            self._talk.ledger.close()

    async def _end_when_told(self) -> None:
        await self.hang_up.wait()
        raise _HungUp

    async def _receive(self) -> bytes | None:
        if self._deaf:
            await asyncio.Event().wait()
        frame = await self.peer.receive()
        if self._rate and frame is not None:
            await asyncio.sleep(len(frame) / self._rate)
        return frame

    async def _take(self, frame: bytes) -> None:
        message = decoded(frame)
        if message is not None:
            self._received.append(message)
        strand = self._talk.received(message, len(frame))
        async with self._news:
            self._news.notify_all()
        if strand is not None:
            await self._advance(strand)

    async def _advance(self, strand: Iterator[Effect]) -> None:
        """Go on with a strand; where it has to wait, it goes on beside what is read next."""
        for effect in strand:
            if effect[0] in ("sleep", "reply", "do"):
                self._strands.create_task(self._resume(effect, strand))
                return
            await self._perform(*effect)

    async def _resume(self, effect: Effect, strand: Iterator[Effect]) -> None:
        kind, value, *about = effect
        if kind == "sleep":
            await asyncio.sleep(value)
        elif kind == "reply":
            async with self._news:
                await self._news.wait_for(lambda: value in self._talk.replies)
        else:
            strand = chain(await self._act(value, about[0]), strand)
        await self._advance(strand)

    async def _act(self, step: Do, message: Message | None) -> Iterator[Effect]:
        """What a function wants done."""
        try:
            wanted = await step.action(message or {})
        except (PeerError, ConnectionError):
            raise _HungUp from None
        steps = wanted if isinstance(wanted, tuple) else () if wanted is None else (wanted,)
        return self._talk.steps([encoded(each) for each in steps], message)

    async def _perform(self, kind: str, *values: Any) -> None:
        if kind == "write":
            await self._write(values[0])
        elif kind in ("exit", "kill") or (kind, *values) == ("close", 1):
            raise _HungUp
        elif kind in ("deaf", "close"):
            self._deaf = True

    async def _write(self, data: bytes) -> None:
        async with self._writing:
            *lines, self._unfinished = (self._unfinished + data).split(b"\n")
            for line in lines:
                frame = line.removesuffix(b"\r")
                if not frame.strip():
                    continue
                try:
                    await self.peer.send(frame)
                except (PeerError, ConnectionError):
                    raise _HungUp from None
