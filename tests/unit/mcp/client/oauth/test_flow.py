"""What a log-in checks before anything is sent, and what the documents of servers may say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lockgate.errors import PeerError
from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)
from lockgate.mcp.transport.tokens import Challenge
from lockgate.testing.credentials import PageLogin
from lockgate.testing.http_faults import page, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.oauth_bench import OAuthBench
from lockgate.testing.oauth_server import METADATA, RESOURCE
from lockgate.testing.script import ScriptedServer

REFUSED = Challenge(401, "Bearer", None)
SECRET = "the-secret-of-client"  # noqa: S105 - of a scripted server
DOCUMENT = "https://lockgate.example/client.json"


def answering(**more: str) -> PageLogin:
    """A person whose answer was changed on its way."""

    def change(query: str) -> str:
        return urlencode({**dict(parse_qsl(query)), **more})

    return PageLogin(change=change)


# -------------------------------------------------------------- the answer to a log-in


CHANGES: Sequence[tuple[Callable[[str], str], str]] = (
    (lambda query: query.replace("state=", "state=x"), "another one"),
    (lambda query: "code=code-number-1", "another one"),
    (lambda query: f"{query}&code=another", "twice"),
    (lambda query: "&".join(f"f{n}=1" for n in range(1000)), "can not be read"),
    (lambda query: f"{query}&iss=https%3A%2F%2Fevil.example", "iss mismatch"),
    (lambda query: query.replace("code=code-number-1", "code="), "No authorization code"),
)


@pytest.mark.parametrize(("change", "why"), CHANGES)
async def test_an_answer_that_is_not_ours_is_not_used(
    bench: OAuthBench, change: Callable[[str], str], why: str
) -> None:
    """Its state, its issuer (RFC 9207), its code: nothing is exchanged for it, nothing kept."""
    with pytest.raises(PeerError, match=why):
        await bench.log_in(login=PageLogin(change=change))
    assert bench.server.asked_for == []
    assert bench.store.saves == 0


async def test_a_refusal_is_told_if_it_is_the_authorization_servers(bench: OAuthBench) -> None:
    """Its words in a line; of a refusal from elsewhere nothing (2026-07-28, Authorization Response
    Validation)."""
    words = {"error": "access_denied", "error_description": "not \x1b[1m today"}
    with pytest.raises(PeerError, match=r"refused the log-in: access_denied: not .* today"):
        await bench.log_in(login=answering(**words))
    with pytest.raises(PeerError) as raised:
        await bench.log_in(login=answering(**words, iss="https://evil.example"))
    assert "access_denied" not in str(raised.value)


async def test_an_announced_issuer_has_to_be_in_the_answer(bench: OAuthBench) -> None:
    """A server that says that it names itself, and does not, was not the one that answered."""
    bench.server.metadata = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(PeerError, match="missing iss"):
        await bench.log_in()
    await bench.log_in(login=answering(iss=bench.server.issuer))


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
async def test_without_pkce_nobody_is_sent_anywhere(bench: OAuthBench, methods: Any) -> None:
    """An authorization server that does not say S256 gets no log-in."""
    bench.server.metadata = {"code_challenge_methods_supported": methods}
    login = PageLogin()
    with pytest.raises(PeerError, match="PKCE"):
        await bench.log_in(login=login)
    assert login.asked == []


async def test_what_a_person_is_shown(bench: OAuthBench) -> None:
    """PKCE, state, the resource, and where the answer goes; a page that has a query keeps it."""
    page_address = f"{bench.server.origin}/authorize?tenant=7"
    bench.server.metadata = {"authorization_endpoint": page_address}
    login = PageLogin()
    await bench.log_in(login=login)
    asked = parse_qs(urlsplit(login.asked[0]).query)
    assert asked["tenant"] == ["7"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["resource"] == [bench.server.url]
    assert asked["redirect_uri"] == [login.redirect_uri]
    assert len(asked["state"][0]) >= 32


async def test_a_page_that_is_no_place_for_a_person_is_not_opened(bench: OAuthBench) -> None:
    """What would be opened in a browser is examined like what is asked by ourselves."""
    login = PageLogin()
    for address in (
        *("javascript:alert(1)", "file:///etc/passwd", "http://169.254.169.254/"),
        *("http://evil.example/authorize", "http://192.168.1.1/apply.cgi?reboot=1"),
    ):
        bench.server.metadata = {"authorization_endpoint": address}
        with pytest.raises(PeerError):
            await bench.log_in(login=login)
    assert login.asked == []


# -------------------------------------------------------------- documents


async def test_documents_that_name_others_are_not_used(bench: OAuthBench) -> None:
    """Metadata of another issuer (RFC 8414, 3.3), a resource that is another server (RFC 9728)."""
    bench.server.metadata = {"issuer": "https://honest.example"}
    with pytest.raises(PeerError, match="issuer mismatch"):
        await bench.log_in()
    bench.server.metadata = {}
    bench.server.resource = {"resource": "https://other.example/mcp"}
    with pytest.raises(PeerError, match="does not match"):
        await bench.log_in()
    assert bench.server.asked_for == []


@pytest.mark.parametrize("what", ["a page", "nothing in it", "a megabyte", "garbage"])
async def test_documents_that_are_none_are_not_usable(bench: OAuthBench, what: str) -> None:
    """It is said that authorization is needed and what it says of it is not usable."""
    documents = {
        "a page": page("Sign in"),
        "nothing in it": status(200, {}),
        "a megabyte": status(200, "[" + "1," * 500_000 + "1]"),
        "garbage": status(200, b"\xff\xfe{"),
    }
    bench.server.on(documents[what], method="GET")
    with pytest.raises(PeerError, match=r"not usable|more than") as raised:
        await bench.log_in()
    assert "\n" not in str(raised.value)


async def test_a_server_without_documents_is_its_own_authorization_server(
    bench: OAuthBench,
) -> None:
    """As servers of 2025-03-26 are; one that is none at all is told so."""
    bench.server.resource = None
    bench.server.challenge = {"resource_metadata": ""}
    await bench.log_in()
    assert bench.store.only.tokens is not None
    assert bench.store.only.tokens.issuer == bench.server.issuer
    async with HttpServer(ScriptedServer()) as bare:
        tokens = bench.tokens(login=PageLogin(), endpoint=bare.endpoint())
        with pytest.raises(PeerError, match="it names no authorization server"):
            await tokens.log_in()


async def test_a_named_issuer_without_metadata_is_not_guessed_at(bench: OAuthBench) -> None:
    """Nothing is registered, and nobody logs in, at the server itself instead."""
    bench.server.metadata = None
    with pytest.raises(PeerError, match="no usable metadata"):
        await bench.log_in()
    assert bench.server.registered == []


async def test_a_slash_that_means_nothing_is_no_other_issuer(bench: OAuthBench) -> None:
    """Of a name without a path, servers add or leave out the last slash: the authorization server's
    own writing is used, in everything that compares it (RFC 9207 does so to the letter)."""
    bench.server.metadata = {"issuer": bench.server.origin}
    await bench.log_in(login=answering(iss=bench.server.origin))
    assert bench.store.only.tokens is not None
    assert bench.store.only.tokens.issuer == bench.server.origin
    with pytest.raises(PeerError, match="iss mismatch"):
        await bench.log_in(login=answering(iss=bench.server.issuer))
    tokens = bench.tokens()
    assert await tokens.challenged(Challenge(401, "", await tokens.authorization()))


async def test_the_configured_issuer_counts(bench: OAuthBench) -> None:
    """It is chosen among those that the server names; a server that names others gets nothing; one
    that names none has it all the same."""
    plan = OAuthPlan(issuer=bench.server.issuer)
    others = ["https://evil.example", bench.server.issuer]
    bench.server.resource = {"authorization_servers": others}
    await bench.log_in(plan)
    bench.server.resource = {"authorization_servers": others[:1]}
    with pytest.raises(PeerError, match=r"evil\.example, and not"):
        await bench.log_in(plan)
    bench.server.resource = None
    await bench.log_in(plan)
    assert len(bench.server.asked_for) == 2


async def test_tokens_are_not_renewed_for_another_issuer(bench: OAuthBench) -> None:
    """The server names another authorization server now: that one hears nothing of the tokens, nor
    does the old one of a server that left it; the message names both."""
    await bench.log_in()
    tokens = bench.tokens()
    used = await tokens.authorization()
    async with HttpServer(ScriptedServer()) as foreign:
        bench.server.resource = {"authorization_servers": [foreign.origin]}
        with pytest.raises(PeerError, match="nothing of them was sent there; log in") as raised:
            await tokens.challenged(Challenge(401, "Bearer", used))
        assert foreign.origin in str(raised.value)
        assert bench.server.issuer in str(raised.value)
        assert foreign.heard == []
    assert len(bench.server.asked_for) == 1
    assert bench.store.only.tokens is not None


# -------------------------------------------------------------- who asks


async def test_a_client_that_was_registered_by_hand(bench: OAuthBench) -> None:
    """Its secret goes to the configured issuer alone, in the header; nothing is registered."""
    plan = OAuthPlan(AuthorizationCode("by-hand", SECRET), issuer=bench.server.issuer)
    await bench.log_in(plan)
    request = next(each for each in bench.server.heard if each.target == "/token")
    assert request.headers["authorization"].startswith("Basic ")
    assert bench.server.registered == []
    assert bench.store.only.registrations == ()
    tokens = bench.tokens(plan)
    assert await tokens.challenged(Challenge(401, "", await tokens.authorization()))


@pytest.mark.parametrize("supported", [True, None])
async def test_a_client_known_by_its_document(bench: OAuthBench, supported: bool | None) -> None:
    """Where the authorization server takes that, it is the client ID; else one is registered. It is
    renewed by the same."""
    bench.server.metadata = {"client_id_metadata_document_supported": supported}
    plan = OAuthPlan(AuthorizationCode(metadata_url=DOCUMENT))
    await bench.log_in(plan)
    tokens = bench.tokens(plan)
    assert await tokens.challenged(Challenge(401, "", await tokens.authorization()))
    asked = {fields["client_id"] for fields in bench.server.asked_for}
    assert asked == {DOCUMENT if supported else "client-1"}
    assert len(bench.store.only.registrations) == (supported is None)


async def test_an_authorization_server_that_registers_nobody(bench: OAuthBench) -> None:
    """It is said what to do; nothing is sent to where a registration could also be."""
    bench.server.metadata = {"registration_endpoint": None}
    with pytest.raises(PeerError, match=r"auth\.clientId"):
        await bench.log_in()
    assert bench.server.registered == []


async def test_a_registration_that_is_refused_is_told(bench: OAuthBench) -> None:
    """In the words of the authorization server."""

    async def refuse(exchange: Any) -> None:
        if exchange.heard.target == "/register":
            body = json.dumps({"error": "invalid_redirect_uri"}).encode()
            await exchange.answer(400, body, {"content-type": "application/json"})
        else:
            await exchange.as_scripted()

    bench.server.on(refuse)
    with pytest.raises(PeerError, match="invalid_redirect_uri"):
        await bench.log_in()


async def test_scopes_are_what_was_asked_for_and_no_more(bench: OAuthBench) -> None:
    """The refusal's, else the server's own, else none at all: not all that an authorization server
    knows of."""
    bench.server.metadata = {"scopes_supported": ["admin", "everything"]}

    async def asked() -> list[str] | None:
        login = PageLogin()
        await bench.log_in(login=login)
        return parse_qs(urlsplit(login.asked[0]).query).get("scope")

    assert await asked() is None
    bench.server.resource = {"scopes_supported": ["read", "write"]}
    assert await asked() == ["read write"]
    bench.server.challenge["scope"] = "read"
    assert await asked() == ["read"]


async def test_offline_access_is_asked_for_where_there_is_such_a_thing(bench: OAuthBench) -> None:
    """So that there is a refresh token, beside the scopes that the server needs."""
    bench.server.metadata = {"scopes_supported": ["read", "offline_access"]}
    bench.server.challenge["scope"] = "read"
    login = PageLogin()
    await bench.log_in(login=login)
    assert "scope=read+offline_access" in login.asked[0]


# -------------------------------------------------------------- nobody


async def test_a_key_signs_for_its_client(bench: OAuthBench) -> None:
    """The assertion is for the issuer, of the client, and soon over (RFC 7523, 3)."""
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    grant = ClientCredentials("program", private_key=pem, algorithm="ES256")
    tokens = bench.tokens(OAuthPlan(grant, issuer=bench.server.issuer))
    assert await tokens.challenged(REFUSED)
    assertion = bench.server.asked_for[0]["client_assertion"]
    claims = jwt.decode(
        assertion, key.public_key(), algorithms=["ES256"], audience=bench.server.issuer
    )
    assert claims["iss"] == claims["sub"] == "program"
    assert claims["exp"] - claims["iat"] <= 300


async def test_a_key_that_is_none_is_told_without_it(bench: OAuthBench) -> None:
    """The text of the key is in no message."""
    grant = ClientCredentials("program", private_key="not-a-key-at-all")
    tokens = bench.tokens(OAuthPlan(grant, issuer=bench.server.issuer))
    with pytest.raises(PeerError) as raised:
        await tokens.challenged(REFUSED)
    assert "not-a-key-at-all" not in str(raised.value)


async def test_a_secret_goes_to_its_own_issuer_alone(bench: OAuthBench) -> None:
    """A server that names another authorization server does not get it."""
    async with HttpServer(ScriptedServer()) as foreign:
        bench.server.resource = {"authorization_servers": [foreign.origin]}
        grant = ClientCredentials("program", SECRET)
        tokens = bench.tokens(OAuthPlan(grant, issuer=bench.server.issuer))
        with pytest.raises(PeerError, match="nothing was sent there"):
            await tokens.challenged(REFUSED)
        assert foreign.heard == []
    assert bench.server.asked_for == []


@pytest.mark.parametrize("in_a_file", [True, False])
async def test_an_organisation_says_who_may(
    bench: OAuthBench, tmp_path: Path, in_a_file: bool
) -> None:
    """The identity token is exchanged at the identity provider for an assertion, which is for the
    issuer and the server, and that for a token; the file is read each time."""
    file = tmp_path / "identity"
    file.write_text("identity-token-1\n")
    grant = EnterpriseManaged(
        "client",
        SECRET,
        identity_provider=f"{bench.server.origin}/token",
        identity_client_id="us",
        identity_token=None if in_a_file else "identity-token-1",
        identity_token_file=file if in_a_file else None,
    )
    tokens = bench.tokens(OAuthPlan(grant, scopes=("read",), issuer=bench.server.issuer))
    async with bench.session(tokens) as session:
        await bench.call(session)
        file.write_text("identity-token-2\n")
        bench.server.expire()
        bench.clock.advance(10)
        await bench.call(session)
    exchange, grant_of, again, _ = bench.server.asked_for
    first, second = exchange["subject_token"], again["subject_token"]
    assert (first, second) == ("identity-token-1", f"identity-token-{2 if in_a_file else 1}")
    assert exchange["audience"] == bench.server.issuer
    assert exchange["resource"] == bench.server.url
    assert exchange["scope"] == "read"
    assert grant_of["grant_type"].endswith("jwt-bearer")
    assert grant_of["assertion"] == "access-token-1-xyz"
    assert grant_of["resource"] == bench.server.url
    assert RESOURCE not in {each.target for each in bench.server.heard}
    assert METADATA in {each.target for each in bench.server.heard}


async def test_an_organisation_that_says_no_is_told(bench: OAuthBench, tmp_path: Path) -> None:
    """What the identity provider says, and where the identity token is missing."""
    grant = EnterpriseManaged(
        "client",
        SECRET,
        identity_provider=f"{bench.server.origin}/token",
        identity_client_id="us",
        identity_token_file=tmp_path / "missing",
    )
    tokens = bench.tokens(OAuthPlan(grant, issuer=bench.server.issuer))
    with pytest.raises(PeerError, match="missing can not be read"):
        await tokens.challenged(REFUSED)
    (tmp_path / "missing").write_text("identity-token-1")
    bench.server.refusal = 400, {"error": "access_denied", "error_description": "policy"}
    bench.clock.advance(10)
    with pytest.raises(PeerError, match=r"identity provider refused .* access_denied: policy"):
        await tokens.challenged(REFUSED)
