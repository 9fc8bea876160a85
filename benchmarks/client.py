"""What MCP clients cost, side by side: by hand, through the gate, and the rivals' bare calls.

    python benchmarks/client.py [--part calls|payload|startup|import] [--way stdio|http|events]
        [--era legacy|modern] [--rounds 7] [--calls 1000] [--malloc fresh|settled]
        [--only NAME] [--smoke]

Without options all of it. `--part`, `--way` and `--only` may be repeated. The floor is the least
code that does the work; over HTTP, aiohttp as it comes stands beside it. lockgate's call is the
whole road: rules, gate, schema, records on disk. All of them call the same echo server. The CPU
is the client process's own, the server's is not in it; the wall time is everybody's. The
environments of the rivals are made by `benchmarks/setup`; one that is not there is left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from contend import FLEET, Task
from contenders import OURS
from contest import Figures, conditions, hold, keep_bytecode, ratio, run_in_turns, spread, verdict
from echo import ERAS, Era, WayName, build, server_for
from rivals import RIVALS

Part = Literal["calls", "payload", "startup", "import"]

MEGABYTE = 1 << 20
WAYS: tuple[WayName, ...] = ("stdio", "http", "events")
"""The transports that are compared; nobody would choose the one of 2024 for its speed."""
SIZES: tuple[tuple[int, int], ...] = ((MEGABYTE, 10), (32 * MEGABYTE, 1))
"""(bytes of text in an answer, calls a round)"""
COUNTS = (1, 5, 20)
"""Servers that are started together."""
ASLEEP = 500
"""Milliseconds that each of them sleeps before it reads anything."""

IMPORT_FLOOR = "import asyncio, msgspec"
IMPORT_MEGABYTES = 35
"""The most that `import lockgate` may take."""
MOODS: Mapping[str, Mapping[str, str]] = {
    "fresh": {"MALLOC_MMAP_THRESHOLD_": str(128 << 10)},
    "settled": {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)},
}
"""The C library gives large blocks back to the system at once, until one was freed in a certain
way; after that it keeps them. asyncio asks for 256 KiB at each read from a pipe, so which of both a
process is in, by chance, can double the cost of a small call. Here it is one of them for all."""
TELL_MEMORY = "import sys; sys.stdout.write(open('/proc/self/status').read())"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured in this run."""

    rounds: int
    calls: int
    era: Era
    names: Sequence[str]
    echo: Sequence[str]
    """The command of the echo server, its era included."""
    sizes: Sequence[tuple[int, int]] = SIZES
    counts: Sequence[int] = COUNTS
    asleep: int = ASLEEP

    def names_for(self, way: WayName) -> list[str]:
        """Who can be measured: bare aiohttp speaks HTTP alone, some speak one era alone."""
        return [
            name
            for name in self.names
            if not (name == "bare aiohttp" and way == "stdio")
            and not (name in RIVALS and self.era not in RIVALS[name].eras)
        ]

    def hold(self, tasks: Iterable[Task]) -> Mapping[str, Sequence[Figures]]:
        """Hold a contest between them. A rival may fail, none of ours."""
        commands = {task.name: task.command(python_of(task.name)) for task in tasks}
        return hold(commands, self.rounds, may_fail=RIVALS)


# ------------------------------------------------------------------ the parts


