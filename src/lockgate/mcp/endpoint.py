"""What the wire needs to reach a server, and nothing about whether to believe it.

Trust, verdicts and requirements live in `mcp.host.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class StdioEndpoint:
    """A program that speaks MCP on its standard input and output."""

    command: str
    """A path, or a bare name that is looked up in the child's PATH; `~` is expanded."""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Set on top of the safe list that every child gets; may hold secrets."""
    cwd: Path | None = None

    @property
    def network(self) -> str:
        """What OpenTelemetry calls this way to a server (`network.transport`)."""
        return "pipe"

    def identity(self) -> dict[str, object]:
        """What a fingerprint covers: the command and its arguments, the names of the variables.

        A program in the directory that it runs in is named from there, so that a project which
        stands elsewhere has the same fingerprints.
        """
        return {"command": self._program(), "args": list(self.args), "env": sorted(self.env)}

    def _program(self) -> str:
        path = PurePath(self.command)
        if self.cwd is None or not path.is_absolute() or not path.is_relative_to(self.cwd):
            return self.command
        return f"./{path.relative_to(self.cwd).as_posix()}"


Endpoint: TypeAlias = StdioEndpoint
"""Grows by one member for each transport."""
