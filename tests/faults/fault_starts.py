"""Servers that fail while they are being agreed with, or while their tools are listed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from fault_cases import until_asked
from fault_points import planned
from fault_stands import FINE, Case, WireStand
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.road import Road
from lockgate.traits import SideEffectLevel

PATIENCE = 3.0
"""Seconds of one request."""
BOUND = 8.0
"""Seconds for all servers of a run."""
LATE = 6.0
"""Seconds over that on a machine with much to do."""
OFTEN = 6
"""How many requests of that method are hit: all there are, with whatever is tried again."""


async def start(way: str, method: str, points: Sequence[str], directory: Path) -> list[str]:
    """Start one server for each point, which hits its requests of that method.

    What is not as it has to be: each is there or has failed within the bound, and when all is well
    again each is there once it is asked for, and answers; nothing is left behind.
    """
    before = Belongings.now()
    wrong: list[str] = []
    async with AsyncExitStack() as stack:
        stands: dict[str, WireStand] = {}
        for number, point in enumerate(points):
            stand = WireStand(Case(way, (point,), FINE), directory / f"{number}")
            stands[f"s{number}"] = await stack.enter_async_context(stand)
            stand.relay.arm([planned(point, 0.5)] * OFTEN, method=method)
        road = stack.enter_context(Road(directory))
        verdicts = {FINE: Verdict(SideEffectLevel.READ_ONLY)}
        manager = Manager(
            [
                ServerSettings(name, stand.endpoint, request_timeout=PATIENCE, verdicts=verdicts)
                for name, stand in stands.items()
            ],
            connect=lambda one: stands[one.name].transport(one.name),
            bound=BOUND,
            probe_patience=0.5,
            pause=until_asked,
        )
        stack.push_async_callback(manager.close)
        async with asyncio.timeout(BOUND + LATE):
            await manager.start(road.registry)
        for status in manager.statuses:
            if status.state not in (ServerState.READY, ServerState.FAILED):
                wrong.append(
                    f"{points[int(status.name[1:])]}: {status.state.value} after its start"
                )
        for stand in stands.values():
            await stand.heal()
        await manager.reconnect()
        for name, stand in stands.items():
            result = await road.invoke(road.call(f"mcp__{name}__{FINE}"))
            if result.is_error or stand.ran() != 1:
                told = f"ran {stand.ran()} times: {result.text:.200}"
                wrong.append(f"{stand.case.points[0]}: does not come back, {told}")
    wrong += [f"left behind: {left}" for left in await left_since(before)]
    return wrong
