"""One request: what is sent, what comes back, where it may go, and what a failure is called."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.decision import Reason
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Request, Site, answer, raw
from lockgate.web.addresses import AddressRules
from lockgate.web.client import WebClient
from lockgate.web.location import Location, locate
from lockgate.web.lookup import SystemLookup
from lockgate.web.refusal import WebRefused

Make = Callable[..., WebClient]
Judge = Callable[[Location], Reason | None]


async def test_a_page_is_fetched(site: Site, client: Make, anything: Judge) -> None:
    """Status, headers in any letter case, the address that answered, and the body."""
    site.on("/page", answer(200, "hello", {"Content-Type": "text/plain"}))
    at = locate(f"{site.address}/page?q=1")
    async with client().get(at, allowed=anything) as response:
        body = await response.read(100)
    assert (response.status, response.headers["content-TYPE"]) == (200, "text/plain")
    assert (body.data, body.whole) == (b"hello", True)
    assert response.at == at
    assert site.requests[0].target == "/page?q=1"


async def test_an_error_page_is_an_answer(site: Site, client: Make, anything: Judge) -> None:
    """What a status means is for the caller: a 500 was sent and answered."""
    site.on("/page", answer(500, "broken"))
    async with client().get(locate(f"{site.address}/page"), allowed=anything) as response:
        assert (response.status, (await response.read(9)).data) == (500, b"broken")


async def test_nothing_is_sent_that_was_not_given(
    site: Site,
    client: Make,
    anything: Judge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No cookie, no password of the environment's files, no proxy; headers that are given are."""
    site.on("/set", answer(200, "", {"Set-Cookie": "a=1"}))
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password SECRET\n", "utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    fetching = client()
    for _ in range(2):
        at = locate(f"{site.address}/set")
        async with fetching.get(at, allowed=anything, headers={"Accept": "text/*"}) as response:
            assert response.status == 200
    for request in site.requests:
        assert request.headers.keys() == {
            "host",
            "accept",
            "accept-encoding",
            "user-agent",
            "connection",
        }
        assert request.headers["accept"] == "text/*"


async def test_by_default_the_own_machine_is_not_reached(site: Site, anything: Judge) -> None:
    """Without a rule that says so, nothing is even connected to."""
    fetching = WebClient()
    for host in ("127.0.0.1", "localhost"):
        at = locate(f"http://{host}:{site.port}/?token=SECRET")
        with pytest.raises(WebRefused) as raised:
            async with fetching.get(at, allowed=anything):
                pass
        assert raised.value.reason.code == "address_refused"
        assert (raised.value.fate, raised.value.phase) == (Fate.NOT_SENT, Phase.CONNECT)
        assert "SECRET" not in str(raised.value)
    assert site.connections == 0


async def test_every_address_of_a_name_is_examined(
    site: Site, client: Make, lookup: ScriptedLookup, anything: Judge
) -> None:
    """One address in a private range refuses the name, wherever it stands in the list."""
    lookup.on("a.example.com", ("1.1.1.1", "127.0.0.1"))
    at = locate(f"http://a.example.com:{site.port}/")
    with pytest.raises(WebRefused):
        async with client(private=False).get(at, allowed=anything):
            pass
    assert site.connections == 0


async def test_a_name_is_looked_up_once(
    site: Site, client: Make, lookup: ScriptedLookup, anything: Judge
) -> None:
    """The address that was examined is the one connected to; a second answer is never asked for."""
    site.on("/", answer(200, "ok"))
    lookup.on("a.example.com", ("127.0.0.1",), ("169.254.169.254",))
    at = locate(f"http://a.example.com:{site.port}/")
    async with client().get(at, allowed=anything) as response:
        assert (await response.read(9)).data == b"ok"
    assert lookup.asked == ["a.example.com"]
    assert site.requests[0].headers["host"] == f"a.example.com:{site.port}"


async def test_a_name_that_changes_its_mind_is_refused_the_next_time(
    site: Site, client: Make, lookup: ScriptedLookup, anything: Judge
) -> None:
    """Every exchange examines anew: what was public a moment ago does not count (DNS rebinding)."""
    site.on("/", answer(200, "ok"))
    lookup.on("a.example.com", ("127.0.0.1",), ("169.254.169.254",))
    fetching = client()
    at = locate(f"http://a.example.com:{site.port}/")
    async with fetching.get(at, allowed=anything):
        pass
    with pytest.raises(WebRefused):
        async with fetching.get(at, allowed=anything):
            pass
    assert site.connections == 1


