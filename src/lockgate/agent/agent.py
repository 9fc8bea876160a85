"""An agent: one session with a model, on the tools of a runtime."""

from __future__ import annotations

from lockgate.agent.budget import TokenBudget
from lockgate.agent.changes import Changes
from lockgate.agent.events import Sink, ignore
from lockgate.agent.executor import Executor, Turn
from lockgate.agent.instructions import instructions
from lockgate.agent.model import Message
from lockgate.agent.plan import AgentPlan
from lockgate.agent.run import RunResult
from lockgate.agent.runtime import AgentRuntime
from lockgate.agent.scope import SessionScope
from lockgate.agent.underway import Standing
from lockgate.errors import LocalError
from lockgate.policy.ceiling import shown, whole
from lockgate.rules.offers import bind_offer
from lockgate.tools.context import Execution, InterruptToken
from lockgate.tools.registry import Snapshot


class Agent:
    """One session: what was said before is known in the next turn.

    It is used by one task at a time, on the loop of its runtime. What its turns leave running is
    closed with it, and at the latest with its runtime.
    """

    def __init__(
        self, runtime: AgentRuntime, plan: AgentPlan, *, session_id: str | None = None
    ) -> None:
        """Starts nothing. `session_id` is what answers given "for this session" are kept under;
        None makes a new one."""
        runtime.check()
        self._runtime = runtime
        self._plan = plan
        self._scope = SessionScope(session_id or runtime.make_session_id())
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
        return self._scope.session_id

    async def close(self) -> None:
        """End the session: what its turns left running is closed. Idempotent."""
        await self._scope.close()

    async def __aenter__(self) -> Agent:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
        if self._scope.closed:
            raise LocalError("this session is closed; make another agent")
        if not prompt.strip():
            raise LocalError("a prompt needs some text")
        if self._busy:
            raise LocalError("this agent is busy with another turn; wait for it, or use another")
        self._busy = True
        try:
            turn = self._turn(prompt, interrupt, sink)
            standing = Standing(
                turn.execution,
                self._plan,
                self._scope,
                sink,
                snapshot=turn.snapshot,
                budget=turn.budget,
            )
            with self._runtime.under_way.begun(standing):
                return await self._executor.run(turn, self._transcript)
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
            session_id=self.session_id,
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
            budget=TokenBudget(plan.limits.tokens),
        )

    def __repr__(self) -> str:
        return f"<Agent of {self._runtime.id}, {len(self._transcript)} messages>"


def _offered(offer: tuple[str, ...] | None, snapshot: Snapshot) -> frozenset[str] | None:
    return snapshot.derived((bind_offer, offer), lambda: (bind_offer(offer, snapshot),))[0]
