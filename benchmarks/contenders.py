"""Who is compared, and how each is opened: the floors, and lockgate with its whole road.

Each is a context that connects to some servers, knows their tools, and gives a call of the first
one's `echo`, which returns the answer's text. The rivals are in `rivals.py`.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from echo import Era, Server

if TYPE_CHECKING:  # imported late, by the contender that it belongs to
    from floor import Way
    from lockgate.rules.rule import RuleSet

Call: TypeAlias = Callable[[], Awaitable[str]]
Open: TypeAlias = Callable[[Sequence[Server], Era], AbstractAsyncContextManager[Call]]

TOOL = "echo"
ARGUMENTS = {"text": "hello"}
PATIENCE = 120.0
"""Seconds that one call may take: 32 MB is a long way for some."""
RULES = 50
"""The rules that lockgate has to look at beside the one that speaks."""


@asynccontextmanager
async def floor(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """asyncio and msgspec by hand."""
    from floor import ByHand, Pipes

    async def way(server: Server) -> Way:
        if isinstance(server, str):
            return ByHand(server, modern=era == "modern")
        return await Pipes.open(server)

    async with _by_hand(servers, era, way) as call:
        yield call


@asynccontextmanager
async def bare_aiohttp(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """aiohttp as it comes, and msgspec."""
    from floor import ByAiohttp

    async def way(server: Server) -> Way:
        return ByAiohttp(str(server), modern=era == "modern")

    async with _by_hand(servers, era, way) as call:
        yield call


@asynccontextmanager
async def _by_hand(
    servers: Sequence[Server], era: Era, way: Callable[[Server], Awaitable[Way]]
) -> AsyncGenerator[Call]:
    from floor import Floor

    async def client(server: Server) -> Floor:
        made = Floor(await way(server), modern=era == "modern")
        await made.hello()
        return made

    clients = await asyncio.gather(*map(client, servers))
    first = clients[0].call
    try:
        yield lambda: first(TOOL, ARGUMENTS)
    finally:
        await asyncio.gather(*(client.close() for client in clients))


@cache
def _rules(allowed: str) -> RuleSet:
    """The rules of lockgate's configuration. Read once: starting servers does not include it."""
    from lockgate.decision import Decision
    from lockgate.rules.parse import parse_rule
    from lockgate.rules.rule import RuleSet

    rules = [parse_rule(f"mcp__echo-0__other_{number}", Decision.DENY) for number in range(RULES)]
    return RuleSet((*rules, parse_rule(allowed, Decision.ALLOW)))


@asynccontextmanager
async def governed(servers: Sequence[Server], era: Era) -> AsyncGenerator[Call]:
    """lockgate's whole road: rules, ceiling, schema, gate, lanes, records on disk.

    Which era a server speaks it finds out by itself.
    """
    import lockgate
    from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint, StdioEndpoint
    from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings, Verdict
    from lockgate.traits import ConcurrencyBehavior

    def settings(number: int, server: Server) -> ServerSettings:
        if isinstance(server, str):
            endpoint = (SseEndpoint if server.endswith("/sse") else HttpEndpoint)(server)
        else:
            endpoint = StdioEndpoint(server[0], tuple(server[1:]))
        return ServerSettings(
            name=f"echo-{number}",
            endpoint=endpoint,
            request_timeout=PATIENCE,
            annotation_trust=AnnotationTrust.TRUST,
            verdicts={TOOL: Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)},
            required=True,
        )

    name = f"mcp__echo-0__{TOOL}"
    with tempfile.TemporaryDirectory() as state:
        config = lockgate.Config(
            servers=tuple(settings(number, server) for number, server in enumerate(servers)),
            rules=_rules(name),
            state_dir=Path(state),
            project_dir=Path(state),
        )
        async with lockgate.open(config) as gate:

            async def call() -> str:
                result = await gate.call(name, ARGUMENTS)
                if isinstance(result, lockgate.Suspended) or result.is_error:
                    raise SystemExit(f"lockgate was not answered as expected: {str(result)[:500]}")
                block = result.content[0]
                return block.text if isinstance(block, lockgate.Text) else ""

            yield call


OURS: Mapping[str, Open] = {
    "floor": floor,
    "bare aiohttp": bare_aiohttp,
    "lockgate": governed,
}
"""By the name that is printed."""
