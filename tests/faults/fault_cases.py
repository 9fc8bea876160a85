"""Cases, made: every call takes the whole road, and what came of it is held against what has to be.

All cases of one run share a manager and an event loop, and are under way at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from fault_points import SLOW
from fault_stands import (
    DEAFEN,
    FINE,
    ONCE,
    Case,
    MemoryStand,
    ProcessStand,
    WireStand,
    stand_for,
)
from fault_table import Cell, expected
from lockgate.decision import Decision
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.mcp.host.status import ServerState
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, eventually, left_since
from lockgate.testing.road import Road
from lockgate.traits import DestructiveBehavior, IdempotencyBehavior, SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
KEEPS, BREAKS = DestructiveBehavior.NON_DESTRUCTIVE, DestructiveBehavior.DESTRUCTIVE
SAME, MORE = IdempotencyBehavior.IDEMPOTENT, IdempotencyBehavior.NON_IDEMPOTENT
VERDICTS = {
    "read": Verdict(READ_ONLY),
    "set": Verdict(MUTATING, KEEPS, SAME),
    "add": Verdict(MUTATING, KEEPS, MORE),
    "wipe": Verdict(MUTATING, BREAKS, MORE),
    FINE: Verdict(READ_ONLY),
    DEAFEN: Verdict(READ_ONLY),
}
SLACK = 8.0
"""Seconds over its time-outs that a call may take on a machine with much to do."""
PATIENT = 20.0
"""Seconds of a request that nothing has to end."""


def impatient(case: Case) -> float:
    """Seconds of a request; few where nothing but the time ends it."""
    if not SLOW.get(case.way, SLOW["http"]).intersection(case.points):
        return PATIENT
    return 1.5 if case.way == "stdio" else 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a case."""

    case: Case
    cell: Cell
    faults: tuple[str, ...]
    """What was not as it has to be; best ()."""

    def __str__(self) -> str:
        told = "; ".join(self.faults) or "as it has to be"
        return f"{self.case}: {self.cell}: {told}"


async def until_asked(seconds: float, early: asyncio.Event) -> None:
    """`Pause`: nothing that was lost comes back before somebody wants it."""
    del seconds
    await early.wait()


async def make(
    cases: Sequence[Case], directory: Path, *, verdicts: Mapping[str, Verdict] = VERDICTS
) -> list[Finding]:
    """Make all of them at once; a finding for each, and one more for what was left behind."""
    before = Belongings.now()
    findings: list[Finding] = []
    heard = _Heard()
    async with AsyncExitStack() as stack:
        stack.enter_context(heard)
        stands = {
            f"s{number}": await stack.enter_async_context(stand_for(case, directory / f"{number}"))
            for number, case in enumerate(cases)
        }
        rules = [
            parse_rule(f"mcp__{name}__wipe(...)", Decision.ALLOW, when="any", destructive=True)
            for name in stands
        ]
        yes = ScriptedApprover.always(True, times=10 * len(cases))
        road = stack.enter_context(Road(directory, attended=[yes], rules=RuleSet(tuple(rules))))
        settings = [
            ServerSettings(
                name, stand.endpoint, request_timeout=impatient(stand.case), verdicts=verdicts
            )
            for name, stand in stands.items()
        ]
        manager = Manager(
            settings,
            connect=lambda one: stands[one.name].transport(one.name),
            chance=lambda: 0.0,
            pause=until_asked,
        )
        stack.push_async_callback(manager.close)
        report = await manager.start(road.registry)
        if report.failed:
            raise AssertionError(f"not started: {report.failed}")
        made = [_Made(name, stand, road, manager) for name, stand in stands.items()]
        findings += await asyncio.gather(*(each.finding() for each in made))
    faults = [f"left behind: {left}" for left in await left_since(before)]
    faults += [f"logged: {text}" for text in heard.texts]
    if faults:  # of any of them
        findings.append(Finding(cases[0], findings[0].cell, tuple(faults)))
    return findings


