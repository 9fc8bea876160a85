"""Functions that block, run in the pool of threads that whoever makes the call owns."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import Executor

from lockgate.errors import Fate
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.returned import as_result


async def in_thread(work: Callable[[], object], threads: Executor) -> ToolResult | Outcome:
    """Run `work` in `threads`; raises what it raises.

    Cancelled while it runs, the thread can not be stopped: it goes on, and the cancellation that
    passes here leaves the call's fate unknown to whoever waits.
    """
    try:
        future = threads.submit(_guarded, work)
    except RuntimeError:  # the pool is shut down
        text = "nothing was run: the runtime is closing"
        error = ToolResult.error(ErrorKind.INTERNAL, text, reason="closing")
        return Outcome(error, Fate.NOT_SENT)
    return as_result(await asyncio.wrap_future(future))


def _guarded(work: Callable[[], object]) -> object:
    """Call `work` so that whatever it raises can travel through a future."""
    try:
        value = work()
    except StopIteration as error:  # a future refuses to carry it, and would never end
        raise RuntimeError("the function raised StopIteration") from error
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError("the function returned a coroutine: declare it with async def")
    return value
