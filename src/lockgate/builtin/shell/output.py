"""What a command printed, within bounds: its beginning and its end, and how much is gone between.

A command can print without an end, and a model can not read without one. Both ends are kept: what
a command is about stands at its beginning, and why it failed at its end.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from typing import Final

HEAD: Final = 16 * 1024
"""Bytes of the beginning that are kept, of each stream."""
TAIL: Final = 16 * 1024
"""Bytes of the end."""

_TERMINAL: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"
)
"""Sequences that only a terminal obeys (ECMA-48): colours, cursor movements, window titles."""
_CONTINUES: Final = range(0x80, 0xC0)
"""Bytes of UTF-8 that are not the first of a character."""


class Output:
    """One stream of a command, taken piece by piece."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        """`head` and `tail` are the bytes that are kept of either end."""
        self._head_size = head
        self._tail_size = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._gone = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece, of any length; no more than the bounds is held for long."""
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_size:
            self._cut()

    @property
    def text(self) -> str:
        """It, as UTF-8, without the last line end; in the place of what is gone, how much that is.

        Bytes that are no UTF-8 are replaced by U+FFFD, and what a terminal obeys (colours, cursor
        movements) is taken out; other characters stay as they are.
        """
        if len(self._tail) > self._tail_size:
            self._cut()
        if not self._gone:
            whole = bytes(self._head + self._tail)
            return _plain(whole.decode("utf-8", "replace")).removesuffix("\n")
        start = next((i for i, b in enumerate(self._tail[:4]) if b not in _CONTINUES), 0)
        head = getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        tail = bytes(self._tail[start:]).decode("utf-8", "replace")
        note = f"[... {self._gone} bytes are left out here ...]"
        return f"{_plain(head)}\n{note}\n{_plain(tail)}".removesuffix("\n")

    def _cut(self) -> None:
        over = len(self._tail) - self._tail_size
        del self._tail[:over]
        self._gone += over


def _plain(text: str) -> str:
    return _TERMINAL.sub("", text) if "\x1b" in text else text
