"""What a sub-agent is: its name, when to use it, its instructions, and how far it may reach."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import force_setattr

from lockgate.agent.definitions.given import check_texts, names_of
from lockgate.agent.definitions.naming import MAX_NAME, NAME
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.tools.words import level_of
from lockgate.traits import SideEffectLevel

MAX_DESCRIPTION: Final = 2000
"""Characters; a model reads it with every request."""
_BLANK: Final = re.compile(r"\s+")


class AgentDefinition(msgspec.Struct, frozen=True):
    """One kind of sub-agent. What it wishes for and its parent has not, it does not get (B-04)."""

    name: str
    """Small letters, digits and hyphens, at most 64 characters."""
    description: str
    """When to use it: what the model that may start it is told of it."""
    instructions: str
    """What the sub-agent is told before its prompt."""
    tools: tuple[str, ...] | None = None
    """Tool names and `mcp__server__*` patterns; empty is none, None is all that its parent has. A
    list is taken for a tuple."""
    ceiling: SideEffectLevel | None = None
    """None: its parent's. Its word (`"read-only"`) is taken for it."""
    model: str | None = None
    """`provider:model`, or `scripted:` and an absolute path; None: its parent's."""
    iterations: int | None = None
    """This and the following are bounds of its one turn, as in `TurnLimits`; None: its parent's."""
    seconds: float | None = None
    tokens: int | None = None
    path: Path | None = None
    """The file it was read from; None for one that a program gave."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what no file could say either, and for values of other types."""
        check_texts(f"a sub-agent {self.name!r}", self, ("name", "description", "instructions"))
        force_setattr(self, "tools", names_of(f"the sub-agent {self.name}", self.tools))
        if self.ceiling is not None:
            force_setattr(self, "ceiling", level_of(self.ceiling, "ceiling"))
        if self.model is not None:
            check_texts(f"the sub-agent {self.name}", self, ("model",))
        if not NAME.fullmatch(self.name) or len(self.name) > MAX_NAME:
            raise ValueError(f"{self.name!r} is no name of a sub-agent: small letters and hyphens")
        if not self.description.strip() or not self.instructions.strip():
            raise ValueError(f"the sub-agent {self.name} needs a description and instructions")
        if len(self.description) > MAX_DESCRIPTION:
            raise ValueError(f"the description of {self.name} is over {MAX_DESCRIPTION} characters")
        for text in self.tools or ():
            try:
                parse_pattern(text)
            except PatternError as error:
                what = f"{text!r} at character {error.position + 1} {error.message}"
                raise ValueError(f"a tool of the sub-agent {self.name}: {what}") from None
        for name in ("iterations", "seconds", "tokens"):
            value = getattr(self, name)
            kinds = (int, float) if name == "seconds" else (int,)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                kind = type(value).__name__
                raise ValueError(
                    f"{name} of the sub-agent {self.name} must be a number, not {kind}"
                )
            if not value > 0:
                raise ValueError(f"{name} of the sub-agent {self.name} must be over 0")

    def __repr__(self) -> str:
        return f"<AgentDefinition {self.name}>"

    @property
    def line(self) -> str:
        """The description on one line."""
        return _BLANK.sub(" ", self.description.strip())


GENERAL: Final = AgentDefinition(
    "general",
    "Does a piece of work of several steps on its own, with the tools you have, and reports what "
    "came of it. For searching and for work whose details you do not need to see.",
    "You do one piece of work for another agent, which sees nothing but your final answer. Do what "
    "you are asked and no more. Answer with what was found or done, with the names and numbers "
    "that matter, and say what could not be done and why.",
)
"""The sub-agent that is there without being defined; a definition of that name takes its place."""
