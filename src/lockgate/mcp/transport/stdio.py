"""MCP over the standard input and output of a child process, one frame a line.

Source: 2026-07-28 and 2025-11-25, basic/transports, stdio. What ends a link is told in the order
of how much it explains: the exit of the process, then the end of its output, then of its input.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.protocol.framing import LIMIT, LineFramer, Oversized
from lockgate.mcp.protocol.jsonrpc import Invalid, Outgoing, RequestId, decode
from lockgate.mcp.transport.base import Link, Receiver
from lockgate.mcp.transport.sendqueue import SendQueue
from lockgate.mcp.transport.writer import FrameWriter
from lockgate.process.child import Child, Grace
from lockgate.process.environment import child_environment
from lockgate.process.hidden import Hidden
from lockgate.process.program import Program, expand_home
from lockgate.process.tail import LastLines

DRAIN = 0.1
"""Seconds that what a dead process has left in its pipes is still read, if they do not end before:
a grandchild that holds them must not keep us."""
SETTLE = 0.25
"""Seconds after the end of one pipe in which the process may still say, by exiting, why."""


class StdioTransport:
    """A program that speaks MCP on its standard input and output."""

    def __init__(
        self,
        endpoint: StdioEndpoint,
        *,
        peer: str,
        environ: Mapping[str, str],
        grace: Grace | None = None,
        frame_limit: int = LIMIT,
        on_stderr: Callable[[str], None] | None = None,
        hidden: Iterable[str] = (),
    ) -> None:
        """`peer` is the configured name of the server, for messages.

        `environ` is the host's environment; the child gets its safe part and what the endpoint
        sets. `frame_limit` bytes are the most that one arriving frame may have. `on_stderr` is
        told each line of the program's standard error, printable and cut. `hidden` are the values
        that nobody is to be told: they are taken out of what it writes there.
        """
        self._endpoint = endpoint
        self._peer = peer
        self._environ = environ
        self._grace = grace
        self._frame_limit = frame_limit
        self._on_stderr = on_stderr
        self._hidden = Hidden(hidden)

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        """Start the program. See `Transport.open`; leaving takes the grace periods at most."""
        return self._open(receiver)

    def describe(self) -> str:
        """The command, without its arguments."""
        return self._endpoint.command

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        tail = LastLines(self._on_stderr, hidden=self._hidden)
        link = _StdioLink(self._peer, receiver, LineFramer(self._frame_limit), tail)
        child = await Child.start(self._program(), link, self._grace)
        link.attach(child)
        try:
            yield link
        finally:
            link.leave()
            await child.close()

    def _program(self) -> Program:
        endpoint, environ = self._endpoint, self._environ
        cwd = None if endpoint.cwd is None else Path(expand_home(str(endpoint.cwd), environ))
        return Program(
            name=self._peer,
            command=expand_home(endpoint.command, environ),
            args=endpoint.args,
            env=child_environment(environ, endpoint.env),
            cwd=cwd,
        )


class _StdioLink:
    """The link, and the listener of its child."""

    def __init__(self, peer: str, receiver: Receiver, framer: LineFramer, tail: LastLines) -> None:
        self._peer = peer
        self._receiver = receiver
        self._framer = framer
        self._tail = tail
        self._queue = SendQueue()
        self._child: Child | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._writer: FrameWriter | None = None
        self._open_outputs = {1, 2}
        self._refusal: str | None = None
        """Why nothing can be sent any more; None while it can."""
        self._closed = False
        """Whether the receiver was told."""
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, child: Child) -> None:
        """The child that we listen to; it may have ended already."""
        self._child = child
        self._stdin = child.stdin
        self._writer = FrameWriter(child.stdin)
        if child.status is not None:
            self.process_exited()
        elif self._refusal is not None:
            self._finish_in(SETTLE)

    # -------------------------------------------------------------- Link

    async def send(self, message: Outgoing) -> None:
        """See `Link.send`. Waits only while more than the pipe takes is waiting to be written."""
        payload = message.payload
        if b"\n" in payload:
            raise LocalError("a frame on standard input holds a newline: it would be two")
        if self._queue.standing and self._refusal is None:
            await self._queue.wait()
        stdin, writer = self._stdin, self._writer
        if self._refusal is not None or stdin is None or writer is None or stdin.is_closing():
            raise self._error(
                f"nothing was sent: {self._refusal or 'its standard input is closed'}",
                Fate.NOT_SENT,
            )
        # In one piece: asyncio keeps what the pipe does not take, and writes it on.
        writer.write(payload)
        self._queue.advance()

    @property
    def mirrors(self) -> bool:
        """False: there is nothing beside the frames."""
        return False

    def abandon(self, request: RequestId) -> bool:
        """False: there is one stream for all requests."""
        return False

    def last_words(self) -> str:
        """The end of its standard error."""
        return self._tail.text()

    def leave(self) -> None:
        """We are about to close it; what was sent is still written."""
        if self._writer is not None:
            self._writer.flush()
        self._refuse("the connection was closed")
        self._finish(Phase.CLOSE)

    # -------------------------------------------------------------- Listener

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output of the program."""
        if fd != 1:
            self._tail.feed(data)
            return
        if self._closed:
            return
        if self._writer is not None:
            self._writer.heard()
        receiver = self._receiver
        try:
            for frame in self._framer.feed(data):
                if isinstance(frame, bytes):
                    receiver.frame(frame)
                else:
                    receiver.oversized(frame.head, frame.size, frame.limit)
        except BaseException:
            # What came after is lost, so whoever waits for it must not go on waiting.
            self._refuse("what it sent could not be taken in")
            self._finish()
            raise

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe has ended."""
        if fd == 0:
            self._refuse("it closed its standard input and goes on running")
            self._finish_in(SETTLE)
            return
        self._open_outputs.discard(fd)
        if fd == 2:
            self._tail.end()
        else:
            self._refuse("it closed its standard output and goes on running")
            self._finish_in(SETTLE)
        if self._exited and not self._open_outputs:
            self._finish()

    def pause_writing(self) -> None:
        """asyncio holds more than it should: senders wait."""
        self._queue.fill()

    def resume_writing(self) -> None:
        """It does not any more."""
        self._queue.drain()

    def process_exited(self) -> None:
        """The program has ended; it may have left something in its pipes (PB-008)."""
        child = self._child
        if child is None or self._closed:
            return
        self._refuse(f"the program ended ({child.status})", final=True)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._open_outputs:
            self._finish_in(DRAIN)
        else:
            self._finish()

    # -------------------------------------------------------------- ending

    @property
    def _exited(self) -> bool:
        return self._child is not None and self._child.status is not None

    def _refuse(self, why: str, *, final: bool = False) -> None:
        """Send nothing any more. The first reason counts, but for a `final` one."""
        if self._refusal is None or final:
            self._refusal = why
        self._queue.dissolve()

    def _finish_in(self, seconds: float) -> None:
        """Tell the receiver soon; what comes until then is still delivered.

        A link that is not open yet tells by failing to open.
        """
        if self._closed or self._child is None or self._timer is not None:
            return
        self._timer = asyncio.get_running_loop().call_later(seconds, self._finish)

    def _finish(self, phase: Phase = Phase.REQUEST) -> None:
        """Tell the receiver, once."""
        if self._timer is not None:
            self._timer.cancel()
        if self._closed:
            return
        try:
            self._deliver_rest()
        finally:
            self._tell(phase)

    def _tell(self, phase: Phase) -> None:
        self._closed = True
        text = self._refusal or "the connection was closed"
        words = self._tail.text()
        if words:
            text = f"{text}; the end of its standard error:\n{words}"
        self._receiver.closed(self._error(text, Fate.UNKNOWN, phase))

    def _deliver_rest(self) -> None:
        """The last line may lack its end. What was cut off in the middle of a message is none: it
        would be taken for an answer, and nobody knows what it was going to say (B-03)."""
        rest = self._framer.rest()
        if isinstance(rest, Oversized):
            self._receiver.oversized(rest.head, rest.size, rest.limit)
        elif rest is not None and not isinstance(decode(rest), Invalid):
            self._receiver.frame(rest)

    def _error(self, text: str, fate: Fate, phase: Phase = Phase.REQUEST) -> PeerError:
        return PeerError(text, peer=self._peer, phase=phase, fault=Fault.CLOSED, fate=fate)