def calls(plan: Plan, way: WayName) -> None:
    """Many small calls, one at a time and 100 at once."""
    names = plan.names_for(way)
    with ExitStack() as stack:
        measured = plan.hold(
            Task(name, "calls", plan.era, [server_for(plan.echo, way, stack)], plan.calls)
            for name in names
        )
    base = "floor" if way == "stdio" else "bare aiohttp"
    for flight in (1, FLEET):
        print(f"\n{way}, {flight} in flight; CPU and wall time of one call")
        rows(measured, f"{flight} in flight", base)
        cpu = f"cpu ms, {flight} in flight"
        most, least = ((1.8, 2.5), (3.5, 5.0))[flight > 1]
        if way != "stdio":
            most, least = ((1.4, 3.0), (1.4, 5.0))[flight > 1]
        hold_against(measured, cpu, base, most)
        if {"mcp SDK", "lockgate"} <= measured.keys():
            found = ratio(measured, cpu, "mcp SDK", "lockgate")
            print(verdict("the SDK's bare call against it, cpu", found, least, at_most=False))
    print(f"\n{way}; memory of the client after each round, its imports and caches included")
    for name in measured:
        print(f"  {name:14} {spread(measured, 'MB', name)} MB")
    if way == "stdio":
        return
    print(f"\n{way}; connections that a round began, with 1 and with {FLEET} in flight")
    for name in measured:
        one, many = (
            spread(measured, f"connections, {flight} in flight", name) for flight in (1, FLEET)
        )
        print(f"  {name:14} {one} and {many}")
    if "lockgate" in measured:
        found = spread(measured, "connections, 1 in flight", "lockgate")
        print(verdict("lockgate's with 1 in flight", found, 0, unit=""))


def payload(plan: Plan, way: WayName) -> None:
    """Large answers, one at a time."""
    names = plan.names_for(way)
    for size, calls in plan.sizes:
        with ExitStack() as stack:
            echo = [*plan.echo, "--payload", str(size)]
            measured = plan.hold(
                Task(name, "payload", plan.era, [server_for(echo, way, stack)], calls)
                for name in names
            )
        mega = size / MEGABYTE
        print(
            f"\n{way}, a result of {mega:.3g} MB; CPU and wall time, and memory beside that before"
        )
        base = "floor" if way == "stdio" else "bare aiohttp"
        rows(measured, "", base)
        hold_against(measured, "cpu ms", base, 1.2)
        for name in measured:
            share = spread(measured, "beside", name).over(mega)
            print(f"  {name:14} {share} times the payload beside before")
        if "lockgate" in measured:
            share = spread(measured, "beside", "lockgate").over(mega)
            print(verdict("its memory against the payload", share, 3.0))


def startup(plan: Plan) -> None:
    """Servers that sleep, started together, until their tools are known."""
    names = plan.names_for("stdio")
    server = [*plan.echo, "--sleep", str(plan.asleep)]
    measured = plan.hold(
        Task(name, "startup", plan.era, [server], counts=plan.counts) for name in names
    )
    for count in plan.counts:
        print(f"\n{count} servers that sleep {plan.asleep} ms, started together")
        rows(measured, str(count), "floor")
        hold_against(measured, f"cpu ms, {count}", "floor", 2.0)
        if "lockgate" in measured:
            alone = f"wall ms, {plan.counts[0]}"
            mine = [
                {"one": figures[alone], "all": figures[f"wall ms, {count}"]}
                for figures in measured["lockgate"]
            ]
            both = {which: [{"wall": each[which]} for each in mine] for which in ("one", "all")}
            found = ratio(both, "wall", "all", "one")
            print(verdict("its wall time against one alone", found, 1.2))


def imports(plan: Plan) -> None:
    """What importing each of them costs, in an interpreter of its own."""
    programs = {
        "pass": "pass",
        IMPORT_FLOOR: IMPORT_FLOOR,
        "import lockgate": "import lockgate",
        "lockgate.open": "import lockgate; lockgate.open",
        **{name: RIVALS[name].imports for name in plan.names if name in RIVALS},
    }
    commands = {
        name: [python_of(name), "-I", "-c", f"{code}\n{TELL_MEMORY}"]
        for name, code in programs.items()
    }
    measured = run_in_turns(commands, plan.rounds)
    print("\nimports; wall time of an interpreter that does nothing else, and its memory")
    for name in programs:
        wall, peak = spread(measured, "wall ms", name), spread(measured, "MB", name)
        times = ratio(measured, "wall ms", name, IMPORT_FLOOR)
        print(f"  {name:23} {wall} ms, {times}x the floor, {peak} MB")
    found = ratio(measured, "wall ms", "import lockgate", IMPORT_FLOOR)
    print(verdict("import lockgate against the floor", found, 1.5))
    share = spread(measured, "MB", "import lockgate").over(IMPORT_MEGABYTES)
    print(verdict(f"its memory against {IMPORT_MEGABYTES} MB", share, 1.0))