class _Heard(logging.Handler):
    """Keeps what is logged of failures in lockgate itself, or in the event loop."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.texts.append(f"{record.getMessage()[:300]} ({type(error).__name__})")

    def __enter__(self) -> None:
        for name in ("lockgate", "asyncio"):
            logging.getLogger(name).addHandler(self)

    def __exit__(self, *_: object) -> None:
        for name in ("lockgate", "asyncio"):
            logging.getLogger(name).removeHandler(self)


class _Made:
    """One case under way."""

    def __init__(
        self, name: str, stand: WireStand | ProcessStand | MemoryStand, road: Road, manager: Manager
    ) -> None:
        self._name = name
        self._stand = stand
        self._case = stand.case
        self._road = road
        self._manager = manager
        self._faults: list[str] = []

    async def finding(self) -> Finding:
        case, stand = self._case, self._stand
        if stand.deafens:
            await self._call(DEAFEN)
        await stand.begin()
        if case.points[0] == "gone before":
            await eventually(lambda: self._state is ServerState.RECONNECTING)
        calling = asyncio.ensure_future(self._call(case.tool))
        await stand.meanwhile()
        kind, fate, tries = await calling
        ran = stand.ran()
        await stand.heal()
        await self._goes_on()
        if stand.ran() != ran:
            self._fault(f"it ran {stand.ran() - ran} times more after its end was told")
        cell = Cell(kind, fate, tries, ran)
        self._judge(cell)
        return Finding(case, cell, tuple(self._faults))

    @property
    def _state(self) -> ServerState:
        return next(s.state for s in self._manager.statuses if s.name == self._name)

    async def _call(self, tool: str) -> tuple[str, str, int]:
        """Kind, fate and tries of a call."""
        arguments = {"filler": "x" * self._case.size} if self._case.size else {}
        call = self._road.call(f"mcp__{self._name}__{tool}", arguments)
        bound = (2 * impatient(self._case) if impatient(self._case) < PATIENT else 0) + SLACK
        try:
            async with asyncio.timeout(bound):
                await self._road.invoke(call)
        except TimeoutError:
            self._fault(f"{tool} did not end within {bound:g} s")
            return "hangs", "", 0
        record = next(o for o in reversed(self._road.ledger.outcomes) if o.call == call.id)
        if tool == "wipe":
            decided = next(d for d in reversed(self._road.ledger.decisions) if d.call == call.id)
            if decided.approver != "rule":
                self._fault(f"answered by {decided.approver}")
        return record.kind or "ok", record.fate, record.attempts

    async def _goes_on(self) -> None:
        """The next call works, at the latest when the server was connected anew."""
        kind, _, _ = await self._call(FINE)
        if kind in ("not_connected", "outcome_unknown", "timeout"):
            # Lost, or there and stuck: a server that reads nothing any more has no room for more.
            await self._manager.reconnect(self._name, failed_only=False)
            kind, _, _ = await self._call(FINE)
        if kind != "ok":
            self._fault(f"the next call ends as {kind}")

    def _judge(self, cell: Cell) -> None:
        case = self._case
        if case.tool in ONCE and cell.ran > 1:
            self._fault("it ran twice")
        if cell.fate == "not_sent" and cell.ran:
            self._fault("it ran, and is said not to have been sent")
        if cell.kind == "ok" and not cell.ran:
            self._fault("it did not run, and is said to have")
        told = cell.kind == "outcome_unknown"
        # A read that was lost has no outcome that anybody would have to look for.
        if told != (cell.fate == "unknown") and (told or case.tool != "read"):
            self._fault("its kind and its fate do not go together")
        wanted = expected(case)
        if wanted is not None and cell != wanted:
            self._fault(f"it has to be {wanted}")

    def _fault(self, text: str) -> None:
        self._faults.append(text)
