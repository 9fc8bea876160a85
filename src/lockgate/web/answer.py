"""An answer whose head is here, and whose body is read as it comes."""

from __future__ import annotations

from typing import Final

import aiohttp

from lockgate.web.decoding import Decoder, DecodingError, decoder_for
from lockgate.web.failure import HttpFailure, Stage, Trouble

_PLAIN: Final = frozenset({"", "identity"})


class Answer:
    """What a `Pool` was answered. Read it to its end, or `close` it.

    A connection whose answer was read to the end goes back to the pool by itself.
    """

    __slots__ = ("_answer", "_content", "_decoder", "_waiting", "status")

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self._content = answer.content
        self.status = answer.status
        encoding = answer.headers.get("Content-Encoding", "")
        self._decoder: Decoder | None = None
        self._waiting: list[bytes] = []
        if encoding.strip().lower() not in _PLAIN:
            self._decoder = decoder_for(encoding)
            if self._decoder is None:
                answer.close()
                what = "sent a compression that was not asked for"
                raise HttpFailure(Stage.READING_BODY, Trouble.GARBAGE, what)

    def header(self, name: str) -> str:
        """The first field of that name, in any letter case; empty if there is none."""
        return self._answer.headers.get(name, "")

    @property
    def media_type(self) -> str:
        """The type of the body in lower case, without its parameters; empty if none is named."""
        return self.header("Content-Type").partition(";")[0].strip().lower()

    @property
    def length(self) -> int | None:
        """The bytes of the body as the head announces them, where it does and they are plain."""
        return self._answer.content_length if self._decoder is None else None

    @property
    def ended(self) -> bool:
        """Whether the body is known to be over, without waiting."""
        return self._content.at_eof() and not self._waiting

    async def piece(self) -> bytes:
        """The next piece of the body, decoded; empty at its end. Raises `HttpFailure`."""
        if self._waiting:
            return self._waiting.pop(0)
        try:
            data = await self._content.readany()
        except (aiohttp.ClientError, OSError):
            what = "broke off in the middle of the answer"
            raise HttpFailure(Stage.READING_BODY, Trouble.CLOSED, what) from None
        if self._decoder is None:
            return data
        return await self._decoded(self._decoder, data)

    async def _decoded(self, decoder: Decoder, data: bytes) -> bytes:
        try:
            while data:
                # Bounded by what one piece holds: a piece of the wire is at most 128 KiB, and what
                # it unfolds to is taken in pieces of 64 KiB by whoever counts them.
                for piece in decoder.feed(data):
                    self._waiting.append(piece)
                    if len(self._waiting) > _MOST:
                        break
                if self._waiting:
                    return self._waiting.pop(0)
                data = await self._content.readany()
        except DecodingError as error:
            what = f"sent a damaged body: {error}"
            raise HttpFailure(Stage.READING_BODY, Trouble.GARBAGE, what) from None
        except (aiohttp.ClientError, OSError):
            what = "broke off in the middle of the answer"
            raise HttpFailure(Stage.READING_BODY, Trouble.CLOSED, what) from None
        if not decoder.whole():
            what = "broke off in the middle of the answer"
            raise HttpFailure(Stage.READING_BODY, Trouble.CLOSED, what)
        return b""

    def close(self) -> None:
        """Want no more of it: the connection ends, unless the body was read to its end."""
        self._answer.close()


_MOST: Final = 2048
