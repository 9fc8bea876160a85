"""Two records for every call, and none without the first if it changes anything (B-02)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Later, Question, Reply
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.ledger import MemoryLedger
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
SECRET = "hunter2"  # noqa: S105 - a stand-in that must not turn up


@pytest.mark.req("B-02")
async def test_a_run_has_a_decision_before_and_an_outcome_after(make_road: MakeRoad) -> None:
    """One call id, first why and by whom, then what came of it and how long it took."""
    seen: list[int] = []

    class Watching(ScriptedTool):
        async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
            """Look at what is written down by now."""
            seen.append(len(road.ledger.records))
            road.clock.advance(1.5)
            return await super()._run(arguments, context)

    road = make_road([Watching("write", server="files", destructive=False)], exempt=MUTATE)
    call = road.call("mcp__files__write", {"token": SECRET}, principal="ann")
    await road.invoke(call)
    assert seen == [1]
    decision, outcome = road.ledger.records
    assert isinstance(decision, DecisionRecord)
    assert isinstance(outcome, OutcomeRecord)
    assert decision.call == outcome.call == call.id
    assert (decision.decision, decision.entry, decision.execution) == ("run", "test", "execution")
    assert (decision.session, decision.principal) == ("session", "ann")
    assert (decision.server, decision.level, decision.ruling) == ("files", "mutating", "declared")
    assert (decision.destructive, decision.idempotent) == (False, False)
    assert [reason.code for reason in decision.reasons] == ["exempt"]
    assert len(decision.arguments_digest) == 32
    assert decision.fingerprint
    assert (outcome.fate, outcome.is_error, outcome.attempts) == ("answered", False, 1)
    assert outcome.duration == 1.5
    assert SECRET not in repr(road.ledger.records)


@pytest.mark.req("S0-08")
async def test_who_answered_is_written_down(make_road: MakeRoad) -> None:
    """A rule, a person and a refusal each stand in the record with the answer they gave."""
    rules = RuleSet((parse_rule("add", Decision.ALLOW, source="lockgate.yaml: allow[0]"),))
    approver = ScriptedApprover([Answer(True, ""), Answer(False, "", note="no")])
    tools = [ScriptedTool("add", destructive=False), ScriptedTool("remove")]
    road = make_road(tools, rules=rules, attended=[approver])
    for name in ("add", "remove", "remove"):
        await road.invoke(road.call(name))
    by_rule, yes, no = road.ledger.decisions
    assert (by_rule.approver, by_rule.approved) == ("rule", True)
    assert by_rule.reasons[0].source == "lockgate.yaml: allow[0]"
    assert (yes.decision, yes.approver, yes.approved) == ("run", "scripted", True)
    assert (no.decision, no.approver, no.approved) == ("refuse", "scripted", False)
    assert (no.kind, no.reason) == ("not_approved", "said_no")
    assert len(road.ledger.outcomes) == 2


@pytest.mark.req("B-02")
async def test_refusals_and_suspensions_are_recorded_too(make_road: MakeRoad) -> None:
    """A call that is not made leaves its decision, with kind and reasons, and no outcome."""
    later = ScriptedApprover([Later()])
    tool = ScriptedTool("remove", input_schema={"type": "object", "required": ["path"]})
    road = make_road([tool], attended=[later])
    await road.invoke(road.call("nothing" * 100))
    await road.invoke(road.call("remove"))
    waiting = await road.suspend(road.call("remove", {"path": "x"}))
    unknown, invalid, suspended = road.ledger.decisions
    assert (unknown.kind, unknown.level) == ("unknown_tool", None)
    assert len(unknown.tool) <= 100
    assert (invalid.decision, invalid.kind) == ("refuse", "invalid_arguments")
    assert (suspended.decision, suspended.ticket) == ("suspend", waiting.ticket)
    assert suspended.approver is None
    assert road.ledger.outcomes == []


@pytest.mark.req("B-02")
async def test_without_a_record_no_mutating_call_is_made(
    make_road: MakeRoad, caplog: pytest.LogCaptureFixture
) -> None:
    """If the decision can not be written the call is refused; the log says so, without values."""
    ledger = MemoryLedger()
    ledger.failing = OSError(28, "No space left on device")
    tool = ScriptedTool("add", destructive=False)
    road = make_road([tool], exempt=MUTATE, ledger=ledger)
    with caplog.at_level(logging.WARNING):
        result = await road.invoke(road.call("add", {"token": SECRET}))
    assert (result.kind, result.reason) == (ErrorKind.INTERNAL, "no_record")
    assert "operator" in result.text
    assert tool.runs == []
    assert "No space left on device" in caplog.text
    assert SECRET not in caplog.text
    ledger.failing = None
    assert not (await road.invoke(road.call("add"))).is_error


@pytest.mark.req("B-02")
async def test_an_approved_call_without_a_record_is_not_made(make_road: MakeRoad) -> None:
    """A person's yes does not stand in for the record."""
    ledger = MemoryLedger()
    ledger.failing = OSError("read-only file system")
    tool = ScriptedTool("remove")
    road = make_road([tool], ledger=ledger, attended=[ScriptedApprover.always(True)])
    assert (await road.invoke(road.call("remove"))).reason == "no_record"
    assert tool.runs == []


