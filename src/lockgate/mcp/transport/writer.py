"""Frames into a pipe, with fewer writes than frames where many are under way.

Waking the reader of a pipe costs more than anything else about a small frame. So while the other
side has not said anything since it was last written to, what is sent within one turn of the loop
goes out in one piece at its end. A single exchange waits for nothing: its frame goes out at once.
"""

from __future__ import annotations

import asyncio
from typing import Final

ENOUGH: Final = 32 * 1024
"""Bytes that are gathered at most: what is this long gains nothing by being longer, and the pipe
should say soon when it is full."""


class FrameWriter:
    """Writes lines to one pipe, whole and in order."""

    __slots__ = ("_gathered", "_loop", "_pipe", "_size", "_unheard")

    def __init__(self, pipe: asyncio.WriteTransport) -> None:
        self._pipe = pipe
        self._loop = asyncio.get_running_loop()
        self._gathered: list[bytes] = []
        self._size = 0
        self._unheard = False
        """Whether something was written since the other side was last heard."""

    def write(self, payload: bytes) -> None:
        """Write one frame, which holds no newline, and its line end. Never waits.

        It can not be taken back: what is gathered is written, unless the pipe is gone before.
        """
        frame = payload + b"\n"
        if not self._unheard and not self._gathered:
            self._unheard = True
            self._pipe.write(frame)
            return
        if not self._gathered:
            self._loop.call_soon(self.flush)
        self._gathered.append(frame)
        self._size += len(frame)
        if self._size >= ENOUGH:
            self.flush()

    def heard(self) -> None:
        """The other side has said something."""
        self._unheard = False

    def flush(self) -> None:
        """Write what is gathered now."""
        gathered, self._gathered, self._size = self._gathered, [], 0
        if gathered and not self._pipe.is_closing():
            self._pipe.write(b"".join(gathered))
