"""An agent: one session with a model, on the tools of a runtime."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from lockgate.agent.budget import TokenBudget
from lockgate.agent.events import Sink, ignore
from lockgate.agent.executor import Executor
from lockgate.agent.instructions import instructions
from lockgate.agent.journal import Journal
from lockgate.agent.model import Message
from lockgate.agent.own_call import own_call
from lockgate.agent.plan import AgentPlan
from lockgate.agent.run import RunResult
from lockgate.agent.runtime import AgentRuntime
from lockgate.agent.session import Session
from lockgate.agent.session_hooks import SessionHooks
from lockgate.agent.turn import Turn
from lockgate.agent.underway import Standing
from lockgate.calls.call import Suspended
from lockgate.calls.waiting import Waiting
from lockgate.errors import LocalError
from lockgate.policy.ceiling import shown, whole
from lockgate.rules.offers import bind_offer
from lockgate.tools.context import Execution, InterruptToken
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ToolResult


class Agent:
    """One session: what was said before is known in the next turn.

    It is used by one task at a time, on the loop of its runtime. What its turns leave running is
    closed with it, and at the latest with its runtime.
    """

    def __init__(
        self,
        runtime: AgentRuntime,
        plan: AgentPlan,
        *,
        session_id: str | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Starts nothing. `session_id` is what answers given "for this session" are kept under;
        None makes a new one.

        With `journal` the session is kept, and goes on from what is written there; the agent closes
        it, unless this raises: `LocalError` for a session that can not be read.
        """
        runtime.check()
        self._runtime = runtime
        self._plan = plan
        self._session = Session(journal)
        self._scope = runtime.begin_session(session_id)
        self._scope.own("transcript", self._session.close)
        self._hooks = SessionHooks(
            runtime.occasions, self._scope, plan, resumed=self._session.resumed
        )
        self._executor = Executor(
            plan.model,
            runtime.invoker,
            new_call_id=runtime.make_id,
            limits=plan.limits,
            witness=runtime.witness,
        )
        self._busy = False

    @property
    def session_id(self) -> str:
        return self._scope.session_id

    @property
    def resumed(self) -> bool:
        """Whether the session goes on from an earlier process."""
        return self._session.resumed

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The calls of a kept session that wait for an answer which will come elsewhere, as they
        are now; of those that have it the next turn tells the model."""
        return tuple(call for call in self._session.waiting() if call.answered == "open")

    async def close(self) -> None:
        """End the session. Idempotent.

        A turn that is under way is interrupted and waited for; what its turns left running is
        closed, and another process may go on with the session. Raises `LocalError` on another loop
        or thread.
        """
        self._runtime.check_place()
        await self._scope.close()

    async def __aenter__(self) -> Agent:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def transcript(self) -> tuple[Message, ...]:
        """Everything said so far, also by a turn that was cancelled, and in an earlier process."""
        return tuple(self._session.transcript)

    async def run(
        self, prompt: str, *, interrupt: InterruptToken | None = None, sink: Sink = ignore
    ) -> RunResult:
        """One turn: what the person said, until the model has answered or a bound is reached.

        `interrupt` ends the turn with a result for every call; `sink` is told what happens as it
        happens. Raises `LocalError` for an empty prompt, while another turn of this agent is under
        way, on another loop or thread, and after closing; never for what a model's provider or a
        tool does. Of a session that is kept, whatever keeps it from being written down is raised
        (`StateError`), and then no call is made of which nothing would be kept (decision 0045).
        """
        self._check()
        if not isinstance(prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
            raise LocalError(f"prompt must be str, not {type(prompt).__name__}")
        if not prompt.strip():
            raise LocalError("a prompt needs some text")
        with self._under_way(interrupt) as token:
            turn = self._turn(prompt, token, sink)
            standing = Standing(
                turn.execution,
                self._plan,
                self._scope,
                sink,
                snapshot=turn.snapshot,
                budget=turn.budget,
            )
            try:
                with self._runtime.under_way.begun(standing):
                    return await self._hooks.run(turn, self._session.transcript, self._run)
            finally:
                self._session.turn_ended()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        entry: str,
        interrupt: InterruptToken | None = None,
        sink: Sink = ignore,
    ) -> ToolResult | Suspended:
        """One call that the person makes in this session, between two turns.

        It goes down the same road as a model's, within the same bounds; the transcript has nothing
        of it. `entry` is the road it came by, in records. Raises `LocalError` as `run` does.
        """
        self._check()
        with self._under_way(interrupt) as token:
            snapshot = self._runtime.snapshot()
            standing = Standing(
                self._execution(snapshot, entry, by_model=False),
                self._plan,
                self._scope,
                sink,
                snapshot=snapshot,
                budget=TokenBudget(self._plan.limits.tokens),
            )
            return await own_call(self._runtime, standing, name, arguments, token)

    def _check(self) -> None:
        """Raise `LocalError` where nothing can be begun now."""
        self._runtime.check()
        if self._scope.closed:
            raise LocalError("this session is closed; make another agent")
        if self._busy:
            raise LocalError("this agent is busy with another turn; wait for it, or use another")

    async def _run(self, turn: Turn) -> RunResult:
        return await self._executor.run(turn, self._session.transcript)

    @contextmanager
    def _under_way(self, interrupt: InterruptToken | None) -> Generator[InterruptToken]:
        """While the turn of the block runs the agent is busy, and closing the session ends it: by
        the token that is given, as `interrupt` does."""
        token, over = InterruptToken(), asyncio.Event()

        async def end() -> None:
            token.interrupt()
            await over.wait()

        if interrupt is not None:
            interrupt.listen(token.interrupt)
        disown = self._scope.own("the turn under way", end, first=True)
        self._busy = True
        try:
            yield token
        finally:
            self._busy = False
            disown()
            over.set()
            if interrupt is not None:
                interrupt.forget(token.interrupt)

    def _turn(self, prompt: str, interrupt: InterruptToken | None, sink: Sink) -> Turn:
        plan, runtime = self._plan, self._runtime
        snapshot = runtime.snapshot()
        execution = self._execution(snapshot, plan.entry, by_model=True)
        missing = runtime.missing
        news = self._session.news(shown(snapshot, execution.bounds), missing, self._scope.news())
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

    def _execution(self, snapshot: Snapshot, entry: str, *, by_model: bool) -> Execution:
        plan = self._plan
        return Execution(
            id=self._runtime.make_id(),
            entry=entry,
            bounds=self._runtime.invoker.within(
                whole(plan.ceiling, _offered(plan.offer, snapshot)), snapshot, entry=plan.entry
            ),
            attended=plan.attended,
            environment=plan.environment,
            session_id=self.session_id,
            principal=plan.principal,
            by_model=by_model,
        )

    def __repr__(self) -> str:
        return f"<Agent of {self._runtime.id}, {len(self._session.transcript)} messages>"


def _offered(offer: tuple[str, ...] | None, snapshot: Snapshot) -> frozenset[str] | None:
    return snapshot.derived((bind_offer, offer), lambda: (bind_offer(offer, snapshot),))[0]
