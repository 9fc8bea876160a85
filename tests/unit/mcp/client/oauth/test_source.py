"""Tokens of one server: who gets them, when, for whom, and when nobody does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lockgate.errors import ConfigError, Fate, Fault, LocalError, PeerError
from lockgate.mcp.client.oauth.store import Credentials, Place, Tokens
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.transport.tokens import Challenge
from lockgate.testing.credentials import PageLogin
from lockgate.testing.http_faults import status
from lockgate.testing.oauth_bench import PEER, OAuthBench

REFUSED = Challenge(401, "Bearer", None)
OLD = "old-token"


def grants(bench: OAuthBench) -> list[str]:
    """By what the tokens were asked for, in order."""
    return [fields["grant_type"] for fields in bench.server.asked_for]


# -------------------------------------------------------------- a person


async def test_nobody_is_asked_to_log_in_where_nobody_is_there(bench: OAuthBench) -> None:
    """A server that wants a log-in is an error that says the command; nothing was asked of an
    authorization server, and nothing was acted on."""
    with pytest.raises(PeerError) as raised:
        async with bench.session(bench.tokens()):
            pass
    assert raised.value.fault is Fault.UNAUTHORIZED
    assert raised.value.fate is Fate.NOT_SENT
    assert str(raised.value).endswith("log in with: lockgate mcp login notes")
    assert bench.server.asked_for == []
    assert {heard.method for heard in bench.server.heard} == {"POST"}


async def test_a_login_is_kept_and_calls_are_authorized_by_it(bench: OAuthBench) -> None:
    """One log-in, then every request of every session carries its token."""
    await bench.log_in()
    held = bench.store.held[Place(PEER, bench.server.url)]
    assert held.tokens is not None
    assert held.tokens.issuer == bench.server.issuer
    assert held.tokens.resource == bench.server.url
    assert held.tokens.expires_at == bench.clock() + 3600
    heard = len(bench.server.heard)
    async with bench.session(bench.tokens()) as session:
        assert len(await bench.call(session, 3)) == 3
    carried = {each.headers.get("authorization") for each in bench.server.heard[heard:]}
    assert carried == {f"Bearer {held.tokens.access_token}"}
    assert len(bench.server.asked_for) == 1


async def test_a_login_is_not_used_at_an_address_that_differs_in_its_query(
    bench: OAuthBench,
) -> None:
    """It may be another tenant's: nothing that was got for this one is sent there."""
    await bench.log_in()
    other = HttpEndpoint(f"{bench.server.url}?tenant=b")
    assert await bench.tokens(endpoint=other).authorization() is None
    assert await bench.tokens().authorization() is not None


async def test_a_login_elsewhere_is_found(bench: OAuthBench) -> None:
    """Somebody logs in while a program runs: its next call goes on with that, without a restart."""
    tokens = bench.tokens()
    assert await tokens.authorization() is None
    with pytest.raises(PeerError):
        await tokens.challenged(REFUSED)
    await bench.log_in()
    assert await tokens.challenged(REFUSED)
    async with bench.session(tokens) as session:
        await bench.call(session)
    assert len(bench.server.asked_for) == 1


async def test_a_login_is_asked_for_anew_each_time(bench: OAuthBench) -> None:
    """The command logs in although there are tokens, with the client that is registered already."""
    login = PageLogin()
    await bench.log_in(login=login)
    await bench.log_in(login=login)
    assert len(login.asked) == 2
    assert len(bench.server.registered) == 1
    with pytest.raises(LocalError):
        await bench.tokens().log_in()


async def test_another_place_for_the_answer_is_another_registration(bench: OAuthBench) -> None:
    """A client is registered with where it is sent back to."""
    await bench.log_in(login=PageLogin("http://127.0.0.1:50001/callback"))
    await bench.log_in(login=PageLogin("http://127.0.0.1:50002/callback"))
    sent_back = [each["redirect_uris"] for each in bench.server.registered]
    assert sent_back == [["http://127.0.0.1:50001/callback"], ["http://127.0.0.1:50002/callback"]]
    assert len(bench.store.only.registrations) == 1


# -------------------------------------------------------------- running out


async def test_tokens_are_renewed_before_they_run_out(bench: OAuthBench) -> None:
    """By the clock, half a minute early: beside the calls, which go on with what is good yet. There
    is no refusal, and the tokens that came are kept. What has run out is waited for."""
    await bench.log_in()
    tokens = bench.tokens()
    before = await tokens.authorization()
    bench.clock.advance(3600 - 31)
    assert await tokens.authorization() == before
    bench.clock.advance(2)
    assert await tokens.authorization() == before
    await tokens.settle()
    after = await tokens.authorization()
    assert after not in (None, before)
    assert grants(bench) == ["authorization_code", "refresh_token"]
    renewed = bench.server.asked_for[-1]
    assert renewed["resource"] == bench.server.url
    kept = bench.store.only.tokens
    assert kept is not None
    assert after == f"Bearer {kept.access_token}"
    assert kept.refresh_token in bench.server.renewing
    bench.clock.advance(3600)
    assert await tokens.authorization() not in (None, before, after)


