"""Which addresses are asked for a server's sake, and how an answer is bounded."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.mcp.client.oauth.guarded import LARGEST, Guarded
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Site, answer, raw, redirect

PUBLIC = "93.184.215.14"


def guarded(url: str, lookup: ScriptedLookup | None = None, **more: Any) -> Guarded:
    """For a server at that address."""
    names = lookup or ScriptedLookup()
    if lookup is None:
        names.on("mcp.example.com", (PUBLIC,))
        names.on("inside.example.com", ("10.1.2.3",))
    return Guarded(HttpEndpoint(url), {}, lookup=names, **more)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("https://127.0.0.1/", "loopback"),
        ("https://10.0.0.1/x", "private"),
        ("https://[::1]/", "loopback"),
        ("https://[::ffff:192.168.1.1]/", "can not be used"),
        ("https://169.254.169.254/latest/meta-data", "link-local"),
        ("https://localhost/", "local network"),
        ("https://printer/", "local network"),
        ("https://vault.internal/", "not public"),
        ("https://inside.example.com/", "private"),
        ("https://both.example.com/", "private"),
        ("https://auth.example.com:22/", "another service"),
        ("http://auth.example.com/", "from https to http"),
        ("https://someone@auth.example.com/", "user name"),
        ("https://0x7f.1/", "can not be used"),
        ("file:///etc/passwd", "can not be used"),
        ("https://auth.example.com\\@10.0.0.1/", "can not be used"),
    ],
)
async def test_a_public_server_leads_nowhere_inside(address: str, why: str) -> None:
    """What its documents name is not asked: no private address, by number or by name, no name of
    the local network, nothing unprotected. No connection is made."""
    lookup = ScriptedLookup()
    lookup.on("mcp.example.com", (PUBLIC,))
    lookup.on("inside.example.com", ("10.1.2.3",))
    lookup.on("both.example.com", (PUBLIC, "10.1.2.3"))
    asked = guarded("https://mcp.example.com/mcp", lookup)
    with pytest.raises(OAuthTrouble, match=why) as raised:
        await asked.ask("GET", address)
    assert raised.value.need is Need.OPERATOR


async def test_a_name_that_changes_its_mind_is_examined_when_it_is_connected_to() -> None:
    """The address that is connected to is the one that was examined."""
    lookup = ScriptedLookup()
    lookup.on("mcp.example.com", (PUBLIC,))
    lookup.on("auth.example.com", ("10.1.2.3",))
    asked = guarded("https://mcp.example.com/mcp", lookup)
    await asked.examined("https://auth.example.com/")  # so far it is only a name
    with pytest.raises(OAuthTrouble, match="private"):
        await asked.ask("GET", "https://auth.example.com/")


@pytest.mark.parametrize("host", ["http://127.0.0.1:1/mcp", "http://localhost:1/mcp"])
async def test_a_server_inside_may_lead_to_its_own_host(host: str) -> None:
    """Where the server itself lives on a private address, its authorization server may, on the
    same host; what no server may lead to stays so."""
    asked = guarded(host)
    async with Site() as site:
        site.on("/token", answer(200, "{}", {"Content-Type": "application/json"}))
        reply = await asked.ask("GET", f"{site.address}/token")
        assert (reply.status, reply.body) == (200, b"{}")
        with pytest.raises(OAuthTrouble, match="not asked: it is not https"):
            await asked.ask("GET", "http://169.254.169.254/latest")
        with pytest.raises(OAuthTrouble, match="link-local"):
            await asked.ask("GET", "https://169.254.169.254/latest")


@pytest.mark.parametrize(
    ("server", "address", "why"),
    [
        ("http://127.0.0.1:1/mcp", "http://evil.example/authorize", "not https"),
        ("http://127.0.0.1:1/mcp", "http://192.168.1.1/apply.cgi?reboot=1", "not https"),
        ("http://127.0.0.1:1/mcp", "https://10.0.0.1/token", "private"),
        ("http://127.0.0.1:1/mcp", "https://inside.example.com/token", "private"),
        ("http://inside.example.com/mcp", "http://127.0.0.1:1/token", "not https"),
        ("http://inside.example.com/mcp", "https://127.0.0.1:1/token", "another service|loopback"),
        ("http://mcp.example.com/mcp", "http://auth.example.com/token", "not https"),
    ],
)
async def test_a_server_inside_leads_nowhere_else_inside(
    server: str, address: str, why: str
) -> None:
    """Nor anywhere unprotected: a program of this machine names strangers like any other server,
    and what is meant the operator can write."""
    with pytest.raises(OAuthTrouble, match=why) as raised:
        await guarded(server).ask("GET", address)
    assert "name it in auth.issuer" in str(raised.value)


@pytest.mark.parametrize("more", ["10.1.2.3", "127.0.0.1"])
async def test_a_server_that_is_inside_too_leads_nowhere_inside(more: str) -> None:
    """Whoever owns a public name can add an address of a private network to it."""
    lookup = ScriptedLookup()
    lookup.on("mcp.example.com", (PUBLIC, more))
    with pytest.raises(OAuthTrouble, match="loopback"):
        await guarded("https://mcp.example.com/mcp", lookup).examined("https://127.0.0.1/token")


async def test_what_the_operator_wrote_is_not_examined() -> None:
    """An issuer on a private address, named in the configuration of a public server; its
    neighbours are."""
    async with Site() as site, Site() as other:
        site.on("/token", answer(200, "{}"))
        asked = guarded("https://mcp.example.com/mcp", named=[f"{site.address}/realm"])
        assert (await asked.ask("GET", f"{site.address}/token")).status == 200
        with pytest.raises(OAuthTrouble):
            await asked.ask("GET", f"{other.address}/token")
        assert other.connections == 0


async def test_redirects_stay_within_the_origin() -> None:
    """One that leaves is the answer itself; a circle is an error; a POST is not turned into a
    GET."""
    async with Site() as site, Site() as other:
        asked = guarded(f"{site.address}/mcp")
        site.on("/a", redirect("/b")).on("/b", answer(200, "there"))
        site.on("/out", redirect(f"{other.address}/b")).on("/round", redirect("/round"))
        assert (await asked.ask("GET", f"{site.address}/a")).body == b"there"
        assert (await asked.ask("GET", f"{site.address}/out")).status == 302
        assert (await asked.ask("POST", f"{site.address}/a", (), b"x")).status == 302
        with pytest.raises(OAuthTrouble, match="in a circle"):
            await asked.ask("GET", f"{site.address}/round")
        assert other.connections == 0


async def test_an_answer_is_bounded_in_size_and_time() -> None:
    """Documents are small and come soon; a server that is gone may be back."""
    async with Site() as site:
        asked = guarded(f"{site.address}/mcp", bound=0.2)
        site.on("/large", answer(200, b"x" * (LARGEST + 1)))
        site.on("/silent", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"))
        with pytest.raises(OAuthTrouble, match="more than"):
            await asked.ask("GET", f"{site.address}/large")
        with pytest.raises(OAuthTrouble) as raised:
            await asked.ask("GET", f"{site.address}/silent")
        assert raised.value.need is Need.TIME
        address = site.address
    asked = guarded(f"{address}/mcp")
    with pytest.raises(OAuthTrouble, match="can not be reached") as raised:
        await asked.ask("GET", f"{address}/x")
    assert raised.value.need is Need.TIME
