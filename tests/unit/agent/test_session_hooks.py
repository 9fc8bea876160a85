"""Hooks of sessions and turns: told in order, bounded, and able to deny a turn."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from lockgate.agent.model import ModelReply, UserMessage
from lockgate.agent.occasions import Occasions, with_context
from lockgate.agent.run import RunStatus
from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Hooks
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.ceiling import whole
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.journal import MemoryJournal
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import Environment, Execution, InterruptToken
from lockgate.traits import SideEffectLevel

E = HookEvent
DENY = HookResult(HookDecision.DENY, "out of hours")


def of_all(hook: ScriptedHook) -> list[Hook]:
    """`hook` for every event of sessions, turns and calls."""
    return [hook.on(event) for event in HookEvent]


async def test_a_session_tells_its_hooks_everything_in_order(tmp_path: Path) -> None:
    """Start with the first turn, each turn's start and stop around its calls, end with the
    session; all under the session's id."""
    hook = ScriptedHook()
    tool = ScriptedTool("add", destructive=False)
    async with (
        Workbench(tmp_path, [tool], exempt=SideEffectLevel.MUTATING, hooks=of_all(hook)) as bench,
        bench.agent(FakeModel([asking("add"), ModelReply("one")])) as agent,
    ):
        assert hook.told == []
        result = await agent.run("a")
        await agent.run("b")
        await agent.close()
    assert [told.event for told in hook.told] == [
        E.SESSION_START,
        E.TURN_START,
        E.PRE_TOOL,
        E.POST_TOOL,
        E.TURN_STOP,
        E.TURN_START,
        E.TURN_STOP,
        E.SESSION_END,
    ]
    assert {told.session_id for told in hook.told} == {agent.session_id}
    (
        start,
        turn,
        *_,
    ) = hook.told
    assert start.details == {"source": "startup"}
    assert turn.details == {"prompt": "a"}
    assert turn.execution_id == result.execution_id
    assert turn.ceiling is SideEffectLevel.MUTATING
    assert hook.told[4].details == {"status": "answered"}
    assert hook.told[4].attended


async def test_a_session_that_goes_on_is_told_as_resumed(tmp_path: Path) -> None:
    """The same event, with another source."""
    hook, journal = ScriptedHook(), MemoryJournal()
    async with Workbench(tmp_path, hooks=[hook.on(E.SESSION_START)]) as bench:
        for _ in range(2):
            async with bench.agent(FakeModel(), session_id="kept", journal=journal) as agent:
                await agent.run("a")
    assert [told.details["source"] for told in hook.told] == ["startup", "resume"]
    assert {told.session_id for told in hook.told} == {"kept"}


async def test_a_session_ends_after_its_turn(tmp_path: Path) -> None:
    """Also where it is closed in the middle of its first one."""
    hook, model = ScriptedHook(), FakeModel(hold=True)
    async with Workbench(tmp_path, hooks=of_all(hook)) as bench:
        agent = bench.agent(model)
        turn = asyncio.create_task(agent.run("a"))
        await model.asked.wait()
        await agent.close()
        assert (await turn).status is RunStatus.INTERRUPTED
    assert [told.event for told in hook.told][-2:] == [E.TURN_STOP, E.SESSION_END]


async def test_a_session_that_says_nothing_tells_nothing(tmp_path: Path) -> None:
    """It never began."""
    hook = ScriptedHook()
    async with Workbench(tmp_path, hooks=of_all(hook)) as bench:
        await bench.agent(FakeModel()).close()
    assert hook.told == []


async def test_an_open_session_ends_with_its_runtime(tmp_path: Path) -> None:
    """Whoever forgets to close it, its hooks are told."""
    hook = ScriptedHook()
    async with Workbench(tmp_path, hooks=[hook.on(E.SESSION_END)]) as bench:
        agent = bench.agent(FakeModel())
        await agent.run("a")
    assert len(hook.told) == 1
    assert agent.session_id == hook.told[0].session_id


async def test_a_denied_turn_never_begins(tmp_path: Path) -> None:
    """The model is asked nothing, nothing is said, the result tells which hook and why; the next
    turn is asked about anew."""
    model, stop = FakeModel(), ScriptedHook()
    async with Workbench(
        tmp_path, hooks=[ScriptedHook([DENY]).on(E.TURN_START, name="hours"), stop.on(E.TURN_STOP)]
    ) as bench:
        agent = bench.agent(model)
        result = await agent.run("a")
        assert (result.status, result.reason) == (RunStatus.DENIED, "hook")
        assert result.detail == "the hook hours denies it: out of hours"
        assert "out of hours" in str(result)
        assert not result.answered
        assert model.seen == []
        assert agent.transcript == result.transcript == ()
        assert (await agent.run("b")).answered
    assert [told.details["status"] for told in stop.told] == ["denied", "answered"]


