"""A body sent to one address: the same guards as for any request, and no redirects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.testing.site import Site, answer, redirect
from lockgate.web.client import WebClient
from lockgate.web.location import locate
from lockgate.web.refusal import WebRefused

Make = Callable[..., WebClient]


async def test_a_body_is_posted(site: Site, client: Make) -> None:
    """With its headers, and nothing that was not given."""
    site.on("/hook", answer(201, "kept"))
    at = locate(f"{site.address}/hook?a=1")
    async with client().post(at, b'{"a": 1}', headers={"Content-Type": "x/y"}) as response:
        assert (response.status, (await response.read(10)).data) == (201, b"kept")
    [request] = site.requests
    assert (request.method, request.target, request.body) == ("POST", "/hook?a=1", b'{"a": 1}')
    assert request.headers["content-type"] == "x/y"
    assert not {"cookie", "authorization", "proxy-authorization"} & request.headers.keys()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer(site: Site, client: Make, status: int) -> None:
    """Nothing is sent to where it leads."""
    site.on("/hook", redirect("/other", status)).on("/other", answer(200))
    async with client().post(locate(f"{site.address}/hook"), b"") as response:
        assert response.status == status
    await site.quiet()
    assert len(site.requests) == 1


async def test_addresses_are_examined(site: Site, client: Make) -> None:
    """By the rules of the client: nothing is sent."""
    with pytest.raises(WebRefused) as refused:
        async with client(private=False).post(locate(site.address), b"secret"):
            pass
    assert refused.value.fate is Fate.NOT_SENT
    with pytest.raises(WebRefused):
        async with client().post(locate("http://169.254.169.254/"), b"secret"):
            pass
    assert site.connections == 0


async def test_what_was_sent_and_not_answered_is_unknown(site: Site, client: Make) -> None:
    """A server that hangs up may have acted on it."""

    async def hang_up(request: object, writer: object) -> None:
        del request, writer

    site.on("/hook", hang_up)
    with pytest.raises(PeerError) as failed:
        async with client().post(locate(f"{site.address}/hook"), b"x"):
            pass
    assert (failed.value.fault, failed.value.fate) == (Fault.CLOSED, Fate.UNKNOWN)
