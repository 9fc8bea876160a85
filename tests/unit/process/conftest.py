"""A listener that keeps what it is told, and children that are closed after the test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.process.child import Child, Grace
from lockgate.process.program import Program


class Ear:
    """A `Listener` that keeps everything and lets a test wait."""

    def __init__(self) -> None:
        self.out = {1: b"", 2: b""}
        self.pieces: list[int] = []
        self.lost: list[int] = []
        self.exits = 0
        self.full = False
        self._news = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.out[fd] += data
        self.pieces.append(len(data))
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.lost.append(fd)
        self._news.set()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._news.set()

    def process_exited(self) -> None:
        self.exits += 1
        self._news.set()

    async def until(self, condition: Callable[[], bool], timeout: float = 10) -> None:
        """Wait for something that comes with any of the events above."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def line(self, fd: int = 1) -> str:
        """Wait for the first whole line of an output."""
        await self.until(lambda: b"\n" in self.out[fd])
        return self.out[fd].split(b"\n")[0].decode()


Start: TypeAlias = Callable[..., Awaitable[tuple[Child, Ear]]]


@pytest.fixture
async def start() -> AsyncGenerator[Start, None]:
    """Start `command, *args`; short grace, everything closed after the test."""
    children: list[Child] = []

    async def begin(
        command: str,
        *args: str,
        grace: Grace | None = None,
        cwd: Path | None = None,
        reads: bool = True,
    ) -> tuple[Child, Ear]:
        ear = Ear()
        program = Program("a program", command, args, dict(os.environ), cwd, reads)
        child = await Child.start(program, ear, grace or Grace(0.2, 5))
        children.append(child)
        return child, ear

    yield begin
    for child in children:
        await child.close()
