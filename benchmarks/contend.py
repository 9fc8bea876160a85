"""The program of one contender: open it, and measure a round whenever it is told to.

    python benchmarks/contend.py '{"name": ..., "part": ..., "servers": [...], ...}'

`client.py` starts it, with the interpreter that has the contender.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from contenders import OURS, Call, Open
from contest import Figures, cpu_seconds, make_calls, memory, take_turns
from echo import Era, Server, connections
from rivals import RIVALS

FLEET = 100
"""Calls in flight in the second half of a round of calls."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a contender is to measure."""

    name: str
    part: Literal["calls", "payload", "startup"]
    era: Era
    servers: Sequence[Server]
    """For `startup` one, which is started as often as `counts` say."""
    calls: int = 0
    counts: Sequence[int] = ()

    def command(self, python: str) -> list[str]:
        """How the contender is started."""
        return [python, __file__, json.dumps(dataclasses.asdict(self))]

    def opening(self) -> Open:
        """How it is opened."""
        return OURS[self.name] if self.name in OURS else RIVALS[self.name].open


async def calls(task: Task, call: Call) -> Figures:
    """One at a time, then many at once."""

    def connected() -> int:
        return sum(connections(server) for server in task.servers if isinstance(server, str))

    figures: dict[str, float] = {}
    for flight in (1, FLEET):
        await make_calls(call, flight, flight)  # connections may have gone idle since the last turn
        had = connected()
        half = {**await make_calls(call, task.calls, flight), "connections": connected() - had}
        figures.update({f"{unit}, {flight} in flight": half[unit] for unit in half})
    return {**figures, **memory()}


async def payload(task: Task, call: Call) -> Figures:
    """One at a time, with the memory that is used beside what was there before."""
    before = memory(anew=True)["MB"]
    figures = await make_calls(call, task.calls, 1)
    return {**figures, "beside": memory()["peak"] - before}


async def startup(task: Task) -> Figures:
    """Open all of them, until their tools are known; closing is not in the figures."""
    figures: dict[str, float] = {}
    for count in task.counts:
        cpu, wall = cpu_seconds(), time.perf_counter()
        async with task.opening()([task.servers[0]] * count, task.era):
            wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
        figures[f"cpu ms, {count}"] = cpu * 1000
        figures[f"wall ms, {count}"] = wall * 1000
    return figures


async def run(task: Task) -> None:
    """All rounds."""
    if task.part == "startup":
        await take_turns(lambda: startup(task))
        return
    measure = calls if task.part == "calls" else payload
    async with task.opening()(task.servers, task.era) as call:
        text = await call()
        if text != "ok" and text.strip("x"):
            raise SystemExit(f"not the answer of the echo server: {text[:200]!r}")
        del text
        await take_turns(lambda: measure(task, call))


def told(error: BaseException) -> str:
    """An error on one line: the first one of a group."""
    if isinstance(error, BaseExceptionGroup):
        return told(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return f"{type(error).__name__}: {error}".partition("\n")[0][:300]


def main() -> None:
    """Be the contender that the argument describes."""
    task = Task(**json.loads(sys.argv[1]))
    try:
        asyncio.run(run(task))
    except Exception as error:
        if task.name in RIVALS:  # what is wrong with it is not ours to debug
            raise SystemExit(f"{task.name}: {told(error)}") from None
        raise


if __name__ == "__main__":
    main()
