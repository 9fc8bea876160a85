"""Addresses that an operator configured."""

from __future__ import annotations

import pytest

from lockgate.web.target import LocationError, read_target


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("HTTPS://Example.COM/Mcp/", "https://example.com/Mcp/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("http://example.com:443/a", "http://example.com:443/a"),
        ("http://127.0.0.1:8000/a?b=c&d=%2f+e", "http://127.0.0.1:8000/a?b=c&d=%2f+e"),
        ("http://[::1]:8000/a", "http://[::1]:8000/a"),
        ("http://localhost/a/../b//c", "http://localhost/a/../b//c"),
        ("http://h/%7e%41?", "http://h/%7e%41?"),
        ("http://h/가?q=가", "http://h/%EA%B0%80?q=%EA%B0%80"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_an_address_stays_as_it_is_written(text: str, address: str) -> None:
    """Only the host is normalised, and what is not ASCII escaped; the result is read the same."""
    target = read_target(text)
    assert target.address == address
    assert read_target(target.address).address == address


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" http://h/", "white space"),
        ("http://h/\n", "white space"),
        ("http://h/a b", "space"),
        ("http://h\\@evil/", "backslash"),
        ("http://h/#x", "fragment"),
        ("ftp://h/", "http"),
        ("h/mcp", "absolute"),
        ("http:///mcp", "host"),
        ("http://h:0/", "port"),
        ("http://h:99999/", "port"),
        ("http://a@b@c/", "host"),
        ("http://256.1.1.1/", "number"),
        ("http://secret:t0k@[::x]/", "host"),
    ],
)
def test_what_programs_disagree_about_is_refused(text: str, why: str) -> None:
    """With a reason that holds nothing of the address."""
    with pytest.raises(LocationError, match=why) as caught:
        read_target(text)
    assert "t0k" not in str(caught.value)


def test_who_asks_is_no_part_of_the_address() -> None:
    """A user and a password become a header, escapes undone; nothing shown holds them."""
    target = read_target("https://us%3Aer:p%40ss:w@h/mcp?api_key=abc&page=2")
    assert target.authorization == "Basic dXM6ZXI6cEBzczp3"
    assert target.address == "https://h/mcp?api_key=abc&page=2"
    assert target.shown == "https://h/mcp"
    assert target.identity == "https://h/mcp?api_key=***&page=2"
    assert "abc" not in repr(target)
    assert "p%40ss" not in repr(target)
    assert {"abc", "p%40ss:w", "p@ss:w"} <= set(target.secrets())
    assert "2" not in target.secrets()


def test_a_token_without_a_name_is_hidden_too() -> None:
    """What looks like a token is one, whatever it is called."""
    hidden = read_target("https://h/?x=ghp_abcdefghijklmnop123456&sk-abcdefgh12345678")
    assert hidden.identity == "https://h/?x=***&***"


def test_a_reference_is_joined_as_any_program_does() -> None:
    """Absolute, relative, of another host; a fragment is dropped; nonsense is refused."""
    target = read_target("https://user:pw@h/a/b?c=d")
    assert target.joined("/x").address == "https://h/x"
    assert target.joined("x?y#z").address == "https://h/a/x?y"
    assert target.joined("//other/x").address == "https://other/x"
    assert target.joined("/x").userinfo is None
    for nonsense in ("http://[", "ftp://h/", "http://a b/"):
        with pytest.raises(LocationError):
            target.joined(nonsense)
