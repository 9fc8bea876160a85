"""What an agent is made of, apart from the runtime it works on."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockgate.agent.instructions import BASE
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Model
from lockgate.tools.context import Environment
from lockgate.traits import SideEffectLevel


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """Made once, by whoever opens a session; the same for all of its turns."""

    model: Model
    environment: Environment
    attended: bool
    """Whether a person is there to answer questions (S0-09)."""
    ceiling: SideEffectLevel = SideEffectLevel.MUTATING
    offer: tuple[str, ...] | None = None
    """Tool names and `mcp__server__*` patterns, bound again to the tools of each turn. None is
    everything registered."""
    instructions: str = BASE
    limits: TurnLimits = field(default_factory=TurnLimits)
    entry: str = "agent"
    """The road its calls come by, in records."""
    principal: str | None = None
    """Whose authority it acts under; None is the operating-system user."""
