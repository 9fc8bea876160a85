"""The content blocks of a result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
)
from lockgate.mcp.protocol.content import parse_blocks

KINDS = st.sampled_from(["text", "image", "audio", "resource", "resource_link", "future"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "data", "mimeType", "uri", "name", "size", "resource", "blob"]
            ),
            inner | KINDS,
        )
    ),
    max_leaves=8,
)


@given(ANY)
def test_every_block_becomes_something_readable(value: Any) -> None:
    """Any JSON is read without an exception, and each block has a text."""
    blocks, remarks = parse_blocks(value)
    assert all(isinstance(block.as_text(), str) for block in blocks)
    assert all(remarks)
    if isinstance(value, list):
        assert len(blocks) == len(value)  # pyright: ignore[reportUnknownArgumentType] - any JSON


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ({"type": "text", "text": "a", "annotations": {"x": 1}}, Text("a", {"x": 1})),
        ({"type": "image", "data": "AA==", "mimeType": "image/png"}, Image("AA==", "image/png")),
        ({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}, Audio("AA==", "audio/wav")),
        ({"type": "image", "data": "AA=="}, Image("AA==", "application/octet-stream")),
        (
            {"type": "resource_link", "uri": "u:1", "name": "n", "size": 3, "mimeType": "m"},
            ResourceLink("u:1", "n", "m", None, 3),
        ),
        (
            {"type": "resource_link", "uri": "u:1", "name": "n", "title": "T"},
            ResourceLink("u:1", "T"),
        ),
        ({"type": "resource_link", "uri": "u:1", "size": True}, ResourceLink("u:1", "u:1")),
        (
            {"type": "resource", "resource": {"uri": "u:1", "text": "t", "mimeType": "m"}},
            EmbeddedResource("u:1", text="t", mime_type="m"),
        ),
        (
            {"type": "resource", "resource": {"uri": "u:1", "blob": "AA=="}},
            EmbeddedResource("u:1", blob="AA=="),
        ),
    ],
)
def test_known_blocks(block: dict[str, Any], expected: Content) -> None:
    """Each type the specification has, with what it needs (2026-07-28, ContentBlock)."""
    assert parse_blocks([block]) == ((expected,), ())


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "future", "x": 1}, "future"),
        ({"type": "text"}, "text"),
        ({"type": "image", "mimeType": "image/png"}, "image"),
        ({"type": "resource", "resource": {"uri": "u:1"}}, "resource"),
        ({"type": "resource", "resource": None}, "resource"),
        ({"type": "resource_link"}, "resource_link"),
        ({}, "(none)"),
        ({"type": 5}, "(none)"),
        (None, "null"),
        (7, "number"),
        ([], "array"),
    ],
)
def test_other_blocks_are_kept_under_their_name(block: Any, kind: str) -> None:
    """Unknown, null or malformed: nothing is dropped, and a remark says what was odd (PB-122)."""
    (found,), remarks = parse_blocks([block])
    assert found == UnknownContent(kind, block)
    assert len(remarks) == 1
    assert "content[0]" in remarks[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [([{"type": "text", "text": 5}], "5"), ([{"type": "text", "text": {"a": 1}}], '{"a":1}')],
)
def test_text_that_is_no_string_is_shown_as_json(value: Any, text: str) -> None:
    """Readable, with a remark (PB-122)."""
    (block,), remarks = parse_blocks(value)
    assert block == Text(text)
    assert len(remarks) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", Text("plain")),
        ({"type": "text", "text": "one"}, Text("one")),
        (["bare"], Text("bare")),
    ],
)
def test_content_that_is_not_wrapped_is_read_all_the_same(value: Any, expected: Content) -> None:
    """A string or a block outside an array is the only one, with a remark."""
    blocks, remarks = parse_blocks(value)
    assert blocks == (expected,)
    assert remarks


def test_no_content_is_none() -> None:
    """Absent or null: empty, and nothing to remark upon."""
    assert parse_blocks(None) == parse_blocks([]) == ((), ())


@pytest.mark.parametrize(
    ("kind", "needs"),
    [
        ("text", {"text": "a"}),
        ("image", {"data": "AA==", "mimeType": "image/png"}),
        ("audio", {"data": "AA==", "mimeType": "audio/wav"}),
        ("resource_link", {"uri": "u:1", "name": "n"}),
        ("resource", {"resource": {"uri": "u:1", "text": "t"}}),
    ],
)
def test_annotations_and_meta_are_kept(kind: str, needs: dict[str, Any]) -> None:
    """As they came, on every block; what is no object is left out, and said."""
    annotations = {"audience": ["user"], "priority": 0.5, "lastModified": "2026-11-30T00:00:00Z"}
    kept = {"type": kind, **needs, "annotations": annotations, "_meta": {"a/b": 1}}
    (block,), remarks = parse_blocks([kept])
    assert not isinstance(block, UnknownContent)
    assert (block.annotations, block.meta) == (annotations, {"a/b": 1})
    assert remarks == ()
    (block,), remarks = parse_blocks([{**kept, "annotations": [], "_meta": 5}])
    assert not isinstance(block, UnknownContent)
    assert (block.annotations, block.meta) == (None, None)
    assert len(remarks) == 2


def test_meta_of_an_embedded_resource_is_that_of_the_block_or_its_own() -> None:
    """Both places are the specification's; the outer one counts first."""
    inner = {"uri": "u:1", "text": "t", "_meta": {"inner": 1}}
    (block,), _ = parse_blocks([{"type": "resource", "resource": inner}])
    assert isinstance(block, EmbeddedResource)
    assert block.meta == {"inner": 1}
    (block,), _ = parse_blocks([{"type": "resource", "resource": inner, "_meta": {"outer": 1}}])
    assert isinstance(block, EmbeddedResource)
    assert block.meta == {"outer": 1}


def test_annotations_that_nest_too_deep_are_left_out() -> None:
    """Whoever shows or writes them down walks through them."""
    deep: Any = 1
    for _ in range(200):
        deep = {"a": deep}
    (block,), remarks = parse_blocks([{"type": "text", "text": "a", "annotations": deep}])
    assert block == Text("a")
    assert "deeper than 128" in remarks[0]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": "AAA", "mimeType": "image/png"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "image", "data": "data:image/png;base64,AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "AA-_", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "u:1", "blob": "sécret"}},
    ],
)
def test_malformed_base64_is_said_and_never_handed_on_as_an_image(block: dict[str, Any]) -> None:
    """PB-124: kept as it came, with what is wrong about it; nothing of the data is repeated."""
    (found,), (remark,) = parse_blocks([block])
    assert found == UnknownContent(block["type"], block)
    assert found.as_text() == f"[{block['type']} that can not be read]"
    assert "its data is" in remark
    assert "AA" not in remark


def test_base64_in_lines_is_joined() -> None:
    """As `base64` and mail programs write it: used, with a remark."""
    (block,), (remark,) = parse_blocks(
        [{"type": "image", "data": "AAAA\r\nAA==\n", "mimeType": "m"}]
    )
    assert block == Image("AAAAAA==", "m")
    assert "white space" in remark


def test_an_empty_resource_is_one() -> None:
    """A file may be empty; an image may not."""
    (block,), remarks = parse_blocks([{"type": "resource", "resource": {"uri": "u:1", "blob": ""}}])
    assert block == EmbeddedResource("u:1", blob="")
    assert remarks == ()