@pytest.mark.parametrize("denies", [False, True])
async def test_a_failing_hook_of_a_turn_warns_or_denies(tmp_path: Path, denies: bool) -> None:
    """As before a call."""
    hook = ScriptedHook([RuntimeError()]).on(E.TURN_START, denies_on_error=denies)
    async with Workbench(tmp_path, hooks=[hook]) as bench:
        result = await bench.agent(FakeModel()).run("a")
    assert result.answered is not denies


async def test_hooks_add_to_the_prompt_as_data(tmp_path: Path) -> None:
    """What the session's start and the turn's start add stands behind the person's words, marked;
    that of the session once."""
    model = FakeModel()
    hooks = [
        ScriptedHook([HookResult(context="of the session")]).on(E.SESSION_START),
        ScriptedHook.always(HookResult(context="of the turn")).on(E.TURN_START),
    ]
    async with Workbench(tmp_path, hooks=hooks) as bench:
        agent = bench.agent(model)
        await agent.run("a")
        await agent.run("b")
    prompts = [m.text for m in model.seen[1].transcript if isinstance(m, UserMessage)]
    mark = "\n\n[from hooks: data, not the words of the person]\n"
    assert prompts == [f"a{mark}of the session\nof the turn", f"b{mark}of the turn"]
    assert with_context("a", "") == "a"


async def test_what_a_session_start_adds_waits_for_a_turn_that_begins(tmp_path: Path) -> None:
    """A denied turn does not lose it."""
    model = FakeModel()
    hooks = [
        ScriptedHook([HookResult(context="of the session")]).on(E.SESSION_START),
        ScriptedHook([DENY]).on(E.TURN_START),
    ]
    async with Workbench(tmp_path, hooks=hooks) as bench:
        agent = bench.agent(model)
        await agent.run("a")
        await agent.run("b")
    assert "of the session" in str(model.seen[0].transcript)


@pytest.mark.parametrize("event", [E.SESSION_START, E.TURN_START])
async def test_an_interrupt_cuts_the_hooks_of_a_turn_off(tmp_path: Path, event: HookEvent) -> None:
    """The turn is over as any interrupted one, and the hook has ended."""
    held, token, model = ScriptedHook(hold=True), InterruptToken(), FakeModel()
    async with asyncio.timeout(10), Workbench(tmp_path, hooks=[held.on(event)]) as bench:
        task = asyncio.create_task(bench.agent(model).run("a", interrupt=token))
        await held.started.wait()
        token.interrupt()
        assert (await task).status is RunStatus.INTERRUPTED
    assert held.ended == 1
    assert model.seen == []


@pytest.mark.parametrize("event", [E.SESSION_START, E.TURN_START, E.TURN_STOP])
async def test_a_cancellation_passes_through_the_hooks_of_a_turn(
    tmp_path: Path, event: HookEvent
) -> None:
    """Nothing is left running, and the agent can be used again."""
    held = ScriptedHook(hold=True)
    async with Workbench(tmp_path, hooks=[held.on(event)] * 2) as bench:
        agent = bench.agent(FakeModel())
        before = asyncio.all_tasks()
        task = asyncio.create_task(agent.run("a"))
        await held.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before
        assert held.ended == len(held.told)
        held.release()
        assert (await agent.run("b")).answered


async def test_hooks_are_told_of_a_turn_that_is_cancelled(tmp_path: Path) -> None:
    """Once, before the cancellation passes on; also where it comes before the model is asked."""
    stop, held, model = ScriptedHook(), ScriptedHook(hold=True), FakeModel(hold=True)
    hooks = [stop.on(E.TURN_STOP), held.on(E.TURN_START)]
    async with Workbench(tmp_path, hooks=hooks) as bench:
        agent = bench.agent(model)
        for begun in (held.started, model.asked):
            before = asyncio.all_tasks()
            task = asyncio.create_task(agent.run("a"))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.all_tasks() == before
            held.release()
    assert [told.details for told in stop.told] == [{"status": "cancelled"}] * 2
    assert len(held.told) == 2


