"""A call's result for programs."""

from __future__ import annotations

import msgspec
import pytest

from lockgate.cli.results import result_data
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
from lockgate.tools.result import ErrorKind, ToolResult

META = {"a/b": 1}
HINTS = {"audience": ["user"]}


@pytest.mark.parametrize(
    "block",
    [
        Text("a"),
        Text("a", HINTS, META),
        Image("AA==", "image/png", HINTS, META),
        Audio("AA==", "audio/wav"),
        ResourceLink("u:1", "n"),
        ResourceLink("u:1", "n", "m", "d", 3, HINTS, META),
        EmbeddedResource("u:1", "t", None, "m", HINTS, META),
        EmbeddedResource("u:1", blob="AA=="),
    ],
)
def test_every_block_is_written_in_the_shape_it_is_read_in(block: Content) -> None:
    """What a program reads is what a server would have sent, with nothing left out."""
    (written,) = result_data(ToolResult((block,)))["content"]
    assert parse_blocks([written]) == ((block,), ())


def test_a_block_of_an_unknown_type_is_there_as_it_came() -> None:
    """Kept, with a text for whoever does not know it either; what has no JSON form is null."""
    data = result_data(ToolResult((UnknownContent("h", {"x": 1}), UnknownContent("h", object()))))
    assert [block["raw"] for block in data["content"]] == [{"x": 1}, None]
    assert all(block["text"] for block in data["content"])
    msgspec.json.encode(data)


def test_what_is_not_there_is_left_out() -> None:
    """`structured` and `_meta` only where a result has them."""
    assert result_data(ToolResult(structured=[1], meta=META)) == {
        "isError": False,
        "kind": None,
        "reason": None,
        "content": [],
        "structured": [1],
        "_meta": META,
    }
    failed = result_data(ToolResult.error(ErrorKind.TIMEOUT, "late", reason="r"))
    assert failed == {
        "isError": True,
        "kind": "timeout",
        "reason": "r",
        "content": [{"type": "text", "text": "late"}],
    }
