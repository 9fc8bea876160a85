"""What is said of tokens, and what is taken for one."""

from __future__ import annotations

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import REMEMBERED
from lockgate.testing.oauth_bench import OAuthBench

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
