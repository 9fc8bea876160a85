"""Credentials that a program gets in its own way: one function, asked when they are needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from lockgate.errors import Fate, Fault, LockgateError, PeerError, Phase
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned

TokenFunction: TypeAlias = Callable[[Challenge | None], Awaitable[str | None]]
"""Returns the value of `Authorization`, such as `Bearer ...`, or None for none.

Asked before the first request with None, and with the refusal each time a server refuses what was
sent. It may take as long as a request may; what it raises fails the call, which was not sent.
"""

_SENDABLE: Final = re.compile(r"[\t\x20-\x7e]+")


class HandedTokens:
    """A `TokenSource` over a function of the program's own. Its `repr` holds no token."""

    def __init__(self, ask: TokenFunction, *, peer: str) -> None:
        """`peer` is the configured name of the server."""
        self.learned = Learned()
        """Every value that the function gave."""
        self._ask = ask
        self._peer = peer
        self._alone = asyncio.Lock()
        self._asked = False
        self._value: str | None = None

    async def authorization(self) -> str | None:
        """What the function gave last; asked first if it never was."""
        if not self._asked:
            async with self._alone:
                if not self._asked:
                    await self._renew(None)
        return self._value

    async def challenged(self, challenge: Challenge) -> bool:
        """Whether there is another value: who waited for the one that asked has it too."""
        async with self._alone:
            if self._value == challenge.used:
                await self._renew(challenge)
        return self._value is not None and self._value != challenge.used

    async def settle(self) -> None:
        """Nothing is under way that nobody waits for."""

    async def _renew(self, challenge: Challenge | None) -> None:
        try:
            value = await self._ask(challenge)
        except LockgateError:
            raise
        except Exception as error:
            # The program's own; its text may hold what it got.
            raise self._failed(f"failed ({type(error).__name__})") from error
        if value is not None and not (isinstance(value, str) and value.strip()):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may return anything
            raise self._failed("returned neither a text nor None")
        if value is not None and not _SENDABLE.fullmatch(value):
            raise self._failed("returned what no header can hold, such as a line end")
        self._value, self._asked = value, True
        if value is not None:
            self.learned.learn(value, value.partition(" ")[2])

    def _failed(self, what: str) -> PeerError:
        return PeerError(
            f"{self._peer}: the token source that this program handed in {what}",
            peer=self._peer,
            phase=Phase.CONNECT,
            fault=Fault.UNAUTHORIZED,
            fate=Fate.NOT_SENT,
        )

    def __repr__(self) -> str:
        return f"<HandedTokens of {self._peer}>"
