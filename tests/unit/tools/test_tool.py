"""The tool contract: worst-case defaults, derived traits, and an execution that never raises."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Tool, ToolDefinition
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)


class Silent(Tool):
    """A tool that declares nothing."""

    @property
    def definition(self) -> ToolDefinition:
        return ScriptedTool("silent").definition

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult.of("done")


@pytest.mark.req("S0-02")
def test_a_tool_that_declares_nothing_is_the_worst_case() -> None:
    """MUTATING, DESTRUCTIVE, NON_IDEMPOTENT, SEQUENTIAL, NON_INTERRUPTIBLE."""
    tool = Silent()
    assert tool.side_effect_level is SideEffectLevel.MUTATING
    assert tool.destructive_behavior is DestructiveBehavior.DESTRUCTIVE
    assert tool.idempotency_behavior is IdempotencyBehavior.NON_IDEMPOTENT
    assert tool.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL
    assert tool.interrupt_behavior is InterruptBehavior.NON_INTERRUPTIBLE
    assert (tool.is_read_only, tool.is_destructive, tool.is_idempotent) == (False, True, False)


@pytest.mark.req("S0-03")
@pytest.mark.parametrize(
    "name", ["name", "is_read_only", "is_destructive", "is_idempotent", "execute"]
)
def test_what_is_derived_can_not_be_redefined(name: str) -> None:
    """A subclass that defines it raises TypeError when the class is created, not when used."""
    with pytest.raises(TypeError, match=name):
        type("Liar", (Silent,), {name: property(lambda self: True)})


@pytest.mark.req("S0-03")
@pytest.mark.parametrize("level", list(SideEffectLevel))
def test_read_only_is_derived_from_the_level(level: SideEffectLevel) -> None:
    """`is_read_only` says what the level says, and nothing else is asked."""
    tool = ScriptedTool("t", level=level)
    assert tool.is_read_only is (level is SideEffectLevel.READ_ONLY)


class Jealous(ScriptedTool):
    """A READ_ONLY tool whose other two traits must not be looked at."""

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return SideEffectLevel.READ_ONLY

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        raise AssertionError("the second trait was read")

    @property
    def idempotency_behavior(self) -> IdempotencyBehavior:
        raise AssertionError("the second trait was read")


@pytest.mark.req("S0-04")
def test_under_read_only_the_second_traits_are_not_read() -> None:
    """Not read, not even to be ignored: neither by the derived traits nor by the repr."""
    tool = Jealous("t")
    assert (tool.is_destructive, tool.is_idempotent) == (False, False)
    assert repr(tool) == "<Jealous t READ_ONLY NON_DESTRUCTIVE>"


@pytest.mark.req("S0-04")
def test_concurrency_and_interruption_are_read_always() -> None:
    """The other two traits have nothing to do with the level."""
    tool = ScriptedTool("t", level=SideEffectLevel.READ_ONLY, concurrent=True, interruptible=True)
    assert tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert tool.interrupt_behavior is InterruptBehavior.COOPERATIVE


@pytest.mark.req("S0-04")
def test_read_only_and_destructive_can_be_constructed() -> None:
    """The contradiction is unreachable, not validated."""
    tool = ScriptedTool("t", level=SideEffectLevel.READ_ONLY, destructive=True)
    assert tool.is_read_only
    assert not tool.is_destructive


def test_the_lane_is_the_name() -> None:
    """A SEQUENTIAL tool waits for itself and nobody else, unless it says otherwise."""
    assert ScriptedTool("t").lane == "t"


def test_the_repr_says_what_it_can_do() -> None:
    """Level and behaviours, so that a list of tools can be read."""
    assert repr(ScriptedTool("t")) == "<ScriptedTool t MUTATING DESTRUCTIVE NON_IDEMPOTENT>"
    mild = ScriptedTool("t", destructive=False, idempotent=True)
    assert repr(mild) == "<ScriptedTool t MUTATING NON_DESTRUCTIVE IDEMPOTENT>"


async def execute(tool: Tool, context: ToolContext) -> Outcome:
    """Run a tool under a permit; only tests and the road make one."""
    return await tool.execute({}, Permit(context))


@pytest.mark.req("B-03")
async def test_a_bare_result_is_answered(context: ToolContext) -> None:
    """What `_run` returns was answered, unless it says otherwise."""
    outcome = await execute(ScriptedTool("t", replies=["hello"]), context)
    assert (outcome.result.text, outcome.fate) == ("hello", Fate.ANSWERED)


async def test_an_outcome_is_taken_as_it_is(context: ToolContext) -> None:
    """A tool that knows the fate says it."""
    told = Outcome(ToolResult.error(ErrorKind.TIMEOUT, "late"), Fate.NOT_SENT)
    assert await execute(ScriptedTool("t", replies=[told]), context) is told


@pytest.mark.req("S3-04")
async def test_an_exception_is_an_error_result(context: ToolContext) -> None:
    """`execute` never raises: whatever `_run` raises becomes tool_error."""
    outcome = await execute(ScriptedTool("t", replies=[KeyError("x")]), context)
    assert outcome.result.kind is ErrorKind.TOOL_ERROR
    assert outcome.result.reason == "raised"
    assert "KeyError" in outcome.result.text


@pytest.mark.req("S3-04")
@pytest.mark.parametrize(
    ("fault", "fate", "kind"),
    [
        (Fault.NOT_CONNECTED, Fate.NOT_SENT, ErrorKind.NOT_CONNECTED),
        (Fault.NOT_STARTED, Fate.NOT_SENT, ErrorKind.NOT_CONNECTED),
        (Fault.CLOSED, Fate.NOT_SENT, ErrorKind.NOT_CONNECTED),
        (Fault.TIMEOUT, Fate.NOT_SENT, ErrorKind.TIMEOUT),
        (Fault.UNAUTHORIZED, Fate.NOT_SENT, ErrorKind.UNAUTHORIZED),
        (Fault.RATE_LIMITED, Fate.NOT_SENT, ErrorKind.RATE_LIMITED),
        (Fault.REFUSED, Fate.ANSWERED, ErrorKind.TOOL_ERROR),
        (Fault.MALFORMED, Fate.ANSWERED, ErrorKind.TOOL_ERROR),
        (Fault.TOO_LARGE, Fate.ANSWERED, ErrorKind.TOOL_ERROR),
        (Fault.UNSUPPORTED, Fate.NOT_SENT, ErrorKind.TOOL_ERROR),
        (Fault.TIMEOUT, Fate.UNKNOWN, ErrorKind.OUTCOME_UNKNOWN),
        (Fault.CLOSED, Fate.UNKNOWN, ErrorKind.OUTCOME_UNKNOWN),
    ],
)
async def test_a_peers_failure_has_a_kind_by_fault_and_fate(
    context: ToolContext, fault: Fault, fate: Fate, kind: ErrorKind
) -> None:
    """The kind follows the fault; an unknown fate is never reported as anything else."""
    error = PeerError("gone", peer="git", phase=Phase.REQUEST, fault=fault, fate=fate)
    outcome = await execute(ScriptedTool("t", replies=[error]), context)
    assert (outcome.result.kind, outcome.fate) == (kind, fate)
    assert outcome.result.reason == fault.value


class Mute(Exception):
    """An exception that fails to say what it is about."""

    def __str__(self) -> str:
        raise ValueError("not even this")


class Odd(Silent):
    """A tool that returns no result."""

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return {"looks": "like one"}


@pytest.mark.req("S3-04")
async def test_whatever_a_tool_does_it_is_a_result(context: ToolContext) -> None:
    """Also an exception that can not be shown, a group of them, and a return of something else."""
    mute = await execute(ScriptedTool("t", replies=[Mute()]), context)
    assert mute.result.text == "Mute: (no message)"
    group = ExceptionGroup("several", [ValueError("a"), KeyError("b")])
    assert (await execute(ScriptedTool("t", replies=[group]), context)).result.is_error
    odd = await execute(Odd(), context)
    assert (odd.result.kind, odd.result.reason) == (ErrorKind.TOOL_ERROR, "no_result")
    assert odd.fate is Fate.ANSWERED


@pytest.mark.req("S3-04")
async def test_cancellation_passes(context: ToolContext) -> None:
    """A cancelled execution is cancelled, not turned into a result."""
    tool = ScriptedTool("t", hold=True)
    task = asyncio.create_task(execute(tool, context))
    async with asyncio.timeout(5):
        await tool.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_an_error_result_has_a_kind_and_only_it() -> None:
    """`is_error` and `kind` go together, whoever makes the result."""
    with pytest.raises(ValueError, match="kind"):
        ToolResult(is_error=True)
    with pytest.raises(ValueError, match="kind"):
        ToolResult(kind=ErrorKind.DENIED)
