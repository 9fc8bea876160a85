"""What is said of tokens, and what is taken for one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.client.oauth.plan import ClientCredentials, EnterpriseManaged, OAuthPlan
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import REMEMBERED
from lockgate.testing.credentials import PageLogin
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.oauth_bench import OAuthBench
from lockgate.testing.oauth_server import METADATA

REFUSED = Challenge(401, "Bearer", None)
SECRET = "the-secret-of-client"  # noqa: S105 - of a scripted server


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX-Other: 1", "ключ"])
async def test_a_token_that_no_header_can_hold_is_none(bench: OAuthBench, token: str) -> None:
    """It is not kept and not sent, as nothing else that comes in the place of one."""
    tokens = bench.tokens(OAuthPlan(ClientCredentials("x", SECRET), issuer=bench.server.issuer))
    bench.server.refusal = 200, {"access_token": token, "token_type": "Bearer"}
    with pytest.raises(PeerError, match="no header can hold"):
        await tokens.challenged(REFUSED)
    bench.clock.advance(10)
    bench.server.refusal = 200, {"access_token": "good-token", "token_type": "DPoP"}
    with pytest.raises(PeerError, match="token_type"):
        await tokens.challenged(REFUSED)
    assert bench.store.saves == 0


async def test_nothing_that_was_got_is_in_any_text(
    bench: OAuthBench, caplog: pytest.LogCaptureFixture
) -> None:
    """An authorization server that says back what it was sent: not in errors, logs, `repr`."""
    caplog.set_level(0)
    await bench.log_in()
    tokens = bench.tokens()
    used = await tokens.authorization()
    held = bench.store.only
    assert held.tokens is not None
    secrets = [*held.tokens.secrets(), *held.registrations[0].secrets()]
    assert len(secrets) == 3
    bench.server.refusal = 400, {"error": "odd", "error_description": " ".join(secrets)}
    with pytest.raises(PeerError) as raised:
        await tokens.challenged(Challenge(401, "", used))
    told = f"{raised.value}{tokens!r}{held!r}{held.tokens!r}{caplog.text}"
    assert "[***]" in told
    for secret in secrets:
        assert secret not in told


@pytest.mark.parametrize(
    "answer",
    [
        {"refresh_token": "r" * 60, "token_type": "Bearer"},
        {"access_token": ["r" * 60], "token_type": "Bearer"},
        {"access_token": "good-token", "refresh_token": {"is": "r" * 60}, "token_type": "Bearer"},
    ],
)
async def test_an_answer_that_is_no_token_shows_no_piece_of_one(
    bench: OAuthBench, answer: dict[str, object]
) -> None:
    """What is wrong with it is told by its fields: parsers show values cut in the middle."""
    tokens = bench.tokens(OAuthPlan(ClientCredentials("x", SECRET), issuer=bench.server.issuer))
    bench.server.refusal = 200, answer
    with pytest.raises(PeerError, match=r"can not be used: (access|refresh)_token") as raised:
        await tokens.challenged(REFUSED)
    assert "rrr" not in str(raised.value)


FORM = b"access_token=secret-of-a-form&token_type=Bearer&refresh_token=secret-of-a-form-2"
ODD: Sequence[tuple[int, bytes]] = (
    (200, FORM),
    (201, FORM),
    (400, FORM),
    (200, b'{"access_token":{"value":"secret-of-a-form"},"token_type":"Bearer"}'),
    (200, b'{"access_token":["secret-of-a-form"],"token_type":"Bearer"}'),
    (403, b'{"access_token":["secret-of-a-form"],"token_type":"Bearer"}'),
    (200, b'{"access_token":"x","refresh_token":["secret-of-a-form"],"token_type":"Bearer"}'),
    (200, b'["secret-of-a-form"]'),
    (200, b'{"client_id":["secret-of-a-form"],"client_secret":{"x":"secret-of-a-form"}}'),
)
"""Answers with a secret where nobody looks for one."""


@pytest.mark.parametrize(("status", "body"), ODD)
@pytest.mark.parametrize(
    "place", ["/token", "/register", "renewal", "client", "identity", METADATA]
)
async def test_an_answer_that_is_not_what_was_asked_for_is_not_shown(
    bench: OAuthBench, caplog: pytest.LogCaptureFixture, place: str, status: int, body: bytes
) -> None:
    """Whatever it is the answer to, and in whatever form it has its secrets: not in errors, not
    in logs."""
    caplog.set_level(0)
    server, plan, login = bench.server, OAuthPlan(), PageLogin()
    if place == "renewal":
        await bench.log_in()
        server.expire()
    if place == "client":
        plan = OAuthPlan(ClientCredentials("x", SECRET), issuer=server.issuer)
    if place == "identity":
        grant = EnterpriseManaged(
            "x",
            SECRET,
            identity_provider=f"{server.origin}/exchange",
            identity_client_id="y",
            identity_token="the-identity",  # noqa: S106 - of a scripted server
        )
        plan = OAuthPlan(grant, issuer=server.issuer)
    path = {"renewal": "/token", "client": "/token", "identity": "/exchange"}.get(place, place)

    async def instead(exchange: HttpExchange) -> None:
        if exchange.heard.target == path:
            await exchange.answer(status, body, {"content-type": "application/json"})
        else:
            await server.by_script(exchange)

    server.on(instead).on(instead, method="GET")
    tokens = bench.tokens(plan, login=None if place == "renewal" else login)
    used = await tokens.authorization() if place == "renewal" else None
    with pytest.raises(PeerError) as raised:
        await tokens.challenged(Challenge(401, "", used))
    told = f"{raised.value}{caplog.text}"
    assert "secret-of-a-form" not in told
    assert "pydantic" not in told


async def test_a_secret_at_the_end_of_what_is_told_is_hidden(bench: OAuthBench) -> None:
    """An error is cut after its secrets were hidden, wherever in them the cut would have been."""
    tokens = bench.tokens(OAuthPlan(ClientCredentials("x", SECRET), issuer=bench.server.issuer))
    for before in range(320, 400, 7):
        bench.clock.advance(60)
        bench.server.refusal = 400, {"error_description": f"{'.' * before}{SECRET}, and more"}
        with pytest.raises(PeerError) as raised:
            await tokens.challenged(REFUSED)
        assert SECRET[:4] not in str(raised.value)


async def test_what_the_operator_wrote_is_hidden_for_ever(bench: OAuthBench) -> None:
    """However many tokens were got since."""
    tokens = bench.tokens(OAuthPlan(ClientCredentials("x", SECRET), issuer=bench.server.issuer))
    tokens.learned.learn(*(f"token-{number:03}" for number in range(REMEMBERED)))
    bench.server.resource = {"authorization_servers": [f"https://as.example/{SECRET}"]}
    with pytest.raises(PeerError, match="names the authorization server") as raised:
        await tokens.challenged(REFUSED)
    assert SECRET not in str(raised.value)
