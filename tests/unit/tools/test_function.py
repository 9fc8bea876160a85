"""Functions as tools: what is declared, how they are run, what is refused when they are made."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, cast

import pytest

from lockgate.schema.infer import SignatureError
from lockgate.tools.function import FunctionTool, tool
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel


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


def test_the_fingerprint_covers_what_the_model_is_shown() -> None:
    """Another docstring or parameter is another definition, and says which field it is."""

    def one(a: int) -> None:
        """Do it."""

    def two(a: int, b: int = 0) -> None:
        """Do it."""

    first = FunctionTool(one, name="t").definition.origin.fingerprint
    second = FunctionTool(two, name="t").definition.origin.fingerprint
    assert first.changed(second) == ("input_schema",)
