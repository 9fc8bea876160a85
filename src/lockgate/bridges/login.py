"""A person who logs in with a browser: on this machine, or on another one and by hand."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from lockgate.bridges.redirect import RedirectListener
from lockgate.bridges.tty import Terminal
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.showing import visible
from lockgate.stores.beside import beside

WITHIN: Final = 300.0
"""Seconds that a person has."""
_PROMPT: Final = "Waiting. Or paste the address that your browser ends at: "
_SCHEMES: Final = frozenset({"https", "http"})


class BrowserLogin:
    """The `mcp.client.oauth.login.Login` of the command line."""

    def __init__(
        self,
        listener: RedirectListener,
        *,
        show: Callable[[str, bool], None],
        browse: Callable[[str], bool] | None = None,
        terminal: Terminal | None = None,
        within: float = WITHIN,
    ) -> None:
        """`listener` is open. `show` is given the address, and whether a browser is opened with
        it by `browse`, which says whether that worked; None: the person opens it themselves. On
        `terminal` they may paste the address they end at, and press Ctrl+C."""
        self._listener = listener
        self._show = show
        self._browse = browse
        self._terminal = terminal
        self._within = within

    @property
    def redirect_uri(self) -> str:
        """Where the browser comes back to."""
        return self._listener.uri

    async def answer(self, address: str, state: str) -> str:
        """Show `address`, and wait for the answer to it; see `Login.answer`."""
        # It goes to whatever program opens addresses: nothing but a page may be behind it.
        if urlsplit(address).scheme not in _SCHEMES or visible(address) != address:
            raise OAuthTrouble("its authorization server names a page that can not be opened")
        self._show(address, self._browse is not None)
        answered = asyncio.create_task(self._listener.answer(state), name="lockgate-redirect")
        others = [asyncio.create_task(self._open(address), name="lockgate-browser")]
        if self._terminal is not None:
            others.append(asyncio.create_task(self._pasted(self._terminal), name="lockgate-paste"))
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
            self._show(address, False)

    async def _pasted(self, terminal: Terminal) -> None:
        try:
            while (line := await terminal.ask(_PROMPT)) is not None:
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
        terminal.show_now("\n")
        # The line was read with Ctrl+C as a character: here it means what it means elsewhere.
        signal.raise_signal(signal.SIGINT)
