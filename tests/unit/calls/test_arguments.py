"""Arguments are taken out of the caller's hands before anything reads them."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.arguments import (
    MAX_DEPTH,
    NotJSON,
    call_digest,
    copied,
    copied_again,
    keyed,
    take,
)
from lockgate.testing.tool import ScriptedTool

KEY = b"0123456789abcdef"
DIGESTS = keyed(KEY)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON))
def test_a_copy_is_equal_and_shares_nothing(value: dict[str, Any]) -> None:
    """Whatever the caller does with its arguments later, the call's own are as they were."""
    taken = take(value, DIGESTS)
    before = repr(taken.value)
    assert taken.fault is None
    assert taken.value == value
    spoil(value)
    assert repr(taken.value) == before


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON))
def test_a_second_copy_is_a_copy_too(value: dict[str, Any]) -> None:
    """Equal to the letter, the order of keys and the kind of numbers included, sharing nothing."""
    first = copied(value)
    before = repr(first)
    second = copied_again(first)
    assert repr(second) == before
    spoil(second)
    assert repr(first) == before


def spoil(value: Any) -> None:
    """Change every container in `value`."""
    if isinstance(value, dict):
        inner: list[Any] = list(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any JSON
        value["spoiled"] = True
    elif isinstance(value, list):
        inner = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any JSON
        value.append("spoiled")  # pyright: ignore[reportUnknownMemberType] - any JSON
    else:
        return
    for item in inner:
        spoil(item)


class Colour(enum.StrEnum):
    RED = "red"


def test_what_only_looks_like_json_becomes_plain() -> None:
    """Tuples, other mappings and enum members are handed on as the JSON they stand for."""
    value: OrderedDict[str, object] = OrderedDict(
        a=(1, Colour.RED), b=MappingProxyType({"c": Colour.RED})
    )
    copy = copied(value)
    assert copy == {"a": [1, "red"], "b": {"c": "red"}}
    assert type(copy["a"][1]) is str
    assert type(copy["b"]) is dict


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        ([1], "$", "must be an object"),
        (None, "$", "must be an object"),
        ({"a": {"b": [1, {2}]}}, "$.a.b[1]", "a set"),
        ({"a": b"x"}, "$.a", "a bytes"),
        ({"a": {1: 2}}, "$.a", "a key that is an int"),
        ({"a": float("nan")}, "$.a", "NaN"),
        ({"a": [float("inf")]}, "$.a[0]", "NaN or infinite"),
        ({"a": "\ud800"}, "$", "surrogate"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(value: object, path: str, words: str) -> None:
    """A fault names the place and the type, and never raises."""
    fault = take(value, DIGESTS).fault
    assert fault is not None
    assert fault.path == path
    assert words in fault.message


def test_nesting_is_bounded() -> None:
    """Arguments nested deeper than the bound are refused, far before any stack ends."""
    value: dict[str, Any] = {}
    for _ in range(3000):
        value = {"a": value}
    fault = take(value, DIGESTS).fault
    assert fault is not None
    assert str(MAX_DEPTH) in fault.message
    with pytest.raises(NotJSON):
        copied(value)


def test_a_fault_does_not_hold_the_value() -> None:
    """What is wrong is told without what was given; the arguments are in no repr either."""
    fault = take({"token": b"hunter2"}, DIGESTS).fault
    assert "hunter2" not in str(fault)
    assert "hunter2" not in repr(take({"token": "hunter2"}, DIGESTS))


def test_the_digest_of_a_record_needs_its_key() -> None:
    """Without the key nobody can try out which arguments have a digest; order does not matter."""
    one = take({"a": 1, "b": 2}, DIGESTS).digest
    assert take({"b": 2, "a": 1}, DIGESTS).digest == one
    assert take({"a": 1, "b": 2}, keyed(KEY[::-1])).digest != one
    assert take({"a": 1, "b": 3}, DIGESTS).digest != one


EXACT = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(EXACT, EXACT)
def test_a_question_is_about_these_very_arguments(one: Any, other: Any) -> None:
    """Two calls of one tool have one digest exactly if their arguments are the same JSON."""
    tool = ScriptedTool("t")
    same = call_digest(tool, {"x": one}) == call_digest(tool, {"x": other})
    assert same == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def test_a_changed_definition_is_another_question() -> None:
    """The digest covers the definition, so an answer never reaches a tool that changed."""
    one = ScriptedTool("t", description="adds a line")
    other = ScriptedTool("t", description="adds a line, and sends it elsewhere")
    assert call_digest(one, {}) != call_digest(other, {})


def test_a_number_that_can_not_be_written_is_a_fault() -> None:
    """Python writes no number of over 4300 digits; nothing is raised for one."""
    fault = take({"n": 10**5000}, DIGESTS).fault
    assert fault is not None
    assert "too long" in fault.message
