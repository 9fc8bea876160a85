"""Contenders, each in a process of its own, measured in turns, compared within the same round.

A machine's speed drifts while a benchmark runs. So every round measures every contender once, one
after the other, and what is printed is the ratio within a round: its median over the rounds, and
the smallest and the largest as the spread. Absolute times are printed too, and mean less.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

Figures: TypeAlias = Mapping[str, float]
"""What one contender measured in one round, by unit: `{"cpu ms": 0.08, "wall ms": 0.1}`."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of several rounds, and how far they lie apart."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of at least one value."""
        return cls(statistics.median(values), min(values), max(values))

    def over(self, bound: float) -> Spread:
        """The same as shares of a bound."""
        return Spread(self.median / bound, self.low / bound, self.high / bound)

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g}..{self.high:.3g})"


class ContenderFailed(Exception):
    """A contender ended before its time; what it said is above."""


class Contender:
    """A process that measures one round each time it is told to."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.rounds: list[Figures] = []
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _line(self) -> str:
        if self._process.stdout is None or not (line := self._process.stdout.readline()):
            raise ContenderFailed(f"the contender {self.name!r} ended: {self._process.wait()}")
        return line

    def wait_ready(self) -> None:
        """Return when it has set itself up and warmed up. Raises `ContenderFailed`."""
        self._line()

    def measure(self) -> None:
        """Have it measure one round. Raises `ContenderFailed`."""
        if self._process.stdin is not None:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        self.rounds.append(json.loads(self._line()))

    def close(self) -> None:
        """End its input, which ends it, and wait."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def hold(
    commands: Mapping[str, Sequence[str]], rounds: int, *, may_fail: Collection[str] = ()
) -> dict[str, list[Figures]]:
    """Measure every contender `rounds` times, in turns; each round begins with another one.

    One of `may_fail` that fails is told and left out of what comes back, another one ends the
    program.
    """
    with ExitStack() as stack:
        contenders: list[Contender] = []

        def attempt(contender: Contender, step: Callable[[Contender], None]) -> None:
            try:
                step(contender)
            except ContenderFailed as failed:
                if contender.name not in may_fail:
                    raise SystemExit(str(failed)) from failed
                print(f"NOT MEASURED: {failed}", flush=True)
                contenders.remove(contender)

        for name, command in commands.items():
            contender = Contender(name, command)
            stack.callback(contender.close)
            contenders.append(contender)
            attempt(contender, Contender.wait_ready)
        for number in range(rounds):
            turn = number % len(contenders)
            for contender in contenders[turn:] + contenders[:turn]:
                attempt(contender, Contender.measure)
        return {contender.name: contender.rounds for contender in contenders}


def run_once(command: Sequence[str]) -> Figures:
    """Start a program, wait for its end, and take what the system says it used.

    Memory is what the program itself prints of `/proc/self/status`, if it does: the system's own
    figure for a child begins with the size of whoever started it.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read() if process.stdout is not None else ""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    figures = {"cpu ms": (used.ru_utime + used.ru_stime) * 1000, "wall ms": wall * 1000}
    if peak := re.search(r"^VmHWM:\s+(\d+) kB", said, re.MULTILINE):
        figures["MB"] = int(peak[1]) / 1024
    return figures


def run_in_turns(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Figures]]:
    """Run every program once to warm the disk's cache, then `rounds` times, in turns."""
    measured: dict[str, list[Figures]] = {name: [] for name in commands}
    for command in commands.values():
        run_once(command)
    for _ in range(rounds):
        for name, command in commands.items():
            measured[name].append(run_once(command))
    return measured


def ratio(measured: Mapping[str, Sequence[Figures]], unit: str, one: str, other: str) -> Spread:
    """How many times of `other` contender `one` needs, compared round by round."""
    pairs = zip(measured[one], measured[other], strict=True)
    return Spread.of([mine[unit] / theirs[unit] for mine, theirs in pairs])


def spread(measured: Mapping[str, Sequence[Figures]], unit: str, name: str) -> Spread:
    """One contender's own figures."""
    return Spread.of([figures[unit] for figures in measured[name]])


def conditions(*packages: str) -> str:
    """One line: what was measured on, with which versions."""
    with_versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"Python {platform.python_version()}, {with_versions}; "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )


def verdict(
    name: str, found: Spread, bound: float, *, at_most: bool = True, unit: str = "x"
) -> str:
    """One line that holds a figure, by default a ratio, against its target."""
    good = found.median <= bound if at_most else found.median >= bound
    sign = "≤" if at_most else "≥"
    return f"  {'ok  ' if good else 'MISS'} {name}: {found}{unit}, target {sign} {bound}{unit}"


def keep_bytecode() -> None:
    """Have the programs that are started write their bytecode, as installed ones have it: without
    it, what is measured is mostly Python's compiler."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# ------------------------------------------------------------------ inside a contender


def cpu_seconds() -> float:
    """User and system time of this process alone, its threads included, children not."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(*, anew: bool = False) -> Figures:
    """What this process holds now, and its peak, in MB; with `anew` the peak is what it holds."""
    if anew:
        with Path("/proc/self/clear_refs").open("w") as peak:
            peak.write("5")
    status = Path("/proc/self/status").read_text("utf-8")
    found = re.findall(r"^Vm(HWM|RSS):\s+(\d+) kB", status, re.MULTILINE)
    return {"peak" if name == "HWM" else "MB": int(kilo) / 1024 for name, kilo in found}


async def make_calls(call: Callable[[], Awaitable[object]], calls: int, in_flight: int) -> Figures:
    """Time `calls` calls, `in_flight` at once; milliseconds a call."""
    gc.collect()
    cpu, wall = cpu_seconds(), time.perf_counter()
    if in_flight == 1:
        for _ in range(calls):
            await call()
    else:
        for _ in range(calls // in_flight):
            await asyncio.gather(*(call() for _ in range(in_flight)))
    done = calls if in_flight == 1 else calls // in_flight * in_flight
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {"cpu ms": cpu / done * 1000, "wall ms": wall / done * 1000}


async def take_turns(round_: Callable[[], Awaitable[Figures]]) -> None:
    """Warm up, say so, then measure a round for every line that comes in.

    Waiting for a line blocks the loop on purpose: between rounds nothing is in flight, and a
    waiting contender must not take time from the one whose turn it is.
    """
    await round_()
    print("ready", flush=True)
    while sys.stdin.readline():
        print(json.dumps(await round_()), flush=True)
