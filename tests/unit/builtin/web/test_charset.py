"""Bytes become text as browsers read them, and never fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.web.charset import Decoded, decode


@pytest.mark.parametrize(
    ("data", "declared", "text", "charset"),
    [
        ("héllo 한국".encode(), None, "héllo 한국", "utf-8"),
        ("héllo".encode("latin-1"), None, "héllo", "cp1252"),
        ("“x”".encode("cp1252"), "ISO-8859-1", "“x”", "cp1252"),
        ("한국어".encode("cp949"), "euc-kr", "한국어", "cp949"),
        ("똠".encode("cp949"), "ks_c_5601-1987", "똠", "cp949"),
        ("日本".encode("cp932"), "Shift_JIS", "日本", "cp932"),
        ("中文".encode("gb18030"), "gb2312", "中文", "gb18030"),
        ("x".encode("utf-16-le"), "utf-16le", "x", "utf-16-le"),
        # the mark goes over the header, the header over the document
        ("\ufeff한".encode(), "euc-kr", "한", "utf-8"),
        ("\ufeff한".encode("utf-16-le"), "utf-8", "한", "utf-16-le"),
        ("\ufeff한".encode("utf-16-be"), None, "한", "utf-16-be"),
        (b"<meta charset=euc-kr>\xc7\xd1", "utf-8", "<meta charset=euc-kr>\ufffd\ufffd", "utf-8"),
        (b"<meta charset=euc-kr>\xc7\xd1", None, "<meta charset=euc-kr>한", "cp949"),
        (
            b'<meta http-equiv=a content="text/html; charset=euc-kr">\xc7\xd1',
            None,
            '<meta http-equiv=a content="text/html; charset=euc-kr">한',
            "cp949",
        ),
        (
            b"<?xml version='1.0' encoding='euc-kr'?>\xc7\xd1",
            None,
            "<?xml version='1.0' encoding='euc-kr'?>한",
            "cp949",
        ),
        (b"<meta charset=utf-16>x", None, "<meta charset=utf-16>x", "utf-8"),
        # names that are no encodings of text, or none at all
        (b"uryyb", "rot13", "uryyb", "utf-8"),
        (b"abc", "unicode_escape", "abc", "utf-8"),
        (b"abc", "zlib", "abc", "utf-8"),
        (b"abc", "idna", "abc", "utf-8"),
        (b"+AGE-", "utf-7", "+AGE-", "utf-8"),
        (b"abc", "no-such", "abc", "utf-8"),
        (b"abc", "a\0b", "abc", "utf-8"),
        (b"abc", "", "abc", "utf-8"),
    ],
)
def test_the_encoding_is_found(data: bytes, declared: str | None, text: str, charset: str) -> None:
    """By mark, header, document, and else UTF-8 or what old pages are in."""
    decoded = decode(data, declared)
    assert (decoded.text, decoded.charset) == (text, charset)


def test_what_can_not_be_read_is_counted() -> None:
    """A wrong charset shows: the number of characters that are lost. One that was there is not."""
    assert decode(b"\xc7\xd1 ok \xef\xbf\xbd", "utf-8").damaged == 2
    assert decode("fine \ufffd".encode(), "utf-8").damaged == 0


def test_a_body_that_was_cut_in_a_character_is_still_utf8() -> None:
    """The end of what was read is not the end of what was sent."""
    assert decode("한국".encode()[:-1], None, whole=False).text == "한"
    assert decode("한국".encode()[:-1], "utf-8", whole=False) == Decoded("한", "utf-8", 0)


@given(
    st.binary(max_size=200), st.none() | st.text(max_size=20) | st.sampled_from(["utf-16", "hz"])
)
def test_it_never_fails(data: bytes, declared: str | None) -> None:
    """Whatever comes, under whatever name."""
    assert decode(data, declared).damaged >= 0
