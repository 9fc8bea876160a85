"""Server-sent events out of a byte stream, in linear time for events of any length. No I/O.

Rules (WHATWG HTML, "Server-sent events", 9.2.5 and 9.2.6): a line ends at CRLF, LF or CR; an empty
line ends an event; a line that begins with a colon is a comment; of `data` lines several make one
text; what is unfinished when the stream ends is no event. An event without data tells its id and
its retry time, and is no frame; of a type of its own it is handed out with its `data` line empty.
An event over the limit is counted, not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from lockgate.mcp.protocol.framing import HEAD, LIMIT, Oversized

MESSAGE: Final = "message"
"""The type of an event that names none; MCP's frames have this type."""
_BOM: Final = b"\xef\xbb\xbf"
_MAX_FIELD: Final = 65_536
"""Bytes of a line that is no `data`: a longer one is thrown away."""
_MAX_RETRY: Final = 7


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event."""

    type: str
    data: bytes = field(repr=False)
    """Its `data` lines, joined by newlines: bytes, whoever reads them judges."""


Arrived: TypeAlias = ServerEvent | Oversized


class EventStream:
    """Collects pieces of one response body and hands out whole events, each once and in order."""

    __slots__ = (
        "_after_cr",
        "_begun",
        "_data",
        "_id",
        "_limit",
        "_line",
        "_line_size",
        "_lost",
        "_size",
        "_type",
        "brought",
        "last_id",
        "oversized",
        "retry",
    )

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit` is the most bytes that the data of one event may have; at least 1."""
        if limit < 1:
            raise ValueError("the limit of an event must be at least 1 byte")
        self._limit = limit
        self._begun = False
        """Whether the first bytes, which may be a byte order mark, are behind us."""
        self._after_cr = False
        """A newline that comes next belongs to a line end that was handled already."""
        self._line: list[bytes] = []
        self._line_size = 0
        self._data: list[bytes] = []
        self._size = 0
        self._lost: bytes | None = None
        """The beginning of an event that is over the limit; the rest passes by."""
        self._type = ""
        self._id: str | None = None
        self.last_id: str | None = None
        """The id of the last whole event, for `Last-Event-ID`; None if there was none."""
        self.brought = False
        """Whether there was a whole event with data, or one over the limit."""
        self.oversized: Oversized | None = None
        """The last event that was over the limit; None if there was none."""
        self.retry: float | None = None
        """Seconds that the peer wants us to wait before we come back; None if it said nothing."""

    def feed(self, data: bytes) -> list[Arrived]:
        """Take the next piece of the stream, of any length; return the events it completes."""
        if not self._begun:
            data = b"".join((*self._line, data))
            self._line, self._line_size = [], 0
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._line, self._line_size = [data], len(data)
                return []
            self._begun = True
            data = data.removeprefix(_BOM)
        start = 0
        if self._after_cr and data:
            self._after_cr = False
            start = data.startswith(b"\n")
        arrived: list[Arrived] = []
        returns = data.find(b"\r", start)
        while True:
            end = data.find(b"\n", start)
            if -1 < returns < start:
                returns = data.find(b"\r", start)
            after = end + 1
            if returns >= 0 and (end < 0 or returns < end):
                end, after = returns, returns + 1
                if after == len(data):
                    self._after_cr = True
                elif data[after] == 10:
                    after += 1
            if end < 0:
                self._keep(data[start:] if start else data)
                return arrived
            self._finish(data[start:end], arrived)
            start = after

    def _keep(self, piece: bytes) -> None:
        """Add to the unfinished line; of one that is too long only the beginning is kept."""
        if not piece:
            return
        self._line_size += len(piece)
        if self._line_size <= self._limit + 16:
            self._line.append(piece)
        elif self._line:
            self._line = [b"".join(self._line)[: HEAD + 16]]
        else:
            self._line = [piece[: HEAD + 16]]

    def _finish(self, line: bytes, arrived: list[Arrived]) -> None:
        size = len(line)
        if self._line_size:
            self._keep(line)
            size = self._line_size
            line = b"".join(self._line)
            self._line, self._line_size = [], 0
        if not size:
            self._dispatch(arrived)
        elif line.startswith(b"data") and line[4:5] in (b":", b""):
            skipped = 6 if line[4:6] == b": " else 5
            self._take(line[skipped:], max(size - skipped, 0))
        elif size <= _MAX_FIELD and not line.startswith(b":"):
            name, _, value = line.partition(b":")
            self._note(name, value.removeprefix(b" "))

    def _take(self, value: bytes, size: int) -> None:
        """One `data` line, `size` bytes long, of which only the beginning may be here."""
        more = bool(self._data)
        self._size += size + more
        if self._lost is None and self._size > self._limit:
            self._lost = b"\n".join((*self._data, value))[:HEAD]
            self._data = [b""]
        elif self._lost is None:
            self._data.append(value)

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY:
            self.retry = int(value) / 1000

    def _dispatch(self, arrived: list[Arrived]) -> None:
        if self._id is not None:
            self.last_id = self._id
        if self._lost is not None:
            self.oversized = Oversized(self._lost, self._size, self._limit)
            arrived.append(self.oversized)
            self.brought = True
        elif self._data:
            text = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            if text or self._type not in ("", MESSAGE):
                arrived.append(ServerEvent(self._type or MESSAGE, text))
                self.brought = self.brought or bool(text)
        self._data, self._size, self._lost, self._type = [], 0, None, ""
