"""An answer whose head is here, and whose body is read as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Final

import aiohttp
from aiohttp.connector import Connection
from multidict import MultiMapping

from lockgate.web.decoding import Decoder, DecodingError, decoder_for
from lockgate.web.failure import HttpFailure, Stage, Trouble

_PLAIN: Final = frozenset({"", "identity"})


class Answer:
    """What a `Pool` was answered. Read it to its end, or `close` it.

    A connection whose answer was read to the end goes back to the pool by itself.
    """

    __slots__ = (
        "_address",
        "_connection",
        "_content",
        "_decoder",
        "_headers",
        "_unfolding",
        "status",
    )

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        content: aiohttp.StreamReader,
        connection: Connection,
        address: str,
    ) -> None:
        """`address` is what was asked for; `headers` are found in any letter case.

        Raises `HttpFailure` for an encoding that was not asked for.
        """
        self.status = status
        self._headers = headers
        self._content = content
        self._connection = connection
        self._address = address
        self._decoder: Decoder | None = None
        self._unfolding: Iterator[bytes] = iter(())
        encoding = headers.get("Content-Encoding")
        if encoding is not None and encoding.strip().lower() not in _PLAIN:
            self._decoder = decoder_for(encoding)
            if self._decoder is None:
                connection.close()
                what = "sent a compression that was not asked for"
                raise HttpFailure(Stage.READING_BODY, Trouble.GARBAGE, what)

    def header(self, name: str) -> str:
        """The first field of that name, in any letter case; empty if there is none."""
        return self._headers.get(name, "")

    def every(self, name: str) -> str:
        """All fields of that name as the one that they mean together (RFC 9110, 5.3)."""
        if isinstance(self._headers, MultiMapping):
            return ", ".join(self._headers.getall(name, ()))
        return self.header(name)

    @property
    def address(self) -> str:
        """What was asked for, redirects followed: what a relative address in the body starts at."""
        return self._address

    @property
    def media_type(self) -> str:
        """The type of the body in lower case, without its parameters; empty if none is named."""
        return self.header("Content-Type").partition(";")[0].strip().lower()

    @property
    def length(self) -> int | None:
        """The bytes of the body as the head announces them, where it does and they are plain."""
        text = self._headers.get("Content-Length", "")
        return int(text) if self._decoder is None and text.isascii() and text.isdecimal() else None

    @property
    def compressed(self) -> bool:
        """Whether the body is undone as it is read, so that it may be far more than was sent."""
        return self._decoder is not None

    @property
    def ended(self) -> bool:
        """Whether the body is known to be over, without waiting."""
        return self._decoder is None and self._content.at_eof()

    async def piece(self) -> bytes:
        """The next piece of the body, decoded; empty at its end. Raises `HttpFailure`."""
        decoder = self._decoder
        if decoder is None:
            return await self._received()
        try:
            while True:
                for piece in self._unfolding:
                    # What is here already may unfold for minutes: others come in between.
                    await asyncio.sleep(0)
                    return piece
                data = await self._received()
                if not data:
                    break
                self._unfolding = decoder.feed(data)
        except DecodingError as error:
            what = f"sent a damaged body: {error}"
            raise HttpFailure(Stage.READING_BODY, Trouble.GARBAGE, what) from None
        if not decoder.whole():
            raise HttpFailure(Stage.READING_BODY, Trouble.CLOSED, _BROKEN_OFF)
        return b""

    async def _received(self) -> bytes:
        try:
            return await self._content.readany()
        except (aiohttp.ClientError, OSError):
            raise HttpFailure(Stage.READING_BODY, Trouble.CLOSED, _BROKEN_OFF) from None

    def close(self) -> None:
        """Want no more of it: the connection ends, unless the body was read to its end."""
        self._connection.close()


_BROKEN_OFF: Final = "broke off in the middle of the answer"
