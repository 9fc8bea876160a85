"""What a body is, by its type and by what it begins with."""

from __future__ import annotations

import pytest

from lockgate.builtin.web.media import Kind, Media, kind_of


@pytest.mark.parametrize(
    ("header", "type", "charset", "kind"),
    [
        ("text/html", "text/html", None, Kind.PAGE),
        ("TEXT/HTML; Charset=UTF-8", "text/html", "UTF-8", Kind.PAGE),
        ('application/xhtml+xml; charset="euc-kr"; x=y', "application/xhtml+xml", "euc-kr", "page"),
        ("text/plain;charset='latin1'", "text/plain", "latin1", Kind.TEXT),
        ("text/x-anything", "text/x-anything", None, Kind.TEXT),
        ("application/json", "application/json", None, Kind.TEXT),
        ("application/vnd.api+json", "application/vnd.api+json", None, Kind.TEXT),
        ("image/svg+xml", "image/svg+xml", None, Kind.TEXT),
        ("application/atom+xml;type=feed", "application/atom+xml", None, Kind.TEXT),
        ("image/png", "image/png", None, Kind.BINARY),
        ("application/pdf", "application/pdf", None, Kind.BINARY),
        ("application/octet-stream", "application/octet-stream", None, Kind.BINARY),
        ("application/zip; charset=utf-8", "application/zip", "utf-8", Kind.BINARY),
        ("", "", None, None),
        ("html", "", None, None),
        ("text/html\x00x", "", None, None),
    ],
)
def test_a_content_type_is_read(
    header: str, type: str, charset: str | None, kind: Kind | str | None
) -> None:
    """The type in lower case, its charset as it came; odd ones say nothing."""
    media = Media.parse(header)
    assert (media.type, media.charset) == (type, charset)
    assert media.kind == (Kind(kind) if isinstance(kind, str) else kind)


@pytest.mark.parametrize(
    ("header", "data", "kind"),
    [
        ("", b"<!DOCTYPE html><p>x", Kind.PAGE),
        ("", b"\n <!-- c --> <HTML lang=en>", Kind.PAGE),
        ("", b"plain text <html>", Kind.TEXT),
        ("", b"", Kind.TEXT),
        ("", b"\x89PNG\r\n\x1a\n\0\0", Kind.BINARY),
        ("text/plain", b"GIF89a\0\0", Kind.BINARY),
        ("text/html", b"PK\x03\x04\0", Kind.BINARY),
        ("text/plain", "\ufeffwide".encode("utf-16"), Kind.TEXT),
        ("text/plain; charset=UTF_16LE", "wide".encode("utf-16-le"), Kind.TEXT),
        ("application/pdf", b"plain text", Kind.BINARY),
        ("text/plain", b"<html>", Kind.TEXT),
    ],
)
def test_a_body_is_looked_at_where_its_type_does_not_say(
    header: str, data: bytes, kind: Kind
) -> None:
    """A missing type is told from the body, and text that holds zero bytes is none."""
    assert kind_of(Media.parse(header), data) is kind
