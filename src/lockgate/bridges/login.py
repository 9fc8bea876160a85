"""A person who logs in with a browser: on this machine, or on another one and by hand."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from lockgate.bridges.redirect import RedirectListener
from lockgate.bridges.tty import Terminal
from lockgate.bridges.visit import login_marks
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.showing import visible
from lockgate.stores.beside import beside
from lockgate.web.location import LocationError

Show: TypeAlias = Callable[[str, bool, tuple[str, ...]], None]
"""Shows the address of a log-in; see `BrowserLogin`."""

WITHIN: Final = 300.0
"""Seconds that a person has."""
_PROMPT: Final = "Waiting. Or paste the address that your browser ends at: "
_DOUBT: Final = "Open it in your browser all the same? [y/N]: "
_SCHEMES: Final = frozenset({"https", "http"})


class BrowserLogin:
    """The `mcp.client.oauth.login.Login` of the command line."""

    def __init__(
        self,
        listener: RedirectListener,
        *,
        show: Show,
        browse: Callable[[str], bool] | None = None,
        terminal: Terminal | None = None,
        trusted: Iterable[str] = (),
        within: float = WITHIN,
    ) -> None:
        """`listener` is open. `show` is given the address, whether a browser is opened with it by
        `browse`, which says whether that worked (None: the person opens it themselves), and what
        is to be known of it first: then nothing is opened without a yes. On `terminal` they say
        that, may paste the address they end at, and press Ctrl+C. `trusted` are addresses that
        they wrote: of a page there nothing has to be said."""
        self._listener = listener
        self._show = show
        self._browse = browse
        self._terminal = terminal
        self._trusted = tuple(trusted)
        self._within = within

    @property
    def redirect_uri(self) -> str:
        """Where the browser comes back to."""
        return self._listener.uri

    async def answer(self, address: str, state: str, *, issuer: str) -> str:
        """Show `address`, and wait for the answer to it; see `Login.answer`."""
        # It goes to whatever program opens addresses: nothing but a page may be behind it.
        if urlsplit(address).scheme not in _SCHEMES or visible(address) != address:
            raise OAuthTrouble("its authorization server names a page that can not be opened")
        try:
            marks = login_marks(address, issuer, self._trusted)
        except LocationError as error:
            text = f"its authorization server names a page that can not be opened: {error}"
            raise OAuthTrouble(text) from None
        asks = bool(marks) and self._browse is not None and self._terminal is not None
        opens = self._browse is not None and not marks
        self._show(address, opens, marks)
        answered = asyncio.create_task(self._listener.answer(state), name="lockgate-redirect")
        others: list[asyncio.Task[None]] = []
        if opens:
            others.append(asyncio.create_task(self._open(address), name="lockgate-browser"))
        if self._terminal is not None:
            talk = self._talk(self._terminal, address if asks else None)
            others.append(asyncio.create_task(talk, name="lockgate-paste"))
        clock = asyncio.timeout(self._within)
        try:
            async with clock:
                return await answered
        except TimeoutError:
            if not clock.expired():
                raise
            text = f"nobody logged in within {self._within / 60:g} minutes"
            raise OAuthTrouble(text, Need.PERSON) from None
        finally:
            for task in (answered, *others):
                task.cancel()
            await asyncio.gather(answered, *others, return_exceptions=True)

    async def _open(self, address: str) -> None:
        browse = self._browse
        if browse is not None and not await beside(lambda: browse(address), name="browser"):
            self._show(address, False, ())

    async def _talk(self, terminal: Terminal, doubtful: str | None) -> None:
        """Ask whether a `doubtful` address is to be opened; then take the one that is pasted."""
        opening: asyncio.Task[None] | None = None
        word: str | None = ""
        try:
            if doubtful is not None:
                word = await terminal.ask(_DOUBT)
                if word is not None and word.casefold() in ("y", "yes"):
                    opening = asyncio.create_task(self._open(doubtful), name="lockgate-browser")
                elif word is not None:
                    await terminal.show("It is not opened; Ctrl+C gives up.\n")
            while word is not None and (line := await terminal.ask(_PROMPT)) is not None:
                if not line:
                    continue
                problem = self._listener.offer(line)
                if problem is None:
                    return
                await terminal.show(f"{visible(problem)}\n")
        except OSError:
            return  # the terminal is gone; the browser may come back still
        except asyncio.CancelledError:
            terminal.show_now("\n")  # what is said next begins its own line
            raise
        finally:
            if opening is not None:
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
        # The line was read with Ctrl+C as a character: here it means what it means elsewhere.
        signal.raise_signal(signal.SIGINT)
