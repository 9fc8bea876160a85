"""A listener that keeps what it is told, and lets a test wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lockgate.mcp.host.events import SERVER_STATE, TOOLS_CHANGED

PATIENCE = 5.0
"""Seconds after which what was not told is not waited for any longer."""


class HeardEvents:
    """Hand it in among the `listeners`; what servers and the host say is in `events`."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.events: list[tuple[str, str, Any]] = []
        """(server, method, params), in order."""
        self._waiting: list[tuple[Callable[[], bool], asyncio.Event]] = []

    def __call__(self, server: str, method: str, params: Any) -> None:
        """See `Listener`."""
        self.events.append((server, method, params))
        for over, event in self._waiting:
            if over():
                event.set()

    @property
    def methods(self) -> list[str]:
        """The methods, in order."""
        return [method for _, method, _ in self.events]

    @property
    def states(self) -> list[str]:
        """The states that the host told, in order."""
        return [params["state"] for _, method, params in self.events if method == SERVER_STATE]

    @property
    def changes(self) -> list[dict[str, list[str]]]:
        """What the host told of tools, in order."""
        return [params for _, method, params in self.events if method == TOOLS_CHANGED]

    async def until(self, over: Callable[[], bool]) -> None:
        """Wait until something was told with which `over` holds.

        Raises AssertionError when its patience is over, with what was told.
        """
        if over():
            return
        entry = over, asyncio.Event()
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(PATIENCE):
                await entry[1].wait()
        except TimeoutError:
            raise AssertionError(f"waited in vain; told was {self.events}") from None
        finally:
            self._waiting.remove(entry)

    async def state(self, *states: str) -> None:
        """Wait until exactly these states were told, in this order."""
        await self.until(lambda: self.states == list(states))

    async def changed(self, count: int = 1) -> dict[str, list[str]]:
        """Wait for so many changes of tools; the last of them."""
        await self.until(lambda: len(self.changes) >= count)
        return self.changes[count - 1]
