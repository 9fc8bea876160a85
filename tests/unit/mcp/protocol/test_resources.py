"""Resources, templates and contents as servers send them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lockgate.content import EmbeddedResource, UnknownContent
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.resources import (
    ReadResult,
    parse_read_result,
    parse_resources_page,
    parse_templates_page,
)

BLOB = base64.b64encode(b"\x00\x01").decode()


def raw(value: Any) -> bytes:
    """A result."""
    return json.dumps(value).encode()


def read(*contents: Any, **more: Any) -> ReadResult:
    """What is read of these contents, for `x:asked`."""
    return parse_read_result(raw({"contents": list(contents), **more}), "x:asked")


@pytest.mark.req("S3-19")
def test_a_resource_is_what_its_server_says() -> None:
    """URI, words, type, size and annotations as they came; the URI is the name of what has none."""
    annotations = {"audience": ["user"], "priority": 1, "lastModified": "2025-01-12T15:00:58Z"}
    full = {
        "uri": "file:///a b\u202e",
        "name": "a",
        "title": "A",
        "description": "d",
        "mimeType": "text/plain",
        "size": 12,
        "annotations": annotations,
        "_meta": {"k": 1},
        "icons": [{"src": "https://example.com/x.png"}],
    }
    found, bare = parse_resources_page(raw({"resources": [full, {"uri": "x:y"}]})).entries
    assert (found.uri, found.name, found.title) == ("file:///a b\u202e", "a", "A")
    assert (found.description, found.mime_type, found.size) == ("d", "text/plain", 12)
    assert (found.annotations, found.meta, found.remarks) == (annotations, {"k": 1}, ())
    assert (bare.name, bare.title, bare.size) == ("x:y", None, None)


@pytest.mark.parametrize("size", [-1, "5", 1.5, True])
def test_a_size_that_is_none_counts_as_absent(size: Any) -> None:
    """With a remark."""
    (found,) = parse_resources_page(raw({"resources": [{"uri": "x:y", "size": size}]})).entries
    assert found.size is None
    assert len(found.remarks) == 1


def test_a_template_has_its_variables_and_makes_uris() -> None:
    """One that is no template by RFC 6570 is left out, since nothing could be made of it."""
    listed = [{"uriTemplate": "x://{a}/{+b}{?c}", "name": "t"}, {"uriTemplate": "x://{a"}]
    page = parse_templates_page(raw({"resourceTemplates": listed}))
    (found,) = page.entries
    assert found.variables == ("a", "b", "c")
    assert found.expand(a="1", b="2/3") == "x://1/2/3"
    assert found.expand({"a": "1"}, b="2", c="3") == "x://1/2?c=3"
    (out,) = page.left_out
    assert out.tool == "x://{a"
    assert "no URI template" in out.reason


@pytest.mark.req("S3-19")
def test_contents_are_texts_and_blobs_of_any_number() -> None:
    """In order, with type and URI of each; empty ones are content too."""
    result = read(
        {"uri": "x:1", "mimeType": "text/plain", "text": "hi"},
        {"uri": "x:2", "mimeType": "image/png", "blob": BLOB, "_meta": {"k": 1}},
        {"uri": "x:3", "text": ""},
        {"uri": "x:4", "blob": ""},
        ttlMs=60_000,
    )
    assert [type(one) for one in result.contents] == [EmbeddedResource] * 4
    text, blob, empty, none = (c for c in result.contents if isinstance(c, EmbeddedResource))
    assert (text.uri, text.mime_type, text.text) == ("x:1", "text/plain", "hi")
    assert (blob.decoded(), blob.meta) == (b"\x00\x01", {"k": 1})
    assert (empty.text, none.blob) == ("", "")
    assert (result.ttl_ms, result.remarks) == (60_000, ())


def test_bad_contents_cost_themselves_only() -> None:
    """Kept as they came, with a remark; a missing URI is the one that was asked for."""
    bad: list[Any] = [
        None,
        {},
        {"uri": "x:1"},
        {"uri": "x:2", "blob": "%%%"},
        {"uri": 5, "text": "t"},
    ]
    result = read(*bad, "bare", {"uri": "x:9", "text": "good"})
    kinds = [type(one) for one in result.contents]
    assert kinds == [*[UnknownContent] * 4, *[EmbeddedResource] * 3]
    named, bare, good = result.contents[4:]
    assert isinstance(named, EmbeddedResource)
    assert isinstance(bare, EmbeddedResource)
    assert (named.uri, named.text) == ("x:asked", "t")
    assert (bare.uri, bare.text) == ("x:asked", "bare")
    assert good == EmbeddedResource("x:9", "good")
    assert len(result.remarks) >= 5


def test_a_single_content_outside_of_an_array_is_read() -> None:
    """With a remark: what it means is plain."""
    result = parse_read_result(raw({"contents": {"uri": "x:1", "text": "t"}}), "x:1")
    assert result.contents == (EmbeddedResource("x:1", "t"),)
    assert len(result.remarks) == 1


@pytest.mark.parametrize("result", [None, [], {}, {"contents": None}, {"contents": "x"}])
def test_an_answer_without_contents_is_none(result: Any) -> None:
    """An empty array is one, and means what it means (2026-07-28: Error Handling)."""
    with pytest.raises(Unreadable):
        parse_read_result(raw(result), "x:1")
    assert read().contents == ()
