"""Field cases of servers that ask a person something."""

from __future__ import annotations

import asyncio
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.bridges.elicitation import TerminalElicitation
from lockgate.bridges.voice import Voice
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, tool
from lockgate.testing.steps import Answer, Ask

CONFIRM = {"properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
MIXED: dict[str, Any] = {
    "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "number", "minimum": 1, "default": 2},
        "note": {"type": "string", "format": "never-heard-of", "default": "none"},
    },
    "required": ["size", "count"],
}


class Keyboard:
    """A terminal of its own, and someone who types at it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.device = Path(os.ttyname(self.slave))

    async def type(self, *lines: str) -> str:
        """Type each line at a prompt of its own; all that was shown until then."""
        seen = ""
        for line in lines:
            seen += await self._prompt()
            os.write(self.master, f"{line}\n".encode())
        return seen

    async def _prompt(self) -> str:
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.master, news.set)
        seen = b""
        try:
            async with asyncio.timeout(10):
                while not seen.endswith((b"]: ", b"value: ", b"answer: ")):
                    await news.wait()
                    news.clear()
                    seen += os.read(self.master, 65536)
        finally:
            loop.remove_reader(self.master)
        return seen.decode().replace("\r\n", "\n")

    def close(self) -> None:
        """Let go of it."""
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    """A terminal."""
    found = Keyboard()
    yield found
    found.close()


def _asking(schema: Any) -> LoopServer:
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=LEGACY, name="s"))
    question = Ask("elicitation/create", {"message": "m", "requestedSchema": schema})
    return server.on("tools/call", question, Answer(text="done"), tool="ask")


async def _called(server: LoopServer, services: Services) -> dict[str, Any]:
    """Call its tool; what it was told."""
    client = ClientIdentity("t", "1")
    session = await connect(server.transport(), peer="s", client=client, services=services)
    try:
        await ToolClient(session).call("ask", {})
    finally:
        await session.close()
    return server.answered("ask-1")[0]


async def _answered(keyboard: Keyboard, schema: Any, *lines: str) -> tuple[dict[str, Any], str]:
    """What goes over the wire when these lines are typed, and what was shown."""
    elicit = TerminalElicitation(Voice(lambda text: None), device=keyboard.device)
    calling = asyncio.create_task(_called(_asking(schema), Services(elicit=elicit)))
    seen = await keyboard.type(*lines)
    async with asyncio.timeout(10):
        return (await calling)["result"], seen


async def test_pb_054_what_is_missing_is_said_and_never_sent(keyboard: Keyboard) -> None:
    """PB-054: accepting without the required field is not possible; the form says what it needs."""
    told, seen = await _answered(keyboard, CONFIRM, "", "perhaps", "yes", "send")
    assert told == {"action": "accept", "content": {"confirm": True}}
    assert "-> it has to have a value\n" in seen
    assert "-> it has to be yes or no\n" in seen


async def test_pb_054_choices_numbers_defaults_and_formats(keyboard: Keyboard) -> None:
    """PB-054: a choice that is none and a number out of its range are asked again; defaults are
    taken by an empty line; a format that nobody knows stops nothing."""
    lines = ("huge", "2", "0", "", "", "send")
    told, seen = await _answered(keyboard, MIXED, *lines)
    assert told == {"action": "accept", "content": {"size": "large", "count": 2, "note": "none"}}
    assert '-> "huge" is none of the choices\n' in seen
    assert "-> it has to be at least 1\n" in seen


@pytest.mark.parametrize(
    ("lines", "action"),
    [(("/decline",), "decline"), (("/cancel",), "cancel"), (("\x04",), "cancel")],
)
async def test_pb_054_no_and_no_answer_are_told_apart(
    keyboard: Keyboard, lines: tuple[str, ...], action: str
) -> None:
    """PB-054: three answers on the wire, and neither of these carries a value."""
    told, _ = await _answered(keyboard, CONFIRM, *lines)
    assert told == {"action": action}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"size": "huge", "count": 2},
        {"size": "small", "count": 0},
        {"size": "small", "count": "2"},
        {"size": "small", "count": 2, "other": 1},
    ],
)
async def test_pb_054_no_program_sends_what_does_not_fit(values: dict[str, Any]) -> None:
    """PB-054: a handler that accepts with values that break the schema sends nothing of them."""

    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        return ElicitAnswer(Action.ACCEPT, values)

    told = await _called(_asking(MIXED), Services(elicit=elicit))
    assert told["error"] == {"code": -32603, "message": "the request could not be handled"}
