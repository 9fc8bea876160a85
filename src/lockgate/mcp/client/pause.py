"""Waiting for a while, or until something makes waiting pointless."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Pause(Protocol):
    """How somebody waits between two tries; a test can let time pass as it likes."""

    async def __call__(self, seconds: float, early: asyncio.Event) -> None:
        """Return after `seconds`, or as soon as `early` is set. Does not clear it."""
        ...


async def pause(seconds: float, early: asyncio.Event) -> None:
    """`Pause` by the loop's own clock."""
    try:
        async with asyncio.timeout(seconds):
            await early.wait()
    except TimeoutError:
        return
