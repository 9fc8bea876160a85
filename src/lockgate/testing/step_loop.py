"""An event loop that counts what it does, so that a test can do something after the nth step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class StepLoop(asyncio.SelectorEventLoop):
    """Counts each callback: a step of a task from one await to the next is one of them.

    disarm = loop.after(17)(token.interrupt)    # once, when 17 more steps were done
    ...
    if not disarm(): ...                        # there were fewer

    For a turn that waits for nothing outside this loop, each number is the same moment each time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, list[Callable[[], object]]] = {}
        self._steps = 0

    def after(self, steps: int) -> Callable[[Callable[[], object]], Callable[[], bool]]:
        """Arms an action, to be called once so many steps from then are done; 0 is at the end of
        the running one. What it returns takes the action back, and says whether it was called."""

        def arm(action: Callable[[], object]) -> Callable[[], bool]:
            due = self._waiting.setdefault(self._steps + steps, [])
            due.append(action)

            def disarm() -> bool:
                if action in due:
                    due.remove(action)
                    return False
                return True

            return disarm

        return arm

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """As every loop, but counted."""
        return super().call_soon(self._counted, callback, args, context=context)

    def _counted(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        callback(*args)
        due = self._waiting.pop(self._steps, None)
        self._steps += 1
        while due:
            due.pop()()
