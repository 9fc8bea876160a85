"""A request that was written, and the wait for its answer."""

from __future__ import annotations

from typing import Final

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure, Stage, Trouble
from lockgate.web.limits import MAX_FIELDS, MAX_LINE

BUFFER: Final = 128 * 1024
"""Bytes of one answer that wait to be read before the peer is held up."""


class Sent:
    """One request on its connection."""

    __slots__ = ("_address", "_connection", "authorization")

    def __init__(self, connection: Connection, address: str) -> None:
        """Raises `HttpFailure` if the connection has ended meanwhile: then nothing was written."""
        self._connection = connection
        self._address = address
        self.authorization: str | None = None
        """The credentials that it carried, for whoever has to know if they are refused."""
        protocol = connection.protocol
        if protocol is None or not protocol.is_connected():
            connection.close()
            what = "hung up before anything was sent"
            raise HttpFailure(Stage.CONNECTING, Trouble.CLOSED, what)
        protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            read_bufsize=BUFFER,
            max_line_size=MAX_LINE,
            max_field_size=MAX_LINE,
            max_headers=MAX_FIELDS,
        )

    def write(self, data: bytes) -> None:
        """Write more of it; what the connection does not take at once is written on."""
        transport = self._connection.transport
        if transport is not None:
            transport.write(data)

    async def answer(self) -> Answer:
        """The answer, when its head is here. To be called once, whatever comes of it.

        Cancelled, the connection is closed at once. Raises `HttpFailure`.
        """
        connection = self._connection
        protocol = connection.protocol
        if protocol is None:
            raise HttpFailure(Stage.WRITING, Trouble.CLOSED, _HUNG_UP)
        try:
            while True:
                message, content = await protocol.read()
                if message.code >= 200 or message.code == 101:
                    break  # what comes before says that there will be an answer
        except HttpProcessingError:
            connection.close()
            what = "sent headers that are too large, or no valid HTTP"
            raise HttpFailure(Stage.READING_HEAD, Trouble.GARBAGE, what) from None
        except (aiohttp.ClientError, OSError):
            stage = self._stage()
            connection.close()
            raise HttpFailure(stage, Trouble.CLOSED, _HUNG_UP) from None
        except BaseException:
            connection.close()
            raise
        content.on_eof(self._ended)
        return Answer(message.code, message.headers, content, connection, self._address)

    def drop(self) -> None:
        """Want no answer: the connection ends."""
        self._connection.close()

    def _ended(self) -> None:
        """The answer is read; a connection that still writes the request is of no more use."""
        if self._stage() is Stage.WRITING:
            self._connection.close()
        else:
            self._connection.release()

    def _stage(self) -> Stage:
        transport = self._connection.transport
        unwritten = transport is not None and transport.get_write_buffer_size() > 0
        return Stage.WRITING if unwritten else Stage.WAITING


_HUNG_UP: Final = "hung up without an answer"
