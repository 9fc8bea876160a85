"""A provider of models on a loopback port, which says what it is told in OpenAI's and Anthropic's
wire formats.

async with ProviderServer([Said("Hello")]) as server:
    environ = server.environ          # keys and addresses for both
    ... run an agent with openai:any, openai-chat:any or anthropic:any ...
    assert server.heard[0].body["model"] == "any"
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeAlias

from lockgate.testing.anthropic_wire import anthropic_events, anthropic_message
from lockgate.testing.openai_chat_wire import chat_events, chat_message
from lockgate.testing.openai_responses_wire import responses_events, responses_message
from lockgate.testing.provider_http import ProviderConnection, ProviderHeard, serve
from lockgate.testing.provider_names import refusal_of
from lockgate.testing.provider_steps import Dropped, Held, Refused, Said, Step, failed

PATIENCE: Final = 10.0
"""Seconds after which what was not heard is not waited for any longer."""
KEY: Final = "sk-test-0123456789abcdef"
_Whole: TypeAlias = Callable[[Said, Mapping[str, Any]], dict[str, Any]]
_Events: TypeAlias = Callable[[Said, Mapping[str, Any]], Iterator[bytes]]
_WIRES: Final[Mapping[str, tuple[_Whole, _Events]]] = {
    "/v1/chat/completions": (chat_message, chat_events),
    "/v1/responses": (responses_message, responses_events),
    "/v1/messages": (anthropic_message, anthropic_events),
}


class ProviderServer:
    """Takes its steps in order, one for each request; after the last one it says `"done"`.

    A request that the real services refuse for a name, an id or a blank text has a 400.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._steps = list(steps)
        self._change = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._under_way = 0
        self.heard: list[ProviderHeard] = []
        """Every request, in order."""

    @property
    def address(self) -> str:
        """Scheme, host and port. Raises `RuntimeError` before it is open."""
        if self._server is None:
            raise RuntimeError("the server is not open")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def connections(self) -> int:
        """How many are open now."""
        return len(self._open)

    @property
    def environ(self) -> dict[str, str]:
        """The variables by which models of both providers are asked here."""
        return {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.address,
        }

    def then(self, *steps: Step) -> Self:
        """Add steps."""
        self._steps.extend(steps)
        return self

    async def asked(self, count: int) -> None:
        """Wait until `count` requests were heard."""
        async with asyncio.timeout(PATIENCE), self._change:
            await self._change.wait_for(lambda: len(self.heard) >= count)

    async def quiet(self) -> None:
        """Wait until no request is being answered: its client has the answer, or hung up."""
        async with asyncio.timeout(PATIENCE), self._change:
            await self._change.wait_for(lambda: self._under_way == 0)

    async def left(self) -> None:
        """Wait until no connection is open."""
        async with asyncio.timeout(PATIENCE), self._change:
            await self._change.wait_for(lambda: not self._open)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        # Cut and not cancelled: asyncio logs the end of such a task, if cancelled, as a failure.
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self._open[task] = writer
        try:
            await serve(self._answer, reader, writer)
        finally:
            del self._open[task]
            async with self._change:
                self._change.notify_all()

    async def _answer(self, connection: ProviderConnection, heard: ProviderHeard) -> None:
        self._under_way += 1
        async with self._change:
            self.heard.append(heard)
            self._change.notify_all()
        try:
            step = self._steps.pop(0) if self._steps else Said("done")
            await _take(step, connection, heard)
        finally:
            self._under_way -= 1
            async with self._change:
                self._change.notify_all()


async def _take(step: Step, connection: ProviderConnection, heard: ProviderHeard) -> None:
    match step:
        case Refused(status, body, headers):
            await connection.answer(status, body, headers)
        case Held():
            await connection.held()
        case Dropped():
            connection.cut()
        case Said():
            if heard.path not in _WIRES:
                await connection.answer(404, {"error": {"message": "no such path"}}, {})
                return
            if (wrong := refusal_of(heard.path, heard.body)) is not None:
                no = failed(400, wrong, "invalid_request_error")
                await connection.answer(no.status, no.body, no.headers)
                return
            message, events = _WIRES[heard.path]
            if heard.body.get("stream"):
                await _stream(step, events(step, heard.body), connection)
            else:
                await connection.answer(200, message(step, heard.body), {})


async def _stream(said: Said, events: Iterator[bytes], connection: ProviderConnection) -> None:
    await connection.begin()
    for number, event in enumerate(events):
        if said.broken_after is not None and number >= said.broken_after:
            if said.broken == "reset":
                connection.cut()
            break
        await connection.piece(event)
    await connection.end()
