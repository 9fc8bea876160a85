"""A skill: a text that says how a kind of task is done, and within what it is done."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lockgate.agent.definitions.given import check_texts, names_of
from lockgate.agent.definitions.naming import MAX_NAME, NAME
from lockgate.hooks.declared.plan import DeclaredHook
from lockgate.hooks.hook import Hook
from lockgate.rules.pattern import PatternError, parse_pattern

MAX_TEXT: Final = 90_000
"""Characters of a skill's text: what goes beyond belongs into files beside it."""


class SkillContext(enum.Enum):
    """Where a skill is done."""

    INLINE = "inline"
    """Its text is the tool's result, and whoever asked for it goes on by it."""
    FORK = "fork"
    """An execution of its own is given the text, and its answer is the tool's result."""


def is_skill_name(text: str) -> bool:
    """Whether `text` can name a skill: lower-case letters and digits in words joined by dashes."""
    return len(text) <= MAX_NAME and NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """One skill, read from a `SKILL.md` or made by a program.

    One that says which tools it has, or which model or hooks, is always an execution of its own:
    only there can what it says hold for it and for nothing else (docs/decisions/0047). Raises
    `ValueError` for a definition that can not be one.
    """

    name: str
    """`[a-z0-9]` and single dashes, at most 64 characters."""
    description: str
    """What it does and when to use it: what the model is shown before it asks for the skill."""
    text: str = field(repr=False)
    """What it says, in Markdown. `$ARGUMENTS` and `$1` stand for what it is asked for with
    (`rendering.render`)."""
    context: SkillContext | None = None
    """None: inline, unless something in the definition needs an execution of its own."""
    tools: tuple[str, ...] | None = None
    """Names and `mcp__server__*` patterns of the tools it has, of those that whoever asks for it
    has; None: the same ones. It permits nothing. A list is taken for a tuple."""
    model: str | None = None
    """As `agent.model`; None: that of whoever asks for it."""
    argument_hint: str | None = None
    """What to ask for it with, such as `[file] [format]`."""
    by_model: bool = True
    """Whether a model may ask for it; otherwise no model is told of it."""
    by_person: bool = True
    """Whether a person may, by `/name`."""
    hooks: tuple[Hook | DeclaredHook, ...] = ()
    """Of events that are about a call: for the calls of its execution and of what that brings
    about, beside all other hooks."""
    directory: Path | None = None
    """Where its files are: whole and real; None if it has none."""
    files: tuple[Path, ...] = ()
    """Those that come with it, real paths. What is in them is read by tools or by nobody."""
    unlisted: int = 0
    """How many more there are whose names could be read as text, and so are not told."""
    path: Path | None = None
    """The file it was read from; None for one that a program gave."""
    remarks: tuple[str, ...] = ()
    """What of its file says nothing here, or something else than in other programs: for `check`."""

    def __post_init__(self) -> None:
        whose = f"the skill {self.name!r}"
        check_texts(whose, self, ("name", "description", "text"))
        if self.model is not None:
            check_texts(whose, self, ("model",))
        object.__setattr__(self, "tools", names_of(whose, self.tools))
        context: Any = self.context
        if context is not None and not isinstance(context, SkillContext):
            words = tuple(known.value for known in SkillContext)
            if context not in words:
                raise ValueError(f"context of {whose} is one of {', '.join(words)}, or None")
            object.__setattr__(self, "context", SkillContext(context))
        if (fault := self._fault()) is not None:
            raise ValueError(f"the skill {self.name!r} {fault}")

    @property
    def forks(self) -> bool:
        """Whether it is an execution of its own."""
        return self.context is SkillContext.FORK or self.needs_fork is not None

    @property
    def needs_fork(self) -> str | None:
        """What in the definition holds in an execution of its own only; None: nothing."""
        if self.tools is not None:
            return "tools"
        if self.model is not None:
            return "a model"
        return "hooks" if self.hooks else None

    def _fault(self) -> str | None:
        if not is_skill_name(self.name):
            return "can not be called so: use lower-case letters and digits, and single dashes"
        if not self.description.strip():
            return "has no description, and no model would know when to use it"
        if not self.text.strip():
            return "has no text"
        if len(self.text) > MAX_TEXT:
            return f"has over {MAX_TEXT:,} characters; put some of it into files beside it"
        if not self.by_model and not self.by_person:
            return "can be asked for by nobody"
        if self.context is SkillContext.INLINE and (needs := self.needs_fork) is not None:
            return f"has {needs}, which holds in an execution of its own only: context: fork"
        for pattern in self.tools or ():
            try:
                parse_pattern(pattern)
            except PatternError as error:
                return f"names the tool {pattern!r}, which {error.message}"
        return None
