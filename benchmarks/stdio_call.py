"""What one tool call over stdio costs its client: by hand, by the `mcp` SDK, through the gate.

    python benchmarks/stdio_call.py [--rounds 9] [--calls 2000] [--era legacy|modern] [--smoke]

The floor is the least code that does the work: asyncio and msgspec, futures by id. The SDK's is its
own client's `call_tool`. lockgate's is the whole road: rules, gate, schema, records on disk. All of
them call the same echo server, one at a time and 100 at once. Server time is not in the CPU
figures; it is in the wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from contest import conditions, hold, make_calls, ratio, spread, take_turns, verdict

HERE = Path(__file__).parent
Call: TypeAlias = Callable[[], Awaitable[object]]
Turns: TypeAlias = Callable[[Call], Awaitable[None]]
FLEET = 100
"""Calls in flight in the second half."""


def build_server(directory: Path) -> tuple[list[str], str]:
    """The command of the echo server, and what it was built with."""
    for compiler in ("cc", "gcc", "clang"):
        if shutil.which(compiler):
            program = directory / "echo_server"
            subprocess.run(
                [compiler, "-O2", "-o", str(program), str(HERE / "echo_server.c")], check=True
            )
            return [str(program)], "C"
    return [sys.executable, str(HERE / "echo_server.py")], "Python, for want of a C compiler"


# ------------------------------------------------------------------ the contenders


async def floor(server: Sequence[str], turns: Turns) -> None:
    """asyncio and msgspec by hand: one writer, one reader, nothing else."""
    from floor import Floor

    by_hand = await Floor.open(server, modern="modern" in server)

    async def call() -> object:
        return await by_hand.call("echo", {"text": "hello"})

    await turns(call)
    await by_hand.close()


async def sdk(server: Sequence[str], turns: Turns) -> None:
    """The official SDK's client."""
    from mcp import Client, StdioServerParameters

    async with Client(StdioServerParameters(command=server[0], args=list(server[1:]))) as client:

        async def call() -> object:
            return await client.call_tool("echo", {"text": "hello"})

        await turns(call)


async def governed(server: Sequence[str], turns: Turns) -> None:
    """lockgate's whole road: rules, ceiling, schema, gate, lanes, records on disk."""
    import lockgate
    from lockgate.decision import Decision
    from lockgate.mcp.endpoint import StdioEndpoint
    from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings, Verdict
    from lockgate.rules.parse import parse_rule
    from lockgate.rules.rule import RuleSet
    from lockgate.traits import ConcurrencyBehavior

    with tempfile.TemporaryDirectory() as state:
        echo = ServerSettings(
            name="echo",
            endpoint=StdioEndpoint(server[0], tuple(server[1:])),
            annotation_trust=AnnotationTrust.TRUST,
            verdicts={"echo": Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)},
        )
        rules = [parse_rule(f"mcp__echo__other_{number}", Decision.DENY) for number in range(50)]
        config = lockgate.Config(
            servers=(echo,),
            rules=RuleSet((*rules, parse_rule("mcp__echo__echo", Decision.ALLOW))),
            state_dir=Path(state),
            project_dir=Path(state),
        )
        async with lockgate.open(config) as gate:

            async def call() -> object:
                return await gate.call("mcp__echo__echo", {"text": "hello"})

            first = await gate.call("mcp__echo__echo", {"text": "hello"})
            if getattr(first, "is_error", True):
                raise SystemExit(f"lockgate was not answered as expected: {str(first)[:500]}")
            await turns(call)


CONTENDERS = {"floor": floor, "mcp SDK": sdk, "lockgate": governed}


def contend(name: str, server: Sequence[str], calls: int) -> None:
    """Be one contender: both halves in every round."""

    async def turns(call: Call) -> None:
        async def both() -> dict[str, float]:
            alone = await make_calls(call, calls, 1)
            crowd = await make_calls(call, calls, FLEET)
            return {
                **{f"{unit}, 1 in flight": value for unit, value in alone.items()},
                **{f"{unit}, {FLEET} in flight": value for unit, value in crowd.items()},
            }

        await take_turns(both)

    asyncio.run(CONTENDERS[name](server, turns))


def main() -> None:
    """Hold the contest and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=2000, help="calls in each half of a round")
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    parser.add_argument("--payload", type=int, help="bytes of text in each answer; default 2")
    parser.add_argument("--without", action="append", default=[], choices=list(CONTENDERS))
    parser.add_argument("--smoke", action="store_true", help="one tiny round, to see that it runs")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("server", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        contend(options.contender, options.server, options.calls)
        return
    rounds, calls = (1, FLEET) if options.smoke else (options.rounds, options.calls)
    with tempfile.TemporaryDirectory() as directory:
        server, language = build_server(Path(directory))
        server += ["--era", options.era]
        if options.payload is not None:
            server += ["--payload", str(options.payload)]
        me = [sys.executable, str(Path(__file__).resolve()), "--calls", str(calls)]
        names = [name for name in CONTENDERS if name not in options.without]
        commands = {name: [*me, "--contender", name, "--", *server] for name in names}
        measured = hold(commands, rounds)
    print(f"{rounds} rounds of 2 x {calls} calls; {options.era} era; echo server in {language}")
    print(conditions("lockgate", "msgspec", "mcp"))
    for flight in (1, FLEET):
        print(f"\n{flight} in flight")
        for name in names:
            cpu = f"cpu ms, {flight} in flight"
            line = f"  {name:9} cpu {spread(measured, cpu, name)} ms a call"
            line += f", wall {spread(measured, cpu.replace('cpu', 'wall'), name)} ms"
            if name != "floor" and "floor" in names:
                line += f"; cpu {ratio(measured, cpu, name, 'floor')}x the floor"
            print(line)
        if "lockgate" in names and "floor" in names:
            bound = 1.8 if flight == 1 else 3.5
            found = ratio(measured, f"cpu ms, {flight} in flight", "lockgate", "floor")
            print(verdict("governed call against the floor, cpu", found, bound))
        if "lockgate" in names and "mcp SDK" in names:
            bound = 2.5 if flight == 1 else 5.0
            found = ratio(measured, f"cpu ms, {flight} in flight", "mcp SDK", "lockgate")
            print(verdict("the SDK's bare call against it, cpu", found, bound, at_most=False))


if __name__ == "__main__":
    main()