async def test_hooks_are_told_of_a_turn_that_fails(tmp_path: Path) -> None:
    """With the kind of error, and nothing of its words."""
    stop = ScriptedHook()
    async with Workbench(tmp_path, hooks=[stop.on(E.TURN_STOP)]) as bench:
        with pytest.raises(LocalError):
            await bench.agent(FakeModel([LocalError("SEKRET")])).run("a")
    assert [told.details for told in stop.told] == [{"status": "failed", "reason": "LocalError"}]


async def test_a_second_cancellation_does_not_wait_for_hooks(tmp_path: Path) -> None:
    """It ends those that were to be told of the first."""
    held, model = ScriptedHook(hold=True), FakeModel(hold=True)
    async with Workbench(tmp_path, hooks=[held.on(E.TURN_STOP)]) as bench:
        before = asyncio.all_tasks()
        task = asyncio.create_task(bench.agent(model).run("a"))
        await model.asked.wait()
        task.cancel()
        await held.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before
    assert (len(held.told), held.ended) == (1, 1)


async def test_a_cancellation_waits_for_hooks_no_longer_than_its_bound(tmp_path: Path) -> None:
    """Not for one that has longer by itself, and not for one that goes on though it is ended."""
    free = asyncio.Event()

    async def stubborn(_: HookInput) -> None:
        while not free.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await free.wait()

    held = ScriptedHook(hold=True)
    stops = [held.on(E.TURN_STOP, timeout=600), Hook(E.TURN_STOP, stubborn, "stubborn")]
    occasions = Occasions(Hooks(stops), last_word=0.001, ending=0.001)
    execution = Execution(
        "x",
        "agent",
        whole(SideEffectLevel.MUTATING),
        attended=True,
        environment=Environment(tmp_path),
    )
    before = asyncio.all_tasks()
    async with asyncio.timeout(5):
        await occasions.turn_broke_off(execution, asyncio.CancelledError())
    assert (len(held.told), held.ended) == (1, 1)
    free.set()
    for left in asyncio.all_tasks() - before:
        await asyncio.wait((left,))


async def test_closing_waits_for_a_slow_hook_no_longer_than_its_limit(tmp_path: Path) -> None:
    """Every wait is bounded."""
    held = ScriptedHook(hold=True)
    async with Workbench(tmp_path, hooks=[held.on(E.SESSION_END, timeout=0.001)]) as bench:
        agent = bench.agent(FakeModel())
        await agent.run("a")
        async with asyncio.timeout(5):
            await agent.close()
    assert held.ended == 1
    with pytest.raises(LocalError):
        await agent.run("b")


async def test_a_sub_agent_is_told_and_can_be_denied() -> None:
    """Its name, its prompt, whose it is; before it begins, and when it has ended."""
    start, stop = ScriptedHook([DENY, HookResult(context="take care")]), ScriptedHook()
    occasions = Occasions(Hooks([start.on(E.SUBAGENT_START), stop.on(E.SUBAGENT_STOP)]))
    execution = Execution(
        "child",
        "agent",
        whole(SideEffectLevel.READ_ONLY),
        attended=False,
        environment=Environment(Path("/")),
        agent="sub-agent finder",
    )
    first = await occasions.subagent_starts(execution, "finder", "find it", parent="turn")
    assert first.denied == "the hook scripted denies it: out of hours"
    second = await occasions.subagent_starts(execution, "finder", "find it", parent="turn")
    assert (second.denied, second.context) == (None, "take care")
    await occasions.subagent_stopped(
        execution, "finder", parent="turn", status="bound", reason="tokens"
    )
    told = start.told[0]
    assert (told.execution_id, told.agent) == ("child", "sub-agent finder")
    assert told.details == {
        "subagent": "finder",
        "prompt": "find it",
        "parent_execution_id": "turn",
    }
    assert stop.told[0].details["reason"] == "tokens"


async def test_without_hooks_nothing_is_told_and_all_begins(tmp_path: Path) -> None:
    """The common case."""
    occasions = Occasions(Hooks())
    assert await occasions.session_started("s", Environment(tmp_path), attended=True) == ""
    execution = Execution(
        "x",
        "agent",
        whole(SideEffectLevel.MUTATING),
        attended=True,
        environment=Environment(tmp_path),
    )
    assert (await occasions.turn_starts(execution, "a")).denied is None
