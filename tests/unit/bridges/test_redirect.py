"""The page that a browser comes back to: what counts as an answer, and what nobody else can do."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from lockgate.bridges.redirect import MAX_HEAD, RedirectListener
from lockgate.bridges.redirect_page import Page
from lockgate.errors import ConfigError

STATE = "st4te"
ANSWER = f"code=abc&state={STATE}&iss=https%3A%2F%2Fas.example"


@pytest.fixture
async def listener() -> AsyncIterator[RedirectListener]:
    """One that is open."""
    async with RedirectListener() as found:
        yield found


async def ask(listener: RedirectListener, head: str) -> str:
    """What one request gets; `head` without its end. The host's own header is added."""
    at = urlsplit(listener.uri)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    if "\nHost:" not in head:
        head += f"\r\nHost: {at.netloc}"
    writer.write(f"{head}\r\n\r\n".encode())
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer.decode()


async def waiting(listener: RedirectListener) -> asyncio.Task[str]:
    """A login that waits for its answer."""
    task = asyncio.create_task(listener.answer(STATE))
    await asyncio.sleep(0)
    return task


async def test_the_answer_is_handed_on_as_it_came(listener: RedirectListener) -> None:
    """And the page says what came of it, once that is known, and is fit for a browser."""
    login = await waiting(listener)
    browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    async with asyncio.timeout(10):
        assert await login == ANSWER
    assert not browser.done()
    listener.tell(Page.worked("crm"))
    async with asyncio.timeout(10):
        page = await browser
    head, _, body = page.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\n")
    assert "lockgate is logged in to crm. You can close this page." in body
    for line in (
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors"
        " 'none'; base-uri 'none'; form-action 'none'",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Connection: close",
    ):
        assert line in head.split("\r\n")
    assert f"Content-Length: {len(body.encode())}" in head
    assert "<script" not in body
    assert "http" not in body.replace("</html>", "")  # nothing is fetched


async def test_a_failure_is_told_on_the_page(listener: RedirectListener) -> None:
    """Shown, never obeyed."""
    login = await waiting(listener)
    browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    await login
    listener.tell(Page.failed("crm: <b>no</b>\x1b[2J" + "x" * 2000))
    page = await browser
    assert "&lt;b&gt;no&lt;/b&gt;\\x1b[2J" in page
    assert "Not logged in" in page
    assert len(page) < 3000


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /callback?code=abc&state=other HTTP/1.1", 400),
        ("GET /callback?code=abc HTTP/1.1", 400),
        (f"GET /callback?state={STATE}&state={STATE} HTTP/1.1", 400),
        (f"GET /callback?state={STATE}&code={'x' * 9000} HTTP/1.1", 400),
        (f"GET /callback?{'&'.join('a=b' for _ in range(60))}&state={STATE} HTTP/1.1", 400),
        (f"GET /callback/?{ANSWER} HTTP/1.1", 404),
        (f"GET /?{ANSWER} HTTP/1.1", 404),
        ("GET /favicon.ico HTTP/1.1", 404),
        (f"POST /callback?{ANSWER} HTTP/1.1", 405),
        (f"HEAD /callback?{ANSWER} HTTP/1.1", 405),
        (f"GET /callback?{ANSWER} HTTP/1.1\r\nHost: evil.example", 400),
        (f"GET /callback?{ANSWER} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nHost: x", 400),
        ("nonsense", 400),
        ("GET /callback", 400),
    ],
)
async def test_what_is_no_answer_changes_nothing(
    listener: RedirectListener, head: str, status: int
) -> None:
    """A stranger's page can ask for it as often as it likes: the login goes on."""
    login = await waiting(listener)
    answer = await ask(listener, head)
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert not login.done()
    browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    assert await login == ANSWER
    listener.tell(Page.worked("crm"))
    await browser


