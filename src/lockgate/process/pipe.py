"""One pipe to or from a child, connected to the loop, and who is told what becomes of it."""

from __future__ import annotations

import asyncio
import sys
from typing import IO, Protocol

PIPE_SIZE = 256 * 1024
"""Bytes that standard output may hold unread, where the system lets us say so. It is what asyncio
reads at once; the usual 64 KiB make a large output wait for us four times as often."""
READ_SIZE = 64 * 1024
"""Bytes read at once while they are enough. asyncio asks for 256 KiB each time: a buffer that the C
library maps and unmaps for every read, at several times the cost of the read itself."""
F_SETPIPE_SZ = 1031
"""Of fcntl, on Linux."""


class Listener(Protocol):
    """Who is told what becomes of a child. All on the loop; the names are asyncio's."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output: `fd` is 1 or 2."""
        ...

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe is gone: 0 when nobody reads what is written, 1 and 2 at their end."""
        ...

    def pause_writing(self) -> None:
        """More waits to be written than should."""
        ...

    def resume_writing(self) -> None:
        """That was written."""
        ...

    def process_exited(self) -> None:
        """The child itself has ended: once, before or after the end of its pipes."""
        ...


class Pipe(asyncio.Protocol):
    """One pipe of a child, passing on what happens to it to a `child.Listener`.

    The pipes are connected one by one: asyncio's subprocess transport puts one more turn of the
    loop before each piece of output, a third of what a short exchange costs (docs/decisions/0013).
    """

    def __init__(self, fd: int, file: IO[bytes], listener: Listener) -> None:
        self.file = file
        self.transport: asyncio.BaseTransport | None = None
        self.lost = asyncio.Event()
        self.is_output = fd > 0
        self._read_size = READ_SIZE
        self._fd = fd
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The loop has it."""
        self.transport = transport
        self._read(READ_SIZE)

    def data_received(self, data: bytes) -> None:
        """Output; reads grow with it."""
        if len(data) >= READ_SIZE:
            self._read(PIPE_SIZE)
        elif self._read_size != READ_SIZE:
            self._read(READ_SIZE)
        self._listener.pipe_data_received(self._fd, data)

    def pause_writing(self) -> None:
        """See `Listener`."""
        self._listener.pause_writing()

    def resume_writing(self) -> None:
        """See `Listener`."""
        self._listener.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Its end."""
        self.lost.set()
        self._listener.pipe_connection_lost(self._fd, exc)

    def _read(self, size: int) -> None:
        """Read so much at once from now on, on a loop that leaves this to its transports."""
        self._read_size = size
        if hasattr(self.transport, "max_size"):
            self.transport.max_size = size  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue] - of asyncio's own pipes; typeshed leaves it out

    def unread(self) -> bool:
        """Whether something waits to be read, where the system tells."""
        transport = self.transport
        if sys.platform == "win32" or not isinstance(transport, asyncio.ReadTransport):
            return False
        if transport.is_closing():
            return False
        import fcntl
        import termios

        try:
            waiting = fcntl.ioctl(self.file, termios.FIONREAD, bytes(4))
        except (OSError, ValueError):
            return False
        return any(waiting)

    def abandon(self) -> None:
        """Close our end at once, written out or not."""
        transport = self.transport
        if transport is None:
            self.file.close()
            self.lost.set()
        elif not isinstance(transport, asyncio.WriteTransport):
            transport.close()
        elif not transport.is_closing() or transport.get_write_buffer_size():
            transport.abort()  # a closing one that has written all is as good as closed


def enlarge(pipe: IO[bytes]) -> None:
    """Let a pipe hold `PIPE_SIZE` bytes unread. Linux."""
    import fcntl

    try:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_SIZE)
    except OSError:
        pass  # the user's share of pipe memory is used up; the usual size works too
