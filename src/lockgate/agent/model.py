"""What a language model is to the loop: something that reads a transcript and replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from lockgate.tools.result import ToolResult
from lockgate.tools.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said, or what an event brought."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model wants made."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply: text, calls, or both. No calls ends the turn."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    cut_off: bool = False
    """The model was stopped by a limit: the reply is never taken for whole, its calls not made."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of one call, under the call's id."""

    call_id: str
    name: str
    result: ToolResult


Message: TypeAlias = UserMessage | ModelReply | ToolAnswer


class Model(Protocol):
    """One language model."""

    @property
    def name(self) -> str: ...

    async def reply(
        self, transcript: Sequence[Message], tools: Sequence[ToolDefinition], instructions: str
    ) -> ModelReply:
        """The next reply. Raises `PeerError` when the provider fails."""
        ...
