"""Seeing an ending through: clean-up that a cancellation must not cut off."""

from __future__ import annotations

import asyncio


async def outlast(task: asyncio.Task[None]) -> None:
    """Wait for the end of `task`, however often we are cancelled; then pass that on.

    The task must be bounded. Raises what it raised.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
