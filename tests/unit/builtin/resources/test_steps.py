"""URIs that lead elsewhere than they read are known."""

from __future__ import annotations

import pytest

from lockgate.builtin.resources.steps import uri_fault


@pytest.mark.parametrize(
    "uri",
    [
        *("note://pub/../priv", "note://pub/..", "note://pub/./x", "../x", "note:../x"),
        *("note://pub/%2e%2e/priv", "note://pub/.%2E/priv", "note://pub/%252e%252e/priv"),
        *("note://pub%2f..%2fpriv", "note://pub\\..\\priv", "note://pub/..;a=1/priv"),
        *("note://pub/?path=../priv", "note://pub/x#../priv", "note://pub/%25252525252e./x"),
    ],
)
def test_steps(uri: str) -> None:
    """As such, behind escapes, and by whatever may end a name."""
    assert uri_fault(uri) is not None


@pytest.mark.parametrize("char", ["\n", "\r", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\u200b"])
def test_what_can_not_be_seen(char: str) -> None:
    """Neither in the path nor behind it; behind escapes not in the path."""
    assert uri_fault(f"note://pub/a{char}b") is not None
    assert uri_fault(f"note://pub/?q=a{char}b") is not None
    escaped = "".join(f"%{byte:02x}" for byte in char.encode())
    assert uri_fault(f"note://pub/a{escaped}b") is not None
    assert uri_fault(f"note://pub/?q=a{escaped}b") is None


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "note://plan",
            "file:///a/b..c/.hidden/...",
            "note://by/Ann%20B.",
            "x:1",
            "db://t?a=1..2",
        ),
        *("https://h/a/b.html?x=%25#y", "note://größe/計画", "urn:isbn:0-1", "screen://a b"),
    ],
)
def test_what_leads_where_it_reads(uri: str) -> None:
    """Points in names, escapes and other scripts are no harm."""
    assert uri_fault(uri) is None
