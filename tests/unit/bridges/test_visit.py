"""Addresses of servers: what is shown, warned of, and refused."""

from __future__ import annotations

import pytest

from lockgate.bridges.visit import login_marks, read_visit
from lockgate.web.location import LocationError


@pytest.mark.parametrize(
    ("text", "address", "host", "owner"),
    [
        ("https://a.x.co.uk/?y#z", "https://a.x.co.uk/?y#z", "a.x.co.uk", "x.co.uk"),
        ("HTTPS://EXAMPLE.com", "https://example.com/", "example.com", "example.com"),
        ("https://x.com:8443/", "https://x.com:8443/", "x.com:8443", "x.com"),
        ("https://me.github.io/", "https://me.github.io/", "me.github.io", "me.github.io"),
        ("http://localhost:3000/x", "http://localhost:3000/x", "localhost:3000", None),
        ("http://127.0.0.1/x", "http://127.0.0.1/x", "127.0.0.1", None),
        ("http://[::1]:3/", "http://[::1]:3/", "[::1]:3", None),
        ("https://x.com/\u00fc?\u00e9", "https://x.com/%C3%BC?%C3%A9", "x.com", "x.com"),
    ],
)  # fmt: skip
def test_it_is_opened_as_it_is_shown(text: str, address: str, host: str, owner: str | None) -> None:
    """Normalised, in ASCII, with its host and whose it is."""
    visit = read_visit(text)
    assert (visit.address, visit.host, visit.owner) == (address, host, owner)


@pytest.mark.parametrize(
    "text",
    [
        *("http://example.com/", "http://127.0.0.1.evil.com/", "http://localhost.evil.com/"),
        *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@b"),
        *("https://google.com@evil.com/", "https://a:b@evil.com/", "https://evil.com\\@a.com/"),
        *("https://ex ample.com/", "https://example.com/\n", "//example.com", "", "https:///x"),
        *("https://0x7f.1/", "https://2130706433/", "https://example.com:99999/"),
    ],
)
def test_what_nobody_should_open_is_refused(text: str) -> None:
    """Not https, no page, a name in front of the host, what programs read in two ways."""
    with pytest.raises(LocationError):
        read_visit(text)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("https://\u0430pple.com/", "of several alphabets (Cyrillic, Latin)"),
        ("https://xn--pple-43d.com/", "which browsers may show as \u0430pple"),
        ("https://m\u00fcnchen.de/", "xn--mnchen-3ya"),
        ("https://accounts.google.com.evil.io/", "it belongs to evil.io"),
        ("https://1.2.3.4/", "nobody can tell whose it is"),
        ("https://example.com:444/", "a port of its own, 444"),
        ("http://localhost:3/", "a program on this machine"),
    ],
)
def test_what_deceives_is_warned_of(text: str, warning: str) -> None:
    """Punycode, look-alikes, names in front of names, numbers."""
    assert any(warning in one for one in read_visit(text).warnings)


def test_an_ordinary_address_has_no_warnings() -> None:
    """Who is always warned reads none."""
    assert read_visit("https://mcp.example.com/ui/set_api_key?id=5").warnings == ()


AS = "https://login.example.com/"


@pytest.mark.parametrize(
    ("address", "issuer", "marked"),
    [
        ("https://login.example.com/authorize?a=b", AS, ""),
        ("https://auth.example.com/authorize", AS, ""),
        ("https://as.example:8443/authorize", "https://as.example:8443", "a port of its own"),
        ("https://evil.org/authorize", AS, "not the one of its authorization server, login.ex"),
        ("https://xn--lgin-1qa.example.com/authorize", AS, "xn--lgin-1qa"),
        ("https://login.example.com.evil.org/", "https://evil.org", "begins like another name"),
        ("https://93.184.215.14/authorize", AS, "a number and no name"),
        ("http://127.0.0.1:9/authorize", "http://127.0.0.1:9", "a program on this machine"),
        ("http://mine.example:9/authorize", "http://mine.example:9", "it is not https"),
        ("https://mine.example/authorize", "https://mine.example:", ""),
        ("https://mine.example/authorize", "https://a@mine.example", "can not be read"),
        ("http://127.0.0.1:7/authorize", "http://127.0.0.1:9", ""),
    ],
)
def test_what_is_to_be_known_of_a_page_to_log_in_at(address: str, issuer: str, marked: str) -> None:
    """A server names it, and a person types a password there: whatever deceives is said, but not
    of what they wrote themselves."""
    marks = login_marks(address, issuer, ["http://127.0.0.1:7/mcp"])
    assert bool(marks) is bool(marked)
    assert marked in " ".join(marks)
