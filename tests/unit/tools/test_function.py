"""Functions as tools: what is declared, how they are run, what is refused when they are made."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from lockgate.content import Image, Text
from lockgate.errors import Fate
from lockgate.schema.infer import SignatureError
from lockgate.tools.context import ToolContext
from lockgate.tools.function import FunctionTool, tool
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Tool
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel


async def execute(function: Tool, arguments: dict[str, Any], context: ToolContext) -> Outcome:
    """Run a tool under a permit; only tests and the road make one."""
    async with asyncio.timeout(10):
        return await function.execute(arguments, Permit(context))


@tool(level="mutating", destructive=False, idempotent=True)
def add_tag(item: str, tag: str, times: int = 1) -> str:
    """Tag an item.

    Args:
        item: what to tag
        tag: with what
    """
    return f"{item}+{tag}" * times


def test_the_definition_comes_from_the_function() -> None:
    """Name, description, schema and parameter descriptions; closed to other arguments (S0-21)."""
    definition = add_tag.definition
    assert (definition.name, definition.description) == ("add_tag", "Tag an item.")
    assert definition.input_schema == {
        "type": "object",
        "properties": {
            "item": {"type": "string", "description": "what to tag"},
            "tag": {"type": "string", "description": "with what"},
            "times": {"type": "integer", "default": 1},
        },
        "required": ["item", "tag"],
        "additionalProperties": False,
    }
    assert add_tag.definition is definition


def test_a_tool_is_still_the_function() -> None:
    """Called directly it is what was written, with its name, docstring and signature."""
    assert add_tag("a", tag="b") == "a+b"
    assert add_tag.__name__ == "add_tag"
    assert list(inspect.signature(add_tag).parameters) == ["item", "tag", "times"]


@pytest.mark.req("S0-02")
def test_a_bare_decorator_declares_nothing() -> None:
    """Every trait is the worst case, and the origin says so."""

    @tool
    def bare() -> str:
        return ""

    assert repr(bare) == "<FunctionTool bare MUTATING DESTRUCTIVE NON_IDEMPOTENT>"
    assert bare.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL
    assert bare.interrupt_behavior is InterruptBehavior.NON_INTERRUPTIBLE
    origin = bare.definition.origin
    assert origin.ruling == "default"
    assert set(origin.reasons.values()) == {"not declared, so the worst case"}


def test_every_trait_can_be_declared() -> None:
    """Each word sets exactly its own trait."""

    @tool(
        level=SideEffectLevel.MUTATING,
        destructive=False,
        idempotent=True,
        concurrent=True,
        interruptible=True,
        name="other-name",
        title="Other",
        category="tests",
    )
    async def declared() -> None: ...

    assert repr(declared) == "<FunctionTool other-name MUTATING NON_DESTRUCTIVE IDEMPOTENT>"
    assert declared.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert declared.interrupt_behavior is InterruptBehavior.COOPERATIVE
    assert (declared.definition.title, declared.definition.category) == ("Other", "tests")
    assert declared.definition.origin.ruling == "declared"


@pytest.mark.req("S0-04")
def test_read_only_and_destructive_is_accepted() -> None:
    """The second word is never read, so there is nothing to contradict."""

    @tool(level="read-only", destructive=True)
    def look() -> str:
        return ""

    assert repr(look) == "<FunctionTool look READ_ONLY NON_DESTRUCTIVE>"


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("readOnlyHint", 'level="read-only"'),
        ("read_only_hint", 'level="read-only"'),
        ("destructiveHint", "destructive"),
        ("destructive_hint", "destructive"),
        ("idempotentHint", "idempotent"),
        ("openWorldHint", "no trait"),
        ("annotations", "level"),
    ],
)
def test_the_words_of_mcp_are_refused_with_ours_named(word: str, ours: str) -> None:
    """A hint is what a stranger gives; the author of the code declares."""
    decorate: Any = tool
    with pytest.raises(TypeError, match=ours):
        decorate(**{word: True})


def test_a_misspelt_word_is_refused_with_the_near_one() -> None:
    """Not ignored: a trait that nobody declared is the worst case, silently."""
    decorate: Any = tool
    with pytest.raises(TypeError, match="did you mean idempotent"):
        decorate(idempotant=True)
    with pytest.raises(TypeError, match="it takes level, destructive"):
        decorate(frobnicate=True)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"level": "readonly"}, ValueError, "did you mean 'read-only'"),
        ({"level": "anything"}, ValueError, "'read-only', 'mutating'"),
        ({"level": True}, ValueError, "level is True"),
        ({"destructive": "no"}, TypeError, "destructive is True or False"),
        ({"idempotent": 1}, TypeError, "idempotent is True or False"),
        ({"name": "a b"}, ValueError, "no tool name"),
        ({"name": "mcp__git__log"}, ValueError, "kept for tools of servers"),
    ],
)
def test_a_wrong_value_is_refused(
    words: dict[str, Any], error: type[Exception], message: str
) -> None:
    """When the tool is made, with what to write instead."""

    def function() -> None: ...

    with pytest.raises(error, match=message):
        tool(**words)(function)


def _generator() -> Iterator[int]:
    yield 1


async def _stream() -> Any:
    yield 1


def _collects(*args: int) -> None: ...


def _untyped(x) -> None:  # type: ignore[no-untyped-def]  # pyright: ignore - the point of the test
    ...


UNFIT: tuple[tuple[Any, str], ...] = (
    (_generator, "generator"),
    (_stream, "generator"),
    (_collects, "collects what is not named"),
    (cast("Any", _untyped), "has no type"),
    (int, "takes a function"),
    ("text", "takes a function"),
)


@pytest.mark.parametrize(("function", "message"), UNFIT)
def test_what_can_not_be_a_tool_is_refused(function: Any, message: str) -> None:
    """At once, naming what is wrong."""
    with pytest.raises(TypeError, match=message):
        tool(function)


def test_a_nameless_function_needs_a_name() -> None:
    """A lambda has none; one can be given."""
    with pytest.raises(ValueError, match="give one with name="):
        tool(lambda: 1)
    assert tool(name="one")(lambda: 1).name == "one"


def test_the_error_of_a_signature_is_a_type_error() -> None:
    """As Python's own complaints about calls are."""
    assert issubclass(SignatureError, TypeError)


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
    environment = dataclasses.replace(context.execution.environment, threads=None)
    execution = dataclasses.replace(context.execution, environment=environment)
    outcome = await execute(
        add_tag, {"item": "a", "tag": "b"}, dataclasses.replace(context, execution=execution)
    )
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


