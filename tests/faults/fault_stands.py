"""Servers that a case can be made to fail with, one class for each kind of way to them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from fault_points import OUTSIDE, PIPE, planned
from fault_relay import Relay
from lockgate.mcp.endpoint import Endpoint, HttpEndpoint, SseEndpoint, StdioEndpoint
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.process.child import Grace
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Deaf
from lockgate.testing.turns import turns

WAYS = (
    *("stdio", "memory", "sse"),
    *("http json legacy", "http json modern", "http events legacy", "http events modern"),
)
KINDS = ("read", "set", "add", "wipe")
"""Tools: READ_ONLY, IDEMPOTENT, and two that are not, the last of them DESTRUCTIVE."""
ONCE = frozenset({"add", "wipe"})
"""Those that never run twice."""
FINE, DEAFEN = "fine", "deafen"
"""Tools that nothing happens to; the second has its server read nothing any more."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call and what goes wrong with it."""

    way: str
    points: tuple[str, ...]
    """What happens to its first try, to its second, and so on."""
    tool: str
    at: float = 0.5
    """The place in the part that is hit, from 0 to 1."""
    size: int = 0
    """Characters of an argument, for requests that are written in more than one piece."""

    def __str__(self) -> str:
        return "/".join(
            (self.way, "+".join(self.points), self.tool, f"{self.at:.4f}", f"{self.size}")
        )

    @classmethod
    def parse(cls, text: str) -> Case:
        """A case as it is printed. Raises `ValueError`."""
        way, points, kind, at, size = text.split("/")
        return cls(way, tuple(points.split("+")), kind, float(at), int(size))


class Stand(Protocol):
    """A server of one case, with what can be done to it."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it is said to be."""
        ...

    def transport(self, name: str) -> Transport:
        """How it is reached."""
        ...

    @property
    def deafens(self) -> bool:
        """Whether its tool `DEAFEN` is to be called first."""
        ...

    async def begin(self) -> None:
        """Let what the case says happen to what comes next."""
        ...

    async def meanwhile(self) -> None:
        """The call is under way."""
        ...

    async def heal(self) -> None:
        """Let nothing happen any more."""
        ...

    def ran(self) -> int:
        """How often the tool of the case was run."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def _script(case: Case, ledger: Path, revisions: Sequence[str], *rules: When) -> ScriptedServer:
    return ScriptedServer(
        tools=tuple(tool(name) for name in (*KINDS, FINE, DEAFEN)),
        rules=rules,
        revisions=tuple(revisions),
        ledger=ledger,
        heeds_cancel=False,  # it takes the ids of all connections for one
    )


class _Recorded:
    """What the server wrote down."""

    def __init__(self, case: Case, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.case = case
        self.ledger = ServerLedger(directory / "ledger")
        self._stack = AsyncExitStack()

    def ran(self) -> int:
        return self.ledger.called.count(self.case.tool)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()


class WireStand(_Recorded):
    """A server over HTTP behind a wire."""

    deafens = False

    def __init__(self, case: Case, directory: Path, *rules: When) -> None:
        super().__init__(case, directory)
        legacy = "modern" not in case.way
        script = _script(case, directory / "ledger", LEGACY if legacy else MODERN, *rules)
        self._server: HttpServer
        if case.way == "sse":
            self._server = SseServer(script)
        else:
            self._server = HttpServer(script, stream="events" in case.way, sessions=legacy)
        self._relay: Relay | None = None

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._server)
        relay = Relay(self._server.port, streams=self.case.way == "sse", restart=self._restart)
        self._relay = await self._stack.enter_async_context(relay)
        return self

    @property
    def relay(self) -> Relay:
        if self._relay is None:
            raise RuntimeError("the stand is not open")
        return self._relay

    @property
    def endpoint(self) -> HttpEndpoint:
        if self.case.way == "sse":
            return SseEndpoint(f"http://127.0.0.1:{self.relay.port}/sse")
        return HttpEndpoint(f"http://127.0.0.1:{self.relay.port}/mcp")

    def transport(self, name: str) -> Transport:
        endpoint = self.endpoint
        if isinstance(endpoint, SseEndpoint):
            return LegacySseTransport(endpoint, peer=name, environ={})
        return StreamableHttpTransport(endpoint, peer=name, environ={})

    async def begin(self) -> None:
        match self.case.points[0]:
            case "refused":
                self.relay.shut()
                await turns(30)
            case "restart before":
                self._restart()
                await turns(30)
            case _:
                self.relay.arm([planned(point, self.case.at) for point in self.case.points])

    async def meanwhile(self) -> None:
        """All is prepared."""

    async def heal(self) -> None:
        await self.relay.heal()

    def _restart(self) -> None:
        self._server.sessions.clear()
        self.relay.drop()


class _PipeStand(_Recorded):
    """A server that reads frames, from a pipe or a queue."""

    revisions: Sequence[str] = LEGACY
    rules: Sequence[When] = ()
    """What it does besides."""

    def script(self) -> ScriptedServer:
        case = self.case
        rules = [When("tools/call", Answer(), Deaf(), tool=DEAFEN)]
        for point in case.points:
            if point not in OUTSIDE:
                # A rule that has had its message counts no more, and the next one has its first.
                steps = PIPE[point](case.at)
                rules.append(When("tools/call", *steps, tool=case.tool, nth=1))
        return _script(case, self.ledger.path, self.revisions, *rules, *self.rules)

    @property
    def deafens(self) -> bool:
        return self.case.points[0] in (
            *("killed before it reads", "killed in the request", "stall before it runs"),
        )

    async def heal(self) -> None:
        """Nothing happens to the tool that is called then."""


class ProcessStand(_PipeStand):
    """A server that is a process."""

    revisions = MODERN

    async def __aenter__(self) -> Self:
        return self

    @property
    def endpoint(self) -> StdioEndpoint:
        return self.script().endpoint(file=self.ledger.path.with_name("script"))

    def transport(self, name: str) -> Transport:
        return StdioTransport(
            self.endpoint, peer=name, environ=dict(os.environ), grace=Grace(0.3, 0.3)
        )

    async def begin(self) -> None:
        if self.case.points[0] == "gone before":
            self._kill()

    async def meanwhile(self) -> None:
        if self.case.points[0] in ("killed before it reads", "killed in the request"):
            await turns(30)
            self._kill()

    def _kill(self) -> None:
        os.kill(self.ledger.entries("start")[-1].pid, 9)


class MemoryStand(_PipeStand):
    """A server in this event loop."""

    def __init__(self, case: Case, directory: Path) -> None:
        super().__init__(case, directory)
        self._server = LoopServer(self.script())

    async def __aenter__(self) -> Self:
        return self

    @property
    def endpoint(self) -> StdioEndpoint:
        return StdioEndpoint("in-this-process")

    def transport(self, name: str) -> Transport:
        return self._server.transport(peer=name, grace=0.3)

    async def begin(self) -> None:
        if self.case.points[0] == "gone before":
            self._server.hang_up()

    async def meanwhile(self) -> None:
        if self.case.points[0] == "killed before it reads":
            await turns(30)
            self._server.hang_up()


def stand_for(case: Case, directory: Path) -> WireStand | ProcessStand | MemoryStand:
    """A server for a case, with a directory of its own."""
    if case.way == "stdio":
        return ProcessStand(case, directory)
    return MemoryStand(case, directory) if case.way == "memory" else WireStand(case, directory)