# ------------------------------------------------------------------ what they share


def rows(measured: Mapping[str, Sequence[Figures]], which: str, base: str) -> None:
    """A line for each contender: its figures, and how often its CPU is that of the others."""
    suffix = f", {which}" if which else ""
    cpu, wall = f"cpu ms{suffix}", f"wall ms{suffix}"
    for name in measured:
        line = f"  {name:14} cpu {spread(measured, cpu, name)} ms, "
        line += f"wall {spread(measured, wall, name)} ms"
        others = (base, "lockgate") if name in RIVALS else (base,)
        against = [
            f"{ratio(measured, cpu, name, other)}x {other}"
            for other in others
            if other in measured and other != name
        ]
        print("; cpu ".join((line, ", ".join(against))) if against else line)


def hold_against(
    measured: Mapping[str, Sequence[Figures]], unit: str, base: str, most: float
) -> None:
    """Hold lockgate against its target."""
    if {base, "lockgate"} <= measured.keys():
        found = ratio(measured, unit, "lockgate", base)
        print(verdict(f"governed call against {base}, cpu", found, most))


def available(only: Collection[str]) -> list[str]:
    """Who can be measured here; says who can not."""
    names = [name for name in (*OURS, *RIVALS) if not only or name in only]
    missing = [name for name in names if name in RIVALS and RIVALS[name].python() is None]
    for name in missing:
        print(f"NOT MEASURED: {name} has no environment; benchmarks/setup makes it")
    return [name for name in names if name not in missing]


def python_of(name: str) -> str:
    """The interpreter that has a contender."""
    return (RIVALS[name].python() if name in RIVALS else None) or sys.executable


def versions_of(names: Collection[str]) -> str:
    """The rivals' versions, and the SDK's that each has under it."""
    told: list[str] = []
    for name in names:
        if name in RIVALS:
            packages = list(dict.fromkeys((RIVALS[name].package, "mcp")))
            code = f"from importlib.metadata import version as v; print(*map(v, {packages}))"
            done = subprocess.run(
                [python_of(name), "-c", code], capture_output=True, text=True, check=True
            )
            pairs = zip(packages, done.stdout.split(), strict=True)
            told.append(" on ".join(f"{each} {number}" for each, number in pairs))
    return "; ".join(told)


def main() -> None:
    """Hold the contests and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--part", action="append", choices=get_args(Part))
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--era", choices=ERAS, default="legacy")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=1000, help="calls in each half of a round")
    parser.add_argument("--malloc", choices=list(MOODS), default="fresh")
    parser.add_argument("--only", action="append", default=[], choices=[*OURS, *RIVALS])
    parser.add_argument("--smoke", action="store_true", help="one tiny round, to see that it runs")
    options = parser.parse_args()
    parts: Sequence[Part] = options.part or get_args(Part)
    ways: Sequence[WayName] = options.way or WAYS
    only = options.only or ([*OURS, "mcp SDK"] if options.smoke else [])
    names = available(only)
    os.environ.update(MOODS[options.malloc])
    keep_bytecode()
    with tempfile.TemporaryDirectory() as directory:
        echo, language = build(Path(directory))
        echo += ["--era", options.era]
        plan = Plan(options.rounds, options.calls, options.era, names, echo)
        if options.smoke:
            plan = Plan(1, FLEET, options.era, names, echo, ((1 << 16, 1),), (1, 2), 10)
        print(f"{plan.rounds} rounds, {plan.calls} calls in each half; {plan.era} era; ", end="")
        print(f"malloc {options.malloc}; echo server in {language}")
        print(conditions("lockgate", "msgspec", "aiohttp"))
        print(versions_of(names), flush=True)
        for way in ways:
            if "calls" in parts:
                calls(plan, way)
            if "payload" in parts:
                payload(plan, way)
        if "startup" in parts:
            startup(plan)
        if "import" in parts:
            imports(plan)


if __name__ == "__main__":
    main()
