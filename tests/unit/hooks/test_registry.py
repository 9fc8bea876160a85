"""Hooks of one event run at once, each within its limit; failures are told without values."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Firing, Hooks
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.testing.hook import ScriptedHook

SECRET = "hunter2"  # noqa: S105 - a stand-in that must not turn up
PRE = HookEvent.PRE_TOOL
TOLD = HookInput(PRE, tool_name="write", tool_input={"token": SECRET, "list": [1]})
DENY = HookResult(HookDecision.DENY, "no")


async def test_no_hook_costs_one_look_and_says_nothing() -> None:
    """The common case: `any` is a plain attribute."""
    hooks = Hooks()
    assert hooks.any is False
    assert (await hooks.fire(TOLD)).decision is HookDecision.DEFER


async def test_all_of_an_event_run_at_once_and_answer_in_declared_order() -> None:
    """None waits for another; what they said keeps the order of their declaration."""
    slow = ScriptedHook([HookResult(context="first")], hold=True)
    quick = ScriptedHook([HookResult(context="second")])
    other = ScriptedHook()
    hooks = Hooks(
        [slow.on(PRE), quick.on(PRE, name="quick"), other.on(HookEvent.POST_TOOL, name="other")]
    )
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        fired = group.create_task(hooks.fire(TOLD))
        await quick.started.wait()
        await slow.started.wait()
        slow.release()
    assert fired.result().context == "first\nsecond"
    assert other.told == []


@pytest.mark.parametrize("several", [False, True])
async def test_a_limit_that_is_overrun_is_a_failure(
    several: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A hook that says nothing in time is cut off; the others count."""
    held = ScriptedHook(hold=True)
    hooks = [held.on(PRE, timeout=0.001)]
    if several:
        hooks.append(ScriptedHook([DENY]).on(PRE, name="other"))
    merged = await Hooks(hooks).fire(TOLD)
    assert merged.failed == (("scripted", "timeout"),)
    assert merged.denied is several
    assert held.ended == 1
    assert "scripted failed on pre_tool: timeout" in caplog.text


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (RuntimeError(SECRET), "RuntimeError"),
        (asyncio.CancelledError(), "CancelledError"),
        (TimeoutError(), "TimeoutError"),
        ("deny", "it returned str, which is no HookResult"),
    ],
)
@pytest.mark.parametrize("denies", [False, True])
async def test_a_failure_is_a_warning_and_on_or_a_denial(
    said: Any, kind: str, denies: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """What went wrong is told by hook and kind; neither arguments nor an error's words are."""
    merged = await Hooks([ScriptedHook([said]).on(PRE, denies_on_error=denies)]).fire(TOLD)
    assert merged.failed == (("scripted", kind),)
    assert merged.denied is denies
    assert SECRET not in caplog.text
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert SECRET not in repr(merged)


@pytest.mark.parametrize("several", [1, 3])
async def test_cancellation_passes_and_leaves_no_task(several: int) -> None:
    """Whoever cancels the event ends its hooks, and all of them are over when it returns."""
    held = ScriptedHook(hold=True)
    before = asyncio.all_tasks()
    task = asyncio.create_task(Hooks([held.on(PRE)] * several).fire(TOLD))
    await held.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert held.ended == len(held.told)
    assert asyncio.all_tasks() == before


async def test_what_ends_a_program_passes() -> None:
    """A hook that exits exits."""
    with pytest.raises(SystemExit):
        await Hooks([ScriptedHook([SystemExit(3)]).on(PRE)]).fire(TOLD)


async def test_what_was_said_before_it_was_cut_off_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Of hooks that are cut off, those that had spoken are heard, and the others have failed:
    whoever ended them need not be warned of it."""
    caplog.set_level(logging.INFO)
    held, quick = ScriptedHook(hold=True), ScriptedHook([DENY])
    firing = Firing([held.on(PRE, name="held"), quick.on(PRE)], TOLD)
    task = asyncio.create_task(firing.run())
    await held.started.wait()
    await quick.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    merged = firing.merged()
    assert merged.denied
    assert merged.failed == (("held", "cut off"),)
    (logged,) = caplog.records
    assert (logged.levelno, "held" in logged.getMessage()) == (logging.INFO, True)


async def test_each_hook_has_a_copy() -> None:
    """One that changes what it was told changes nothing for anybody else."""

    async def changes(told: HookInput) -> HookResult | None:
        tool_input: Any = told.tool_input
        tool_input["list"].append(2)
        tool_input["new"] = True
        return None

    other = ScriptedHook()
    await Hooks([Hook(PRE, changes, "changes"), other.on(PRE)]).fire(TOLD)
    assert TOLD.tool_input == {"token": SECRET, "list": [1]}
    assert other.told[0].tool_input == TOLD.tool_input


async def test_a_reload_replaces_all_of_them_or_none() -> None:
    """What is under way keeps the hooks it began with; a list with a fault replaces nothing."""
    old, new = ScriptedHook([DENY], hold=True), ScriptedHook()
    hooks = Hooks([old.on(PRE)])
    under_way = asyncio.create_task(hooks.fire(TOLD))
    await old.started.wait()
    hooks.replace([new.on(PRE)])
    old.release()
    assert (await under_way).denied
    await hooks.fire(TOLD)
    assert len(new.told) == 1
    with pytest.raises(LocalError, match="time limit"):
        hooks.replace([new.on(PRE, timeout=0)])
    assert len(hooks.all) == 1
    hooks.replace([])
    assert not hooks.any


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 3601, True, "30", None])
def test_a_hook_without_a_bound_is_refused(timeout: Any) -> None:
    """Every wait has a bound."""
    with pytest.raises(LocalError, match="time limit of the hook scripted"):
        Hooks([ScriptedHook().on(PRE, timeout=timeout)])


def test_a_matcher_where_there_is_no_call_is_refused() -> None:
    """It would never match, or always; neither is what was meant."""
    with pytest.raises(LocalError, match="session_start is about no call"):
        Hooks([ScriptedHook().on(HookEvent.SESSION_START, "Bash")])


@pytest.mark.parametrize("thing", [print, None, "hook"])
def test_what_is_no_hook_is_refused(thing: Any) -> None:
    """With what it should be."""
    with pytest.raises(LocalError, match=r"lockgate\.Hook"):
        Hooks([thing])


def test_an_event_that_is_none_is_refused() -> None:
    """A word is no event."""
    with pytest.raises(LocalError, match="HookEvent"):
        Hooks([Hook("pre_tool", ScriptedHook(), "word")])  # pyright: ignore[reportArgumentType] - what is tested
