"""The official SDK's server asks, in both eras and over two transports, and is answered."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Root, Services
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.protocol.elicitation import ElicitAnswer, Elicitation
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.listening import free_port, running

PROGRAM = Path(__file__).with_name("asking_program.py")


class Person:
    """Fills in every form, and opens every address."""

    def __init__(self) -> None:
        self.asked: list[Elicitation] = []

    async def elicit(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        """Yes."""
        self.asked.append(asked)
        if asked.form is None:
            return ElicitAnswer.accept(finished=True)
        defaults = {field.name: field.default for field in asked.form.fields if field.has_default}
        return ElicitAnswer.accept({**defaults, "size": "large"})

    async def roots(self, occasion: Occasion) -> Sequence[Root]:
        """One directory."""
        return (Root("file:///work"),)


@asynccontextmanager
async def _reached(how: str) -> AsyncGenerator[Transport]:
    """A new server, and the way to it."""
    if how == "stdio":
        endpoint = StdioEndpoint(sys.executable, (str(PROGRAM), "stdio"))
        yield StdioTransport(endpoint, peer="real", environ={})
        return
    port = free_port()
    async with running(sys.executable, str(PROGRAM), str(port), port=port) as url:
        yield StreamableHttpTransport(HttpEndpoint(f"{url}/mcp"), peer="real", environ={})


@asynccontextmanager
async def _client(how: str, person: Person, *, modern: bool) -> AsyncGenerator[ToolClient]:
    services = Services(elicit=person.elicit, roots=person.roots)
    identity = ClientIdentity("lockgate", "test")
    async with _reached(how) as transport:
        session = await connect(
            transport,
            peer="real",
            client=identity,
            services=services,
            eras=None if modern else {"real": Era.LEGACY},
            probe_patience=20,
        )
        try:
            yield ToolClient(session)
        finally:
            await session.close()


async def _text(client: ToolClient, tool: str) -> str:
    return getattr((await client.call(tool, {})).content[0], "text", "")


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_a_legacy_server_asks_by_itself(how: str) -> None:
    """2025-11-25: a form with its default and a field left out, an address that it says is over,
    the directories, and a call that it refuses until an address was opened."""
    person = Person()
    async with _client(how, person, modern=False) as client:
        assert await _text(client, "form") == "accept Order(size='large', count=2, note=None)"
        assert await _text(client, "address") == "accept"
        assert await _text(client, "roots") == "file:///work"
        assert await _text(client, "locked") == "unlocked"
    assert [asked.url for asked in person.asked] == [
        None,
        "https://example.com/a",
        "https://example.com/b",
    ]


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_a_modern_server_asks_in_rounds(how: str) -> None:
    """2026-07-28: two rounds of one call, with its state."""
    person = Person()
    async with _client(how, person, modern=True) as client:
        assert await _text(client, "rounds") == "large at file:///work"
    (asked,) = person.asked
    assert asked.message == "Which?"
