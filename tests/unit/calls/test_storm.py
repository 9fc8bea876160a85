"""Many calls, answers, cancellations and interrupts at once: the books balance afterwards."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

CALLS = 40


class Wavering(ScriptedTool):
    """Takes a few turns of the loop."""

    dice = random.Random(0)  # noqa: S311 - a test's, seeded by it

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        for _ in range(self.dice.randrange(4)):
            await asyncio.sleep(0)
        return await super()._run(arguments, context)


class Moody(ScriptedApprover):
    """Says anything, after a few turns of the loop."""

    dice = random.Random(0)  # noqa: S311 - a test's, seeded by it

    async def __call__(self, question: Question) -> Reply:
        """One of everything an approver can say."""
        for _ in range(self.dice.randrange(4)):
            await asyncio.sleep(0)
        yes, no = Answer(True, ""), Answer(False, "")
        return self.dice.choice((yes, no, PASS, Answer(True, "", Scope.SESSION)))


@pytest.mark.req("B-02")
@pytest.mark.parametrize("seed", range(12))
async def test_the_books_balance(make_road: Callable[..., Road], seed: int) -> None:
    """Whatever is cancelled and interrupted when: one decision for each call, one outcome for each
    run, no lane, question or task left behind, and nothing raised but cancellations."""
    dice = random.Random(seed)  # noqa: S311 - a test's
    tools = [
        Wavering("a"),
        Wavering("b", destructive=False),
        Wavering("c", level=SideEffectLevel.READ_ONLY, concurrent=True),
        Wavering("d", destructive=False, interruptible=True),
    ]
    approver = Moody()
    for part in (*tools, approver):
        part.dice = dice
    exempt = dice.choice((None, *SideEffectLevel))
    road = make_road(tools, exempt=exempt, attended=[approver])
    tokens = [InterruptToken() for _ in range(3)]
    tasks = [
        asyncio.create_task(
            road.invoke(
                road.call(
                    dice.choice("abcde"),
                    {"n": dice.randrange(2)},
                    session=dice.choice(("s", "t", None)),
                    interrupt=dice.choice((*tokens, None)),
                    timeout=dice.choice((None, 0.001, 5)),
                )
            )
        )
        for _ in range(CALLS)
    ]
    for _ in range(60):
        await asyncio.sleep(0)
        if dice.random() < 0.2:
            dice.choice(tasks).cancel()
        if dice.random() < 0.02:
            dice.choice(tokens).interrupt()
    async with asyncio.timeout(20):
        results = await asyncio.gather(*tasks, return_exceptions=True)
    raised = [result for result in results if isinstance(result, BaseException)]
    assert all(isinstance(error, asyncio.CancelledError) for error in raised)
    assert len(road.ledger.decisions) == CALLS
    runs = [record.call for record in road.ledger.decisions if record.decision == "run"]
    assert sorted(runs) == sorted(record.call for record in road.ledger.outcomes)
    assert len(road.lanes) == 0
    assert len(asyncio.all_tasks()) == 1
