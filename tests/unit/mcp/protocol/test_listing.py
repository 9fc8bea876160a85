"""A page of tools/list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.jsontext import MAX_DEPTH
from lockgate.mcp.protocol.listing import NO_SCHEMA, ListedTool, ToolPage, parse_tools_page
from lockgate.mcp.protocol.results import Unreadable

GOOD = {"name": "good", "inputSchema": {"type": "object"}}


def page(*tools: Any, **members: Any) -> ToolPage:
    """The page with these definitions."""
    return parse_tools_page(json.dumps({"tools": tools, **members}).encode())


def only(definition: Any) -> ListedTool:
    """The one tool of a page of one."""
    found = page(definition)
    assert found.left_out == ()
    return found.tools[0]


def test_a_definition_is_kept_as_it_came() -> None:
    """Every field is read, the schemas are the server's own objects, nothing is added (S3-05)."""
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": True}}
    definition = {
        "name": "n",
        "title": "T",
        "description": "D",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "title": "A"},
        "x-vendor": 1,
    }
    tool = only(definition)
    assert (tool.name, tool.title, tool.description) == ("n", "T", "D")
    assert tool.input_schema == schema
    assert tool.output_schema == {"type": "object"}
    assert (tool.claims.read_only, tool.claims.title) == (True, "A")
    assert tool.raw == definition
    assert tool.remarks == ()


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"type": ["object", "null"]},
        {"anyOf": [{"type": "object"}, {"type": "object"}]},
        {"type": "object", "properties": None, "required": None},
    ],
)
def test_schemas_that_admit_an_object_are_advertised_as_they_are(schema: Any) -> None:
    """Odd ones too: whether they can be enforced is judged elsewhere (PB-106, PB-107)."""
    assert only({"name": "t", "inputSchema": schema}).input_schema == schema


def test_a_missing_schema_takes_any_object() -> None:
    """Missing is not malformed; it is remarked upon (PB-107)."""
    tool = only({"name": "t"})
    assert tool.input_schema == NO_SCHEMA
    assert "inputSchema is missing" in tool.remarks[0]


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, "is null, not an object"),
        (True, "is a boolean, not an object"),
        ([], "is an array, not an object"),
        ("object", "is a string, not an object"),
        ({"type": "string"}, "does not admit an object"),
        ({"type": "OBJECT"}, "does not admit an object"),
        ({"type": ["string", "null"]}, "does not admit an object"),
        ({"type": None}, "does not admit an object"),
        ({"type": "object", "properties": [1, 2]}, "an array as its properties"),
        ({"type": "object", "required": "x"}, "a string as its required"),
    ],
)
def test_a_schema_that_can_not_be_one_leaves_the_tool_out_by_name(schema: Any, why: str) -> None:
    """The others stay (PB-107, PB-108)."""
    found = page(GOOD, {"name": "bad", "inputSchema": schema}, {**GOOD, "name": "last"})
    assert [tool.name for tool in found.tools] == ["good", "last"]
    (left,) = found.left_out
    assert left.tool == "bad"
    assert why in left.reason


@pytest.mark.req("S3-10")
@pytest.mark.parametrize(
    ("definition", "why"),
    [
        (None, "is null"),
        ("tool", "is a string"),
        ([], "is an array"),
        ({}, "has no name"),
        ({"name": None}, "has no name"),
        ({"name": 5}, "has a number as its name"),
        ({"name": ""}, "has an empty name"),
    ],
)
def test_a_tool_without_a_name_is_left_out_by_its_place(definition: Any, why: str) -> None:
    """One malformed tool never takes down the others (S3-10)."""
    found = page(GOOD, definition, {**GOOD, "name": "last"})
    assert [tool.name for tool in found.tools] == ["good", "last"]
    (left,) = found.left_out
    assert left.tool == "tool 2"
    assert why in left.reason


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH])
def test_a_definition_may_be_so_deep_and_no_deeper(levels: int) -> None:
    """Everybody who walks through it later can (PB-111)."""
    schema: Any = {"type": "object"}
    while levels > 2:
        schema, levels = {"allOf": schema}, levels - 1
    assert len(page({"name": "t", "inputSchema": schema}).tools) == 1
    deeper = {"name": "t", "inputSchema": {"allOf": {"allOf": schema}}}
    assert "nested deeper" in page(deeper).left_out[0].reason


@pytest.mark.parametrize(
    ("member", "value"),
    [("title", 5), ("description", ["a"]), ("outputSchema", True), ("outputSchema", [])],
)
def test_other_members_of_a_wrong_type_count_as_absent(member: str, value: Any) -> None:
    """They are remarked upon, and the tool stays."""
    tool = only({**GOOD, member: value})
    assert (tool.title, tool.description, tool.output_schema) == (None, "", None)
    assert member in tool.remarks[0]


def test_names_come_in_the_order_and_number_of_the_server() -> None:
    """Repeats and strange names are for the caller to judge (PB-100, PB-103)."""
    names = ["a", "a", "한글도구", "has space", "x" * 200, "tool\nname"]
    assert [tool.name for tool in page(*({**GOOD, "name": n} for n in names)).tools] == names


@pytest.mark.parametrize(
    ("cursor", "expected", "remarked"),
    [
        ("", "", False),
        ("a b\"c'한", "a b\"c'한", False),
        ("x" * 100_000, "x" * 100_000, False),
        (None, None, False),
        (0, None, True),
        (5, None, True),
        ({}, None, True),
        (True, None, True),
    ],
)
def test_cursors(cursor: Any, expected: str | None, remarked: bool) -> None:
    """A string goes back as it came, an empty one too; anything else ends the list (PB-140)."""
    found = page(GOOD, nextCursor=cursor)
    assert found.next_cursor == expected
    assert bool(found.remarks) is remarked
    assert page(GOOD).next_cursor is None


@pytest.mark.parametrize(
    ("ttl", "expected"),
    [(0, 0), (300_000, 300_000), (1.0, 1), (-5, 0), (True, None), ("5", None), (None, None)],
)
def test_freshness(ttl: Any, expected: int | None) -> None:
    """Milliseconds, at least 0; what is no integer says nothing (2026-07-28, Caching)."""
    assert page(GOOD, ttlMs=ttl).ttl_ms == expected


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"[]", "an array where an object"),
        (b"null", "null where an object"),
        (b"{}", "no tools member"),
        (b'{"tools":null}', "null as its tools"),
        (b'{"tools":{"a":{}}}', "an object as its tools"),
        (b"{", "not JSON"),
    ],
)
def test_a_page_without_a_list_of_tools_is_an_error(raw: bytes, why: str) -> None:
    """It is never a silently short list (PB-141)."""
    with pytest.raises(Unreadable, match=why):
        parse_tools_page(raw)


def test_an_empty_list_is_a_list() -> None:
    """A server may have no tools."""
    assert page() == ToolPage(())


@given(
    st.lists(
        st.none()
        | st.text(max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "title", "inputSchema", "outputSchema", "annotations"]),
            st.none()
            | st.text(max_size=3)
            | st.integers(0, 1)
            | st.lists(st.none(), max_size=2)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "required", "readOnlyHint"]),
                st.none() | st.text(max_size=6) | st.lists(st.text(max_size=2), max_size=2),
            ),
        ),
        max_size=5,
    )
)
def test_every_definition_is_either_listed_or_left_out(definitions: list[Any]) -> None:
    """Nothing is lost and nothing raises, whatever the definitions hold."""
    found = page(*definitions)
    assert len(found.tools) + len(found.left_out) == len(definitions)
    assert all(tool.name and isinstance(tool.input_schema, dict) for tool in found.tools)
