"""What is read out of `WWW-Authenticate`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.challenge import BearerChallenge, bearer_challenge

METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("", None),
        ("Basic realm=x", None),
        ("Negotiate YWJj==", None),
        ("Bearer", BearerChallenge()),
        ("bearer ", BearerChallenge()),
        ('Bearer scope="a b"', BearerChallenge(scope="a b")),
        ('Bearer scope="a  b\tc"', BearerChallenge(scope="a b c")),
        ("Bearer scope=a", BearerChallenge(scope="a")),
        ('BEARER ERROR = "insufficient_scope"', BearerChallenge(error="insufficient_scope")),
        (f"Bearer resource_metadata={METADATA}", BearerChallenge(resource_metadata=METADATA)),
        (
            f'Bearer realm="a, b", resource_metadata="{METADATA}",\t scope="x"',
            BearerChallenge(resource_metadata=METADATA, scope="x"),
        ),
        (
            'Basic realm="scope=no", Bearer error="invalid_token", error_description="a \\"b\\""',
            BearerChallenge(error="invalid_token", description='a "b"'),
        ),
        ("Negotiate YWJj==, Bearer scope=a", BearerChallenge(scope="a")),
        ('Bearer, Bearer scope="a"', BearerChallenge(scope="a")),
        ('Bearer xscope="no", scope="a"', BearerChallenge(scope="a")),
        ('Bearer scope="a", scope="b"', BearerChallenge(scope="a")),
        ('Bearer scope="a" error="x"', BearerChallenge(scope="a", error="x")),
        ('DPoP algs="ES256", Bearer error=""', BearerChallenge()),
    ],
)
def test_the_bearer_challenge_among_others(header: str, said: BearerChallenge | None) -> None:
    """Schemes and names in any letter case, with or without quotes; names are whole names; the
    parameters of another scheme are not ours."""
    assert bearer_challenge(header) == said


@given(st.text(st.sampled_from('Bearer scope="\\,=\t éx'), max_size=80))
def test_any_header_is_read(header: str) -> None:
    """Nothing that a server writes there raises, and a scope is words of what a scope may hold."""
    said = bearer_challenge(header)
    if said is not None:
        assert said.scope == " ".join(said.scope.split())
        assert '"' not in said.scope
        assert said.scope.isascii()


def test_a_long_word_that_is_nothing_is_looked_at_once() -> None:
    """A header can be as long as its server likes: reading it takes no more than that."""
    long = "a" * 300_000
    assert bearer_challenge(f"{long}(, Bearer scope=a") == BearerChallenge(scope="a")
    assert bearer_challenge(f"{long}(") is None
