"""Redirects: each is examined like the first address, and judged by whoever asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.decision import Reason
from lockgate.errors import Fate, PeerError, Phase
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Site, answer, redirect
from lockgate.web.client import WebClient
from lockgate.web.location import Location, locate
from lockgate.web.refusal import WebRefused

Make = Callable[..., WebClient]
Judge = Callable[[Location], Reason | None]


async def refused(
    fetching: WebClient, at: str, allowed: Callable[[Location], Reason | None]
) -> WebRefused:
    """The refusal that a request ends with."""
    with pytest.raises(WebRefused) as raised:
        async with fetching.get(locate(at), allowed=allowed):
            pass
    assert "SECRET" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("target", ["/b?x=1#y", "b?x=1", "//127.0.0.1:{port}/b?x=1", " /b?x=1 "])
async def test_a_redirect_is_followed(
    site: Site, client: Make, anything: Judge, status: int, target: str
) -> None:
    """Relative and absolute targets; what answers in the end is told."""
    site.on("/a", redirect(target.format(port=site.port), status)).on("/b", answer(200, "end"))
    async with client().get(locate(f"{site.address}/a"), allowed=anything) as response:
        assert (await response.read(9)).data == b"end"
    assert response.at.text == f"{site.address}/b?x=1"
    assert [request.method for request in site.requests] == ["GET", "GET"]


async def test_a_blank_in_a_target_is_escaped(site: Site, client: Make, anything: Judge) -> None:
    """The one thing that many servers forget, and that every program reads alike."""
    site.on("/a", redirect("/b c")).on("/b%20c", answer(200, "end"))
    async with client().get(locate(f"{site.address}/a"), allowed=anything) as response:
        assert response.status == 200


@pytest.mark.parametrize("status", [300, 304, 305, 306])
async def test_other_statuses_are_answers(
    site: Site, client: Make, anything: Judge, status: int
) -> None:
    """Only the five that mean "ask there" are followed, and only with a target."""
    head = f"HTTP/1.1 {status} X\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n"
    from lockgate.testing.site import raw

    site.on("/a", raw(head.encode())).on("/b", answer(302))
    for path, expected in (("/a", status), ("/b", 302)):
        async with client().get(locate(site.address + path), allowed=anything) as response:
            assert response.status == expected


@pytest.mark.parametrize(
    "target",
    [
        "http://10.0.0.1/?q=SECRET",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/",
        "//127.0.0.2/",
        "http://localhost/",
        "http://a.example.com:22/",
    ],
)
async def test_a_redirect_to_a_private_address_is_refused(
    site: Site, lookup: ScriptedLookup, target: str
) -> None:
    """The address rules hold at each hop; the judge is not even asked, nothing is connected to."""
    from lockgate.web.addresses import AddressRules

    class OnlyTheSite(AddressRules, frozen=True):
        """Public addresses, and the site of this test."""

        def objection_to(self, at: Location) -> str | None:
            return None if at.port == site.port else super().objection_to(at)

    lookup.on("metadata.google.internal", ("1.1.1.1",))
    asked: list[Location] = []

    def judge(at: Location) -> Reason | None:
        asked.append(at)
        return None

    site.on("/a", redirect(target))
    fetching = WebClient(addresses=OnlyTheSite(), lookup=lookup)
    error = await refused(fetching, f"{site.address}/a?q=SECRET", judge)
    assert error.reason.code == "address_refused"
    assert error.fate is Fate.ANSWERED
    assert asked == []
    assert lookup.asked == []


async def test_a_redirect_to_a_name_with_a_private_address_is_refused(
    site: Site, lookup: ScriptedLookup, client: Make, anything: Judge
) -> None:
    """The name is looked up as the first one was."""
    site.on("/a", redirect("http://evil.example.com/?q=SECRET"))
    lookup.on("evil.example.com", ("169.254.169.254",))
    error = await refused(client(), f"{site.address}/a", anything)
    assert (error.reason.code, error.peer) == ("address_refused", "evil.example.com")


async def test_each_redirect_is_judged(site: Site, client: Make) -> None:
    """Whoever asked says of each target whether it may be asked for, and is told which it was."""
    site.on("/a", redirect("/b")).on("/b", redirect("/c?q=SECRET")).on("/c", answer(200))
    asked: list[str] = []

    def judge(at: Location) -> Reason | None:
        asked.append(at.path)
        return Reason("deny_rule", "a rule says no") if at.path == "/c" else None

    error = await refused(client(), f"{site.address}/a", judge)
    assert asked == ["/b", "/c"]
    assert error.reason == Reason("deny_rule", "a rule says no")
    assert error.at.text == f"{site.address}/c?q=SECRET"
    assert (error.fate, error.phase) == (Fate.ANSWERED, Phase.CONNECT)
    assert [request.target for request in site.requests] == ["/a", "/b"]


async def test_redirects_are_counted(site: Site, client: Make, anything: Judge) -> None:
    """Five are followed, a sixth is not: a loop ends."""
    for number in range(6):
        site.on(f"/{number}", redirect(f"/{number + 1}"))
    site.on("/6", answer(200, "end")).on("/loop", redirect("/loop"))
    async with client().get(locate(f"{site.address}/1"), allowed=anything) as response:
        assert response.status == 200
    assert (await refused(client(), f"{site.address}/0", anything)).reason.code == "redirect_limit"
    assert (await refused(client(), f"{site.address}/loop", anything)).fate is Fate.ANSWERED


@pytest.mark.parametrize(
    "target",
    [
        "http://user:SECRET@127.0.0.1/",
        "ftp://127.0.0.1/SECRET",
        "file:///etc/passwd",
        "data:text/plain,SECRET",
        "javascript:alert(1)",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::ffff:7f00:1]/",
        "http://a\\@b/",
        "http://[",
        "http://a:port/",
        "https:",
    ],
)
async def test_an_odd_target_is_refused(
    site: Site, client: Make, anything: Judge, target: str
) -> None:
    """A redirect is read as strictly as the address that was given."""
    site.on("/a", redirect(target))
    error = await refused(client(), f"{site.address}/a", anything)
    assert error.reason.code == "redirect_unreadable"


async def test_bytes_that_are_no_text_in_a_target_are_refused(
    site: Site, client: Make, anything: Judge
) -> None:
    """What decodes to nothing names no address."""
    from lockgate.testing.site import raw

    site.on("/a", raw(b"HTTP/1.1 302 Found\r\nLocation: /\xff\r\nContent-Length: 0\r\n\r\n"))
    error = await refused(client(), f"{site.address}/a", anything)
    assert error.reason.code == "redirect_unreadable"


async def test_a_failure_after_a_redirect_is_no_proof_that_nothing_was_sent(
    site: Site, lookup: ScriptedLookup, client: Make, anything: Judge
) -> None:
    """The first request was made: the exchange as a whole may not be called unsent."""
    site.on("/a", redirect("http://gone.example.com/"))
    with pytest.raises(PeerError) as raised:
        async with client().get(locate(f"{site.address}/a"), allowed=anything):
            pass
    assert raised.value.fate is Fate.ANSWERED
