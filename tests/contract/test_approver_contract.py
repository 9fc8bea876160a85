"""Every approver is held against one contract: on the road of a call, all that is unclear is a no.

Each case is an approver of one kind, and a way to have it answer, fail, or keep silent.
"""

from __future__ import annotations

import asyncio
import os
import pty
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate.bridges.command import CommandApprover
from lockgate.bridges.queue import QueueApprover
from lockgate.bridges.terminal import TerminalApprover
from lockgate.calls.suspension import Ticket
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Approver, Question, Scope
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.stores.state import open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, eventually, left_since
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind

QUICK = 0.2
"""Seconds that an approver has where it is to run out of them."""
ALLOW, DENY = '{"decision": "allow"}', '{"decision": "deny", "note": "not now"}'


@dataclass(frozen=True)
class Stand:
    """One approver, ready for one question."""

    approver: Approver
    asked: Callable[[], bool]
    """Whether the question has arrived."""


class Stands:
    """Makes approvers of every kind, and closes what they stand on."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._terminals: list[tuple[int, int]] = []

    def terminal(self, mood: str) -> Stand:
        """A person at a terminal, whose answer is typed as soon as the prompt is there."""
        master, slave = pty.openpty()
        os.set_blocking(master, False)
        self._terminals.append((master, slave))
        seen = bytearray()

        def asked() -> bool:
            try:
                seen.extend(os.read(master, 65536))
            except BlockingIOError:
                pass
            return b"answer [no]: " in seen

        def answer() -> None:
            if not asked():
                return
            asyncio.get_running_loop().remove_reader(master)
            if mood != "silent":
                typed = {"yes": b"once\n", "no": b"no not now\n", "broken": b"\x04"}
                os.write(master, typed[mood])

        asyncio.get_running_loop().add_reader(master, answer)
        return Stand(TerminalApprover(Path(os.ttyname(slave))), asked)

    def scripted(self, mood: str) -> Stand:
        """The fake of the tests."""
        yes = Answer(True, "scripted")
        replies = {
            "yes": yes,
            "no": Answer(False, "scripted", Scope.ONCE, "not now"),
            "broken": RuntimeError("broken"),
            "silent": yes,
        }
        approver = ScriptedApprover([replies[mood]], hold=mood == "silent")
        return Stand(approver, approver.asked.is_set)

    def command(self, mood: str) -> Stand:
        """A program."""
        mark = self._directory / "asked"
        acts = {
            "yes": f"print({ALLOW!r})",
            "no": f"print({DENY!r})",
            "broken": f"print({ALLOW!r}, flush=True); raise SystemExit(3)",
            "silent": "import time; time.sleep(600)",
        }
        code = f"open({str(mark)!r}, 'w').close()\n{acts[mood]}"
        environment = child_environment(os.environ, {})
        program = Program("approver", sys.executable, ("-c", code), environment)
        return Stand(CommandApprover(program), mark.exists)

    def close(self) -> None:
        """Close the terminals."""
        for pair in self._terminals:
            for descriptor in pair:
                os.close(descriptor)


@pytest.fixture
def stands(tmp_path: Path) -> Iterator[Stands]:
    """Approvers of every kind."""
    made = Stands(tmp_path)
    yield made
    made.close()


AWAITED = pytest.mark.parametrize("kind", ["terminal", "scripted", "command"])
"""Those that answer while the call waits; the queue answers at once, that it is for later."""


@AWAITED
@pytest.mark.parametrize(("mood", "runs"), [("yes", 1), ("no", 0)])
async def test_a_yes_runs_the_call_and_a_no_does_not(
    tmp_path: Path, stands: Stands, kind: str, mood: str, runs: int
) -> None:
    """The answer counts, is recorded under the approver's name, and a no is told with its note."""
    stand: Stand = getattr(stands, kind)(mood)
    tool = ScriptedTool("remove")
    with Road(tmp_path, [tool], attended=[stand.approver]) as road:
        result = await road.invoke(road.call("remove", {"path": "a"}))
        assert len(tool.runs) == runs
        [decision] = road.ledger.decisions
    assert (decision.approver, decision.approved) == (stand.approver.name, mood == "yes")
    if mood == "no":
        assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "said_no")
        assert "not now" in result.text


@pytest.mark.req("S0-09")
@AWAITED
async def test_an_approver_that_breaks_has_said_no(
    tmp_path: Path, stands: Stands, kind: str
) -> None:
    """Raising, end of input, an exit code: nothing runs, and nothing is left."""
    stand: Stand = getattr(stands, kind)("broken")
    tool = ScriptedTool("remove")
    with Road(tmp_path, [tool], attended=[stand.approver]) as road:
        before = Belongings.now()
        result = await road.invoke(road.call("remove"))
        assert await left_since(before) == ()
    reason = "said_no" if kind == "terminal" else "approver_failed"
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, reason)
    assert tool.runs == []