@pytest.mark.req("B-02")
async def test_a_read_only_call_runs_without_a_record(
    make_road: MakeRoad, caplog: pytest.LogCaptureFixture
) -> None:
    """Reading goes on when the disk is full, and every missing record is said in the log."""
    ledger = MemoryLedger()
    ledger.failing = OSError("disk full")
    tool = ScriptedTool("read", level=READ)
    road = make_road([tool], ledger=ledger)
    with caplog.at_level(logging.WARNING):
        assert not (await road.invoke(road.call("read", {"token": SECRET}))).is_error
    assert len(tool.runs) == 1
    assert caplog.text.count("no record of call") == 2
    assert SECRET not in caplog.text


async def test_a_ledger_that_breaks_any_other_way_counts_as_full(make_road: MakeRoad) -> None:
    """Whatever a ledger raises, there is no record, and so no mutating call."""

    class Broken(MemoryLedger):
        def decision(self, record: DecisionRecord) -> None:
            """Fail in an unforeseen way."""
            raise ZeroDivisionError

    tool = ScriptedTool("add", destructive=False)
    road = make_road([tool], exempt=MUTATE, ledger=Broken())
    assert (await road.invoke(road.call("add"))).reason == "no_record"
    assert tool.runs == []


async def test_an_outcome_that_can_not_be_written_changes_no_result(make_road: MakeRoad) -> None:
    """The call was made; its result stands, and the log will read as outcome unknown."""

    class Filling(ScriptedTool):
        async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
            """Fill the disk."""
            road.ledger.failing = OSError("disk full")
            return await super()._run(arguments, context)

    road = make_road([Filling("add", destructive=False)], exempt=MUTATE)
    assert (await road.invoke(road.call("add"))).text == "ok"
    assert road.ledger.outcomes == []


async def test_what_can_not_be_decided_is_refused(
    make_road: MakeRoad, caplog: pytest.LogCaptureFixture
) -> None:
    """If the facts can not be read the call is refused; no failure opens the gate."""
    tool = ScriptedTool("add", destructive=False)
    road = make_road([tool], exempt=MUTATE)
    road.close()
    with caplog.at_level(logging.ERROR):
        result = await road.invoke(road.call("add", {"token": SECRET}))
    assert (result.kind, result.reason) == (ErrorKind.INTERNAL, "undecided")
    assert tool.runs == []
    assert SECRET not in caplog.text + result.text
    assert [record.decision for record in road.ledger.decisions] == ["refuse"]


@pytest.mark.req("B-02")
async def test_who_ends_the_program_leaves_a_record(make_road: MakeRoad) -> None:
    """A tool or an approver that raises SystemExit ends the program, and the call is on record."""
    leaving = ScriptedTool("leaving", destructive=False, replies=[SystemExit(3)])

    class Ends(ScriptedApprover):
        async def __call__(self, question: Question) -> Reply:
            """End the program in the place of an answer."""
            raise SystemExit(3)

    approvers = [Ends()]
    road = make_road([leaving, ScriptedTool("drop")], exempt=MUTATE, attended=approvers)
    for name in ("drop", "leaving"):
        with pytest.raises(SystemExit):
            await road.invoke(road.call(name))
    assert [record.decision for record in road.ledger.decisions] == ["refuse", "run"]
    (outcome,) = road.ledger.outcomes
    assert (outcome.fate, outcome.is_error) == ("unknown", True)
