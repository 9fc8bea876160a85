"""TLS: who answers has to prove the name that was asked for, at the address that was examined."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

import pytest
import trustme

from lockgate.decision import Reason
from lockgate.errors import Fate, Fault, PeerError
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Request, Site, answer, redirect
from lockgate.web.addresses import AddressRules
from lockgate.web.client import WebClient
from lockgate.web.location import Location, locate

Judge = Callable[[Location], Reason | None]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """An authority that these tests trust, and nobody else."""
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """What a client has that trusts the authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)  # pyright: ignore[reportUnknownMemberType] - of pyOpenSSL's
    return context


def serving(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """What a site has that can prove these names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert(*names)
    certificate.configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - of pyOpenSSL's
    return context


def client(lookup: ScriptedLookup, tls: ssl.SSLContext | None) -> WebClient:
    """A client that may reach the site."""
    lookup.on("a.example.com", ("127.0.0.1",))
    lookup.on("b.example.com", ("127.0.0.1",))
    return WebClient(addresses=AddressRules(private=True), lookup=lookup, tls=tls)


async def test_the_name_is_proved_at_the_examined_address(
    authority: trustme.CA, trusting: ssl.SSLContext, lookup: ScriptedLookup, anything: Judge
) -> None:
    """The connection goes to the address, the certificate and the server's choice to the name."""
    async with Site(tls=serving(authority, "a.example.com")) as site:
        site.on("/", answer(200, "ok"))
        at = locate(f"https://a.example.com:{site.port}/")
        async with client(lookup, trusting).get(at, allowed=anything) as response:
            assert (await response.read(9)).data == b"ok"


@pytest.mark.parametrize("name", ["b.example.com", "127.0.0.1"])
async def test_another_name_is_not_believed(
    authority: trustme.CA,
    trusting: ssl.SSLContext,
    lookup: ScriptedLookup,
    anything: Judge,
    name: str,
) -> None:
    """A certificate for one name proves no other, and nothing was sent."""
    async with Site(tls=serving(authority, "a.example.com")) as site:
        at = locate(f"https://{name}:{site.port}/?q=SECRET")
        with pytest.raises(PeerError, match="could not prove who it is") as raised:
            async with client(lookup, trusting).get(at, allowed=anything):
                pass
        assert (raised.value.fault, raised.value.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
        assert "SECRET" not in str(raised.value)
        assert site.requests == []


async def test_a_stranger_is_not_believed(
    authority: trustme.CA, lookup: ScriptedLookup, anything: Judge
) -> None:
    """By default the system's authorities count, and no others."""
    async with Site(tls=serving(authority, "a.example.com")) as site:
        at = locate(f"https://a.example.com:{site.port}/")
        with pytest.raises(PeerError, match="could not prove who it is"):
            async with client(lookup, None).get(at, allowed=anything):
                pass


async def test_a_site_without_tls_is_no_https(
    trusting: ssl.SSLContext, lookup: ScriptedLookup, anything: Judge
) -> None:
    """A peer that does not speak TLS is told apart from one that can not prove its name."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        at = locate(f"https://a.example.com:{server.sockets[0].getsockname()[1]}/")
        with pytest.raises(PeerError, match="could not agree on TLS") as raised:
            async with client(lookup, trusting).get(at, allowed=anything):
                pass
    assert raised.value.fate is Fate.NOT_SENT


async def test_from_https_to_http_is_not_followed(
    authority: trustme.CA,
    trusting: ssl.SSLContext,
    site: Site,
    lookup: ScriptedLookup,
    anything: Judge,
) -> None:
    """A redirect must not take the protection away; the other way round it may be followed."""
    site.on("/", answer(200, "plain"))
    async with Site(tls=serving(authority, "a.example.com")) as secure:
        secure.on("/down", redirect(f"http://a.example.com:{site.port}/?q=SECRET"))
        secure.on("/", answer(200, "secure"))
        site.on("/up", redirect(f"https://a.example.com:{secure.port}/"))
        fetching = client(lookup, trusting)
        at = locate(f"https://a.example.com:{secure.port}/down")
        with pytest.raises(PeerError, match="from https to http") as raised:
            async with fetching.get(at, allowed=anything):
                pass
        assert "SECRET" not in str(raised.value)
        assert site.requests == []
        at = locate(f"http://a.example.com:{site.port}/up")
        async with fetching.get(at, allowed=anything) as response:
            assert (await response.read(9)).data == b"secure"


async def test_a_peer_that_does_not_end_tls_holds_nothing_open(
    authority: trustme.CA,
    trusting: ssl.SSLContext,
    lookup: ScriptedLookup,
    anything: Judge,
    descriptors: Callable[[], int],
) -> None:
    """The end of TLS is not waited for: the descriptor is gone when the context is left."""

    async def silent(request: Request, writer: asyncio.StreamWriter) -> None:
        await answer(200, "ok")(request, writer)
        await asyncio.Event().wait()

    async with Site(tls=serving(authority, "a.example.com")) as site:
        site.on("/", silent)
        at_rest = descriptors()
        at = locate(f"https://a.example.com:{site.port}/")
        async with client(lookup, trusting).get(at, allowed=anything) as response:
            assert (await response.read(9)).data == b"ok"
        await site.quiet()
        assert descriptors() == at_rest


def test_a_context_that_verifies_nothing_is_refused() -> None:
    """Verification can not be turned off by handing in a context."""
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ValueError, match="verify"):
        WebClient(tls=context)
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises(ValueError, match="verify"):
        WebClient(tls=context)
