"""What a script writes, as answers over HTTP: a body or a stream for whoever asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from lockgate.testing.http_heard import JSON, HttpExchange
from lockgate.testing.scripted_server import decoded

Say: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Tells whoever listens."""


class Unasked:
    """Where a script writes that was asked nothing: to whoever listens."""

    def __init__(self, say: Say) -> None:
        self._say = say

    async def feed(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            message = decoded(line)
            if message is not None:
                await self._say(message)


class Reply:
    """Makes the lines that a script writes about one request its answer."""

    def __init__(
        self,
        say: Say,
        exchange: HttpExchange,
        request: int | str,
        stream: bool,
        fields: Mapping[str, str],
    ) -> None:
        self._say = say
        self._exchange = exchange
        self._request = request
        self._stream = stream
        self._fields = fields
        self._unfinished = b""
        self._answered = False

    async def feed(self, data: bytes) -> None:
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            if line.strip():
                await self._frame(line)

    async def done(self) -> None:
        """The script has nothing more to say: without an answer that is for ever."""
        if self._unfinished.strip():
            await self._frame(self._unfinished)
        if not self._answered:
            await self._exchange.silence()
        if self._stream:
            await self._exchange.end()

    async def _frame(self, frame: bytes) -> None:
        message = decoded(frame)
        unasked = message is not None and "method" in message
        if self._stream:
            self._answered = self._answered or not unasked
            await self._exchange.event(b"data: " + frame + b"\n\n", headers=self._fields)
        elif unasked:
            await self._say(message or {})
        elif not self._answered:
            self._answered = True
            await self._exchange.answer(200, frame, {"content-type": JSON, **self._fields})
