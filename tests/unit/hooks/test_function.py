"""A function as a hook."""

from __future__ import annotations

from typing import Any

import pytest

import lockgate
from lockgate.errors import LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.function import hook
from lockgate.hooks.hook import TIMEOUT, Hook
from lockgate.hooks.result import HookDecision, HookResult


def test_a_function_becomes_a_hook_under_its_name() -> None:
    """With what the decorator says, and the defaults for what it does not."""

    @hook(HookEvent.PRE_TOOL, matcher="Bash", denies_on_error=True, timeout=3)
    async def guards(told: HookInput) -> HookResult | None:
        del told
        return None

    assert isinstance(guards, Hook)
    assert (guards.name, guards.matcher, guards.timeout) == ("guards", "Bash", 3)
    assert guards.denies_on_error

    @hook(HookEvent.TURN_STOP, name="other")
    async def told(told: HookInput) -> None:
        del told

    assert (told.name, told.matcher, told.timeout) == ("other", None, TIMEOUT)
    assert not told.denies_on_error


def test_an_object_with_an_async_call_becomes_one() -> None:
    """A hook with something to keep."""

    class Counts:
        async def __call__(self, told: HookInput) -> None:
            """Nothing here."""

    assert hook(HookEvent.PRE_TOOL)(Counts()).name == "Counts"


def not_async(told: HookInput) -> None:
    """What would hold up the loop."""
    del told


THINGS: tuple[Any, ...] = (print, not_async, 3)


@pytest.mark.parametrize("thing", THINGS)
def test_what_can_not_be_waited_for_is_refused(thing: Any) -> None:
    """With how it is written."""
    with pytest.raises(LocalError, match="async def"):
        hook(HookEvent.PRE_TOOL)(thing)


def test_the_root_has_what_a_hook_in_code_needs() -> None:
    """The decorator, its values, and the class that it makes."""
    assert lockgate.hook is hook
    assert lockgate.Hook is Hook
    assert lockgate.HookEvent is HookEvent
    assert {"HookInput", "HookResult", "HookDecision"} <= set(lockgate.__all__)


def test_a_word_is_taken_for_the_event() -> None:
    """And one that is none is told with the nearest."""

    async def guards(told: HookInput) -> None:
        del told

    assert hook("pre_tool")(guards).event is HookEvent.PRE_TOOL
    with pytest.raises(LocalError, match="did you mean 'pre_tool'"):
        hook("pre_tol")


@pytest.mark.parametrize("timeout", ["x", -1, 0, None, True])
def test_what_is_no_time_limit_is_refused_at_the_decorator(timeout: Any) -> None:
    """Where it is written, and not when a gate is opened with it."""
    with pytest.raises(LocalError, match="timeout"):

        @hook(HookEvent.PRE_TOOL, timeout=timeout)
        async def guards(told: HookInput) -> None:
            del told


@pytest.mark.parametrize("decision", list(HookDecision))
def test_the_word_of_a_decision_is_the_decision(decision: HookDecision) -> None:
    """A hook that says "deny" denies."""
    word: Any = decision.value
    assert HookResult(word, "why").decision is decision


@pytest.mark.parametrize("word", ["dney", "", 3, ["deny"], True])
def test_what_is_no_decision_is_refused_where_it_is_made(word: Any) -> None:
    """With those that there are."""
    with pytest.raises(LocalError, match="allow, ask, deny"):
        HookResult(word)
