"""Prompts of a conversation: lines of standard input, read without blocking the loop."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator

import click


class Prompts:
    """Lines from standard input, one at a time, each after a prompt on a terminal.

    A thread reads, since a file can not be waited for; it is a daemon, so that a read which nobody
    wants any more does not keep the program from ending.
    """

    def __init__(self) -> None:
        self._wanted = threading.Semaphore(0)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._ended = False

    async def __aenter__(self) -> Prompts:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="lockgate-prompt", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended = True
        self._wanted.release()

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            if sys.stdin.isatty():
                click.echo("> ", nl=False, err=True)
            self._wanted.release()
            line = await self._lines.get()
            if line is None:
                return
            if line.strip():
                yield line.rstrip()

    def _read(self) -> None:
        while True:
            self._wanted.acquire()
            if self._ended:
                return
            line = sys.stdin.readline()
            try:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line or None)
            except RuntimeError:  # the loop has ended: nobody waits for a line
                return
            if not line:
                return