async def test_an_error_of_the_authorization_server_is_an_answer(
    listener: RedirectListener,
) -> None:
    """What it means is for the flow to say, which knows who has to have sent it."""
    login = await waiting(listener)
    query = f"error=access_denied&state={STATE}"
    browser = asyncio.create_task(ask(listener, f"GET /callback?{query} HTTP/1.1"))
    assert await login == query
    listener.tell(Page.failed("No."))
    await browser


async def test_one_login_has_one_answer(listener: RedirectListener) -> None:
    """The second is told so."""
    login = await waiting(listener)
    first = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    await login
    assert (await ask(listener, f"GET /callback?{ANSWER} HTTP/1.1")).startswith("HTTP/1.1 409 ")
    listener.tell(Page.worked("crm"))
    assert (await first).startswith("HTTP/1.1 200 ")


async def test_nothing_counts_before_a_login_begins(listener: RedirectListener) -> None:
    """An empty state is nobody's."""
    for query in (ANSWER, "state=&code=a", "code=a"):
        answer = await ask(listener, f"GET /callback?{query} HTTP/1.1")
        assert answer.startswith("HTTP/1.1 400 ")


async def test_who_says_nothing_holds_nothing_up(listener: RedirectListener) -> None:
    """Connections without a request, and one with far too much."""
    at = urlsplit(listener.uri)
    idle = [await asyncio.open_connection(at.hostname, at.port) for _ in range(5)]
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(b"GET /callback HTTP/1.1\r\nX: " + b"a" * (2 * MAX_HEAD))
    async with asyncio.timeout(10):
        assert (await reader.read(12)) == b"HTTP/1.1 400"
    login = await waiting(listener)
    browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    async with asyncio.timeout(10):
        assert await login == ANSWER
    listener.tell(Page.worked("crm"))
    await browser
    for _, each in (*idle, (reader, writer)):
        each.close()


async def test_connections_that_are_held_open_do_not_keep_the_browser_out(
    listener: RedirectListener,
) -> None:
    """However many there are: the one that was silent for longest makes room."""
    at = urlsplit(listener.uri)
    login = await waiting(listener)
    idle = [await asyncio.open_connection(at.hostname, at.port) for _ in range(300)]
    browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
    async with asyncio.timeout(10):
        assert await login == ANSWER
        first, _ = idle[0]
        assert await first.read() == b""
    listener.tell(Page.worked("crm"))
    assert (await browser).startswith("HTTP/1.1 200 ")
    for _, each in idle:
        each.close()


async def test_it_listens_on_this_machine_alone_and_not_for_long() -> None:
    """On the loopback address; afterwards the port is free, and who waits is told so."""
    async with RedirectListener() as listener:
        at = urlsplit(listener.uri)
        assert (at.scheme, at.hostname, at.path) == ("http", "127.0.0.1", "/callback")
        login = await waiting(listener)
        browser = asyncio.create_task(ask(listener, f"GET /callback?{ANSWER} HTTP/1.1"))
        await login
    assert "The login was ended before it was done." in await browser
    with pytest.raises(OSError, match=r"refused|Connect"):
        await asyncio.open_connection(at.hostname, at.port)
    assert at.port is not None
    async with RedirectListener(port=at.port) as again:
        assert again.uri == listener.uri


async def test_a_port_in_use_is_told() -> None:
    """With what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} of this machine is in use") as raised:
            async with RedirectListener(port=port):
                pytest.fail("it listens")
    assert "redirectPort" in str(raised.value)


async def test_an_address_that_was_copied_counts_as_well(listener: RedirectListener) -> None:
    """From a browser on another machine, where the page did not load."""
    login = await waiting(listener)
    other_host = listener.uri.replace("127.0.0.1", "localhost")
    for wrong in (
        "hello",
        "https://as.example/authorize?x=y",
        listener.uri,
        f"{listener.uri}?code=abc&state=other",
        f"{listener.uri}?code={'x' * 9000}&state={STATE}",
        "http://[",
    ):
        assert listener.offer(wrong)
        assert not login.done()
    assert listener.offer(f"  {other_host}?{ANSWER}\n") is None
    async with asyncio.timeout(10):
        assert await login == ANSWER
