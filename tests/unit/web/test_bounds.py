"""Everything is bounded: times, headers, bodies; and what ends leaves nothing behind."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable

import pytest

from lockgate.decision import Reason
from lockgate.errors import Fate, Fault, PeerError
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Handler, Request, Site, answer, raw, redirect
from lockgate.web.client import WebClient
from lockgate.web.location import Location, locate

Make = Callable[..., WebClient]
Judge = Callable[[Location], Reason | None]
Count = Callable[[], int]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def stuck(before: bytes) -> Handler:
    """Sends this and then nothing, until the client hangs up."""

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        await writer.drain()
        await asyncio.Event().wait()

    return handle


def endless(before: bytes, more: bytes, pause: float = 0) -> Handler:
    """Sends `more` for ever."""

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        beat = asyncio.Event()
        while not writer.is_closing():
            writer.write(more)
            await writer.drain()
            try:
                async with asyncio.timeout(pause):
                    await beat.wait()
            except TimeoutError:
                pass

    return handle


async def failure(fetching: WebClient, at: str, allowed: Judge) -> PeerError:
    """The error that a request ends with."""
    with pytest.raises(PeerError) as raised:
        async with fetching.get(locate(f"{at}?q=SECRET"), allowed=allowed) as response:
            await response.read(100_000_000)
    assert "SECRET" not in str(raised.value)
    return raised.value


async def test_a_body_is_read_as_far_as_it_is_wanted(
    site: Site, client: Make, anything: Judge
) -> None:
    """What is left over is known to be there, and not waited for."""
    site.on("/", endless(HEAD + b"\r\n", b"x" * 100_000))
    async with client().get(locate(f"{site.address}/"), allowed=anything) as response:
        body = await response.read(250_000)
    assert (len(body.data), body.whole) == (250_000, False)
    await site.quiet()


async def test_a_body_of_exactly_the_size_is_whole(
    site: Site, client: Make, anything: Judge
) -> None:
    """The limit is what fits, not what is one too many."""
    site.on("/", answer(200, b"x" * 1000))
    for size, whole in ((999, False), (1000, True), (1001, True)):
        async with client().get(locate(f"{site.address}/"), allowed=anything) as response:
            assert (await response.read(size)).whole is whole


async def test_a_bomb_is_defused(site: Site, client: Make, anything: Judge) -> None:
    """The size after decompression counts, and no more than that is ever decompressed."""
    bomb = gzip.compress(bytes(200_000_000), 1)
    site.on("/", answer(200, bomb, {"Content-Encoding": "gzip"}))
    async with client().get(locate(f"{site.address}/"), allowed=anything) as response:
        body = await response.read(100_000)
    assert (len(body.data), body.whole) == (100_000, False)


async def test_a_compressed_body_is_decoded(site: Site, client: Make, anything: Judge) -> None:
    """gzip is asked for, and undone."""
    site.on("/", answer(200, gzip.compress(b"hello"), {"Content-Encoding": "gzip"}))
    async with client().get(locate(f"{site.address}/"), allowed=anything) as response:
        assert (await response.read(100)).data == b"hello"
    assert site.requests[0].headers["accept-encoding"] == "gzip, deflate"


async def test_a_body_that_unpacks_to_nothing_is_bounded_too(
    site: Site, client: Make, anything: Judge
) -> None:
    """Bytes on the wire count by themselves: empty members could be sent for ever."""
    site.on("/", endless(HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 1000))
    error = await failure(client(received=500_000), f"{site.address}/", anything)
    assert error.fault is Fault.TOO_LARGE


@pytest.mark.parametrize(
    ("encoding", "body", "fault"),
    [
        ("gzip", b"not compressed", Fault.MALFORMED),
        ("gzip", gzip.compress(b"x" * 1000, mtime=0)[:-4], Fault.CLOSED),
        ("br", b"x", Fault.MALFORMED),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), Fault.MALFORMED),
    ],
)
async def test_damaged_compression_is_an_error(
    site: Site, client: Make, anything: Judge, encoding: str, body: bytes, fault: Fault
) -> None:
    """Half a page is never handed on as a whole one."""
    site.on("/", answer(200, body, {"Content-Encoding": encoding}))
    error = await failure(client(), f"{site.address}/", anything)
    assert (error.fault, error.fate) == (fault, Fate.UNKNOWN)


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"Content-Length: 100\r\n\r\nabc",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
async def test_a_body_that_breaks_off_is_an_error(
    site: Site, client: Make, anything: Judge, sent: bytes
) -> None:
    """A peer that promised more and hung up did not send the page."""
    site.on("/", raw(sent))
    error = await failure(client(), f"{site.address}/", anything)
    assert (error.fault, error.fate) == (Fault.CLOSED, Fate.UNKNOWN)


@pytest.mark.parametrize(
    "handler",
    [
        endless(b"HTTP/1.1 200 OK\r\n", b"X-Field: abcdefgh\r\n" * 50),
        endless(b"HTTP/1.1 200 OK\r\nX-Field: ", b"x" * 5000),
        endless(b"HTTP/1.1 200 ", b"x" * 5000),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
    ],
)
async def test_endless_headers_end(
    site: Site, client: Make, anything: Judge, handler: Handler
) -> None:
    """Too many fields, a field too long, a status line too long, answers that are none yet."""
    site.on("/", handler)
    error = await failure(client(total=1.0), f"{site.address}/", anything)
    assert error.fault in (Fault.MALFORMED, Fault.TIMEOUT)
    await site.quiet()


async def test_a_silent_peer_is_given_up(site: Site, client: Make, anything: Judge) -> None:
    """Between two pieces of an answer the idle limit counts, before the headers and after."""
    site.on("/a", stuck(b"")).on("/b", stuck(HEAD + b"Content-Length: 9\r\n\r\nabc"))
    for path in ("/a", "/b"):
        error = await failure(client(idle=0.05), site.address + path, anything)
        assert (error.fault, error.fate) == (Fault.TIMEOUT, Fate.UNKNOWN)
        assert "sent nothing for 0.05 s" in str(error)


async def test_a_slow_drip_is_given_up(site: Site, client: Make, anything: Judge) -> None:
    """A peer that always sends a little more in time runs into the limit on the whole."""
    site.on("/", endless(HEAD + b"\r\n", b"x", pause=0.02))
    error = await failure(client(total=0.2, idle=5.0), f"{site.address}/", anything)
    assert (error.fault, error.fate) == (Fault.TIMEOUT, Fate.UNKNOWN)
    assert "was not done within 0.2 s" in str(error)
    await site.quiet()


async def test_redirects_share_one_limit(site: Site, client: Make, anything: Judge) -> None:
    """The whole time counts over all hops."""

    async def slowly(request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(0.1):
                await asyncio.Event().wait()
        except TimeoutError:
            await redirect("/")(request, writer)

    site.on("/", slowly)
    error = await failure(client(total=0.25), f"{site.address}/", anything)
    assert error.fault is Fault.TIMEOUT


async def test_a_name_server_that_is_silent_is_given_up(
    lookup: ScriptedLookup, anything: Judge
) -> None:
    """Looking a name up has a bound of its own, and proves that nothing was sent."""
    from lockgate.web.limits import Limits

    async def never(host: str) -> tuple[str, ...]:
        await asyncio.Event().wait()
        return ()

    fetching = WebClient(lookup=never, limits=Limits(lookup=0.05))
    error = await failure(fetching, "http://a.example.com/", anything)
    assert (error.fault, error.fate) == (Fault.TIMEOUT, Fate.NOT_SENT)


async def test_cancelled_it_hangs_up_at_once(
    site: Site, client: Make, anything: Judge, descriptors: Count
) -> None:
    """A cancellation passes through, before the headers and in the body, and the socket is gone."""
    site.on("/a", stuck(b"")).on("/b", stuck(HEAD + b"Content-Length: 9\r\n\r\nabc"))
    at_rest = descriptors()

    async def fetch(path: str) -> None:
        async with client().get(locate(site.address + path), allowed=anything) as response:
            await response.read(100)

    for number, path in enumerate(("/a", "/b"), start=1):
        task = asyncio.create_task(fetch(path))
        await site.heard(number)
        for _ in range(5):  # into the body, where there is one
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await site.quiet()
        assert descriptors() == at_rest


async def test_nothing_is_left_of_a_thousand_ways_to_end(
    site: Site, client: Make, anything: Judge, descriptors: Count
) -> None:
    """Read, half read, unread, refused, redirected, broken off: each leaves no descriptor."""
    site.on("/", answer(200, b"x" * 100_000)).on("/r", redirect("/")).on("/cut", raw(HEAD))
    site.on("/away", redirect("http://10.0.0.1:22/"))
    at_rest = descriptors()
    for path, size in (("/", 10**6), ("/", 10), ("/", 0), ("/r", 10**6)):
        for _ in range(20):
            async with client().get(locate(site.address + path), allowed=anything) as response:
                await response.read(size)
    for path in ("/cut", "/away"):
        for _ in range(20):
            await failure(client(), site.address + path, anything)
    await site.quiet()
    assert descriptors() == at_rest
