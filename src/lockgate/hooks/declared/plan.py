"""A declared hook as the configuration says it: when, what, and what its failure means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

from lockgate.hooks.declared.template import Template, written
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import TIMEOUT
from lockgate.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class CommandHandler:
    """A program. Its input is what the hook is told; nothing of it is a template."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """On top of the short environment of every child."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for handlers that do the same."""
        return ("command", self.command, self.args, tuple(sorted(self.env.items())))


@dataclass(frozen=True, slots=True)
class HttpHandler:
    """An endpoint that is posted to."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: Template | None = None
    """None: what the hook is told."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for handlers that do the same."""
        return ("http", self.url, tuple(sorted(self.headers.items())), _as_json(self.body))


@dataclass(frozen=True, slots=True)
class ToolHandler:
    """A tool of a configured server."""

    server: str
    tool: str
    """By the name the server gives it."""
    args: Template | None = None
    """Of an object; None: no arguments."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for handlers that do the same."""
        return ("mcp_tool", self.server, self.tool, _as_json(self.args))


def _as_json(template: Template | None) -> bytes | None:
    """Compared so: in Python `1`, `1.0` and `True` are one, and to whoever is told they are not."""
    return None if template is None else msgspec.json.encode(written(template))


Handler: TypeAlias = CommandHandler | HttpHandler | ToolHandler


@dataclass(frozen=True, slots=True)
class DeclaredHook:
    """One handler on one event."""

    event: HookEvent
    handler: Handler
    name: str
    """For reasons, records and logs; never a secret."""
    matcher: Rule | None = None
    """None: every call, or every event."""
    denies_on_error: bool = False
    """`onError: deny`."""
    says_on_error: bool = False
    """Whether `onError` is written at all: then what a failure means is a choice somebody made."""
    timeout: float = TIMEOUT
    """Seconds."""
    source: str | None = None
    """File, line and key path."""
    file: Path | None = None
    """The file that declares it."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for hooks that do the same at the same time, whatever they are called, wherever
        they stand, however long they may take and whatever their failure means."""
        matcher = None if self.matcher is None else self.matcher.text
        return (self.event, matcher, self.handler.key)
