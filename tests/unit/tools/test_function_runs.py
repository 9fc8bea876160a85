"""Functions as tools: how they are run, and what becomes of what they return or raise."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fate
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.tools.function import tool
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome
from lockgate.tools.tool import Tool


async def execute(function: Tool, arguments: dict[str, Any], context: ToolContext) -> Outcome:
    """Run a tool under a permit; only tests and the road make one."""
    async with asyncio.timeout(10):
        return await function.execute(arguments, Permit(context))


@tool(destructive=False)
def add_tag(item: str, tag: str) -> str:
    """Tag an item."""
    return f"{item}+{tag}"


async def test_a_blocking_function_runs_in_the_callers_threads(context: ToolContext) -> None:
    """The event loop is never blocked by it."""
    seen: list[threading.Thread] = []

    @tool
    def where() -> str:
        seen.append(threading.current_thread())
        return "done"

    outcome = await execute(where, {}, context)
    assert (outcome.result.text, outcome.fate) == ("done", Fate.ANSWERED)
    assert seen != [threading.current_thread()]


async def test_an_async_function_runs_on_the_loop(context: ToolContext) -> None:
    """It is awaited where the call was made."""
    seen: list[threading.Thread] = []

    @tool
    async def where() -> None:
        seen.append(threading.current_thread())

    await execute(where, {}, context)
    assert seen == [threading.current_thread()]


async def test_without_threads_a_blocking_function_is_not_run(context: ToolContext) -> None:
    """It fails and says why; nothing else in the process is used instead."""
    environment = Environment(context.execution.environment.cwd)
    execution = Execution("e1", "api", context.execution.bounds, False, environment)
    outcome = await execute(add_tag, {"item": "a", "tag": "b"}, ToolContext(execution, "c1"))
    assert outcome.result.kind is ErrorKind.TOOL_ERROR
    assert "no pool of threads" in outcome.result.text


async def test_a_closed_pool_runs_nothing(context: ToolContext) -> None:
    """The runtime is closing: not sent, and it says so."""
    pool = context.execution.environment.threads
    assert isinstance(pool, ThreadPoolExecutor)
    pool.shutdown()
    outcome = await execute(add_tag, {"item": "a", "tag": "b"}, context)
    assert outcome.fate is Fate.NOT_SENT
    assert (outcome.result.kind, outcome.result.reason) == (ErrorKind.INTERNAL, "closing")


async def test_a_parameter_for_the_context_is_filled_in(context: ToolContext) -> None:
    """It is no argument: the schema does not show it and a caller can not give it."""

    @tool
    async def who(ctx: ToolContext, also: ToolContext | None = None, n: int = 0) -> str:
        assert also is ctx
        return ctx.call_id

    assert list(who.definition.input_schema["properties"]) == ["n"]
    assert (await execute(who, {}, context)).result.text == "c1"


@dataclasses.dataclass
class Point:
    """Something a function takes."""

    x: int


async def test_arguments_arrive_as_the_annotated_types(context: ToolContext) -> None:
    """JSON in, typed values out."""
    seen: list[object] = []

    @tool
    async def take(path: Path, point: Point, many: tuple[int, ...] = ()) -> None:
        seen.extend((path, point, many))

    await execute(take, {"path": "/a", "point": {"x": 1}, "many": [1, 2]}, context)
    assert seen[0] == Path("/a")
    assert seen[1] == Point(1)
    assert seen[2] == (1, 2)


async def test_what_a_schema_can_not_say_is_invalid_arguments(context: ToolContext) -> None:
    """A value that fits the schema and not the type is the caller's to mend; nothing was run."""
    ran: list[int] = []

    @tool
    async def count(n: int) -> None:
        ran.append(n)

    outcome = await execute(count, {"n": 5.0}, context)
    assert outcome.result.kind is ErrorKind.INVALID_ARGUMENTS
    assert "$.n" in outcome.result.text
    assert ran == []


@pytest.mark.req("S3-04")
async def test_what_a_function_raises_is_a_result(context: ToolContext) -> None:
    """Neither an exception, nor the end of the program, nor an end of iteration escapes."""

    @tool
    def fail(how: str) -> None:
        raise {"value": ValueError("bad"), "exit": SystemExit(3), "stop": StopIteration()}[how]

    @tool
    async def leave() -> None:
        raise SystemExit(3)

    for how, words in (("value", "bad"), ("exit", "end the program"), ("stop", "StopIteration")):
        outcome = await execute(fail, {"how": how}, context)
        assert outcome.result.kind is ErrorKind.TOOL_ERROR
        assert words in outcome.result.text
    assert (await execute(leave, {}, context)).result.kind is ErrorKind.TOOL_ERROR


async def test_a_cancellation_of_its_own_is_a_failure_of_the_function(
    context: ToolContext,
) -> None:
    """Nobody cancelled the call: a turn must not end because a function's inner task did."""

    @tool
    async def tangled() -> None:
        loop = asyncio.get_running_loop()
        inner = loop.create_future()
        loop.call_soon(inner.cancel)
        await inner

    outcome = await execute(tangled, {}, context)
    assert outcome.result.kind is ErrorKind.TOOL_ERROR
    assert "was cancelled" in outcome.result.text


async def test_a_blocking_function_that_returns_a_coroutine_is_told(context: ToolContext) -> None:
    """Its author forgot the async; the coroutine is closed, not leaked."""

    async def later() -> int:
        return 1

    @tool
    def forgot() -> object:
        return later()

    outcome = await execute(forgot, {}, context)
    assert "async def" in outcome.result.text


@pytest.mark.req("B-03")
async def test_a_thread_can_not_be_stopped(context: ToolContext) -> None:
    """Cancellation passes at once; the thread goes on to its end, unseen."""
    go_on, begun, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def slow() -> None:
        begun.set()
        go_on.wait(10)
        ended.set()

    task = asyncio.create_task(execute(slow, {}, context))
    assert await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not ended.is_set()
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 5)
