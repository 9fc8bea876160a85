"""What a server claims of a tool."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.claims import NO_CLAIMS, Claims, parse_claims

HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def test_no_annotations_claim_nothing() -> None:
    """Absent is no claim and no remark; so is an empty object, but for its raw value."""
    assert parse_claims(None) == NO_CLAIMS == Claims()
    assert parse_claims({}) == Claims(raw={})


@pytest.mark.req("S0-10")
@pytest.mark.parametrize("name", HINTS)
@pytest.mark.parametrize("value", [True, False])
def test_json_booleans_count(name: str, value: bool) -> None:
    """Each hint is read into its own claim."""
    claims = parse_claims({name: value})
    made = {field: getattr(claims, field) for field in HINTS.values()}
    assert made == {**dict.fromkeys(HINTS.values()), HINTS[name]: value}
    assert claims.remarks == ()


@pytest.mark.req("S0-10")
@pytest.mark.parametrize("name", HINTS)
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("true", "a string"),
        ("false", "a string"),
        (1, "a number"),
        (0, "a number"),
        (1.0, "a number"),
        (None, "null"),
        ([True], "an array"),
        ({"value": True}, "an object"),
    ],
)
def test_anything_else_counts_as_absent_and_is_reported(name: str, value: Any, kind: str) -> None:
    """In Python 1 == True; here it is a number. The remark names the hint and what it was."""
    claims = parse_claims({name: value})
    assert getattr(claims, HINTS[name]) is None
    assert claims.remarks == (f"{name} is {kind}, not true or false: counts as absent",)


@pytest.mark.req("S0-10")
def test_one_bad_hint_does_not_spoil_the_others() -> None:
    """Each is judged alone, and the raw object is kept as it came."""
    raw = {"readOnlyHint": "yes", "destructiveHint": False, "title": "T", "vendor": [1]}
    claims = parse_claims(raw)
    assert (claims.read_only, claims.destructive, claims.title) == (None, False, "T")
    assert claims.raw is raw


@pytest.mark.req("S0-10")
@pytest.mark.parametrize("raw", [True, "readOnlyHint", 1, [], [{"readOnlyHint": True}]])
def test_annotations_that_are_no_object_claim_nothing(raw: Any) -> None:
    """They are kept for display and remarked upon."""
    claims = parse_claims(raw)
    assert claims == Claims(raw=raw, remarks=claims.remarks)
    assert "not an object" in claims.remarks[0]


def test_a_title_that_is_no_string_is_none() -> None:
    """Shown text is text."""
    claims = parse_claims({"title": 5})
    assert claims.title is None
    assert "title is a number" in claims.remarks[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 1) | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*HINTS, "title", "x"]), inner)
        ),
        max_leaves=6,
    )
)
def test_reading_claims_never_raises_and_never_believes_a_non_boolean(raw: Any) -> None:
    """Whatever the value, a claim is made exactly where its hint is a boolean."""
    claims = parse_claims(raw)
    for hint, name in HINTS.items():
        value: Any = cast("dict[str, Any]", raw).get(hint) if isinstance(raw, dict) else None
        expected = value if isinstance(value, bool) else None
        assert getattr(claims, name) is expected
