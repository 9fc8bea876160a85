"""What OAuth needs beside a server: a store in memory, and a person who agrees to everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.web.pool import Head, Pool
from lockgate.web.target import read_target

PAGES = 10
"""Redirects on the way back, at most."""
REDIRECT = "http://127.0.0.1:49152/callback"
"""Where nobody has to listen."""


class MemoryCredentials:
    """A `CredentialStore`. Several sources over one of them are as several processes."""

    def __init__(self) -> None:
        self.held: dict[Place, Credentials] = {}
        self.saves = 0
        """How often something was saved."""
        self.broken: ConfigError | None = None
        """What is raised by saving."""
        self._locks: dict[tuple[Place, bool], asyncio.Lock] = {}

    async def load(self, place: Place) -> Credentials:
        """What is kept."""
        return self.held.get(place, Credentials())

    async def save(self, place: Place, credentials: Credentials) -> None:
        """Keep it."""
        if self.broken is not None:
            raise self.broken
        self.saves += 1
        self.held[place] = credentials

    @asynccontextmanager
    async def exclusive(self, place: Place, *, login: bool = False) -> AsyncGenerator[None, None]:
        """One at a time."""
        async with self._locks.setdefault((place, login), asyncio.Lock()):
            yield

    @property
    def only(self) -> Credentials:
        """What is kept of the one server there is."""
        (held,) = self.held.values()
        return held


class PageLogin:
    """A `Login` without a browser: the page is fetched, and where it leads is the answer.

    `change` makes of the query that comes back another one: what an attacker would send.
    """

    def __init__(
        self, redirect_uri: str = REDIRECT, change: Callable[[str], str] = lambda query: query
    ) -> None:
        self.asked: list[str] = []
        """The addresses that were shown."""
        self._redirect_uri = redirect_uri
        self._change = change

    @property
    def redirect_uri(self) -> str:
        """Where the answer would be awaited."""
        return self._redirect_uri

    async def answer(self, address: str, state: str, *, issuer: str) -> str:
        """The query of the redirect. Raises `RuntimeError` if there is none."""
        self.asked.append(address)
        pool = Pool()
        status = 0
        try:
            target = read_target(address)
            for _ in range(PAGES):
                answer = await pool.ask(Head("GET", target, ()), ())
                where = answer.header("Location")
                status = answer.status
                answer.close()
                if where.partition("?")[0] == self._redirect_uri:
                    return self._change(urlsplit(where).query)
                if not where:
                    break
                target = target.joined(where)
        finally:
            await pool.close()
        raise RuntimeError(f"the page did not lead back; the last answer was {status}")
