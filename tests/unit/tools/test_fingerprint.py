"""Fingerprints: equal for equal definitions, and a change is named by its field."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from lockgate.tools.fingerprint import canonical_digest, fingerprint

KEYS = st.text(max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("name", "title", "description", "input_schema", "output_schema")
DEFINITIONS = st.fixed_dictionaries(dict.fromkeys(FIELDS, VALUES))


def reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in reverse order."""
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {key: reordered(held[key]) for key in reversed(held)}
    if isinstance(value, list):
        return [reordered(item) for item in cast("list[Any]", value)]
    return value


@given(DEFINITIONS)
def test_the_order_of_keys_is_irrelevant(fields: dict[str, Any]) -> None:
    """A server that serialises differently has not changed its tool."""
    assert fingerprint(reordered(fields)) == fingerprint(fields)


@pytest.mark.req("B-01")
@given(DEFINITIONS, st.sampled_from(FIELDS), VALUES)
def test_a_changed_field_is_named_and_no_other(
    fields: dict[str, Any], field: str, value: Any
) -> None:
    """The digest changes exactly when a field does, and `changed` says which."""
    other = fingerprint({**fields, field: value})
    mine = fingerprint(fields)
    same = canonical_digest(fields[field]) == canonical_digest(value)
    assert mine.changed(other) == (() if same else (field,))
    assert (mine.digest == other.digest) is same


def test_a_field_that_appears_is_named() -> None:
    """A field that one of the two does not have counts as changed."""
    assert fingerprint({"a": 1}).changed(fingerprint({"a": 1, "b": None})) == ("b",)


@given(VALUES)
def test_the_fast_form_is_the_canonical_form(value: Any) -> None:
    """Whatever road it takes inside, the digest is that of RFC 8785 wherever that has a form."""
    try:
        canonical = rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        return
    assert canonical_digest(value) == hashlib.sha256(canonical).hexdigest()


@given(VALUES, VALUES)
def test_different_values_have_different_digests(first: Any, second: Any) -> None:
    """Equal digests mean equal JSON: 1 and 1.0 are one number, true and 1 are not."""
    same = json.dumps(_plain(first), sort_keys=True) == json.dumps(_plain(second), sort_keys=True)
    assert (canonical_digest(first) == canonical_digest(second)) is same


def _plain(value: Any) -> Any:
    """Whole floats as integers, so that equal numbers are spelled equally."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def nested(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (2**53, 2**53 + 1),
        (2**64, 2**64 + 1),
        (10**5000, 10**5000 + 1),
        (float("nan"), None),
        (float("inf"), float("-inf")),
        ("\ud800", "\udc00"),
        ({"\ud800": 1}, {"\ud800": 2}),
        ({1: "a"}, {"1": "a"}),
        ([2**70, 1], [2**70, "1"]),
        ([2**70, ["a"], "b"], [2**70, ["a", "b"]]),
        ({"a": 2**70, "b": 1}, {"a": 2**70, "b": True}),
        (nested(3_000), nested(3_001)),
        (nested(100_000), nested(100_001)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_standard_has_no_form_for_is_told_apart(first: Any, second: Any) -> None:
    """Huge integers, NaN, half characters, depth: never an exception, never the same digest."""
    assert canonical_digest(first) != canonical_digest(second)
    assert canonical_digest(first) == canonical_digest(first)


def test_the_digest_does_not_depend_on_how_deep_the_caller_stands() -> None:
    """A value hashes the same from a shallow stack and from a deep one."""
    value = {"a": [1.5, {"b": ["c"] * 3}]}

    def down(levels: int) -> str:
        return canonical_digest(value) if levels == 0 else down(levels - 1)

    assert down(300) == canonical_digest(value)


@given(DEFINITIONS)
def test_fields_that_were_hashed_before_count_the_same(fields: dict[str, Any]) -> None:
    """What many definitions have in common may be hashed once for all of them."""
    common = {"title": canonical_digest(fields["title"])}
    own = {name: value for name, value in fields.items() if name != "title"}
    assert fingerprint(own, common) == fingerprint(fields)
