"""Arguments mirrored into headers: which annotations hold, and what the headers are."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.param_headers import (
    BrokenAnnotation,
    Unmirrored,
    read_param_headers,
)


def an_object(**properties: Any) -> dict[str, Any]:
    """A schema of an object with these properties."""
    return {"type": "object", "properties": properties}


REGION = {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("a\tb", "a\tb"),
    ],
)
def test_the_encodings_of_the_specification(value: str, header: str) -> None:
    """Plain where it can be; else the Base64 form, also for what looks like it."""
    headers = read_param_headers(an_object(region=REGION)).of({"region": value})
    assert headers == (("Mcp-Param-Region", header),)


def test_what_is_mirrored() -> None:
    """By the exact path, in the schema's order; what is absent or null has no header."""
    schema = an_object(
        deep=an_object(inner=an_object(n={"type": "integer", "x-mcp-header": "N"})),
        region=REGION,
        flag={"type": "boolean", "x-mcp-header": "x-flag"},
        other={"type": "string"},
    )
    headers = read_param_headers(schema)
    assert headers.of(
        {"deep": {"inner": {"n": -7}}, "region": "r", "flag": False, "other": "o"}
    ) == (
        ("Mcp-Param-N", "-7"),
        ("Mcp-Param-Region", "r"),
        ("Mcp-Param-x-flag", "false"),
    )
    assert headers.of({"deep": {"inner": 3}, "region": None, "flag": True}) == (
        ("Mcp-Param-x-flag", "true"),
    )
    assert headers.of({"deep": {"inner": {"n": 42.0}}}) == (("Mcp-Param-N", "42"),)
    assert headers.of({}) == ()


BROKEN: tuple[dict[str, Any], ...] = (
    an_object(a={"type": "string", "x-mcp-header": ""}),
    an_object(a={"type": "string", "x-mcp-header": "two words"}),
    an_object(a={"type": "string", "x-mcp-header": "a\r\nX: y"}),
    an_object(a={"type": "string", "x-mcp-header": 3}),
    an_object(a={"type": "string", "x-mcp-header": "é"}),
    an_object(a={"type": "number", "x-mcp-header": "A"}),
    an_object(a={"type": "array", "x-mcp-header": "A"}),
    an_object(a={"x-mcp-header": "A"}),
    an_object(a=REGION, b={"type": "string", "x-mcp-header": "REGION"}),
    an_object(a={"type": "array", "items": REGION}),
    an_object(a={"type": "array", "items": an_object(b=REGION)}),
    an_object(a={"anyOf": [REGION, {"type": "null"}]}),
    {"type": "object", "allOf": [an_object(a=REGION)]},
    {"type": "object", "if": an_object(a=REGION), "then": {}},
    {"type": "object", "$defs": {"r": REGION}, "properties": {"a": {"$ref": "#/$defs/r"}}},
    {"type": "object", "additionalProperties": REGION},
    {"type": "object", "patternProperties": {"a": REGION}},
    {"type": "object", "not": an_object(a=REGION)},
    {"type": "object", "x-mcp-header": "Root"},
)


@pytest.mark.parametrize("schema", BROKEN)
def test_an_annotation_that_breaks_the_rules(schema: dict[str, Any]) -> None:
    """Anywhere, of any shape: the definition is not to be used."""
    with pytest.raises(BrokenAnnotation, match="x-mcp-header"):
        read_param_headers(schema)


@pytest.mark.parametrize(
    "schema",
    [
        an_object(**{"x-mcp-header": {"type": "string"}}),
        an_object(a={"type": "object", "default": {"x-mcp-header": "A"}}),
        an_object(a={"enum": [{"x-mcp-header": "A"}]}),
        an_object(a={"const": {"x-mcp-header": ""}}),
        {"type": "object"},
        {},
        {"properties": []},
    ],
)
def test_what_is_no_annotation(schema: dict[str, Any]) -> None:
    """A property of that name, and data that looks like it."""
    assert read_param_headers(schema).sources == ()


@pytest.mark.parametrize("value", [2**53, -(2**53), 1.5, [], {}])
def test_what_can_not_be_mirrored(value: Any) -> None:
    """The server would refuse it: it is told before anything is sent, without the value."""
    headers = read_param_headers(an_object(a={"type": "integer", "x-mcp-header": "A"}))
    with pytest.raises(Unmirrored, match=r"^a has to go into a header"):
        headers.of({"a": value})


@given(st.text())
def test_no_value_breaks_out_of_its_header(value: str) -> None:
    """Whatever it holds, the header is one line of visible ASCII."""
    try:
        ((_, header),) = read_param_headers(an_object(region=REGION)).of({"region": value})
    except UnicodeEncodeError:
        return
    assert header.isascii()
    assert not set(header) - set(map(chr, range(0x20, 0x7F))) - {"\t"}


JSON = st.recursive(
    st.none() | st.text(max_size=3) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["properties", "items", "x-mcp-header", "type", "a", "$ref", "allOf"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["properties", "items", "x-mcp-header"]), JSON))
def test_any_schema_is_read_or_refused(schema: dict[str, Any]) -> None:
    """Nothing else comes of one, however odd."""
    with suppress(BrokenAnnotation):
        read_param_headers(schema)
