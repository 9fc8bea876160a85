"""Sending a person to log in: what is shown, what is opened, and how long it is waited for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lockgate.bridges.browser import has_browser
from lockgate.bridges.login import BrowserLogin
from lockgate.bridges.redirect import RedirectListener
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble

ADDRESS = "https://as.example/authorize?state=s1"


class Shown:
    """What a person was shown."""

    def __init__(self) -> None:
        self.all: list[tuple[str, bool]] = []
        self.news = asyncio.Event()

    def __call__(self, address: str, opened: bool) -> None:
        """Keep it."""
        self.all.append((address, opened))
        self.news.set()


async def test_the_answer_ends_the_waiting() -> None:
    """The browser is opened with exactly what is shown."""
    opened: list[str] = []
    shown = Shown()
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=shown, browse=lambda a: not opened.append(a))
        assert login.redirect_uri == listener.uri
        waiting = asyncio.create_task(login.answer(ADDRESS, "s1"))
        await shown.news.wait()
        await asyncio.sleep(0)
        assert listener.offer(f"{listener.uri}?code=abc&state=s1") is None
        async with asyncio.timeout(10):
            assert await waiting == "code=abc&state=s1"
    assert shown.all == [(ADDRESS, True)]
    assert opened in ([], [ADDRESS])  # whoever answers first needs none


async def test_a_browser_that_does_not_open_is_told() -> None:
    """Then the person opens it; one whose program hangs keeps nobody."""
    shown = Shown()
    hangs = threading.Event()
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=shown, browse=lambda _: False, within=10)
        waiting = asyncio.create_task(login.answer(ADDRESS, "s1"))
        async with asyncio.timeout(10):
            while len(shown.all) < 2:
                shown.news.clear()
                await shown.news.wait()
        assert shown.all == [(ADDRESS, True), (ADDRESS, False)]
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

        stuck = BrowserLogin(listener, show=shown, browse=lambda _: hangs.wait(30), within=0.01)
        with pytest.raises(OAuthTrouble):
            await stuck.answer(ADDRESS, "s1")
    hangs.set()


async def test_nobody_is_waited_for_without_end() -> None:
    """The error says how long it was, and that a person is needed."""
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=Shown(), within=0.06)
        with pytest.raises(OAuthTrouble, match=r"nobody logged in within 0\.001 minutes") as raised:
            await login.answer(ADDRESS, "s1")
    assert raised.value.need is Need.PERSON


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "as.example/authorize",
        "https://as.example/\x1b[2J",
        "https://as.example/\u202e",
    ],
)
async def test_nothing_but_a_page_is_opened(address: str) -> None:
    """Whatever an authorization server names: it would go to a program of the person's."""
    shown = Shown()
    opened: list[str] = []
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=shown, browse=lambda a: not opened.append(a))
        with pytest.raises(OAuthTrouble, match="a page that can not be opened"):
            await login.answer(address, "s1")
    assert shown.all == []
    assert opened == []


@pytest.mark.parametrize(
    ("environ", "platform", "found"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"BROWSER": "firefox"}, "linux", True),
        ({"SSH_CONNECTION": "a"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "a"}, "darwin", False),
        ({"SSH_CONNECTION": "a", "BROWSER": "open"}, "darwin", True),
    ],
)
def test_where_a_browser_would_open(environ: dict[str, str], platform: str, found: bool) -> None:
    """In a window that the person sees; never in the terminal that asks them."""
    assert has_browser(environ, platform=platform) is found
