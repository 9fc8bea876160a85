"""Work that may hang, in a thread that nobody waits for at the end of the program."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def beside(work: Callable[[], T], *, name: str) -> T:
    """What `work` returns or raises; the loop goes on meanwhile, and the caller bounds the time.

    The thread is a daemon: one that hangs in another program's library is left behind and does not
    keep this program from ending. Cancelled, the work goes on by itself to its end.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # pyright: ignore[reportArgumentType] - None is a T here, or an error is there

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
            failed = error
        try:
            loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:  # the loop has ended: nobody waits
            pass

    threading.Thread(target=run, name=f"lockgate-{name}", daemon=True).start()
    return await done
