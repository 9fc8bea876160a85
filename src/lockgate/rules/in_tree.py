"""The tools that come with lockgate, as far as rules have to know them before any is made.

Rules are read when a configuration is loaded, and the tools themselves live further right in the
line of layers: this table is what both agree on, and a test compares it with the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from lockgate.tools.subject import SubjectKind


class InTreeTool(msgspec.Struct, frozen=True):
    """What rules know of one tool."""

    name: str
    subjects: Mapping[str, SubjectKind]
    """The arguments that are more than texts, and what they are; the first is what the text in
    `Tool(...)` is about. Empty: rules speak of its arguments by name alone."""
    parameters: frozenset[str]
    """All that its schema has, which is closed."""
    destructive: bool
    """Whether an allow rule has to say so (S0-08)."""
    doc: str
    """What it lets an agent do, for whoever accepts a file that brings it."""

    @property
    def subject(self) -> SubjectKind:
        """The kind of its first subject, if it has any: how the text in `Tool(...)` is read."""
        return next(iter(self.subjects.values()))

    @property
    def line(self) -> str | None:
        """The argument that is a shell line."""
        lines = (name for name, kind in self.subjects.items() if kind is SubjectKind.COMMAND)
        return next(lines, None)


def _table(*tools: InTreeTool) -> Mapping[str, InTreeTool]:
    return MappingProxyType({tool.name: tool for tool in tools})


_PATH: Final[Mapping[str, SubjectKind]] = MappingProxyType({"path": SubjectKind.PATH})
_NONE: Final[Mapping[str, SubjectKind]] = MappingProxyType({})

IN_TREE: Final[Mapping[str, InTreeTool]] = _table(
    InTreeTool(
        "Read",
        _PATH,
        frozenset({"path", "offset", "limit"}),
        destructive=False,
        doc="reads files",
    ),
    InTreeTool(
        "Glob",
        _PATH,
        frozenset({"pattern", "path", "include_ignored"}),
        destructive=False,
        doc="finds files by name",
    ),
    InTreeTool(
        "Grep",
        _PATH,
        frozenset({"pattern", "path", "glob", "type", "mode", "context", "ignore_case", "literal"})
        | {"multiline", "limit", "include_ignored"},
        destructive=False,
        doc="searches in files",
    ),
    InTreeTool(
        "Write",
        _PATH,
        frozenset({"path", "content", "stamp", "create_directories"}),
        destructive=True,
        doc="writes whole files",
    ),
    InTreeTool(
        "Edit",
        _PATH,
        frozenset({"path", "old", "new", "stamp", "replace_all"}),
        destructive=True,
        doc="changes files",
    ),
    InTreeTool(
        "Bash",
        MappingProxyType({"command": SubjectKind.COMMAND, "directory": SubjectKind.PATH}),
        frozenset({"command", "directory", "timeout"}),
        destructive=True,
        doc="runs programs",
    ),
    InTreeTool(
        "WebFetch",
        MappingProxyType({"url": SubjectKind.URL}),
        frozenset({"url", "max_characters"}),
        destructive=False,
        doc="fetches pages from the web",
    ),
    InTreeTool(
        "ListResources",
        _NONE,
        frozenset({"server", "containing"}),
        destructive=False,
        doc="lists what MCP servers offer to be read",
    ),
    InTreeTool(
        "ReadResource",
        _NONE,
        frozenset({"server", "uri", "max_characters"}),
        destructive=False,
        doc="reads resources of MCP servers",
    ),
    InTreeTool(
        "append_note",
        _NONE,
        frozenset({"text"}),
        destructive=False,
        doc="adds to the notes of the project",
    ),
    InTreeTool(
        "read_notes",
        _NONE,
        frozenset({"containing", "limit"}),
        destructive=False,
        doc="reads the notes of the project",
    ),
    InTreeTool(
        "knowledge_search",
        _NONE,
        frozenset({"query", "id", "limit"}),
        destructive=False,
        doc="searches what is kept for later runs",
    ),
    InTreeTool(
        "knowledge_add",
        _NONE,
        frozenset({"id", "title", "content"}),
        destructive=False,
        doc="keeps documents for later runs",
    ),
    InTreeTool(
        "knowledge_replace",
        _NONE,
        frozenset({"id", "title", "content"}),
        destructive=True,
        doc="replaces documents that are kept",
    ),
    InTreeTool(
        "knowledge_remove",
        _NONE,
        frozenset({"id"}),
        destructive=True,
        doc="removes documents that are kept",
    ),
    InTreeTool(
        "todo",
        _NONE,
        frozenset({"items"}),
        destructive=False,
        doc="lists the steps of its work",
    ),
    InTreeTool(
        "Task",
        _NONE,
        frozenset({"agent", "prompt", "background"}),
        destructive=False,
        doc="has sub-agents work, within what it may do itself",
    ),
    InTreeTool(
        "list_agents",
        _NONE,
        frozenset({"id", "wait"}),
        destructive=False,
        doc="lists sub-agents and their answers",
    ),
    InTreeTool(
        "Skill",
        _NONE,
        frozenset({"skill", "arguments"}),
        destructive=False,
        doc="does tasks by skills that are configured",
    ),
)
"""By name."""
