"""The fakes that tests are written with do what their scripts say."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.policy.approval import PASS, Answer, Later, Question, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.clock import FakeClock
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel


@pytest.fixture
def question() -> Question:
    """Any question."""
    origin = Origin("local", None, "t", fingerprint({}))
    return Question("c", "t", origin, SideEffectLevel.MUTATING, True, {}, "d", (), "e", None, None)


async def test_an_approver_replies_in_order_and_then_passes(question: Question) -> None:
    """What it was asked is kept."""
    approver = ScriptedApprover([Answer(True, "scripted"), Later()])
    assert await approver(question) == Answer(True, "scripted")
    assert await approver(question) == Later()
    assert await approver(question) is PASS
    assert approver.questions == [question] * 3
    assert repr(approver) == "<ScriptedApprover scripted: 3 asked, 0 left>"


async def test_an_approver_raises_what_it_is_scripted_to(question: Question) -> None:
    """For approvers that fail."""
    with pytest.raises(RuntimeError, match="broken"):
        await ScriptedApprover([RuntimeError("broken")])(question)


async def test_an_approver_that_holds_waits_for_release(question: Question) -> None:
    """For time limits and for questions that are joined."""
    approver = ScriptedApprover.always(True, scope=Scope.SESSION)
    held = ScriptedApprover([Answer(False, "scripted")], hold=True)
    task = asyncio.create_task(held(question))
    async with asyncio.timeout(5):
        await held.asked.wait()
        assert not task.done()
        held.release()
        assert await task == Answer(False, "scripted")
        assert await approver(question) == Answer(True, "scripted", Scope.SESSION)


def test_a_clock_goes_on_only_when_told() -> None:
    """And never back."""
    clock = FakeClock(10.0)
    assert (clock(), clock()) == (10.0, 10.0)
    assert clock.advance(2.5) == 12.5
    assert clock() == 12.5
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="back"):
            clock.advance(wrong)
    assert repr(clock) == "<FakeClock 12.500>"


def test_a_tool_of_a_server_is_named_and_described_as_one() -> None:
    """Nothing else about it differs."""
    tool = ScriptedTool("git_log", server="git")
    assert tool.name == "mcp__git__git_log"
    assert tool.definition.origin.server == "git"
    assert tool.definition.origin.original_name == "git_log"
