"""What a request carries, and how much of it has left: the one thing its fate hangs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_writer import StreamWriter
from aiohttp.payload import Payload

from lockgate.web.failure import Stage

_PIECE: Final = 64 * 1024


class Body(Payload):
    """JSON in one piece of memory. For one request, and again for each redirect of it.

    The HTTP library holds the head back until the first byte of the body, so the moment in which it
    wants that byte is the last one in which nothing was written.
    """

    def __init__(self, data: bytes, begun: Callable[[], None]) -> None:
        """`begun` is called when the first byte would be written; what it wakes up runs before
        that, and may still `withdraw` it."""
        super().__init__(data, content_type="application/json")
        self._size = len(data)
        self._data = data
        self._begun = begun
        self._withdrawn = False
        self.stage = Stage.CONNECTING

    def withdraw(self) -> None:
        """Write nothing, if nothing was written yet."""
        self._withdrawn = True

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text."""
        return self._data.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write all of it."""
        await self.write_with_length(writer, None)

    async def write_with_length(
        self, writer: AbstractStreamWriter, content_length: int | None
    ) -> None:
        """Write all of it, head included, unless the connection is gone already."""
        if self.stage is Stage.CONNECTING:
            self._begun()
            # One turn: whoever waits for this moment was called before, and is ahead of us in it.
            await asyncio.sleep(0)
            if self._withdrawn or (isinstance(writer, StreamWriter) and _gone(writer)):
                raise ConnectionResetError("nothing was written")
            self.stage = Stage.WRITING
        data = self._data
        if len(data) <= _PIECE:
            await writer.write(data)
        else:
            view = memoryview(data)
            for at in range(0, len(data), _PIECE):
                await writer.write(bytes(view[at : at + _PIECE]))
        self.stage = Stage.WAITING


def _gone(writer: StreamWriter) -> bool:
    transport = writer.transport
    return transport is None or transport.is_closing()
