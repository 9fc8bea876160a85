"""Where a browser comes back to after a login: one page on this machine, for one answer.

It listens on 127.0.0.1 alone, for one path (RFC 8252, 7.3). A request counts if it names the state
of this login; any other, a stray page's among them, is refused and changes nothing. The browser is
kept waiting until it is known what came of the login, so that the page says what is so.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from lockgate.bridges.redirect_page import Page, rendered
from lockgate.errors import ConfigError, Problem

HOST: Final = "127.0.0.1"
PATH: Final = "/callback"
MAX_HEAD: Final = 16 * 1024
"""Bytes of a request; the head of an answer with a code takes a thousandth of that."""
MAX_ADDRESS: Final = 8 * 1024
"""Characters of an address that comes back."""
HEAD_WITHIN: Final = 10.0
"""Seconds that a browser has for its request, and to take its page."""
PAGE_WITHIN: Final = 60.0
"""Seconds that a browser is kept waiting for what came of it."""
_MAX_OPEN: Final = 32
"""Connections at a time; for one more the one that has been silent for longest is closed."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The head of one request."""

    method: str
    target: str
    host: str


class RedirectListener:
    """One page at an address of this machine, open within `async with`."""

    def __init__(self, *, port: int = 0) -> None:
        """`port` 0 takes a free one."""
        self._wanted = port
        self._port = port
        self._server: asyncio.Server | None = None
        self._state: str | None = None
        self._outcome: asyncio.Future[Page]
        self._answer: asyncio.Future[str]
        self._open: set[asyncio.Task[None]] = set()
        self._silent: dict[asyncio.Task[None], None] = {}
        """Those that have not made their request yet, the oldest first."""

    @property
    def uri(self) -> str:
        """The address to be sent back to."""
        return f"http://{HOST}:{self._port}{PATH}"

    async def __aenter__(self) -> RedirectListener:
        """Raises `ConfigError` if the port can not be listened at."""
        loop = asyncio.get_running_loop()
        self._answer, self._outcome = loop.create_future(), loop.create_future()
        try:
            self._server = await asyncio.start_server(
                self._accept, HOST, self._wanted, limit=MAX_HEAD
            )
        except OSError as error:
            raise ConfigError(_not_open(self._wanted, error)) from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Nothing listens any more; who waits for a page is told that nothing came of it."""
        if self._server is not None:
            self._server.close()
        if not self._outcome.done():
            self._outcome.set_result(Page.ended())
        # A page is a few hundred bytes: who does not take it in time is cut off.
        if self._open:
            _served, late = await asyncio.wait(self._open, timeout=1.0)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def answer(self, state: str) -> str:
        """The query that the browser was sent here with, as it came: the first with this state."""
        self._state = state
        return await asyncio.shield(self._answer)

    def offer(self, address: str) -> str | None:
        """Take an address that a person copied out of their browser; why not, if it is none."""
        try:
            parts = urlsplit(address.strip())
        except ValueError:
            return "that is no address"
        if parts.path != PATH or parts.hostname not in (HOST, "localhost") or not parts.query:
            return f"that is not the address it ends at, which begins with {self.uri}?"
        if len(parts.query) > MAX_ADDRESS:
            return "that address is too long"
        if not self._is_expected(parts.query):
            return "that address belongs to another login"
        self._take(parts.query)
        return None

    def tell(self, page: Page) -> None:
        """What the browser is shown in the end; the first counts."""
        if not self._outcome.done():
            self._outcome.set_result(page)

    # -------------------------------------------------------------- one request

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or not self._has_room():
            writer.transport.abort()
            return
        self._open.add(task)
        self._silent[task] = None
        try:
            async with asyncio.timeout(HEAD_WITHIN):
                asked = await _head(reader)
            self._silent.pop(task, None)
            await self._serve(asked, writer)
        except (OSError, TimeoutError):
            pass  # the browser went away: it can ask again
        finally:
            self._open.discard(task)
            self._silent.pop(task, None)
            writer.close()

    def _has_room(self) -> bool:
        """Whether there is room for one more: any program here can hold connections open, and the
        browser has to get through all the same."""
        if len(self._open) < _MAX_OPEN:
            return True
        oldest = next(iter(self._silent), None)
        if oldest is None:
            return False
        del self._silent[oldest]
        self._open.discard(oldest)
        oldest.cancel()
        return True

    async def _serve(self, asked: _Asked | None, writer: asyncio.StreamWriter) -> None:
        page = self._judged(asked)
        if page is None:
            try:
                async with asyncio.timeout(PAGE_WITHIN):
                    page = await asyncio.shield(self._outcome)
            except TimeoutError:
                page = Page.ended()
        async with asyncio.timeout(HEAD_WITHIN):
            writer.write(rendered(page, head_only=asked is not None and asked.method == "HEAD"))
            await writer.drain()

    def _judged(self, asked: _Asked | None) -> Page | None:
        """The page for a request that is no answer; None for one that is."""
        if asked is None:
            return Page.refused(400, "This is no request that lockgate understands.")
        if asked.host not in (f"{HOST}:{self._port}", f"localhost:{self._port}"):
            # A page of a stranger, under a name that was made to lead here.
            return Page.refused(400, "Nothing is served here under that name.")
        path, _, query = asked.target.partition("?")
        if path != PATH:
            return Page.refused(404, "There is nothing here.")
        if asked.method != "GET":
            return Page.refused(405, "Only GET is answered here.")
        if len(query) > MAX_ADDRESS or not self._is_expected(query):
            return Page.refused(400, "This is no answer to the login that is going on.")
        if self._answer.done():
            return Page.refused(409, "This login was answered already.")
        self._take(query)
        return None

    def _is_expected(self, query: str) -> bool:
        try:
            values = [
                value for name, value in parse_qsl(query, max_num_fields=50) if name == "state"
            ]
        except ValueError:
            return False
        if not self._state or len(values) != 1:
            return False
        return hmac.compare_digest(values[0].encode(), self._state.encode())

    def _take(self, query: str) -> None:
        if not self._answer.done():
            self._answer.set_result(query)


async def _head(reader: asyncio.StreamReader) -> _Asked | None:
    """The head of a request; None for what is none."""
    try:
        data = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = data[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    hosts = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")]
    return _Asked(words[0], words[1], hosts[0].lower() if len(hosts) == 1 else "")


def _not_open(port: int, error: OSError) -> Problem:
    if error.errno == errno.EADDRINUSE:
        hint = "end the program that has it, another login perhaps, or take another redirectPort"
        return Problem(f"port {port} of this machine is in use", hint=hint)
    if error.errno == errno.EACCES:
        return Problem(f"port {port} may not be listened at", hint="take one over 1023")
    reason = error.strerror or type(error).__name__
    return Problem(f"port {port} of this machine can not be listened at: {reason}")
