"""Tokens that are got without anybody, and scopes that were missing."""

from __future__ import annotations

import pytest

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.oauth.getting import MOST_WANTED
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.transport.tokens import Challenge
from lockgate.testing.credentials import PageLogin
from lockgate.testing.http_faults import status
from lockgate.testing.oauth_bench import OAuthBench

SECRET = "the-secret-of-client"  # noqa: S105 - of a scripted server


def program(bench: OAuthBench, *scopes: str) -> OAuthPlan:
    """A plan that needs nobody."""
    grant = ClientCredentials("program", SECRET)
    return OAuthPlan(grant, scopes=scopes, issuer=bench.server.issuer)


def grants(bench: OAuthBench) -> list[str]:
    """By what the tokens were asked for, in order."""
    return [fields["grant_type"] for fields in bench.server.asked_for]


async def test_a_program_gets_tokens_by_itself(bench: OAuthBench) -> None:
    """At the first refusal, and anew when they end: nobody is there, nothing is registered."""
    tokens = bench.tokens(program(bench))
    async with bench.session(tokens) as session:
        await bench.call(session, 3)
        bench.clock.advance(3600)
        bench.server.expire()
        await bench.call(session, 3)
    assert grants(bench) == ["client_credentials"] * 2
    assert bench.server.asked_for[0]["resource"] == bench.server.url
    assert bench.server.registered == []


async def test_a_server_that_accepts_no_token_is_not_asked_for_ever(bench: OAuthBench) -> None:
    """Tokens are got a few times; then it is said that they are not accepted."""
    bench.server.on(status(401, headers={"www-authenticate": "Bearer"}), message="server/discover")
    tokens = bench.tokens(program(bench))
    said: list[str] = []
    for _ in range(3):
        with pytest.raises(PeerError) as raised:
            async with bench.session(tokens):
                pass
        assert raised.value.fault is Fault.UNAUTHORIZED
        said.append(str(raised.value))
    assert "does not accept the token that was just got" in said[-1]
    assert len(bench.server.asked_for) <= 4


async def test_a_program_steps_up_by_itself(bench: OAuthBench) -> None:
    """What a call lacks is asked for with all that was granted before; the call runs once."""
    bench.server.needed["tools/call"] = "notes:write"
    async with bench.session(bench.tokens(program(bench, "notes:read"))) as session:
        await bench.call(session)
    assert [fields.get("scope") for fields in bench.server.asked_for] == [
        "notes:read",
        "notes:read notes:write",
    ]


async def test_a_scope_that_is_not_named_is_looked_up(bench: OAuthBench) -> None:
    """A server that says that one is missing, and not which: what its document lists is asked for,
    beside what was granted."""
    bench.server.resource = {"scopes_supported": ["notes:write", "notes:list"]}
    bench.server.needed["tools/call"] = "notes:write"
    bench.server.names_scopes = False
    async with bench.session(bench.tokens(program(bench, "notes:read"))) as session:
        await bench.call(session)
    assert [fields.get("scope") for fields in bench.server.asked_for] == [
        "notes:read",
        "notes:read notes:write notes:list",
    ]


async def test_a_scope_that_does_not_do_is_asked_for_once(bench: OAuthBench) -> None:
    """The server wants more than it can get: one try, then it is said; later one more."""
    bench.server.on(
        status(403, headers={"www-authenticate": 'Bearer error="insufficient_scope", scope="all"'}),
        message="tools/call",
    )
    async with bench.session(bench.tokens(program(bench))) as session:
        for _ in range(4):
            with pytest.raises(PeerError, match="scope all"):
                await bench.call(session)
            bench.clock.advance(6)
        assert len(bench.server.asked_for) == 2
        bench.clock.advance(60)
        with pytest.raises(PeerError):
            await bench.call(session)
    assert len(bench.server.asked_for) == 3


async def test_a_scope_that_a_person_has_to_grant_is_told_and_asked_for_then(
    bench: OAuthBench,
) -> None:
    """The call fails with the scope and the command; the log-in that follows asks for it, with
    what was granted before."""
    bench.server.challenge["scope"] = "notes:read"
    await bench.log_in()
    bench.server.needed["tools/call"] = "notes:write"
    tokens = bench.tokens()
    async with bench.session(tokens) as session:
        with pytest.raises(PeerError) as raised:
            await bench.call(session)
        assert "it wants the scope notes:write; log in with" in str(raised.value)
        login = PageLogin()
        await bench.log_in(login=login)
        assert "scope=notes%3Aread+notes%3Awrite" in login.asked[0]
        assert len(await bench.call(session)) == 1


async def test_a_failure_is_over_soon_however_often_it_is_told(bench: OAuthBench) -> None:
    """Calls that come again and again do not put off the next try: it is five seconds later."""
    tokens = bench.tokens(program(bench))
    bench.server.refusal = 503, {}
    with pytest.raises(PeerError, match="503"):
        await tokens.challenged(Challenge(401, "Bearer", None))
    bench.server.refusal = None
    for _ in range(2):
        bench.clock.advance(2)
        with pytest.raises(PeerError, match="503"):
            await tokens.challenged(Challenge(401, "Bearer", None))
    bench.clock.advance(2)
    assert await tokens.challenged(Challenge(401, "Bearer", None))


async def test_scopes_that_nobody_grants_are_kept_once_and_not_without_end(
    bench: OAuthBench,
) -> None:
    """A server that refuses the same again writes nothing, and one that names ever new ones does
    not fill the place that all logins are kept in."""
    await bench.log_in()
    tokens = bench.tokens()
    used = await tokens.authorization()
    saves = bench.store.saves
    for number in (0, 0, *range(1, 60)):
        scope = f"{number}-{'x' * 100}"
        header = f'Bearer error="insufficient_scope", scope="{scope}"'
        with pytest.raises(PeerError, match="it wants the scope"):
            await tokens.challenged(Challenge(403, header, used))
        assert number or bench.store.saves == saves + 1
    assert bench.store.only.tokens is not None
    assert len(bench.store.only.wanted or "") <= MOST_WANTED