async def test_a_burst_in_which_tokens_end_renews_them_once(bench: OAuthBench) -> None:
    """All calls of it are refused, one renewal is made, each is sent again and runs once."""
    await bench.log_in()
    async with bench.session(bench.tokens()) as session:
        bench.server.expire()
        answers = await bench.call(session, 25)
    assert len(set(answers)) == 25
    assert grants(bench) == ["authorization_code", "refresh_token"]


async def test_calls_with_a_good_token_do_not_wait_for_a_renewal(bench: OAuthBench) -> None:
    """A renewal that takes its time holds up those that need it, and nobody else."""
    await bench.log_in()
    tokens = bench.tokens()
    good = await tokens.authorization()
    begun, let = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Any) -> None:
        if exchange.heard.target == "/token":
            begun.set()
            await let.wait()
        await exchange.as_scripted()

    bench.server.on(slow)
    waiting = asyncio.ensure_future(tokens.challenged(Challenge(401, "", good)))
    await begun.wait()
    assert await tokens.authorization() == good
    let.set()
    assert await waiting
    assert await tokens.authorization() != good


async def test_a_caller_that_gives_up_does_not_lose_what_came(bench: OAuthBench) -> None:
    """The refresh token was used up: what came for it is kept, whoever waited."""
    await bench.log_in()
    tokens = bench.tokens()
    good = await tokens.authorization()
    begun, let = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Any) -> None:
        if exchange.heard.target == "/token":
            begun.set()
            await let.wait()
        await exchange.as_scripted()

    bench.server.on(slow)
    caller = asyncio.ensure_future(tokens.challenged(Challenge(401, "", good)))
    await begun.wait()
    caller.cancel()
    let.set()
    await tokens.settle()
    assert caller.cancelled() or not caller.done()
    assert await tokens.authorization() != good
    assert bench.store.saves == 2
    assert len(bench.server.asked_for) == 2


async def test_two_programs_renew_once(bench: OAuthBench) -> None:
    """Both find the token refused; one renews it behind the lock, the other takes what came."""
    await bench.log_in()
    one, other = bench.tokens(), bench.tokens()
    async with bench.session(one) as first, bench.session(other) as second:
        bench.server.expire()
        await asyncio.gather(bench.call(first, 5), bench.call(second, 5))
    assert await one.authorization() == await other.authorization()
    assert grants(bench) == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("said", ["invalid_grant", "invalid_client"])
async def test_a_revoked_refresh_token_is_forgotten(bench: OAuthBench, said: str) -> None:
    """What is kept is dropped, with the client if it is that which is not known any more; the
    message says what was answered and what to do, and the next one no longer asks."""
    await bench.log_in()
    tokens = bench.tokens()
    async with bench.session(tokens) as session:
        bench.server.expire()
        bench.server.refusal = 400, {"error": said, "error_description": "it\x1b[1m is over"}
        with pytest.raises(PeerError) as raised:
            await bench.call(session)
        assert raised.value.fault is Fault.UNAUTHORIZED
        assert f"{said}: it" in str(raised.value)
        assert "lockgate mcp login notes" in str(raised.value)
        assert "\x1b" not in str(raised.value)
        assert bench.store.only.tokens is None
        assert len(bench.store.only.registrations) == (said == "invalid_grant")
        asked = len(bench.server.asked_for)
        assert bench.store.only.ended
        with pytest.raises(PeerError, match="the log-in has run out; log in with"):
            await bench.call(session)
        assert len(bench.server.asked_for) == asked


async def test_a_token_that_is_refused_as_soon_as_it_was_got_is_told(bench: OAuthBench) -> None:
    """A message uses up one refresh token and no more; the error says whose tokens they are."""
    await bench.log_in()
    refusing = status(401, headers={"www-authenticate": "Bearer"})
    async with bench.session(bench.tokens()) as session:
        bench.server.on(refusing, message="tools/call")
        with pytest.raises(PeerError, match="not accept the token that was just got from") as told:
            await bench.call(session)
        assert bench.server.issuer in str(told.value)
        assert "headers" not in str(told.value)
    assert grants(bench) == ["authorization_code", "refresh_token"]


async def test_a_login_that_the_server_does_not_accept_is_none(bench: OAuthBench) -> None:
    """It is tried at once; what was kept before stays."""
    await bench.log_in()
    before = bench.store.only
    bench.server.on(status(401, headers={"www-authenticate": "Bearer"}), message="ping")
    with pytest.raises(PeerError, match="this login is not kept"):
        await bench.log_in()
    assert bench.store.only == before


