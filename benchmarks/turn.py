"""What a turn costs where there are 2,000 tools: the first one, the next ones, and what is shown.

    python benchmarks/turn.py [--rounds 9] [--turns 20] [--smoke]

The model is scripted, each turn is a reply with one call, its result, and an answer. Records are
kept in memory, state on disk. The tools are functions of this program, or those of a server in this
loop, which lists them in pages. The same with one tool stands beside it: what a turn costs must not
grow with the tools it could have called.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from contest import Figures, conditions, ratio, spread, verdict
from lockgate.agent.agent import Agent
from lockgate.agent.limits import TurnLimits
from lockgate.agent.loop import TurnLoop
from lockgate.agent.model import ModelReply, ModelRequest, ToolCall, UserMessage
from lockgate.agent.ownership import Owned
from lockgate.agent.turn import Turn
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.policy.ceiling import whole
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer, tool
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import Environment, Execution
from lockgate.traits import SideEffectLevel

TOOLS = 2_000
MILLISECONDS = 1.0
"""The most that the tools of a turn may take to be shown when nothing has changed."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
}


Make: TypeAlias = Callable[[Path, int], Awaitable[tuple[Workbench, str]]]


class OneCall:
    """Asks for one call of a tool, then answers; in each turn."""

    name = "scripted"

    def __init__(self, tool: str) -> None:
        self._call = ModelReply("", (ToolCall("", tool, {"path": "a", "limit": 3}),))

    async def reply(self, request: ModelRequest, heard: object = None) -> ModelReply:
        """The call if a person spoke last."""
        return self._call if isinstance(request.transcript[-1], UserMessage) else ModelReply("done")


class Clock:
    """CPU and wall clock since it was last read, in milliseconds."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.monotonic()

    def read(self) -> tuple[float, float]:
        """Both; they begin anew."""
        cpu, wall = self._cpu, self._wall
        self._cpu, self._wall = time.process_time(), time.monotonic()
        return (self._cpu - cpu) * 1e3, (self._wall - wall) * 1e3


async def local(directory: Path, tools: int) -> tuple[Workbench, str]:
    """A runtime with functions of ours."""
    level = SideEffectLevel.READ_ONLY
    made = [ScriptedTool(f"look_{n}", level=level, input_schema=SCHEMA) for n in range(tools)]
    return Workbench(directory, made), made[-1].name


async def remote(directory: Path, tools: int) -> tuple[Workbench, str]:
    """A runtime with the tools of a server in this loop."""
    listed = tuple(
        tool(f"look_{n}", "Looks.", inputSchema=SCHEMA, annotations={"readOnlyHint": True})
        for n in range(tools)
    )
    server = LoopServer(ScriptedServer(listed, page_size=500))
    settings = ServerSettings("s", StdioEndpoint("none"), annotation_trust=AnnotationTrust.TRUST)
    manager = Manager((settings,), connect=lambda _: server.transport(peer="s"))
    bench = Workbench(directory, servers=manager, owned=(Owned("servers", manager.close),))
    await manager.start(bench.registry)
    return bench, f"mcp__s__look_{tools - 1}"


async def answered(agent: Agent) -> None:
    """One turn, which has to end well."""
    result = await agent.run("go")
    if not result.answered or any(getattr(call.result, "is_error", True) for call in result.calls):
        raise SystemExit(f"the turn was to go through: {result}")


async def measured(make: Make, tools: int, turns: int) -> Figures:
    """One round: everything from the start."""
    with tempfile.TemporaryDirectory() as directory:
        clock = Clock()
        bench, name = await make(Path(directory), tools)
        opened = clock.read()
        async with bench:
            agent = bench.agent(OneCall(name))
            await answered(agent)
            first = clock.read()
            for _ in range(turns):
                # A session of its own each time: what was said before would count as well.
                await answered(bench.agent(OneCall(name)))
            following = clock.read()
            for _ in range(turns):
                definitions(bench)
            listing = clock.read()
    return {
        "opening ms": opened[0],
        "first turn ms": first[0],
        "next turn ms": following[0] / turns,
        "definitions ms": listing[0] / turns,
        "opening and first turn, wall ms": opened[1] + first[1],
    }


def definitions(bench: Workbench) -> None:
    """What a turn begins with: the snapshot, and the definitions that it is shown."""
    turn = Turn(
        "go",
        Execution("e", "agent", whole(SideEffectLevel.MUTATING), True, Environment(Path("/"))),
        bench.runtime.snapshot(),
        "",
    )
    TurnLoop(OneCall("x"), bench.invoker, bench.runtime.make_id, TurnLimits(), turn, [])


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turns", type=int, default=20, help="further turns in each round")
    parser.add_argument("--smoke", action="store_true", help="one tiny round, to see that it runs")
    options = parser.parse_args()
    rounds, turns, many = (1, 1, 20) if options.smoke else (options.rounds, options.turns, TOOLS)
    contenders: dict[str, tuple[Make, int]] = {
        "1 function": (local, 1),
        f"{many} functions": (local, many),
        "1 tool of a server": (remote, 1),
        f"{many} tools of a server": (remote, many),
    }
    found: dict[str, list[Figures]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, (make, tools) in contenders.items():
            figures = asyncio.run(measured(make, tools, turns))
            if number:  # the first one warms up
                found[name].append(figures)
    print(f"{rounds} rounds of {turns} turns; CPU, with the server's where it is in this loop")
    print(conditions("lockgate", "msgspec", "jsonschema-rs"))
    for unit in next(iter(found.values()))[0]:
        for name in contenders:
            print(f"  {unit:32} {name:24} {spread(found, unit, name)}")
    one, functions, remote_one, remotes = contenders
    for few, all_of_them in ((one, functions), (remote_one, remotes)):
        shown_in = spread(found, "definitions ms", all_of_them).over(MILLISECONDS)
        print(verdict(f"definitions of {all_of_them} against {MILLISECONDS:g} ms", shown_in, 1.0))
        times = ratio(found, "next turn ms", all_of_them, few)
        print(f"  a next turn with {all_of_them}: {times}x that with {few}")


if __name__ == "__main__":
    main()
