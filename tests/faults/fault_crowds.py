"""Many calls under way when something goes wrong: what comes of each, and how often it ran.

The server has run all of them and answered none; then it is killed, its connections are reset, or
nothing happens until the time is over.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from fault_cases import BREAKS, KEEPS, MORE, MUTATING, READ_ONLY, SAME, SLACK, until_asked
from fault_stands import FINE, KINDS, ONCE, Case, ProcessStand, WireStand
from fault_table import WORDS, Cell
from lockgate.decision import Decision
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, eventually, left_since
from lockgate.testing.road import Road
from lockgate.testing.script import When
from lockgate.traits import ConcurrencyBehavior

EACH: Final = 4
"""Calls of each kind of tool that are under way together."""
SHORT: Final = 1.5
"""Seconds of a request where only the time ends it."""
AT_ONCE: Final = ConcurrencyBehavior.CONCURRENT_SAFE
VERDICTS: Final[Mapping[str, Verdict]] = {
    "read": Verdict(READ_ONLY, concurrent=AT_ONCE),
    "set": Verdict(MUTATING, KEEPS, SAME, AT_ONCE),
    "add": Verdict(MUTATING, KEEPS, MORE, AT_ONCE),
    "wipe": Verdict(MUTATING, BREAKS, MORE, AT_ONCE),
    FINE: Verdict(READ_ONLY),
}

TABLE = """
fault     ways                          once      set       read

killed    stdio                         dark 1 1  dark 2 1  gone 2 1
gone      http sse                      dark 1 1  dark 2 1  gone 2 1
reset     http                          dark 1 1  ok 2 2    ok 2 2
reset     sse                           dark 1 1  dark 2 1  gone 2 1
stall     stdio http sse                dark 1 1  ok 2 2    ok 2 2
"""
"""What each call comes to: kind and fate, its tries, how often it ran (as in `fault_table`)."""
WAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "stdio": ("stdio",),
    "http": ("http json modern", "http events legacy"),
    "sse": ("sse",),
}


def crowds() -> Sequence[tuple[str, str]]:
    """Every way and fault of the table."""
    return tuple(_ROWS)


def _rows() -> Iterator[tuple[tuple[str, str], Mapping[str, Cell]]]:
    for line in TABLE.splitlines():
        parts = [part.strip() for part in line.split("  ") if part.strip()]
        if len(parts) != 5 or parts[1] == "ways":
            continue
        fault, ways, *cells = parts
        once, settled, read = map(_cell, cells)
        row = {**dict.fromkeys(ONCE, once), "set": settled, "read": read}
        for group in ways.split():
            for way in WAYS[group]:
                yield (way, fault), row


def _cell(text: str) -> Cell:
    word, tries, ran = text.split()
    return Cell(*WORDS[word], int(tries), int(ran))


_ROWS: Final = dict(_rows())


def _silent() -> tuple[When, ...]:
    """The first calls of each tool are run and never answered."""
    return tuple(When("tools/call", tool=name, nth=1) for name in KINDS for _ in range(EACH))


async def crowd(way: str, fault: str, directory: Path) -> list[str]:
    """Have it happen; what is not as it has to be."""
    before = Belongings.now()
    wrong: list[str] = []
    case = Case(way, ("refused",), FINE)
    async with AsyncExitStack() as stack:
        made: WireStand | ProcessStand
        if way == "stdio":
            made = ProcessStand(case, directory / "server")
            made.rules = _silent()
        else:
            made = WireStand(case, directory / "server", *_silent())
        stand = await stack.enter_async_context(made)
        wipes = parse_rule("mcp__s__wipe(...)", Decision.ALLOW, when="any", destructive=True)
        yes = ScriptedApprover.always(True, times=100)
        road = stack.enter_context(Road(directory, attended=[yes], rules=RuleSet((wipes,))))
        patience = SHORT if fault == "stall" else 20.0
        settings = ServerSettings("s", stand.endpoint, request_timeout=patience, verdicts=VERDICTS)
        manager = Manager(
            [settings],
            connect=lambda one: stand.transport(one.name),
            chance=lambda: 0.0,
            pause=until_asked,
        )
        stack.push_async_callback(manager.close)
        report = await manager.start(road.registry)
        if report.failed:
            raise AssertionError(f"not started: {report.errors}")
        calls = [road.call(f"mcp__s__{name}") for name in KINDS for _ in range(EACH)]
        under_way = asyncio.gather(*map(road.invoke, calls))
        await eventually(lambda: len(stand.ledger.called) == len(calls))
        await _break(stand, fault)
        async with asyncio.timeout(2 * patience + SLACK):
            await under_way
        ran = Counter(stand.ledger.called)
        for call in calls:
            record = next(o for o in reversed(road.ledger.outcomes) if o.call == call.id)
            tool = call.name.removeprefix("mcp__s__")
            cell = Cell(record.kind or "ok", record.fate, record.attempts, ran[tool] // EACH)
            wanted = _ROWS[way, fault][tool]
            if cell != wanted or ran[tool] % EACH:
                wrong.append(f"{tool}: {cell}, of {EACH} calls {ran[tool]}; it has to be {wanted}")
        if isinstance(stand, WireStand):
            await stand.heal()
        await manager.reconnect(failed_only=fault != "stall")
        again = await road.invoke(road.call(f"mcp__s__{FINE}"))
        if again.is_error:
            wrong.append(f"the next call ends as {again.kind}: {again.text:.200}")
        if Counter(stand.ledger.called) - ran != Counter({FINE: 1}):
            wrong.append(f"run once more: {Counter(stand.ledger.called) - ran}")
    wrong += [f"left behind: {left}" for left in await left_since(before)]
    return wrong


async def _break(stand: WireStand | ProcessStand, fault: str) -> None:
    if isinstance(stand, ProcessStand):
        if fault == "killed":
            os.kill(stand.ledger.entries("start")[-1].pid, 9)
    elif fault == "reset":
        stand.relay.drop()
    elif fault == "gone":
        stand.relay.shut()
