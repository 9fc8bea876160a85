"""The tools that come with lockgate, as far as rules have to know them before any is made.

Rules are read when a configuration is loaded, and the tools themselves live further right in the
line of layers: this table is what both agree on, and a test compares it with the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lockgate.tools.subject import SubjectKind


@dataclass(frozen=True, slots=True)
class InTreeTool:
    """What rules know of one tool."""

    name: str
    subject: SubjectKind
    """The kind of its first subject: how the text in `Tool(...)` is read."""
    parameters: frozenset[str]
    """All that its schema has, which is closed."""
    destructive: bool
    """Whether an allow rule has to say so (S0-08)."""
    doc: str
    """What it lets an agent do, for whoever accepts a file that brings it."""
    line: str | None = None
    """The argument that is a shell line, which no pattern for texts may judge."""


def _table(*tools: InTreeTool) -> Mapping[str, InTreeTool]:
    return MappingProxyType({tool.name: tool for tool in tools})


IN_TREE: Final[Mapping[str, InTreeTool]] = _table(
    InTreeTool(
        "Read",
        SubjectKind.PATH,
        frozenset({"path", "offset", "limit"}),
        destructive=False,
        doc="reads files",
    ),
    InTreeTool(
        "Glob",
        SubjectKind.PATH,
        frozenset({"pattern", "path", "include_ignored"}),
        destructive=False,
        doc="finds files by name",
    ),
    InTreeTool(
        "Grep",
        SubjectKind.PATH,
        frozenset({"pattern", "path", "glob", "type", "mode", "context", "ignore_case", "literal"})
        | {"multiline", "limit", "include_ignored"},
        destructive=False,
        doc="searches in files",
    ),
    InTreeTool(
        "Write",
        SubjectKind.PATH,
        frozenset({"path", "content", "stamp", "create_directories"}),
        destructive=True,
        doc="writes whole files",
    ),
    InTreeTool(
        "Edit",
        SubjectKind.PATH,
        frozenset({"path", "old", "new", "stamp", "replace_all"}),
        destructive=True,
        doc="changes files",
    ),
    InTreeTool(
        "Bash",
        SubjectKind.COMMAND,
        frozenset({"command", "directory", "timeout"}),
        destructive=True,
        doc="runs programs",
        line="command",
    ),
    InTreeTool(
        "WebFetch",
        SubjectKind.URL,
        frozenset({"url", "max_characters"}),
        destructive=False,
        doc="fetches pages from the web",
    ),
)
"""By name."""