async def test_a_login_that_gives_less_than_was_asked_for_says_so(bench: OAuthBench) -> None:
    """What the server wants and nobody granted is known still, and asked for the next time."""
    place = Place(PEER, bench.server.url)
    await bench.store.save(place, Credentials(wanted="read write"))
    bench.server.valid["t"] = "read"
    bench.server.refusal = 200, {"access_token": "t", "token_type": "Bearer", "scope": "read"}
    await bench.log_in()
    assert bench.store.only.wanted == "write"
    bench.server.refusal = None
    await bench.log_in()
    assert bench.store.only.wanted is None
    assert "write" in (bench.server.valid.popitem()[1])


@pytest.mark.parametrize("code", [500, 503, 429])
async def test_a_busy_authorization_server_takes_nothing_away(bench: OAuthBench, code: int) -> None:
    """Tokens stay; it is asked again in a while and not at every call; the error is one of those
    that pass."""
    await bench.log_in()
    tokens = bench.tokens()
    good = await tokens.authorization()
    bench.server.refusal = code, {}
    refused = Challenge(401, "", good)
    for _ in range(3):
        with pytest.raises(PeerError) as raised:
            await tokens.challenged(refused)
        assert raised.value.fault is Fault.NOT_CONNECTED
        assert raised.value.fate is Fate.NOT_SENT
    assert len(bench.server.asked_for) == 2
    assert bench.store.only.tokens is not None
    bench.server.refusal = None
    bench.clock.advance(6)
    assert await tokens.challenged(refused)


async def test_a_session_outlives_a_busy_authorization_server(bench: OAuthBench) -> None:
    """Its calls fail and were not sent; when tokens can be got again, they go on."""
    await bench.log_in()
    async with bench.session(bench.tokens()) as session:
        bench.server.refusal = 503, {}
        bench.clock.advance(3600)
        for _ in range(4):
            with pytest.raises(PeerError) as raised:
                await bench.call(session)
            assert raised.value.fate is Fate.NOT_SENT
        bench.server.refusal = None
        bench.clock.advance(6)
        assert len(await bench.call(session, 2)) == 2
    assert len(bench.server.told("tools/call")) == 2


async def test_tokens_that_can_not_be_kept_are_used_all_the_same(
    bench: OAuthBench, caplog: pytest.LogCaptureFixture
) -> None:
    """The refresh token was used up: calls go on with what came, and the log says what is wrong."""
    await bench.log_in()
    tokens = bench.tokens()
    before = await tokens.authorization()
    bench.store.broken = ConfigError("the disk is full")
    assert await tokens.challenged(Challenge(401, "", before))
    assert "the disk is full" in caplog.text
    bench.server.expire()
    bench.clock.advance(10)
    assert await tokens.challenged(Challenge(401, "", await tokens.authorization()))
    after = await tokens.authorization() or ""
    assert after.removeprefix("Bearer ") in bench.server.valid


async def test_a_token_that_has_a_little_left_is_used_where_renewing_fails(
    bench: OAuthBench,
) -> None:
    """Renewing early is for that: the calls of the last seconds go on."""
    await bench.log_in()
    tokens = bench.tokens()
    good = await tokens.authorization()
    bench.server.refusal = 503, {}
    bench.clock.advance(3580)
    assert await tokens.authorization() == good
    bench.clock.advance(30)
    with pytest.raises(PeerError, match="could not answer"):
        await tokens.authorization()


async def test_tokens_of_another_client_are_not_renewed(bench: OAuthBench) -> None:
    """The operator names another client: what was given to the old one is of no use to it."""
    await bench.log_in()
    held = bench.store.only
    await bench.store.save(
        Place(PEER, bench.server.url), Credentials(tokens=held.tokens, registrations=())
    )
    tokens = bench.tokens()
    with pytest.raises(PeerError, match="another client"):
        await tokens.challenged(Challenge(401, "", await tokens.authorization()))
    assert len(bench.server.asked_for) == 1


async def test_without_a_refresh_token_the_login_has_run_out(bench: OAuthBench) -> None:
    """It is sent for as long as the server takes it: its clock counts."""
    place = Place(PEER, bench.server.url)
    over = Tokens(issuer=bench.server.issuer, client_id="x", access_token=OLD, expires_at=1)
    await bench.store.save(place, Credentials(tokens=over))
    tokens = bench.tokens()
    used = await tokens.authorization()
    assert used == f"Bearer {OLD}"
    with pytest.raises(PeerError, match="has run out; log in"):
        await tokens.challenged(Challenge(401, "", used))
