"""Being told of an end, by a descriptor or by a thread; neither reaps."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable

import pytest

from lockgate.process.watch import PidfdWatch, Process, ThreadWatch, Watch, watch
from lockgate.testing.belongings import eventually

Make = Callable[[Process, Callable[[], None]], Watch]


def by_pidfd(process: Process, ended: Callable[[], None]) -> Watch:
    """The one for Linux."""
    return PidfdWatch(process.pid, ended)


@pytest.fixture(params=[by_pidfd, ThreadWatch])
def make(request: pytest.FixtureRequest) -> Make:
    """Each way to watch."""
    return request.param


@pytest.fixture
def process() -> Process:
    """A process that waits to be killed."""
    return subprocess.Popen(["sleep", "600"])


async def test_the_end_is_told_and_not_reaped(make: Make, process: Process) -> None:
    """Its id stays its own until the owner has reaped it."""
    told = asyncio.Event()
    watching = make(process, told.set)
    process.kill()
    async with asyncio.timeout(5):
        await told.wait()
    assert _has_ended(process)
    assert process.poll() == -signal.SIGKILL
    watching.stop()
    watching.stop()


async def test_an_end_before_watching_is_told_too(make: Make, process: Process) -> None:
    """A child may be gone before anyone looks."""
    process.kill()
    await eventually(lambda: _has_ended(process))
    told = asyncio.Event()
    watching = make(process, told.set)
    async with asyncio.timeout(5):
        await told.wait()
    watching.stop()
    process.wait()


async def test_nothing_is_told_after_stopping(make: Make, process: Process) -> None:
    """Who stopped watching is left alone."""
    told: list[int] = []
    make(process, lambda: told.append(1)).stop()
    process.kill()
    process.wait()
    for thread in threading.enumerate():
        if thread.name.endswith(f"-{process.pid}"):
            thread.join(5)
    await asyncio.sleep(0)
    assert told == []


async def test_linux_needs_no_thread(process: Process) -> None:
    """Where there are pidfds they are used."""
    watching = watch(process, lambda: None)
    assert isinstance(watching, PidfdWatch)
    watching.stop()
    process.kill()
    process.wait()


def _has_ended(process: Process) -> bool:
    """Whether it can be reaped, without doing it."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