@dataclasses.dataclass
class Row:
    """Something a function returns."""

    id: int
    tags: tuple[str, ...]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", ToolResult.of("text")),
        (None, ToolResult()),
        (3, ToolResult.of("3", structured=3)),
        (False, ToolResult.of("false", structured=False)),
        ([], ToolResult.of("[]", structured=[])),
        ({"a": 1}, ToolResult.of('{"a": 1}', structured={"a": 1})),
        ({1: "한"}, ToolResult.of('{"1": "한"}', structured={"1": "한"})),
        (
            Row(1, ("a",)),
            ToolResult.of('{"id": 1, "tags": ["a"]}', structured={"id": 1, "tags": ["a"]}),
        ),
        (Path("/a"), ToolResult.of('"/a"', structured="/a")),
        (Image("AAAA", "image/png"), ToolResult((Image("AAAA", "image/png"),))),
        ([Text("a"), Text("b")], ToolResult((Text("a"), Text("b")))),
        (
            ToolResult.error(ErrorKind.TOOL_ERROR, "no"),
            ToolResult.error(ErrorKind.TOOL_ERROR, "no"),
        ),
        (2**70, ToolResult.of(str(2**70), structured=2**70)),
    ],
    ids=repr,
)
async def test_what_is_returned_becomes_the_result(
    context: ToolContext, value: object, result: ToolResult
) -> None:
    """Text stays text, results and blocks are taken as they are, the rest is JSON twice over."""

    @tool
    async def give() -> object:
        return value

    outcome = await execute(give, {}, context)
    assert outcome == Outcome(result)
    assert type(outcome.result.structured) is type(result.structured)


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": {1j}}], ids=repr)
async def test_what_has_no_json_form_is_an_error_that_says_it_ran(
    context: ToolContext, value: object
) -> None:
    """The work was done; only its result can not be shown."""

    @tool
    async def give() -> object:
        return value

    outcome = await execute(give, {}, context)
    assert (outcome.result.kind, outcome.result.reason) == (ErrorKind.TOOL_ERROR, "not_json")
    assert "the tool ran" in outcome.result.text
    assert outcome.fate is Fate.ANSWERED


def test_the_fingerprint_covers_what_the_model_is_shown() -> None:
    """Another docstring or parameter is another definition, and says which field it is."""

    def one(a: int) -> None:
        """Do it."""

    def two(a: int, b: int = 0) -> None:
        """Do it."""

    first = FunctionTool(one, name="t").definition.origin.fingerprint
    second = FunctionTool(two, name="t").definition.origin.fingerprint
    assert first.changed(second) == ("input_schema",)
