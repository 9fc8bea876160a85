"""What is said of tokens, and what is taken for one."""

from __future__ import annotations

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.transport.tokens import Challenge
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
