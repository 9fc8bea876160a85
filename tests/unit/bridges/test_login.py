"""Sending a person to log in: what is shown, what is opened, and how long it is waited for."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Protocol

import pytest

from lockgate.bridges.browser import has_browser
from lockgate.bridges.login import BrowserLogin
from lockgate.bridges.redirect import RedirectListener
from lockgate.bridges.tty import open_terminal
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble

ISSUER = "https://as.example"
ADDRESS = "https://as.example/authorize?state=s1"


class Person(Protocol):
    """Someone at a terminal of their own."""

    device: Path

    def type(self, text: str) -> None:
        """Press keys."""
        ...

    async def see(self, text: str) -> str:
        """Wait until it is shown."""
        ...


class Shown:
    """What a person was shown."""

    def __init__(self) -> None:
        self.all: list[tuple[str, bool]] = []
        self.marks: list[str] = []
        self.news = asyncio.Event()

    def __call__(self, address: str, opened: bool, marks: tuple[str, ...]) -> None:
        """Keep it."""
        self.all.append((address, opened))
        self.marks += marks
        self.news.set()


async def test_the_answer_ends_the_waiting() -> None:
    """The browser is opened with exactly what is shown."""
    opened: list[str] = []
    shown = Shown()
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=shown, browse=lambda a: not opened.append(a))
        assert login.redirect_uri == listener.uri
        waiting = asyncio.create_task(login.answer(ADDRESS, "s1", issuer=ISSUER))
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
        waiting = asyncio.create_task(login.answer(ADDRESS, "s1", issuer=ISSUER))
        async with asyncio.timeout(10):
            while len(shown.all) < 2:
                shown.news.clear()
                await shown.news.wait()
        assert shown.all == [(ADDRESS, True), (ADDRESS, False)]
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

        stuck = BrowserLogin(listener, show=shown, browse=lambda _: hangs.wait(30), within=0.01)
        with pytest.raises(OAuthTrouble):
            await stuck.answer(ADDRESS, "s1", issuer=ISSUER)
    hangs.set()


async def test_nobody_is_waited_for_without_end() -> None:
    """The error says how long it was, and that a person is needed."""
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=Shown(), within=0.06)
        with pytest.raises(OAuthTrouble, match=r"nobody logged in within 0\.001 minutes") as raised:
            await login.answer(ADDRESS, "s1", issuer=ISSUER)
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
            await login.answer(address, "s1", issuer=ISSUER)
    assert shown.all == []
    assert opened == []


@pytest.mark.parametrize(("word", "opens"), [("y", True), ("", False), ("no", False)])
async def test_a_page_that_may_deceive_is_opened_after_a_yes(
    person: Person, word: str, opens: bool
) -> None:
    """What there is to be known stands before the question."""
    shown, opened = Shown(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def browse(address: str) -> bool:
        assert address == ADDRESS
        loop.call_soon_threadsafe(opened.set)
        return True

    terminal = open_terminal(person.device)
    assert terminal is not None
    async with RedirectListener() as listener:
        login = BrowserLogin(listener, show=shown, browse=browse, terminal=terminal)
        waiting = asyncio.create_task(login.answer(ADDRESS, "s1", issuer="https://other.example"))
        await person.see("all the same? [y/N]: ")
        assert shown.all == [(ADDRESS, False)]
        assert "not the one of its authorization server" in shown.marks[0]
        assert not opened.is_set()
        person.type(f"{word}\n")
        await person.see("paste the address")
        if opens:
            async with asyncio.timeout(10):
                await opened.wait()
        person.type(f"{listener.uri}?code=abc&state=s1\n")
        async with asyncio.timeout(10):
            assert await waiting == "code=abc&state=s1"
    assert opened.is_set() is opens
    terminal.close()


async def test_a_page_that_may_deceive_is_not_opened_where_nobody_can_say_yes() -> None:
    """Its address is shown all the same: whoever sees it decides."""
    shown = Shown()
    opened: list[str] = []
    async with RedirectListener() as listener:
        login = BrowserLogin(
            listener, show=shown, browse=lambda a: not opened.append(a), within=0.05
        )
        with pytest.raises(OAuthTrouble):
            await login.answer(ADDRESS, "s1", issuer="https://other.example")
        mine = BrowserLogin(
            listener,
            show=shown,
            browse=lambda a: not opened.append(a),
            trusted=["https://as.example/mcp"],
            within=1,
        )
        waiting = asyncio.create_task(mine.answer(ADDRESS, "s2", issuer="https://other.example"))
        async with asyncio.timeout(10):
            while len(shown.all) < 2:
                shown.news.clear()
                await shown.news.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert shown.all == [(ADDRESS, False), (ADDRESS, True)]
    assert len(shown.marks) == 1


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
