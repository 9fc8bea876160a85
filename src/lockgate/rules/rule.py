"""A permission rule: which calls it names, and what it says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lockgate.decision import Decision
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.matcher import Parameter, SubjectPattern
from lockgate.tools.subject import SubjectKind


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, parsed. Written `Tool`, `Tool(subject)`, `Tool(name=pattern, ...)`, and for a
    server's tools `mcp__server`, `mcp__server__*`, `mcp__server__tool`,
    `mcp__server__tool(name=pattern, ...)`."""

    decision: Decision
    text: str
    """As it was written."""
    server: str | None
    """The server it names; None for a local tool."""
    tool: str | None
    """Original or registered tool name; None for every tool of the server."""
    when: Literal["attended", "unattended", "any"] = "attended"
    """Which executions an allow rule answers for; deny and ask always hold."""
    source: str | None = None
    """File and key path, for reasons."""
    subject: CommandPattern | SubjectPattern | None = None
    """What the tool's first subject has to be; None: whatever it is."""
    parameters: tuple[Parameter, ...] = ()
    """What arguments have to be, all of them."""
    rest: bool = False
    """Written with `...` at the end: the arguments it does not name are meant to be free."""
    destructive: bool = False
    """An allow rule: that it also answers for a destructive tool (S0-08)."""
    until: float | None = None
    """An allow rule: Unix time from which on it says nothing any more."""
    pin: str | None = None
    """An allow rule: the digest of the only definition it answers for (B-06)."""
    exact: bool = False
    """An allow rule: that it answers only for a call with no other arguments than it names, whose
    paths are by no symbolic link what they say. What an answer for always is written as."""
    reason: str | None = None
    """Why the operator wrote it; told with every decision it makes."""

    @property
    def label(self) -> str:
        """How decisions and their records name it: as it was written, except that an exact rule
        holds the values of a whole call, which have no business there (B-02)."""
        return (
            f"for exactly this call of {self.text.partition('(')[0]}" if self.exact else self.text
        )

    @property
    def bare(self) -> bool:
        """Whether it says the same of every call of its tools."""
        return self.subject is None and not self.parameters and not self.exact

    def constrains(self, arguments: Mapping[str, Any]) -> bool:
        """Whether it leaves nothing open in a call with `arguments`, unless it says so: `...`.

        What an allow rule has to do to answer for a destructive tool (S0-08). A subject constrains
        the whole call of a tool of ours.
        """
        if self.rest:
            return True
        if self.subject is not None:
            return self.subject.constrains
        named = {p.name for p in self.parameters if p.pattern.constrains}
        return (self.exact or bool(named)) and named.issuperset(arguments)

    def speaks_of(self, parameter: str, first: str) -> bool:
        """Whether it says what the path in `parameter` has to be; `first` is the first subject's.

        A rule about a command speaks of the command, and not of where it runs; `*` says nothing.
        """
        if self.subject is not None:
            return parameter == first and self.subject.kind is not SubjectKind.COMMAND
        return any(
            p.name == parameter and (p.pattern.constrains or p.pattern.kind is SubjectKind.PATH)
            for p in self.parameters
        )


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, in no particular order: the strictest that matches decides."""

    rules: tuple[Rule, ...] = ()
