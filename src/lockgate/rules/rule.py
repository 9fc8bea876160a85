"""A permission rule: which tools it names, and what it says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockgate.decision import Decision


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, parsed. Written `Tool`, `mcp__server`, `mcp__server__*` or `mcp__server__tool`."""

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


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, in no particular order: the strictest that matches decides."""

    rules: tuple[Rule, ...] = ()
