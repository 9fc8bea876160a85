"""What came back: status, headers, and a body that is read as far as somebody wants it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from aiohttp import StreamReader

from lockgate.errors import Fault
from lockgate.web.decoding import Decoder, DecodingError
from lockgate.web.exchange import Exchange
from lockgate.web.location import Location


@dataclass(frozen=True, slots=True)
class Body:
    """As much of a body as was wanted, decoded."""

    data: bytes
    whole: bool
    """Whether there was nothing more."""


class Response:
    """An answer whose status and headers are here. Valid inside of `WebClient.get`'s context."""

    def __init__(
        self,
        at: Location,
        status: int,
        headers: Mapping[str, str],
        stream: StreamReader,
        decoder: Decoder,
        exchange: Exchange,
        most: int,
    ) -> None:
        """Made by the client. `most` bounds the body's bytes on the wire."""
        self.at = at
        """The address that answered, after all redirects."""
        self.status = status
        self.headers = headers
        """By name, in any letter case; of a repeated field the first value."""
        self._stream = stream
        self._decoder = decoder
        self._exchange = exchange
        self._most = most

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body, decoded, in pieces of at most 64 KiB; nothing is decoded before it is wanted.

        Raises `PeerError`: CLOSED for a body that breaks off, MALFORMED for damaged compression,
        TOO_LARGE for one that is over the limit on the wire.
        """
        received = 0
        while data := await self._some():
            received += len(data)
            if received > self._most:
                what = f"sent a body of more than {self._most} bytes"
                raise self._exchange.fail(Fault.TOO_LARGE, what)
            try:
                for piece in self._decoder.feed(data):
                    yield piece
            except DecodingError as error:
                what = f"sent a damaged body: {error}"
                raise self._exchange.fail(Fault.MALFORMED, what) from None
        if not self._decoder.whole():
            raise self._exchange.fail(Fault.CLOSED, "broke off in the middle of the body")

    async def _some(self) -> bytes:
        with self._exchange.translated():
            return await self._stream.readany()

    async def read(self, most: int) -> Body:
        """The first `most` bytes of the body. Raises as `pieces` does."""
        data = bytearray()
        async for piece in self.pieces():
            room = most - len(data)
            data += piece[:room]
            if len(piece) > room:
                return Body(bytes(data), whole=False)
        return Body(bytes(data), whole=True)