async def test_the_second_address_of_a_name_is_tried(
    client: Make, lookup: ScriptedLookup, anything: Judge
) -> None:
    """All of the examined addresses may be used, in their order."""
    async with Site(host="::1") as site:
        site.on("/", answer(200, "six"))
        lookup.on("a.example.com", ("127.0.0.1", "::1"))
        at = locate(f"http://a.example.com:{site.port}/")
        async with client().get(at, allowed=anything) as response:
            assert (await response.read(9)).data == b"six"


@pytest.mark.parametrize("found", [OSError("no such name"), ()])
async def test_a_name_that_leads_nowhere(
    client: Make, lookup: ScriptedLookup, anything: Judge, found: OSError | tuple[str, ...]
) -> None:
    """No address is no connection, and nothing was sent."""
    lookup.on("a.example.com", found)
    with pytest.raises(PeerError) as raised:
        async with client().get(locate("http://a.example.com/?q=SECRET"), allowed=anything):
            pass
    error = raised.value
    assert (error.fault, error.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert (error.peer, error.phase) == ("a.example.com", Phase.CONNECT)
    assert "SECRET" not in str(error)


async def test_nobody_listens(site: Site, client: Make, anything: Judge) -> None:
    """A refused connection proves that nothing was sent, and the error says where."""
    at = locate(f"{site.address}/?q=SECRET")
    await site.__aexit__(None, None, None)
    with pytest.raises(PeerError, match=r"can not be reached: connection refused") as raised:
        async with client().get(at, allowed=anything):
            pass
    assert (raised.value.fault, raised.value.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (b"", Fault.CLOSED),
        (b"HTTP/1.1 200 OK\r\nContent-", Fault.CLOSED),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Fault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Fault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", Fault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n", Fault.MALFORMED),
    ],
)
async def test_what_is_no_answer(
    site: Site, client: Make, anything: Judge, sent: bytes, fault: Fault
) -> None:
    """After the request was written nobody knows what became of it: its fate is unknown."""
    site.on("/", raw(sent))
    with pytest.raises(PeerError) as raised:
        async with client().get(locate(f"{site.address}/?q=SECRET"), allowed=anything) as response:
            await response.read(9)
    assert (raised.value.fault, raised.value.fate) == (fault, Fate.UNKNOWN)
    assert raised.value.phase is Phase.REQUEST
    assert "SECRET" not in str(raised.value)
    assert raised.value.__cause__ is None


async def test_what_the_caller_raises_passes_untouched(
    site: Site, client: Make, anything: Judge
) -> None:
    """An error inside of the context that is not the exchange's own is not renamed."""
    site.on("/", answer(200, "x"))
    for mine in (TimeoutError("mine"), ConnectionError("mine"), ValueError("mine")):
        with pytest.raises(type(mine), match="mine"):
            async with client().get(locate(f"{site.address}/"), allowed=anything):
                raise mine


async def test_the_systems_resolver_knows_this_machine(site: Site, anything: Judge) -> None:
    """The real look-up works, and its answer is examined like any other."""
    site.on("/", answer(200, "ok"))
    at = locate(f"http://localhost:{site.port}/")
    fetching = WebClient(addresses=AddressRules(private=True), lookup=SystemLookup())
    async with fetching.get(at, allowed=anything) as response:
        assert response.status == 200


async def test_requests_run_beside_each_other(site: Site, client: Make, anything: Judge) -> None:
    """A client keeps nothing of one exchange that another could meet."""
    both = asyncio.Event()

    async def wait_for_the_other(request: Request, writer: asyncio.StreamWriter) -> None:
        await site.heard(2)
        both.set()
        await answer(200, request.target)(request, writer)

    site.on("/a", wait_for_the_other).on("/b", wait_for_the_other)
    fetching = client()

    async def fetch(path: str) -> bytes:
        async with fetching.get(locate(site.address + path), allowed=anything) as response:
            return (await response.read(9)).data

    assert await asyncio.gather(fetch("/a"), fetch("/b")) == [b"/a", b"/b"]
    assert both.is_set()
