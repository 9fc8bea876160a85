"""An agent: one session with a model, on the tools of a runtime."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockgate.agent.changes import Changes
from lockgate.agent.events import Sink, ignore
from lockgate.agent.executor import Executor, Turn
from lockgate.agent.instructions import BASE, instructions
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Message, Model
from lockgate.agent.run import RunResult
from lockgate.agent.runtime import AgentRuntime
from lockgate.errors import LocalError
from lockgate.policy.ceiling import shown, whole
from lockgate.rules.offers import bind_offer
from lockgate.tools.context import Environment, Execution, InterruptToken
from lockgate.tools.registry import Snapshot
from lockgate.traits import SideEffectLevel


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What an agent is made of, apart from the runtime."""

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


class Agent:
    """One session: what was said before is known in the next turn.

    It is used by one task at a time, on the loop of its runtime, and owns nothing that would have
    to be closed.
    """

    def __init__(
        self, runtime: AgentRuntime, plan: AgentPlan, *, session_id: str | None = None
    ) -> None:
        """Starts nothing. `session_id` is what answers given "for this session" are kept under;
        None makes a new one."""
        runtime.check()
        self._runtime = runtime
        self._plan = plan
        self._session_id = session_id or runtime.make_session_id()
        self._transcript: list[Message] = []
        self._executor = Executor(
            plan.model,
            runtime.invoker,
            new_call_id=runtime.make_id,
            limits=plan.limits,
            witness=runtime.witness,
        )
        self._changes = Changes()
        self._busy = False

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def transcript(self) -> tuple[Message, ...]:
        """Everything said so far, also by a turn that was cancelled."""
        return tuple(self._transcript)

    async def run(
        self, prompt: str, *, interrupt: InterruptToken | None = None, sink: Sink = ignore
    ) -> RunResult:
        """One turn: what the person said, until the model has answered or a bound is reached.

        `interrupt` ends the turn with a result for every call; `sink` is told what happens as it
        happens. Raises `LocalError` for an empty prompt, while another turn of this agent is under
        way, on another loop or thread, and after closing; never for what a model's provider or a
        tool does.
        """
        self._runtime.check()
        if not prompt.strip():
            raise LocalError("a prompt needs some text")
        if self._busy:
            raise LocalError("this agent is busy with another turn; wait for it, or use another")
        self._busy = True
        try:
            return await self._executor.run(self._turn(prompt, interrupt, sink), self._transcript)
        finally:
            self._busy = False

    def _turn(self, prompt: str, interrupt: InterruptToken | None, sink: Sink) -> Turn:
        plan, runtime = self._plan, self._runtime
        snapshot = runtime.snapshot()
        bounds = whole(plan.ceiling, _offered(plan.offer, snapshot))
        execution = Execution(
            id=runtime.make_id(),
            entry=plan.entry,
            bounds=bounds,
            attended=plan.attended,
            environment=plan.environment,
            session_id=self._session_id,
            principal=plan.principal,
        )
        missing = runtime.missing
        news = self._changes.since(shown(snapshot, bounds), missing)
        return Turn(
            prompt,
            execution,
            snapshot,
            instructions(plan.instructions, missing, news),
            interrupt,
            sink,
            missing,
        )

    def __repr__(self) -> str:
        return f"<Agent of {self._runtime.id}, {len(self._transcript)} messages>"


def _offered(offer: tuple[str, ...] | None, snapshot: Snapshot) -> frozenset[str] | None:
    return snapshot.derived((bind_offer, offer), lambda: (bind_offer(offer, snapshot),))[0]
