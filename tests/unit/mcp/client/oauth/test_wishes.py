"""Which scopes are asked for, and the address that tokens are bound to."""

from __future__ import annotations

import pytest

from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Place, Tokens
from lockgate.mcp.client.oauth.wishes import (
    document,
    error_in,
    joined,
    place_for,
    resource_of,
    scope_for,
)
from lockgate.mcp.transport.tokens import Challenge
from lockgate.web.target import read_target

NEW = "a-token"


def held(scope: str | None, wanted: str | None = None) -> Credentials:
    """Tokens with this scope."""
    tokens = Tokens(issuer="https://a.example", client_id="x", access_token=NEW, scope=scope)
    return Credentials(tokens=tokens, wanted=wanted)


def refused(status: int, scope: str = "") -> Challenge:
    """A refusal that names a scope."""
    return Challenge(status, f'Bearer scope="{scope}"' if scope else "Bearer", None)


PERSON = OAuthPlan()
CAREFUL = OAuthPlan(scopes=("read",))
GRANT = ClientCredentials("x", "the-secret-of-client")
PROGRAM = OAuthPlan(GRANT, issuer="https://a.example")


@pytest.mark.parametrize(
    ("plan", "kept", "challenge", "scope"),
    [
        (PERSON, Credentials(), refused(401), None),
        (PERSON, Credentials(), refused(401, "a b"), "a b"),
        (CAREFUL, Credentials(), refused(401, "a b"), "read"),
        (CAREFUL, held("a"), refused(401, "b"), "read"),
        (PERSON, held("a"), refused(401, "b"), "b"),
        (PERSON, held("a"), refused(403, "b"), "a b"),
        (CAREFUL, held("a"), refused(403, "b"), "a read b"),
        (PERSON, held("a", wanted="a c"), refused(401, "b"), "b a c"),
        (PROGRAM, held("a b"), refused(401), "a b"),
        (PROGRAM, Credentials(), refused(401), None),
        (PROGRAM, held("a b"), refused(403, "b c"), "a b c"),
        (PROGRAM, held("a"), refused(403), None),
    ],
)
def test_what_is_asked_for(
    plan: OAuthPlan, kept: Credentials, challenge: Challenge, scope: str | None
) -> None:
    """The operator's word first, then the refusal's; what is missing is added to what was granted;
    nothing where the documents of the server are to say."""
    assert scope_for(plan, kept, challenge) == scope


@pytest.mark.parametrize(
    ("url", "resource"),
    [
        ("https://MCP.Example.com/Mcp", "https://mcp.example.com/Mcp"),
        ("https://mcp.example.com:443/", "https://mcp.example.com"),
        ("https://mcp.example.com:8443", "https://mcp.example.com:8443"),
        ("https://me:secret@mcp.example.com/mcp?key=secret", "https://mcp.example.com/mcp"),
        ("https://mcp.example.com/mcp/", "https://mcp.example.com/mcp/"),
    ],
)
def test_the_address_that_tokens_are_bound_to(url: str, resource: str) -> None:
    """Canonical, and without anything that may be a secret (RFC 8707, 2)."""
    assert resource_of(read_target(url)) == resource


def test_a_login_is_kept_for_the_whole_address() -> None:
    """Its query may choose a tenant, whose login is another one; and it may be a secret."""
    urls = ("", "?", "?tenant=a", "?tenant=b", "/?tenant=b")
    places = [place_for("x", read_target(f"https://x.example/mcp{each}")) for each in urls]
    assert len(set(places)) == len(urls)
    assert places[0] == Place("x", "https://x.example/mcp")
    assert "tenant" not in repr(places)


def test_words_and_documents() -> None:
    """Each word once, in its order; what is no object is no document."""
    assert joined("b a", "", "a  c") == "b a c"
    assert document(b'{"a": 1}') == {"a": 1}
    for body in (b"[1]", b"<html>", b"", b"\xff", b"[" * 100_000):
        assert document(body) is None
    assert error_in(b'{"error": "x", "error_description": 3}') == ("x", "")
