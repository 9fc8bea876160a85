"""What the tests of questions to a person on a terminal share: who is asked, and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from lockgate.bridges.elicitation import TerminalElicitation
from lockgate.bridges.voice import Voice
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.protocol.elicitation import (
    Action,
    ElicitAnswer,
    Elicitation,
    read_elicitation,
)

WHO = Occasion("files", "ask", "c1", attended=True)
CANCEL, DECLINE = ElicitAnswer(Action.CANCEL), ElicitAnswer(Action.DECLINE)


class Person(Protocol):
    """What the fixture of that name can do."""

    device: Path
    screen_of: int

    def type(self, text: str | bytes) -> None: ...
    def sees(self) -> str: ...
    async def see(self, text: str) -> str: ...
    def settings(self) -> list[Any]: ...
    def hang_up(self) -> None: ...


def address(url: str = "https://mcp.example.com/go?x=1", **more: Any) -> Elicitation:
    """An address to be opened."""
    return read_elicitation({"mode": "url", "message": "Log in there", "url": url, **more})


@asynccontextmanager
async def asked(
    person: Person, question: Elicitation, occasion: Occasion = WHO, **more: Any
) -> AsyncGenerator[asyncio.Task[ElicitAnswer]]:
    """Ask; the task ends with the answer."""
    voice = more.pop("voice", None) or Voice(lambda text: None)
    elicit = TerminalElicitation(voice, device=person.device, **more)
    task = asyncio.ensure_future(elicit(question, occasion))
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def answer(task: asyncio.Task[ElicitAnswer]) -> ElicitAnswer:
    """What comes of it, in bounded time."""
    async with asyncio.timeout(10):
        return await task
