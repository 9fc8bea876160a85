"""What a language model is to the loop: something that reads a transcript and replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from lockgate.content import Audio, EmbeddedResource, Image, JSONObject
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said, or what an event brought."""

    text: str
    attached: tuple[Image | Audio | EmbeddedResource, ...] = ()
    """Shown with it, after the text."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model wants made."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    fault: str | None = None
    """What is wrong with the arguments as the model wrote them, where they are no JSON object: such
    a call is answered with it and never made. `arguments` is then empty."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one reply cost, in tokens, as the provider tells it; 0 is also what is not told."""

    input: int = 0
    """Read: instructions, tools, transcript. What came from the provider's cache is counted."""
    output: int = 0
    """Written, thinking included."""
    cached: int = 0
    """Of `input`, what came from the provider's cache."""

    @property
    def total(self) -> int:
        """What a bound on tokens counts."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        """What both cost together."""
        return Usage(
            self.input + other.input, self.output + other.output, self.cached + other.cached
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply: text, calls, or both. No calls ends the turn."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    cut_off: bool = False
    """The model was stopped by a limit: the reply is never taken for whole, its calls not made."""
    usage: Usage = Usage()
    state: JSONObject | None = None
    """What the provider wants back with the next request (thinking, ids of its own): opaque, and
    read by none but the model that gave it."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of one call, under the call's id."""

    call_id: str
    name: str
    result: ToolResult


Message: TypeAlias = UserMessage | ModelReply | ToolAnswer


Hearing: TypeAlias = Callable[[str], None]
"""Is told the text of a reply piece by piece, as it is written. Returns at once, never raises."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is given to reply to."""

    transcript: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    instructions: str = ""
    max_tokens: int | None = None
    """How long the reply may be; None: as long as the provider lets it."""


class Model(Protocol):
    """One language model. It keeps nothing of a session: whatever counts is in the transcript."""

    @property
    def name(self) -> str:
        """As it is shown and written down: `provider:model`."""
        ...

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The next reply, whole. With `heard` its text is told while it is being written, as far as
        the provider streams.

        Raises `PeerError` when the provider fails, after what further tries it deems right. A
        cancellation passes and ends the request.
        """
        ...
