"""The calls of one model reply: made side by side, answered in order, one result for each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from lockgate.calls.call import Call, Suspended
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ErrorKind, ToolResult

Invoke: TypeAlias = Callable[[Call, Snapshot], Awaitable[ToolResult | Suspended]]
"""`Invoker.invoke`, or something around it."""

_AT_ONCE: Final = 8
"""Calls that start in one round of the loop. Between rounds an interrupt and the end of the turn's
time are heard, also where no call waits for anything."""

_log: Final = logging.getLogger("lockgate.calls")


async def run_batch(
    invoke: Invoke, calls: Sequence[Call], snapshot: Snapshot
) -> list[ToolResult | Suspended]:
    """Make `calls` on `snapshot`; the results come in the order of the calls, one for each.

    All of them start at once, in order: what may overlap does, what may not waits for its lane,
    and questions of one session are put one at a time, in the order of the calls. A refusal, a
    failure or an interrupt of one call never stops the others. A cancellation ends them all, is
    waited for, and passes through.
    """
    if len(calls) == 1:  # no task of its own
        return [await _made(invoke, calls[0], snapshot)]
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[ToolResult | Suspended]] = []
        for number, call in enumerate(calls, 1):
            tasks.append(group.create_task(_made(invoke, call, snapshot)))
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
    return [task.result() for task in tasks]


async def _made(invoke: Invoke, call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
    """One call, with whatever goes wrong as its result, so that the others go on."""
    try:
        return await invoke(call, snapshot)
    except Exception as error:  # noqa: BLE001 - a fault of ours is this call's result alone
        _log.error("call %s failed inside the road: %s", call.id, type(error).__name__)
        text = f"{call.name} could not be carried through: {type(error).__name__}"
        return ToolResult.error(ErrorKind.INTERNAL, text, reason="road_failed")