@pytest.mark.req("S0-09")
@AWAITED
async def test_its_time_limit_means_no(tmp_path: Path, stands: Stands, kind: str) -> None:
    """An approver that does not answer in its time has said no, and nothing of it is left."""
    stand: Stand = getattr(stands, kind)("silent")
    tool = ScriptedTool("remove")
    with Road(tmp_path, [tool], attended=[stand.approver], answer_within=QUICK) as road:
        before = Belongings.now()
        result = await road.invoke(road.call("remove"))
        assert await left_since(before) == ()
    assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "expired")
    assert tool.runs == []


@AWAITED
async def test_cancellation_passes_through(tmp_path: Path, stands: Stands, kind: str) -> None:
    """A call that is cancelled while it is asked about ends cancelled; nothing of it is left."""
    stand: Stand = getattr(stands, kind)("silent")
    tool = ScriptedTool("remove")
    with Road(tmp_path, [tool], attended=[stand.approver]) as road:
        before = Belongings.now()
        task = asyncio.ensure_future(road.invoke(road.call("remove")))
        await eventually(stand.asked)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await left_since(before) == ()
    assert tool.runs == []


@pytest.mark.parametrize(
    ("kind", "scopes"),
    [
        ("terminal", set(Scope)),
        ("queue", {Scope.ONCE, Scope.SESSION, Scope.ALWAYS}),
        ("command", {Scope.ONCE, Scope.SESSION}),
    ],
)
def test_each_says_how_far_its_answers_may_reach(kind: str, scopes: set[Scope]) -> None:
    """A program decides nothing for good, and only who reads the question judges a tool."""
    made: dict[str, Callable[[], Approver]] = {
        "terminal": TerminalApprover,
        "queue": QueueApprover,
        "command": lambda: CommandApprover(Program("approver", "true", (), {})),
    }
    assert made[kind]().scopes == scopes


class Book:
    """Remembers what it was to keep."""

    def __init__(self) -> None:
        self.kept: list[tuple[str | None, Answer]] = []

    def keep(self, question: Question, answer: Answer) -> None:
        """Keeps it."""
        self.kept.append((question.always, answer))


@pytest.mark.parametrize("scope", [Scope.ALWAYS, Scope.READ_ONLY, Scope.ADDITIVE])
@pytest.mark.parametrize("granted", [frozenset({Scope.ONCE, Scope.SESSION}), frozenset(Scope)])
async def test_nobody_reaches_further_than_they_say(
    tmp_path: Path, scope: Scope, granted: frozenset[Scope]
) -> None:
    """An answer beyond an approver's scopes counts once, and nothing of it is kept."""
    tool, book = ScriptedTool("remove", server="db"), Book()
    approver = ScriptedApprover([Answer(True, "scripted", scope)], scopes=granted)
    with Road(tmp_path, [tool], attended=[approver], answers=book) as road:
        assert not (await road.invoke(road.call("mcp__db__remove", {"path": "a"}))).is_error
        [decision] = road.ledger.decisions
    kept = scope in granted
    assert decision.scope == (scope.value if kept else "once")
    assert [answer.scope for _, answer in book.kept] == ([scope] if kept else [])


class Full(SqliteTickets):
    """A place for tickets on a full disk."""

    def put(self, ticket: Ticket) -> Ticket:
        """Fails."""
        raise LocalError("the disk is full")


async def test_the_queue_suspends_and_leaves_nothing(tmp_path: Path) -> None:
    """A question that is put off runs nothing, and waits with all that a person has to see."""
    tool = ScriptedTool("remove")
    with Road(tmp_path, [tool], attended=[QueueApprover()]) as road:
        before = Belongings.now()
        waiting = await road.suspend(road.call("remove", {"path": "a"}))
        assert await left_since(before) == ()
        question = road.tickets.get(waiting.ticket).question
    assert tool.runs == []
    assert (question.tool, question.arguments) == ("remove", {"path": "a"})


@pytest.mark.req("S0-09")
async def test_a_question_that_can_not_be_kept_is_a_no(tmp_path: Path) -> None:
    """A queue that fails has said no: the call is refused, and nothing runs."""
    tool = ScriptedTool("remove")
    with open_state(tmp_path / "other.db", "other") as state:
        road = Road(tmp_path, [tool], attended=[QueueApprover()], tickets=Full(state))
        with road:
            result = await road.invoke(road.call("remove"))
    assert (result.kind, result.reason) == (ErrorKind.INTERNAL, "no_record")
    assert tool.runs == []
