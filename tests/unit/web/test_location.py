"""One reading of an address: strict, normalised, and the value that is connected to."""

from __future__ import annotations

import socket
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.web.location import Location, LocationError, locate


@pytest.mark.parametrize(
    ("text", "normalised", "host", "port", "path"),
    [
        ("https://example.com", "https://example.com/", "example.com", 443, "/"),
        ("HTTP://EXAMPLE.com./a/../b", "http://example.com/b", "example.com", 80, "/b"),
        ("http://example.com:080/", "http://example.com/", "example.com", 80, "/"),
        ("http://example.com:/", "http://example.com/", "example.com", 80, "/"),
        ("https://example.com:80/", "https://example.com:80/", "example.com", 80, "/"),
        ("http://bücher.de/ä", "http://xn--bcher-kva.de/%C3%A4", "xn--bcher-kva.de", 80, "/%C3%A4"),
        ("http://example。com/", "http://example.com/", "example.com", 80, "/"),
        ("http://x.de/%2e%2E/%7ea%2fb", "http://x.de/~a%2Fb", "x.de", 80, "/~a%2Fb"),
        ("http://x.de/a?b=/../c#@evil.de", "http://x.de/a?b=/../c", "x.de", 80, "/a"),
        ("http://x.de?@evil.de/", "http://x.de/?@evil.de/", "x.de", 80, "/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/", "127.0.0.1", 8000, "/"),
        ("http://[2001:DB8:0::1]:81/", "http://[2001:db8::1]:81/", "2001:db8::1", 81, "/"),
        ("http://[::1]/", "http://[::1]/", "::1", 80, "/"),
    ],
)
def test_an_address_is_normalised(
    text: str, normalised: str, host: str, port: int, path: str
) -> None:
    """Letter case, international names, dots, ports and dot segments have one form."""
    at = locate(text)
    assert (at.text, at.host, at.port, at.path) == (normalised, host, port, path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://0x7f.1/", "number"),
        ("http://0x7f000001/", "number"),
        ("http://2130706433/", "number"),
        ("http://127.1/", "number"),
        ("http://0177.0.0.1/", "number"),
        ("http://127.0.0.1./", "number"),
        ("http://１２７.0.0.1/", "number"),
        ("http://256.1.1.1/", "number"),
        ("http://evil.0x/", "number"),
        ("http://[::ffff:7f00:1]/", "IPv4"),
        ("http://[::ffff:127.0.0.1]/", "IPv4"),
        ("http://[::7f00:1]/", "IPv4"),
        ("http://[64:ff9b::127.0.0.1]/", "IPv4"),
        ("http://[fe80::1%25eth0]/", "escape"),
        ("http://[1.2.3.4]/", "IPv6"),
        ("http://exa%6dple.com/", "escape"),
        ("http://user@example.com/", "user name"),
        ("http://user:secret@example.com/", "user name"),
        ("http://@example.com/", "user name"),
        ("http://example.com\\@evil.de/", "backslash"),
        ("http:\\\\example.com", "backslash"),
        ("http://exam\tple.com/", "control"),
        ("http://example.com/a\nb", "control"),
        (" http://example.com/", "space"),
        ("http://example.com/a b", "space"),
        ("http://example.com:0/", "port"),
        ("http://example.com:65536/", "port"),
        ("http://example.com:99999/", "port"),
        ("http://example.com:+80/", "port"),
        ("http://example.com:８0/", "port"),
        ("http://example.com:80:80/", "port"),
        ("http:///path", "host"),
        ("http://:80/", "host"),
        ("http://./", "empty part"),
        ("http://a..b/", "empty part"),
        ("http://a.../", "empty part"),
        ("http://。com/", "name"),
        ("http://℀.com/", "name"),
        ("http://a\u200bb.com/", "name"),
        ("http://a*b.com/", "name"),
        (f"http://{'a' * 64}.com/", "name"),
        (f"http://{'a.' * 140}com/", "name"),
        ("http:example.com", "absolute"),
        ("//example.com/", "absolute"),
        ("example.com", "absolute"),
        ("/path", "absolute"),
        ("", "absolute"),
        ("ftp://example.com/", "http and https"),
        ("file:///etc/passwd", "http and https"),
        ("javascript://example.com/%0aalert(1)", "http and https"),
        ("http://example.com/\ud800", "character"),
        ("https://example.com/" + "a" * 8000, "characters"),
    ],
)
def test_what_is_odd_is_refused(text: str, why: str) -> None:
    """Nothing that two programs could read differently is an address, and the error says why."""
    with pytest.raises(LocationError, match=why):
        locate(text)


def test_an_error_holds_nothing_of_the_address() -> None:
    """What is wrong with an address is told without repeating it: it may hold a secret."""
    with pytest.raises(LocationError) as raised:
        locate("http://user:SECRET@example.com/?token=SECRET")
    assert "SECRET" not in str(raised.value)


def test_what_is_shown_is_scheme_host_and_port() -> None:
    """Errors and logs name a location without path and query."""
    assert locate("https://a.de/path?token=SECRET").shown == "https://a.de"
    assert locate("http://[::1]:81/x").shown == "http://[::1]:81"


HOSTS = st.one_of(
    st.text(alphabet="aZ0.-_xÄß。", max_size=12),
    st.from_regex(r"[a-z0-9]{1,8}(\.[a-z]{2,5}){1,2}\.?", fullmatch=True),
    st.from_regex(r"(0x)?[0-9a-f]{1,4}(\.(0x)?[0-9]{1,3}){0,3}", fullmatch=True),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
)
PATHS = st.text(alphabet=string.ascii_letters + "/.%2eEfF~?=&#@:;é ", max_size=24)
ADDRESSES = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP", "ftp"]),
        HOSTS,
        st.sampled_from(["", ":80", ":443", ":8080", ":"]),
        PATHS.map(lambda path: f"/{path}" if path else ""),
    ),
)


def read(text: str) -> Location | None:
    """The location, or None for what is none. Nothing else may be raised."""
    try:
        return locate(text)
    except LocationError:
        return None


@given(ADDRESSES)
def test_reading_again_changes_nothing(text: str) -> None:
    """What was normalised is normalised, and says the same as the library's own value."""
    at = read(text)
    if at is None:
        return
    assert locate(at.text) == at
    assert str(at.url) == at.text
    assert (at.url.scheme, at.url.raw_host, at.url.port) == (at.scheme, at.host, at.port)
    assert at.url.raw_path == at.path
    assert at.url.user is None


NUMBERS = st.from_regex(
    r"(0[xX]?)?[0-9a-fA-F]{0,11}(\.(0[xX]?)?[0-9a-fA-F]{0,4}){0,4}\.?", fullmatch=True
)


@given(NUMBERS | HOSTS)
def test_a_name_is_nothing_that_the_system_takes_for_an_address(host: str) -> None:
    """C libraries read 127.1, octal and hexadecimal as IPv4: what they read so is no name here."""
    at = read(f"http://{host}/")
    if at is None or ":" in at.host:
        return
    try:
        number = socket.inet_aton(at.host)
    except OSError:
        number = None
    assert number == (None if at.ip is None else at.ip.packed)
    assert at.ip is None or at.host in host


@given(ADDRESSES)
def test_a_path_has_no_dot_segments(text: str) -> None:
    """Nothing that climbs is left in a path, plain or escaped."""
    at = read(text)
    if at is not None:
        assert not {".", "..", "%2e", "%2E", "%2e%2e"} & set(at.path.split("/"))
        assert at.path.startswith("/")
