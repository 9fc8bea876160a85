"""Undoing a `Content-Encoding` piece by piece, so that a small body can not become a large one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

ACCEPTED: Final = "gzip, deflate"
"""What to send as `Accept-Encoding`: what the standard library undoes."""
PIECE: Final = 64 * 1024
"""Bytes that come out at once, at most."""


class DecodingError(ValueError):
    """The body is not what its `Content-Encoding` says."""


class Decoder(Protocol):
    """Takes a body apart as it comes."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` adds, in pieces of at most `PIECE` bytes. Raises `DecodingError`.

        Stop asking, and no more is decoded.
        """
        ...

    def whole(self) -> bool:
        """Whether the body can end here."""
        ...


def decoder_for(encoding: str) -> Decoder | None:
    """The decoder for the value of `Content-Encoding`; None for one that was not asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return Identity()
        case "gzip" | "x-gzip":
            return Inflate(16 + zlib.MAX_WBITS)
        case "deflate":
            return Inflate(zlib.MAX_WBITS)
        case _:
            return None


class Identity:
    """No encoding at all."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), PIECE):
            yield data[at : at + PIECE]

    def whole(self) -> bool:
        return True


class Inflate:
    """gzip, with as many members as there are, or deflate, with or without its envelope."""

    def __init__(self, wbits: int) -> None:
        """`wbits` as in `zlib.decompressobj`."""
        self._wbits = wbits
        self._stream = zlib.decompressobj(wbits)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode further; bytes after the end of the last member are an error."""
        while data:
            if self._stream.eof:
                if self._wbits <= zlib.MAX_WBITS:
                    raise DecodingError("there is more after the end of the compressed data")
                self._stream = zlib.decompressobj(self._wbits)
            out = self._decompress(data)
            self._begun = True
            data = self._stream.unconsumed_tail or self._stream.unused_data
            if out:
                yield out

    def whole(self) -> bool:
        return self._stream.eof or not self._begun

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._stream.decompress(data, PIECE)
        except zlib.error:
            if self._begun or self._wbits != zlib.MAX_WBITS:
                raise DecodingError("the compressed data is damaged") from None
        # Some servers leave the envelope of "deflate" out, and browsers take it so.
        self._wbits = -zlib.MAX_WBITS
        self._stream = zlib.decompressobj(self._wbits)
        try:
            return self._stream.decompress(data, PIECE)
        except zlib.error:
            raise DecodingError("the compressed data is damaged") from None
