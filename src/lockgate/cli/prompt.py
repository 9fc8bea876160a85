"""Prompts of a conversation: lines of standard input, read without blocking the loop.

On a terminal one reads at a time. While a question is open (a sub-agent in the background may ask
at any moment) what is typed is its answer and nothing here reads; the prompt comes back after it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import click

from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.bridges.voice import Voice


class Prompts:
    """Lines from standard input, one at a time, each after a prompt on a terminal.

    What is no terminal is read by a thread, since a file can not be waited for; it is a daemon, so
    that a read which nobody wants any more does not keep the program from ending.
    """

    def __init__(self, voice: Voice) -> None:
        """`voice` is the one that questions are asked with."""
        self._voice = voice
        self._terminal: Terminal | None = None
        self._wanted = threading.Semaphore(0)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._ended = False

    async def __aenter__(self) -> Prompts:
        self._loop = asyncio.get_running_loop()
        self._terminal = _standard_terminal()
        if self._terminal is None:
            threading.Thread(target=self._read, name="lockgate-prompt", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended = True
        self._wanted.release()
        if self._terminal is not None:
            self._terminal.close()

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            line = await self._next()
            if line is None:
                return
            if line.strip():
                yield line.rstrip()

    async def _next(self) -> str | None:
        if self._terminal is not None:
            return await _Prompt(self._terminal.source, self._voice).line()
        if sys.stdin.isatty():
            _show()
        self._wanted.release()
        return await self._lines.get()

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


class _Prompt:
    """One prompt on a terminal, which gives way to every question until its line is there."""

    def __init__(self, source: int, voice: Voice) -> None:
        """`source` is open for reading that does not block."""
        self._source = source
        self._voice = voice
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[str | None] = self._loop.create_future()
        self._typed = b""

    async def line(self) -> str | None:
        """The line that is typed; None for end of input, and where the terminal is gone."""
        with self._voice.giving_way(self._give_way, self._begin):
            try:
                return await self._done
            finally:
                self._loop.remove_reader(self._source)

    def _begin(self) -> None:
        if not self._done.done():
            _show()
            self._loop.add_reader(self._source, self._take)

    def _give_way(self) -> None:
        self._loop.remove_reader(self._source)
        self._typed = b""  # the question throws away what the terminal holds of the line

    def _take(self) -> None:
        if self._voice.asked or self._done.done():
            return
        try:
            part = os.read(self._source, 4096)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        self._typed += part
        if not part and not self._typed:
            self._end(None)
        elif not part or self._typed.endswith(b"\n"):
            self._end(self._typed.decode("utf-8", "replace"))

    def _end(self, line: str | None) -> None:
        self._loop.remove_reader(self._source)
        self._done.set_result(line)


def _standard_terminal() -> Terminal | None:
    """The terminal that standard input is, on descriptors of our own; None if it is none."""
    try:
        return open_terminal(Path(os.ttyname(sys.stdin.fileno())))
    except (AttributeError, OSError, ValueError):  # no such thing on this system, or closed
        return None


def _show() -> None:
    click.echo("> ", nl=False, err=True)
