"""What this process holds, so that a test can see that nothing of it was left behind. Linux."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

SETTLE = 2.0
"""Seconds in which the loop and the kernel may finish what was already ended."""


@dataclass(frozen=True, slots=True)
class Belongings:
    """Descriptors, children, tasks and threads at one moment."""

    descriptors: int
    """Open file descriptors, sockets among them."""
    children: frozenset[int]
    """Process ids of children that are not reaped."""
    tasks: int
    """Tasks of the running loop."""
    threads: int = 0
    """Threads of lockgate's own; those of the loop and of other libraries are theirs."""

    @classmethod
    def now(cls) -> Belongings:
        """Look at this process and the running loop."""
        return cls(
            descriptors=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - a count, not paths
            children=frozenset(_children(os.getpid())),
            tasks=len(asyncio.all_tasks()),
            threads=sum(one.name.startswith("lockgate") for one in threading.enumerate()),
        )

    def more_than(self, before: Belongings) -> tuple[str, ...]:
        """What is here now and was not `before`, in words."""
        found: list[str] = []
        if self.descriptors > before.descriptors:
            found.append(f"{self.descriptors - before.descriptors} descriptors")
        if self.children - before.children:
            found.append(f"children {sorted(self.children - before.children)}")
        if self.tasks > before.tasks:
            found.append(f"{self.tasks - before.tasks} tasks")
        if self.threads > before.threads:
            found.append(f"{self.threads - before.threads} threads")
        return tuple(found)


def _children(parent: int) -> Iterator[int]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are what is wanted
        if name.isdecimal() and _status(int(name))[1:2] == [str(parent)]:
            yield int(name)


def _status(pid: int) -> list[str]:
    """State, parent and so on of a process; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


async def left_since(before: Belongings) -> tuple[str, ...]:
    """What is left of all that came after `before`, once the loop had time to finish; best ()."""
    try:
        await eventually(lambda: not Belongings.now().more_than(before), timeout=SETTLE)
    except TimeoutError:
        return Belongings.now().more_than(before)
    return ()


async def eventually(condition: Callable[[], bool], *, timeout: float = 10) -> None:
    """Wait for something that only looking tells, such as the end of a grandchild.

    Raises TimeoutError.
    """
    async with asyncio.timeout(timeout):
        while not condition():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.005)


@asynccontextmanager
async def nothing_left() -> AsyncGenerator[None]:
    """What the block begins is over when it ends, or AssertionError says what is not."""
    before = Belongings.now()
    yield
    if left := await left_since(before):
        raise AssertionError(f"left behind: {', '.join(left)}")


def members_of(group: int) -> tuple[int, ...]:
    """The processes of a group that have not ended."""
    return tuple(
        int(name)
        for name in os.listdir("/proc")  # noqa: PTH208 - names are what is wanted
        if name.isdecimal() and alive(int(name)) and _status(int(name))[2:3] == [str(group)]
    )


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not reaped does not."""
    return _status(pid)[:1] not in ([], ["Z"], ["X"])
