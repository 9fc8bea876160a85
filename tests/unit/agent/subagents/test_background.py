"""Sub-agents in the background: their answers, who may ask for them, and that their session ends
them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lockgate.agent.children import ChildRefused
from lockgate.agent.model import ModelReply
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.subagents.background import MAX_KEPT, Background
from lockgate.agent.wish import Wish
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import asking
from lockgate.testing.office import PromptedModel, calling, office, task
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

READ_ONLY = SideEffectLevel.READ_ONLY
START = task("general", "work", background=True)
"""Starts one whose prompt is `work`."""


def texts(result: RunResult) -> list[str]:
    """The results of the calls of a turn."""
    return [made.result.text for made in result.calls if isinstance(made.result, ToolResult)]


def ask(**how: object) -> ModelReply:
    """A reply that asks for the first one."""
    return calling(("list_agents", {"id": "general-1", **how}))


def slow(*, interruptible: bool = False) -> ScriptedTool:
    """A tool that waits to be released."""
    return ScriptedTool(
        "slow", level=READ_ONLY, concurrent=True, hold=True, interruptible=interruptible
    )


async def test_an_answer_is_there_in_a_later_turn(tmp_path: Path) -> None:
    """The turn that starts one goes on at once; a later one has its answer, as often as it asks."""
    tool = slow()
    model = PromptedModel(
        {
            "go": [START],
            "work": [asking("slow"), ModelReply("the answer")],
            "now?": [ask()],
            "wait": [ask(wait=60)],
            "list": [calling(("list_agents", {}))],
        }
    )
    async with office(tmp_path, [tool]) as o, o.bench.agent(model) as agent, asyncio.timeout(5):
        assert "general-1 works in the background" in texts(await agent.run("go"))[0]
        await tool.started.wait()
        assert "still at work" in texts(await agent.run("now?"))[0]
        tool.release()
        assert texts(await agent.run("wait")) == ["the answer"]
        assert "- general-1: answered, " in texts(await agent.run("list"))[0]


async def test_the_next_turn_is_told_of_an_end(tmp_path: Path) -> None:
    """Once, and not of one whose answer it had already."""
    model = PromptedModel(
        {
            "go": [START],
            "next": [ask()],
            "more": [START, calling(("list_agents", {"id": "general-2", "wait": 60}))],
            "last": [],
        }
    )
    async with office(tmp_path) as o, o.bench.agent(model) as agent, asyncio.timeout(5):
        await agent.run("go")
        while len(o.background):  # noqa: ASYNC110 - it ends by itself
            await asyncio.sleep(0)
        for prompt in ("next", "more", "last"):
            await agent.run(prompt)
    told = "general-1, in the background, has ended"
    assert told in model.seen("next")[0].instructions
    assert "in the background" not in model.seen("more")[0].instructions
    assert "in the background" not in model.seen("last")[0].instructions


async def test_its_session_ends_it(tmp_path: Path) -> None:
    """It is interrupted, so that its calls have results, and nothing is left."""
    tool = slow(interruptible=True)
    model = PromptedModel({"go": [START], "work": [asking("slow")]})
    async with office(tmp_path, [tool]) as o, asyncio.timeout(5):
        agent = o.bench.agent(model)
        await agent.run("go")
        await tool.started.wait()
        assert len(o.background) == 1
        await agent.close()
        assert (len(o.background), len(o.children), len(o.bench.runtime.under_way)) == (0, 0, 0)
        failed = [out for out in o.bench.ledger.outcomes if out.is_error]
        assert [(out.kind, out.reason) for out in failed] == [("outcome_unknown", "interrupted")]


async def test_what_does_not_end_is_cancelled(tmp_path: Path) -> None:
    """A call that can not be interrupted is given its time, and no more."""
    tool = slow()
    model = PromptedModel({"go": [START], "work": [asking("slow")]})
    async with office(tmp_path, [tool], grace=0.01) as o, asyncio.timeout(5):
        agent = o.bench.agent(model)
        await agent.run("go")
        await tool.started.wait()
        await agent.close()
        assert (len(o.background), len(o.children)) == (0, 0)


@pytest.mark.req("S3-07")
async def test_a_session_that_ends_starts_no_other(tmp_path: Path) -> None:
    """Its turn ends before those in the background, which nothing can be added to any more."""
    tool, other = slow(), ScriptedTool("other", level=READ_ONLY, hold=True)
    scripts = {"go": [START, asking("other"), task("general", "more", background=True)]}
    scripts |= {"work": [asking("slow")], "more": [asking("slow")]}
    model = PromptedModel(scripts)
    async with office(tmp_path, [tool, other], grace=0.2) as o, asyncio.timeout(10):
        agent = o.bench.agent(model)
        turn = asyncio.create_task(agent.run("go"))
        await other.started.wait()
        await tool.started.wait()
        closing = asyncio.create_task(agent.close())
        await asyncio.sleep(0)  # it has begun
        other.release()
        await closing
        assert (await turn).status is RunStatus.INTERRUPTED
        assert len((await turn).calls) == 2
        assert (len(o.background), len(o.children), len(o.bench.runtime.under_way)) == (0, 0, 0)


class Late(DeclaredTool):
    """A tool that no interrupt ends, and that starts a sub-agent when it is interrupted."""

    def __init__(self) -> None:
        origin = Origin("local", None, "late", Fingerprint("0" * 64, ()))
        definition = ToolDefinition("late", "Late.", {"type": "object"}, origin)
        super().__init__(definition, level=READ_ONLY, interruptible=False)
        self.started = asyncio.Event()
        self.background: Background | None = None
        self.refused: str | None = None

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        assert self.background is not None
        assert context.interrupt is not None
        self.started.set()
        await context.interrupt.wait()
        try:
            self.background.start("helper", Wish("helper", "subagent", "Help.", "do it"), context)
        except ChildRefused as refused:
            self.refused = refused.reason
        return ToolResult.of("ok")


@pytest.mark.req("S3-07")
async def test_nor_does_a_call_that_its_end_waits_for(tmp_path: Path) -> None:
    """What it started now would be waited for by nobody."""
    late = Late()
    model = PromptedModel({"go": [asking("late")]})
    async with office(tmp_path, [late]) as o, asyncio.timeout(10):
        late.background = o.background
        agent = o.bench.agent(model)
        turn = asyncio.create_task(agent.run("go"))
        await late.started.wait()
        await agent.close()
        await turn
        assert (late.refused, len(o.background), len(o.children)) == ("session_ends", 0, 0)


async def test_one_that_never_began_gives_its_place_back(tmp_path: Path) -> None:
    """A session that is closed at once has none left."""
    model = PromptedModel({"go": [START]})
    async with office(tmp_path, grace=0.0) as o, asyncio.timeout(5):
        agent = o.bench.agent(model)
        await agent.run("go", sink=lambda event: None)
        await agent.close()
        assert (len(o.background), len(o.children)) == (0, 0)


async def test_an_interrupt_of_the_turn_lets_it_go_on(tmp_path: Path) -> None:
    """It belongs to the session, not to the turn that started it."""
    token = InterruptToken()
    tool, other = slow(), ScriptedTool("other", level=READ_ONLY, interruptible=True, hold=True)
    scripts = {"go": [START, asking("other")], "work": [asking("slow"), ModelReply("answer")]}
    model = PromptedModel({**scripts, "wait": [ask(wait=60)]})
    async with office(tmp_path, [tool, other]) as o, o.bench.agent(model) as agent:
        async with asyncio.timeout(5):
            turn = asyncio.create_task(agent.run("go", interrupt=token))
            await other.started.wait()
            await tool.started.wait()
            token.interrupt()
            await turn
            tool.release()
            assert texts(await agent.run("wait")) == ["answer"]


async def test_it_asks_through_the_session_that_invited_it(tmp_path: Path) -> None:
    """While somebody attends; the question names it."""
    approver = ScriptedApprover.always(True)
    scripts = {"go": [START], "work": [asking("wipe"), ModelReply("ok")], "wait": [ask(wait=60)]}
    model = PromptedModel(scripts)
    async with office(tmp_path, [ScriptedTool("wipe")], approvers=[approver]) as o:
        async with o.bench.agent(model) as agent, asyncio.timeout(5):
            await agent.run("go")
            assert texts(await agent.run("wait")) == ["ok"]
        (question,) = approver.questions
        assert (question.agent, question.session_id) == ("general", agent.session_id)


async def test_where_nobody_attends_it_is_refused(tmp_path: Path) -> None:
    """As its session would be."""
    approver, wipe = ScriptedApprover.always(True), ScriptedTool("wipe")
    scripts = {"go": [START], "work": [asking("wipe")], "wait": [ask(wait=60)]}
    async with office(tmp_path, [wipe], approvers=[approver]) as o, asyncio.timeout(5):
        agent = o.bench.agent(PromptedModel(scripts), attended=False)
        await agent.run("go")
        await agent.run("wait")
    assert (approver.questions, wipe.runs) == ([], [])


async def test_where_there_is_no_session_there_is_no_background(tmp_path: Path) -> None:
    """Not for a call that no model made, and not for a sub-agent, which ends with its answer."""
    model = PromptedModel({"go": [task("general", "delegate")], "delegate": [START]})
    async with office(tmp_path) as o:
        call = o.bench.road.call("Task", {"agent": "general", "prompt": "x", "background": True})
        assert (await o.bench.road.invoke(call)).reason == "no_session"
        async with o.bench.agent(model) as agent:
            await agent.run("go")
        answer = model.seen("delegate")[1].transcript[-1]
        assert "leave `background` out" in str(answer)


async def test_others_are_not_told_of_it(tmp_path: Path) -> None:
    """Neither another session nor a sub-agent of this one; an id that is none says so."""
    scripts = {
        "go": [START],
        "other": [ask()],
        "through": [task("general", "other")],
        "slip": [calling(("list_agents", {"id": "general-2"}))],
    }
    model = PromptedModel(scripts)
    async with office(tmp_path) as o:
        agent, stranger = o.bench.agent(model), o.bench.agent(model)
        await agent.run("go")
        made = (await stranger.run("other")).calls[0].result
        assert isinstance(made, ToolResult)
        assert (made.kind, made.reason) == (ErrorKind.INVALID_ARGUMENTS, "no_such_agent")
        assert "did you mean general-1?" in texts(await agent.run("slip"))[0]
    async with office(tmp_path) as o, o.bench.agent(PromptedModel(scripts)) as agent:
        await agent.run("go")
        await agent.run("through")
        records = [out.reason for out in o.bench.ledger.outcomes]
        assert records.count("no_such_agent") == 1


async def test_wait_without_id_is_a_slip(tmp_path: Path) -> None:
    """There is nothing to wait for."""
    async with office(tmp_path) as o:
        result = await o.bench.road.invoke(o.bench.road.call("list_agents", {"wait": 5}))
        assert result.kind is ErrorKind.INVALID_ARGUMENTS


async def test_waiting_can_be_interrupted(tmp_path: Path) -> None:
    """The wait ends with the turn; the sub-agent goes on."""
    token, tool = InterruptToken(), slow()
    scripts = {"go": [START], "work": [asking("slow")], "wait": [ask(wait=600)]}
    async with office(tmp_path, [tool]) as o, o.bench.agent(PromptedModel(scripts)) as agent:
        async with asyncio.timeout(5):
            await agent.run("go")
            turn = asyncio.create_task(agent.run("wait", interrupt=token))
            await tool.started.wait()
            while len(o.bench.ledger.decisions) < 3:  # noqa: ASYNC110 - then the wait is under way
                await asyncio.sleep(0)
            token.interrupt()
            await turn
            assert len(o.background) == 1
            tool.release()


async def test_what_ended_is_forgotten_at_some_point(tmp_path: Path) -> None:
    """The oldest answers give way."""
    model = PromptedModel(
        {"go": [START, ModelReply("ok")] * (MAX_KEPT + 2), "list": [calling(("list_agents", {}))]}
    )
    async with office(tmp_path) as o, o.bench.agent(model) as agent:
        for _ in range(MAX_KEPT + 2):
            await agent.run("go")
            while len(o.background):  # noqa: ASYNC110 - it ends by itself
                await asyncio.sleep(0)
        listed = texts(await agent.run("list"))[0]
    assert listed.count("- general-") == MAX_KEPT
    assert "general-1:" not in listed


@pytest.mark.req("S3-07")
async def test_a_runtime_that_closes_leaves_nothing(tmp_path: Path) -> None:
    """Also where nobody closed the session."""
    tool = slow(interruptible=True)
    model = PromptedModel({"go": [START], "work": [asking("slow")]})
    async with office(tmp_path, [tool]) as o, asyncio.timeout(5):
        await o.bench.agent(model).run("go")
        await tool.started.wait()
        await o.bench.runtime.close()
        assert (len(o.background), len(o.children)) == (0, 0)
