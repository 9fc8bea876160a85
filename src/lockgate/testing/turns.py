"""Letting an event loop run what is ready, for tests that look at what is still waiting."""

from __future__ import annotations

import asyncio


async def turns(count: int = 10) -> None:
    """Let everything that can go on go on, for so many turns of the loop."""
    for _ in range(count):
        await asyncio.sleep(0)
