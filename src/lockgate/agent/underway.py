"""The executions that are under way on a runtime: by their id, what they are made of.

A tool is told only of its execution (`ToolContext`). What starts a child execution (Task, Skill)
finds here whose child it is: its plan, its watcher, its session.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from lockgate.agent.budget import TokenBudget
from lockgate.agent.events import Sink
from lockgate.agent.plan import AgentPlan
from lockgate.agent.scope import SessionScope
from lockgate.tools.context import Execution
from lockgate.tools.registry import Snapshot


@dataclass(frozen=True, slots=True)
class Standing:
    """One execution that is under way."""

    execution: Execution
    plan: AgentPlan
    scope: SessionScope
    """The session it belongs to; of a child, that of whoever invited it."""
    sink: Sink
    snapshot: Snapshot | None = None
    """The tools it works on, and its children with it; None: those of the moment."""
    budget: TokenBudget | None = None
    """What its tokens count against; None: nothing bounds them."""


class UnderWay:
    """All executions of a runtime that have begun and not ended."""

    def __init__(self) -> None:
        self._standing: dict[str, Standing] = {}

    @contextmanager
    def begun(self, standing: Standing) -> Generator[None]:
        """Within the block the execution is found. Ids of executions are never used twice."""
        self._standing[standing.execution.id] = standing
        try:
            yield
        finally:
            self._standing.pop(standing.execution.id, None)

    def find(self, execution_id: str) -> Standing | None:
        """What is under way under this id; None for a call that no model made."""
        return self._standing.get(execution_id)

    def __len__(self) -> int:
        return len(self._standing)
