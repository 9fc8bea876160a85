"""What a scripted provider of models does when it is asked: says something, or fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Finish: TypeAlias = Literal["stop", "length", "filter"]


@dataclass(frozen=True, slots=True)
class SaidCall:
    """One call of a tool, as a model writes it."""

    name: str
    arguments: str = "{}"
    """JSON, or what is to be broken of it."""
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Said:
    """One reply, in whatever wire format it is asked for; streamed if it is asked for so."""

    text: str = ""
    calls: tuple[SaidCall, ...] = ()
    thinking: str = ""
    """Before the text, signed or encrypted as the wire has it."""
    finish: Finish = "stop"
    input: int = 10
    """Tokens read, `cached` among them."""
    output: int = 5
    cached: int = 0
    broken_after: int | None = None
    """Events of a stream after which the connection ends; None: it is whole."""
    broken: Literal["reset", "end"] = "reset"
    """How it ends: in the middle, or as if that were all."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer with a status of failure."""

    status: int
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Held:
    """No answer: the request is held until the client hangs up."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """No answer: the connection is cut."""


Step: TypeAlias = Said | Refused | Held | Dropped


def failed(status: int, message: str, code: str = "", **headers: str) -> Refused:
    """A failure in the form that both wire formats share: `error.type`, `code` and `message`.

    `headers` have underscores in the place of hyphens.
    """
    error = {"type": code or "error", "code": code or None, "message": message}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Refused(status, {"type": "error", "error": error}, named)


def pieces(text: str, size: int = 8) -> list[str]:
    """`text` as a stream brings it."""
    return [text[at : at + size] for at in range(0, len(text), size)]
