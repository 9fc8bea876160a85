"""What a session is told between its turns: it is told when its model has replied to it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lockgate.agent.model import ModelReply, ToolAnswer
from lockgate.agent.run import RunStatus
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Later
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.journal import MemoryJournal
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.testing.workbench import Workbench
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel


def _gone() -> ModelReply:
    text, timeout = "nobody is there", Fault.TIMEOUT
    raise PeerError(text, peer="m", phase=Phase.CONNECT, fault=timeout, fate=Fate.NOT_SENT)


@pytest.mark.req("S3-18")
async def test_what_changed_is_told_until_the_model_replies(tmp_path: Path) -> None:
    """A provider that fails was told nothing; one that has replied is told once."""
    model = FakeModel([ModelReply("one"), _gone, ModelReply("two"), ModelReply("three")])
    async with Workbench(tmp_path, [ScriptedTool("a", server="s")]) as bench:
        agent = bench.agent(model)
        await agent.run("go")
        bench.registry.register_all([ScriptedTool("b", server="s")])
        assert (await agent.run("go")).status is RunStatus.MODEL_FAILED
        await agent.run("go")
        await agent.run("go")
    told = ["New: mcp__s__b." in shown.instructions for shown in model.seen]
    assert told == [False, True, True, False]


async def test_what_became_of_a_call_that_waited_is_told_until_the_model_replies(
    tmp_path: Path,
) -> None:
    """In the next process too."""
    journal = MemoryJournal()
    later = ScriptedApprover([Later()])
    async with Workbench(tmp_path, [ScriptedTool("add")], approvers=[later]) as bench:
        agent = bench.agent(
            FakeModel([asking("add"), ModelReply("it waits"), _gone]), journal=journal
        )
        await agent.run("go")
        await agent.run("on")
        [waiting] = journal.waiting()
        journal.calls[waiting.call_id] = replace(waiting, answered="refused")
        assert (await agent.run("and?")).status is RunStatus.MODEL_FAILED
        model = FakeModel([ModelReply("I see")])
        again = bench.agent(model, journal=journal)
        await again.run("and?")
        await again.run("so?")
    assert ["it was not run" in shown.instructions for shown in model.seen] == [True, False]
    assert journal.waiting() == ()


async def test_a_ticket_is_known_however_its_turn_ends(tmp_path: Path) -> None:
    """Of two calls one waits for an answer elsewhere, and the turn is cancelled while the other
    runs: the next turn tells that it waits, and does not take it for lost."""
    journal = MemoryJournal()
    held = ScriptedTool("held", level=SideEffectLevel.READ_ONLY, concurrent=True, hold=True)
    later = ScriptedApprover([Later()])
    async with Workbench(tmp_path, [ScriptedTool("add"), held], approvers=[later]) as bench:
        agent = bench.agent(FakeModel([asking("add", "held")]), journal=journal)
        turn = asyncio.create_task(agent.run("go"))
        await held.started.wait()
        await turns(20)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        [waiting] = agent.waiting
        assert waiting.tool == "add"
        await agent.run("on")
    answers = [said for said in agent.transcript if isinstance(said, ToolAnswer)]
    told = {answer.name: (answer.result.kind, answer.result.reason) for answer in answers}
    assert told["add"] == (ErrorKind.NOT_APPROVED, "waiting")
