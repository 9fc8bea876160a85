"""What the wire needs to reach a server, and what of it may be shown."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.mcp.endpoint import HttpEndpoint


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"url": "mcp"}, "absolute"),
        ({"url": "http://h/", "headers": {"a b": "x"}}, "no name"),
        ({"url": "http://h/", "headers": {"X": "t0psecret\r\nY: z"}}, "the header X"),
        ({"url": "http://h/", "headers": {"X": " t0psecret"}}, "the header X"),
        ({"url": "http://h/", "headers": {"X": ""}}, "the header X"),
        ({"url": "http://h/", "headers": {"Accept": "x"}}, "belongs to the transport"),
        ({"url": "http://h/", "headers": {"mcp-session-id": "x"}}, "belongs to the transport"),
        ({"url": "http://u:t0psecret@h/", "headers": {"authorization": "x"}}, "keep one"),
        ({"url": "http://h/", "client_key": "x"}, "certificate"),
        ({"url": "http://h/", "proxy": "socks5://u:t0psecret@h"}, "proxy"),
    ],
)
def test_an_endpoint_that_can_not_be_used_is_refused(more: dict[str, Any], why: str) -> None:
    """When it is made, with what to change and no value."""
    with pytest.raises(ValueError, match=why) as caught:
        HttpEndpoint(**more)
    assert "t0psecret" not in str(caught.value)


def test_an_endpoint_is_known_by_its_address_and_the_names_of_its_headers() -> None:
    """What a fingerprint covers holds no secret; nor does what is printed of it."""
    endpoint = HttpEndpoint(
        "https://u:t0psecret1@h/mcp?token=t0psecret2&a=b",
        headers={"X-Key": "t0psecret3", "x-a": "t0psecret4"},
    )
    assert endpoint.identity() == {
        "url": "https://h/mcp?token=***&a=b",
        "headers": ["x-a", "x-key"],
    }
    assert "t0psecret" not in repr(endpoint)
    assert {f"t0psecret{n}" for n in (1, 2, 3, 4)} <= set(endpoint.secrets())
    assert endpoint.network == "tcp"
