"""A model that follows a script, fails or waits on demand, and remembers what it was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lockgate.agent.model import Hearing, Message, ModelReply, ModelRequest, ToolAnswer, ToolCall
from lockgate.tools.tool import ToolDefinition

Step: TypeAlias = ModelReply | BaseException | Callable[[], ModelReply]
"""A reply, something to raise, or a function that is called when the step's turn comes."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model was given to reply to."""

    transcript: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    instructions: str
    max_tokens: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(definition.name for definition in self.tools)


def asking(*tools: str, text: str = "") -> ModelReply:
    """A reply that asks for one call of each of `tools`, without arguments."""
    calls = (ToolCall(f"{name}-{number}", name, {}) for number, name in enumerate(tools))
    return ModelReply(text, tuple(calls))


def answers_in(transcript: Sequence[Message]) -> list[ToolAnswer]:
    """The answers to calls that a transcript holds, in order."""
    return [message for message in transcript if isinstance(message, ToolAnswer)]


class FakeModel:
    """Takes its steps in order, whatever it is asked; after the last one it says `"done"`.

    With `hold`, a reply waits until `release` is called, or for ever: for interrupts and limits.
    """

    name = "fake"

    def __init__(self, steps: Iterable[Step] = (), *, hold: bool = False) -> None:
        self._steps = list(steps)
        self._released = asyncio.Event()
        if not hold:
            self._released.set()
        self.seen: list[Shown] = []
        """What it was shown, once for each reply it was asked for."""
        self.asked = asyncio.Event()
        """Set once it was asked for the first reply."""

    def release(self) -> None:
        """Let held replies come."""
        self._released.set()

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The next step of the script, its text told in one piece."""
        self.seen.append(
            Shown(
                tuple(request.transcript),
                tuple(request.tools),
                request.instructions,
                request.max_tokens,
            )
        )
        self.asked.set()
        await self._released.wait()
        step = self._steps.pop(0) if self._steps else ModelReply("done")
        if isinstance(step, BaseException):
            raise step
        reply = step if isinstance(step, ModelReply) else step()
        if heard is not None and reply.text:
            heard(reply.text)
        return reply

    def __repr__(self) -> str:
        return f"<FakeModel: {len(self.seen)} asked, {len(self._steps)} left>"
