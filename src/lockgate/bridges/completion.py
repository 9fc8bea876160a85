"""What a server wants a model to complete, read and shown (client/sampling). Pure.

Text alone: images, audio and tools of the server's are refused, and what it would like the model to
be counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from lockgate.agent.model import Message, ModelReply, UserMessage
from lockgate.bridges.question import row
from lockgate.bridges.stranger import heading, their_words, who_asks
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.protocol.jsontext import Unreadable, kind_of
from lockgate.showing import visible

MAX_MESSAGES: Final = 100
"""Messages of one request."""
MAX_CHARACTERS: Final = 100_000
"""Characters of all of them, and of the system prompt."""
_COLUMN: Final = 14


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation that is to be completed."""

    role: Literal["user", "assistant"]
    text: str

    @property
    def message(self) -> Message:
        """As a model takes it."""
        return UserMessage(self.text) if self.role == "user" else ModelReply(self.text)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be completed. Made by `read_wanted`."""

    turns: tuple[Turn, ...]
    max_tokens: int
    system: str = ""
    stops: tuple[str, ...] = ()
    """A completion ends before the first of these."""

    def cut(self, text: str) -> tuple[str, bool]:
        """A completion up to where it has to stop, and whether it had to."""
        ends = [at for stop in self.stops if (at := text.find(stop)) >= 0]
        return (text[: min(ends)], True) if ends else (text, False)


def read_wanted(params: dict[str, Any]) -> Wanted:
    """Read `CreateMessageRequestParams`. Raises `Unreadable`, completing "the params are ..."."""
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Unreadable("without messages")
    held = cast("list[Any]", messages)
    if len(held) > MAX_MESSAGES:
        raise Unreadable(f"of {len(held)} messages, over the {MAX_MESSAGES} allowed")
    turns = tuple(map(_turn, held))
    most = params.get("maxTokens")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise Unreadable("without a maxTokens that is a whole number over 0")
    system = params.get("systemPrompt")
    if system is not None and not isinstance(system, str):
        raise Unreadable(f"with a systemPrompt that is {kind_of(system)}, not a string")
    if sum(len(turn.text) for turn in turns) + len(system or "") > MAX_CHARACTERS:
        raise Unreadable(f"of more than {MAX_CHARACTERS} characters")
    stops = params.get("stopSequences")
    texts = cast("list[Any]", stops) if isinstance(stops, list) else []
    return Wanted(
        turns, most, system or "", tuple(one for one in texts if isinstance(one, str) and one)
    )


def _turn(value: Any) -> Turn:
    message = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise Unreadable("with a message that is neither of the user nor of the assistant")
    content = message.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else [content]
    texts: list[str] = []
    for block in blocks:
        fields = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
        text = fields.get("text")
        if fields.get("type") != "text" or not isinstance(text, str):
            raise Unreadable("with content that is no text, and nothing else is supported")
        texts.append(text)
    return Turn(role, "\n".join(texts))


def request_lines(wanted: Wanted, model: str, occasion: Occasion, width: int) -> Iterator[str]:
    """The question whether a model may complete this: all of it, as the model would get it."""
    yield heading("a server wants a model to complete something", width)
    yield from who_asks(occasion, width)
    yield from row("model", visible(model), width)
    yield from row("wants", f"{wanted.max_tokens} tokens at most, on your account", width)
    if wanted.system:
        yield "system prompt"
        yield from their_words(wanted.system, width, whole=True)
    for turn in wanted.turns:
        yield f"{turn.role} says"
        yield from their_words(turn.text, width, whole=True)
    yield "answers"
    yield from row(
        "  y, yes", "have it completed; you see it before the server does", width, _COLUMN
    )
    yield from row("  n, no", "do not (default)", width, _COLUMN)


def reply_lines(text: str, model: str, occasion: Occasion, width: int) -> Iterator[str]:
    """The question whether the server may have this completion."""
    server = visible(occasion.server)
    yield heading(f"what the model says, for {server}", width)
    yield from row("model", visible(model), width)
    yield from their_words(text, width, whole=True)
    yield "answers"
    yield from row("  y, yes", f"give it to {server}", width, _COLUMN)
    yield from row("  n, no", "do not (default)", width, _COLUMN)
