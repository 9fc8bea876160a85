"""A page of any list: resources, templates, prompts. Tools have tests of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.completion import parse_completion
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.pages import Page
from lockgate.mcp.protocol.prompts import parse_prompt_result, parse_prompts_page
from lockgate.mcp.protocol.resources import (
    parse_read_result,
    parse_resources_page,
    parse_templates_page,
)

Read = Callable[..., Page[Any]]

KINDS: list[tuple[Read, str, str]] = [
    (parse_resources_page, "resources", "uri"),
    (parse_templates_page, "resourceTemplates", "uriTemplate"),
    (parse_prompts_page, "prompts", "name"),
]


@pytest.fixture(params=KINDS, ids=[kind[1] for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> tuple[Read, str, str]:
    """How it is read, its member, and what an entry needs."""
    return request.param


def raw(value: Any) -> bytes:
    """A result."""
    return json.dumps(value).encode()


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-10")
def test_one_bad_entry_leaves_the_others(kind: tuple[Read, str, str]) -> None:
    """Each that can not be used is named by its place and why; the rest stays."""
    read, member, key = kind
    deep: Any = "x"
    for _ in range(140):
        deep = [deep]
    bad: list[Any] = [None, 5, [], {}, {key: 5}, {key: ""}, {key: "deep", "_meta": {"a": deep}}]
    page = read(raw({member: [*bad, {key: "good"}], "ttlMs": 5}))
    assert len(page.entries) == 1
    assert len(page.left_out) == len(bad)
    reasons = [out.reason for out in page.left_out]
    assert reasons[0].startswith("is null")
    assert reasons[3].startswith(f"has no {key}")
    assert "nested deeper" in reasons[-1]
    assert page.left_out[0].tool.endswith(" 1")
    assert page.left_out[-1].tool == "deep"
    assert page.ttl_ms == 5


@pytest.mark.parametrize("result", [None, [], {}, {"x": []}, 5, "x"])
def test_a_result_without_a_list_is_no_page(kind: tuple[Read, str, str], result: Any) -> None:
    """It is an error, and never an empty list."""
    with pytest.raises(Unreadable):
        kind[0](raw(result))


def test_words_of_a_wrong_type_count_as_absent(kind: tuple[Read, str, str]) -> None:
    """With a remark each; the entry stays."""
    read, member, key = kind
    entry: dict[str, Any] = {key: "x", "title": 5, "description": [], "_meta": "no"}
    (found,) = read(raw({member: [entry]})).entries
    assert (found.title, found.description, found.meta) == (None, None, None)
    assert len(found.remarks) == 3


@pytest.mark.parametrize(("cursor", "next_"), [("", ""), ("c", "c"), (None, None), (5, None)])
def test_a_cursor_is_a_text(kind: tuple[Read, str, str], cursor: Any, next_: str | None) -> None:
    """PB-140: the empty one is one; of a wrong type it ends the list, with a remark."""
    page = kind[0](raw({kind[1]: [], "nextCursor": cursor}))
    assert page.next_cursor == next_
    assert bool(page.remarks) is (cursor == 5)


def test_no_more_are_looked_at_than_are_wanted(kind: tuple[Read, str, str]) -> None:
    """The others are counted."""
    read, member, key = kind
    page = read(raw({member: [{key: f"n{number}"} for number in range(9)]}), 4)
    assert (len(page.entries), page.beyond) == (4, 5)


MEMBERS = [
    *("resources", "resourceTemplates", "prompts", "uri", "uriTemplate", "name", "contents"),
    *("messages", "role", "content", "text", "blob", "type", "arguments", "required"),
    *("nextCursor", "ttlMs", "completion", "values", "total", "hasMore", "annotations"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(JSON)
def test_whatever_a_server_answers_is_read_or_refused(value: Any) -> None:
    """No answer raises anything else: a stranger's nonsense is its own affair."""
    result = json.dumps(value).encode()
    readers: list[Callable[[bytes], object]] = [
        parse_resources_page,
        parse_templates_page,
        parse_prompts_page,
        parse_prompt_result,
        parse_completion,
        partial(parse_read_result, uri="x:y"),
    ]
    for read in readers:
        try:
            read(result)
        except Unreadable:
            continue
