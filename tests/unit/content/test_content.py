"""Content blocks: what a model that reads only text is shown of each."""

from __future__ import annotations

from base64 import b64encode

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
    base64_fault,
    pixels,
)
from lockgate.errors import LocalError


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (Text("hello"), "hello"),
        (Image("AAAA", "image/png"), "[image image/png, 3 bytes]"),
        (Image("A" * 40_000, "image/png"), "[image image/png, 30 kB]"),
        (Audio("AAAA", "audio/wav"), "[audio audio/wav, 3 bytes]"),
        (ResourceLink("file:///a", "a"), "[resource a: file:///a]"),
        (ResourceLink("file:///a", "a", "text/plain"), "[resource a: file:///a, text/plain]"),
        (EmbeddedResource("file:///a", text="body"), "[resource file:///a]\nbody"),
        (EmbeddedResource("a:", text="", mime_type="m\n"), "[resource a:, m\\n]\n"),
        (EmbeddedResource("file:///a", blob="AAAA"), "[resource file:///a, binary, 3 bytes]"),
        (EmbeddedResource("file:///a"), "[resource file:///a, binary, 0 bytes]"),
        (UnknownContent("hologram"), "[content of unknown type 'hologram']"),
        (UnknownContent("h", {"x": [1]}), """[content of unknown type 'h': {"x": [1]}]"""),
        (UnknownContent("image", {"type": "image"}), "[image that can not be read]"),
        (
            ResourceLink("file:///a", "a", "text/plain", "All of it.", 12),
            "[resource a: file:///a, text/plain, 12 bytes; All of it.]",
        ),
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


def encoded(head: bytes, size: int = 60) -> str:
    """A file that begins so, in base64."""
    return b64encode(head.ljust(size, b"\0")).decode()


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"  # what a camera noted
    b"\xff\xff\xfe\x00\x04ab"  # a fill byte, and a comment
    b"\xff\xc4\x00\x02"  # a table, whose number is near that of a frame
    b"\xff\xc2\x00\x11\x08\x01\x90\x02\x80\x03"
)


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\x90", (640, 400)),
        (b"GIF89a\x80\x02\x90\x01", (640, 400)),
        (b"GIF87a\x80\x02\x90\x01", (640, 400)),
        (b"BM" + bytes(12) + b"\x28\0\0\0\x80\x02\0\0\x90\x01\0\0", (640, 400)),
        (b"BM" + bytes(12) + b"\x28\0\0\0\x80\x02\0\0\x70\xfe\xff\xff", (640, 400)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x7f\x02\0\x8f\x01\0", (640, 400)),
        (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + b"\x80\x02\x90\x01", (640, 400)),
        (b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f\x7f\xc2\x63\0", (640, 400)),
        (b"RIFF\0\0\0\0WEBPVP9 ", None),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (JPEG, (640, 400)),
        (JPEG[:-9], None),
        (b"\xff\xd8\xff\xe0\0\0", None),
        (b"GIF89a", None),
        (b"<svg width='640'>", None),
        (b"BM is how this text begins, which is no image", None),
        (b"", None),
    ],
)
def test_pixels_are_told_by_the_head(head: bytes, size: tuple[int, int] | None) -> None:
    """Of the formats that models take; what does not tell them has none."""
    assert pixels(encoded(head)) == size


def test_pixels_of_a_photo_stand_after_what_the_camera_noted() -> None:
    """A thumbnail of 40 kB in between; beyond 64 KiB nobody looks."""
    notes = b"\xff\xe1\x9c\x40" + bytes(40_000 - 2)
    photo = JPEG[:2] + notes + JPEG[2:]
    assert pixels(encoded(photo, 50_000)) == (640, 400)
    assert pixels(encoded(JPEG[:2] + 2 * notes + JPEG[2:], 90_000)) is None


@given(st.text(max_size=80) | st.binary(max_size=80).map(lambda data: b64encode(data).decode()))
def test_whatever_data_is_its_size_is_told_or_not(data: str) -> None:
    """Nothing raises over the head of an image, nor over the size of what is no base64."""
    assert Image(data, "image/png").as_text().startswith("[image image/png, ")
    assert Audio(data, "audio/wav").as_text().endswith(" bytes]")


def test_an_image_is_described_by_type_pixels_and_size() -> None:
    """What a model is told that can not see it."""
    data = encoded(b"GIF89a\x80\x02\x90\x01", 40_000)
    assert Image(data, "image/gif").as_text() == "[image image/gif, 640x400 pixels, 40 kB]"
    blob = EmbeddedResource("file:///a.gif", blob=data, mime_type="image/gif")
    assert blob.as_text() == "[resource file:///a.gif, image/gif, 640x400 pixels, 40 kB]"


@pytest.mark.parametrize(
    "block",
    [
        Image("AAAA", "image/\x1b[2J\n" + "x" * 300),
        ResourceLink("file:///a\n\u202e" + "b" * 3000, "n\0\n\x1b" + "m" * 300, "m\n", "d\n" * 500),
        EmbeddedResource("a:\n\x1b", blob="AAAA", mime_type="m\n\u2066"),
        UnknownContent("h\n\x1b\u202e" + "x" * 300, {"a\n\x1b": ["\u202e", {"b": "x" * 9000}]}),
        UnknownContent("h", [[[[[[["deep"]]]]]], list(range(1000)), *("x" * 200,) * 50]),
    ],
)
def test_a_strangers_words_are_shown_safely(block: Content) -> None:
    """PB-124: on one line, bounded, nothing in them that hides, moves or reorders."""
    text = block.as_text()
    assert text.isprintable()
    assert len(text) < 3000


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ("AAAA", None),
        ("AA==", None),
        ("AAA=", None),
        ("", "empty"),
        ("AAA", "cut off"),
        ("A===", "cut off"),
        ("AA==AAAA", "other characters"),
        ("AA-_", "other characters"),
        ("AA\nAA", "other characters"),
        ("Aé==", "other characters"),
        ("data:image/png;base64,AAAA", "other characters"),
    ],
)
def test_what_is_no_base64_is_told(data: str, fault: str | None) -> None:
    """PB-124: looked at, not decoded."""
    found = base64_fault(data)
    assert found is None if fault is None else fault in (found or "")


@given(st.binary(max_size=50))
def test_what_is_base64_is_decoded(data: bytes) -> None:
    """To the very bytes."""
    text = b64encode(data).decode()
    assert Image(text, "x").decoded(50) == Audio(text, "x").decoded() == data
    assert EmbeddedResource("u:", blob=text).decoded() == data
    assert base64_fault(text) is None or not data


def test_the_size_is_looked_at_before_anything_is_decoded() -> None:
    """PB-124: what is too large is not even judged; the limit is told with the size."""
    with pytest.raises(LocalError, match=r"30,000 bytes, over the limit of 29,999: not decoded"):
        Image("?" * 40_000, "image/png").decoded(29_999)
    with pytest.raises(LocalError, match="over the limit"):
        EmbeddedResource("u:", text="x" * 11).decoded(10)
    assert EmbeddedResource("u:", text="é").decoded() == "é".encode()


@pytest.mark.parametrize("data", ["AAA", "A===", "????", "é", "AA==AAAA", "AA\nAA"])
def test_what_is_no_base64_is_never_decoded_in_part(data: str) -> None:
    """An error that repeats nothing of it."""
    with pytest.raises(LocalError, match=r"^the data is no base64: it can not be decoded$"):
        Image(data, "image/png").decoded()
