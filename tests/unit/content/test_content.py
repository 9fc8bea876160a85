"""Content blocks: what a model that reads only text is shown of each."""

from __future__ import annotations

import pytest

from lockgate.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (Text("hello"), "hello"),
        (Image("AAAA", "image/png"), "[image image/png, 3 bytes]"),
        (Image("A" * 40_000, "image/png"), "[image image/png, 30 kB]"),
        (Audio("AAAA", "audio/wav"), "[audio audio/wav, 3 bytes]"),
        (ResourceLink("file:///a", "a"), "[resource a: file:///a]"),
        (ResourceLink("file:///a", "a", "text/plain"), "[resource a: file:///a, text/plain]"),
        (EmbeddedResource("file:///a", text="body"), "body"),
        (EmbeddedResource("file:///a", text=""), ""),
        (EmbeddedResource("file:///a", blob="AAAA"), "[resource file:///a, binary, 3 bytes]"),
        (EmbeddedResource("file:///a"), "[resource file:///a, binary, 0 bytes]"),
        (UnknownContent("hologram", {"x": 1}), "[content of unknown type 'hologram']"),
    ],
)
def test_every_block_can_be_read_as_text(block: Content, text: str) -> None:
    """What is no text is described: kind, type and size, never the raw bytes."""
    assert block.as_text() == text


def test_blocks_are_frozen() -> None:
    """A result can not be changed after it was recorded."""
    with pytest.raises(AttributeError):
        Text("a").text = "b"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue] - the point of the test


def test_unknown_content_does_not_show_what_it_holds() -> None:
    """The raw block is kept, and left out of the repr: it may hold anything."""
    block = UnknownContent("hologram", {"secret": "s3cret"})
    assert block.raw == {"secret": "s3cret"}
    assert "s3cret" not in repr(block)
