"""What one turn is made of."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.agent.budget import TokenBudget
from lockgate.agent.events import Sink, ignore
from lockgate.tools.context import Execution, InterruptToken
from lockgate.tools.registry import Snapshot


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn is made of. Nothing in it changes while the turn runs."""

    prompt: str
    execution: Execution
    snapshot: Snapshot
    """The tools of this turn: what changes meanwhile is seen by the next one."""
    instructions: str
    interrupt: InterruptToken | None = None
    sink: Sink = ignore
    missing: tuple[str, ...] = ()
    """Configured servers whose tools are not there; told to the sink."""
    parent_call: str | None = None
    """The call that this turn is the work of; None: a turn of a session."""
    budget: TokenBudget | None = None
    """What its tokens count against; None: the bound of its limits alone."""

    @property
    def watched(self) -> bool:
        """Whether anybody is told what happens in it."""
        return self.sink is not ignore
