"""A turn with sub-agents, in front and behind, that is ended at every moment there is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from lockgate.agent.model import ModelReply
from lockgate.policy.approval import Answer, Question
from lockgate.policy.approval import Scope as AnswerScope
from lockgate.testing.office import Office, PromptedModel, calling, office, task
from lockgate.testing.provider_rules import refusals_of
from lockgate.testing.step_loop import StepLoop
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

End: TypeAlias = Literal["interrupt", "cancel", "close"]
MOST = 2_000
"""Steps that a turn has at most."""

CALLS = 14
"""Calls of a turn that is left alone, and of its sub-agents."""


class Stepping(ScriptedTool):
    """A tool that takes a few steps of the loop."""

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        for _ in range(3):
            await asyncio.sleep(0)
        return ToolResult.of("ok")


class Thinking:
    """An approver that thinks for a few steps, and says yes."""

    name = "person"
    scopes = frozenset({AnswerScope.ONCE})

    async def __call__(self, question: Question) -> Answer:
        for _ in range(3):
            await asyncio.sleep(0)
        return Answer(True, self.name)


def a_model() -> PromptedModel:
    """One that delegates to two levels, side by side with its own work, and once behind."""
    both = calling(("look", {}), ("wipe", {}), ("hold", {}))
    beside = calling(
        ("Task", {"agent": "general", "prompt": "behind", "background": True}),
        ("Task", {"agent": "general", "prompt": "one"}),
        ("Task", {"agent": "general", "prompt": "two"}),
        ("hold", {}),
    )
    return PromptedModel(
        {
            "go": [beside, ModelReply("done")],
            "behind": [both],
            "one": [both],
            "two": [task("general", "three")],
            "three": [both],
            "and now?": [ModelReply("still here")],
        }
    )


async def ended(o: Office, end: End, steps: int, loop: StepLoop) -> tuple[bool, list[str]]:
    """End a turn after so many steps; whether it was not over before, and what was wrong."""
    agent = o.bench.agent(a_model())
    token = InterruptToken()
    turn = asyncio.create_task(agent.run("go", interrupt=token))
    closing: list[asyncio.Task[None]] = []
    actions = {
        "interrupt": token.interrupt,
        "cancel": turn.cancel,
        "close": lambda: closing.append(asyncio.create_task(agent.close())),
    }
    disarm = loop.after(steps)(actions[end])
    wrong: list[str] = []
    async with asyncio.timeout(20):
        try:
            await turn
        except asyncio.CancelledError:
            if end == "interrupt":
                wrong.append("an interrupt became a cancellation")
        hit = disarm()
        wrong += refusals_of(agent.transcript)
        if end != "close":
            after = await agent.run("and now?")
            if str(after) != "still here":
                wrong.append(f"the next turn did not work: {after}")
        await agent.close()
        await asyncio.gather(*closing)
    left = len(o.children), len(o.background), len(o.bench.runtime.under_way)
    if any(left):
        wrong.append(f"children are left: {left}")
    if len(o.bench.road.lanes):
        wrong.append("lanes are held")
    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        wrong.append(f"tasks are left: {sorted(each.get_name() for each in tasks)}")
    ledger = o.bench.ledger
    run = sorted(record.call for record in ledger.decisions if record.decision == "run")
    if run != sorted(record.call for record in ledger.outcomes):
        wrong.append("a call that was run has no outcome, or another one has")
    if not hit and end != "close" and len(run) != CALLS:
        wrong.append(f"left alone it makes {CALLS} calls, and made {len(run)}")
    ledger.records.clear()
    return hit, wrong


async def everywhere(directory: Path, end: End) -> tuple[int, list[str]]:
    """End a turn at every step until it is over before; how many there were, what was wrong."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, StepLoop)
    tools = (
        Stepping("look", level=SideEffectLevel.READ_ONLY, concurrent=True, interruptible=True),
        Stepping("wipe", interruptible=True),
        Stepping("hold", destructive=False),
    )
    found: list[str] = []
    async with office(directory, tools, approvers=[Thinking()]) as o:
        for steps in range(MOST):
            hit, wrong = await ended(o, end, steps, loop)
            found += [f"step {steps}: {each}" for each in wrong]
            if not hit:
                return steps, found
    return MOST, [*found, "the turn has no end"]


@pytest.mark.req("B-02")
@pytest.mark.req("S3-07")
@pytest.mark.parametrize("end", ["interrupt", "cancel", "close"])
def test_a_turn_with_sub_agents_can_be_ended_at_every_await(tmp_path: Path, end: End) -> None:
    """Interrupted, cancelled, or its session closed under it: the transcript stays acceptable, each
    call that was sent has both its records, no child, lane or task is left, and the next turn
    works."""
    with asyncio.Runner(loop_factory=StepLoop) as runner:
        steps, found = runner.run(everywhere(tmp_path, end))
    assert found == []
    assert steps > 60
