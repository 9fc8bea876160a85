"""An MCP server that a test writes line by line, in the same event loop.

What it says is decided by the test: a result, an error, raw bytes at any moment, or nothing. What
it hears is kept. For a server that is a process of its own, with pipes, see `scripted`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from lockgate.mcp.transport.memory import MemoryTransport, PeerLink

Message: TypeAlias = dict[str, Any]
"""One decoded frame of the client."""

PATIENCE = 5.0
"""Seconds that `heard` waits before it says what it did hear."""


class RpcError(Exception):
    """Raised by an answer: the client gets this JSON-RPC error."""

    def __init__(self, code: int, message: str = "no", data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Silence:
    """Given as an answer: none is sent."""


SILENCE = Silence()

Answer: TypeAlias = Mapping[str, Any] | bytes | Silence | Callable[[Message], Awaitable[Any]]
"""A result; a whole frame as it is; no answer; or a function of the request that gives one of
these, or raises `RpcError`. Functions run at once and side by side."""


class MemoryServer:
    """A well-behaved server of the 2025-11-25 revision, until it is told otherwise with `on`."""

    def __init__(self, *tools: Mapping[str, Any], name: str = "fake") -> None:
        """`tools` are the definitions on the only page of its list."""
        self.name = name
        self.received: list[Message] = []
        """Everything it heard, on every connection, in order."""
        self.connections = 0
        """How often it was started."""
        self._link: PeerLink | None = None
        self._news = asyncio.Condition()
        self._hangup = asyncio.Event()
        self._answers: dict[str, Answer] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            },
            "ping": {},
            "tools/list": {"tools": list(tools)},
            "tools/call": _echo,
        }

    def on(self, method: str, answer: Answer) -> MemoryServer:
        """Answer `method` so from now on. Methods without an answer are not found (-32601)."""
        self._answers[method] = answer
        return self

    def transport(self, **options: Any) -> MemoryTransport:
        """How a client reaches it; `options` are those of `MemoryTransport`."""
        return MemoryTransport(self.serve, peer=self.name, **options)

    async def say(self, message: Any) -> None:
        """Send a frame on the newest connection: bytes as they are, anything else as JSON."""
        if self._link is None:
            raise RuntimeError("nobody has connected")
        await self._link.send(
            message if isinstance(message, bytes) else msgspec.json.encode(message)
        )

    def hang_up(self) -> None:
        """End the newest connection, in the middle of whatever is going on."""
        self._hangup.set()

    def heard(self, method: str) -> list[Message]:
        """The messages with that method so far."""
        return [message for message in self.received if message.get("method") == method]

    def answered(self, identity: int | str) -> list[Message]:
        """The answers of the client to requests of ours with that id so far."""
        return [m for m in self.received if "method" not in m and m.get("id") == identity]

    async def hears(self, method: str, count: int = 1) -> Message:
        """Wait until `method` was heard `count` times; returns the last of these."""
        return await self._wait(lambda: self.heard(method), count, method)

    async def hears_answer(self, identity: int | str) -> Message:
        """Wait for the client's answer to a request of ours."""
        return await self._wait(lambda: self.answered(identity), 1, f"the answer to {identity!r}")

    async def _wait(self, look: Callable[[], list[Message]], count: int, what: str) -> Message:
        try:
            async with asyncio.timeout(PATIENCE), self._news:
                await self._news.wait_for(lambda: len(look()) >= count)
        except TimeoutError:
            heard = [message.get("method", "an answer") for message in self.received]
            raise AssertionError(f"{what} was not heard {count} times, but {heard}") from None
        return look()[count - 1]

    async def serve(self, link: PeerLink) -> None:
        """One connection; see `MemoryTransport`."""
        self._link = link
        self._hangup = hangup = asyncio.Event()
        self.connections += 1
        loop = asyncio.get_running_loop()
        answering: set[asyncio.Task[None]] = set()
        reading = loop.create_task(self._read(link, answering))
        ending = loop.create_task(hangup.wait())
        try:
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (reading, ending, *answering)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read(self, link: PeerLink, answering: set[asyncio.Task[None]]) -> None:
        while (frame := await link.receive()) is not None:
            message = cast("Message", msgspec.json.decode(frame))
            self.received.append(message)
            async with self._news:
                self._news.notify_all()
            if "method" not in message or "id" not in message:
                continue
            answer = self._answers.get(cast("str", message["method"]), _not_found)
            if callable(answer):
                task = asyncio.get_running_loop().create_task(self._answer(link, message, answer))
                answering.add(task)
                task.add_done_callback(answering.discard)
            else:
                await self._send(link, message, answer)

    async def _answer(
        self, link: PeerLink, message: Message, answer: Callable[[Message], Awaitable[Any]]
    ) -> None:
        try:
            made = await answer(message)
        except RpcError as error:
            body: dict[str, Any] = {"code": error.code, "message": str(error)}
            if error.data is not None:
                body["data"] = error.data
            frame = {"jsonrpc": "2.0", "id": message["id"], "error": body}
            await link.send(msgspec.json.encode(frame))
        else:
            await self._send(link, message, made)

    async def _send(self, link: PeerLink, message: Message, answer: Any) -> None:
        if isinstance(answer, bytes):
            await link.send(answer)
        elif not isinstance(answer, Silence):
            frame = {"jsonrpc": "2.0", "id": message["id"], "result": answer}
            await link.send(msgspec.json.encode(frame))


async def _not_found(message: Message) -> Any:
    raise RpcError(-32601, "Method not found")


async def _echo(message: Message) -> Any:
    text = msgspec.json.encode(message["params"].get("arguments")).decode()
    return {"content": [{"type": "text", "text": text}]}
