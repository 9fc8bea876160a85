"""Children: executions that a call of an agent brings about, such as sub-agents and forked skills.

A child works on the tools of its parent's turn, on the same runtime and so on the same connections,
within `narrow(parent, wish)` and nothing wider (B-04). The session that invited it is its own for
grants, declines and questions. Its calls name the call that brought it about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from lockgate.agent.budget import TokenBudget
from lockgate.agent.events import ChildEvent, Event, Sink, ignore
from lockgate.agent.executor import Executor
from lockgate.agent.instructions import instructions
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Message, Model
from lockgate.agent.occasions import with_context
from lockgate.agent.plan import AgentPlan
from lockgate.agent.run import RunResult
from lockgate.agent.runtime import AgentRuntime
from lockgate.agent.scope import SessionScope
from lockgate.agent.turn import Turn
from lockgate.agent.underway import Standing
from lockgate.agent.wish import Wish, limited, narrowed
from lockgate.errors import LocalError, LockgateError
from lockgate.policy.grants import session_of
from lockgate.tools.context import Bounds, Execution, InterruptToken, ToolContext
from lockgate.tools.registry import Snapshot

MAX_DEPTH: Final = 3
"""Children within children; a turn of a session is at 0."""
MAX_AT_ONCE: Final = 8
"""Children of one session that are under way at the same time, those of children included."""


class ChildRefused(LocalError):
    """No child was started. The text says why, in words for a model; `reason` is a code."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Children:
    """Starts the children of a runtime's executions. One for each runtime, used on its loop."""

    def __init__(
        self,
        *,
        model: Model | str | None = None,
        limits: TurnLimits | None = None,
        max_depth: int = MAX_DEPTH,
        at_once: int = MAX_AT_ONCE,
    ) -> None:
        """`model` and `limits` are those of the children of a call that no model made: the
        configuration's. Without a model such a call can have none."""
        self._model = model
        self._limits = limits or TurnLimits()
        self._max_depth = max_depth
        self._at_once = at_once
        self._runtime: AgentRuntime | None = None
        self._running: Counter[SessionScope] = Counter()

    def serve(self, runtime: AgentRuntime) -> None:
        """Say on which runtime children run: tools are made before it. Raises `LocalError` the
        second time."""
        if self._runtime is not None:
            raise LocalError("these children belong to a runtime already")
        self._runtime = runtime

    def __len__(self) -> int:
        """How many are under way."""
        return self._running.total()

    async def run(self, wish: Wish, context: ToolContext) -> RunResult:
        """Run a child to its end, for the call of `context`.

        Its interrupt is the call's: the child's turn then ends with a result for each of its calls.
        Raises `ChildRefused` if it can not be started; a cancellation passes through and ends it.
        """
        return await self.prepared(wish, context).run(context.interrupt)

    def prepared(self, wish: Wish, context: ToolContext) -> Child:
        """A child that counts as under way and has not begun: `run` it, or `close` it.

        Raises `ChildRefused` as `run`.
        """
        runtime = self._served
        parent = self.parent_of(context)
        if parent.execution.depth >= self._max_depth:
            text = f"sub-agents within sub-agents end at {self._max_depth}: do it yourself"
            raise ChildRefused("too_deep", text)
        if self._running[parent.scope] >= self._at_once:
            text = f"{self._at_once} sub-agents are under way, which is all: wait for one to end"
            raise ChildRefused("too_many", text)
        snapshot = parent.snapshot or runtime.snapshot()
        try:
            bounds = narrowed(parent.execution.bounds, wish, snapshot)
            model = parent.plan.model if wish.model is None else runtime.model(wish.model)
        except LockgateError as error:
            raise ChildRefused("unusable", f"{wish.label} can not be started: {error}") from None
        standing = self._standing(parent, wish, context, snapshot, bounds, model)
        self._running[parent.scope] += 1
        return Child(runtime, parent, standing, wish.prompt, context.call_id, self._ended)

    def inviter(self, context: ToolContext) -> Standing | None:
        """The execution whose call it is; None for a call that no model made."""
        return self._served.under_way.find(context.execution.id)

    def parent_of(self, context: ToolContext) -> Standing:
        """The execution whose child it would be. Of a call that no model made, one is made up: a
        scope of its own, the configuration's model and limits. Raises `ChildRefused` if there is no
        model."""
        runtime, execution = self._served, context.execution
        if (found := self.inviter(context)) is not None:
            return found
        model = self._model
        if model is None:
            text = "no model made this call, and none is configured: set agent.model"
            raise ChildRefused("no_model", text)
        try:
            made = runtime.model(model) if isinstance(model, str) else model
        except LockgateError as error:
            raise ChildRefused("no_model", str(error)) from None
        environment, limits = execution.environment, self._limits
        plan = AgentPlan(made, environment, execution.attended, limits=limits)
        budget = TokenBudget(limits.tokens)
        return Standing(execution, plan, SessionScope(execution.id), ignore, budget=budget)

    def _standing(
        self,
        parent: Standing,
        wish: Wish,
        context: ToolContext,
        snapshot: Snapshot,
        bounds: Bounds,
        model: Model,
    ) -> Standing:
        above, runtime = parent.execution, self._served
        # Its parent's bounds are of before a reload: what that has left is what is shown, too.
        bounds = runtime.invoker.within(bounds, snapshot, entry=wish.entry)
        execution = Execution(
            id=runtime.make_id(),
            entry=wish.entry,
            bounds=bounds,
            attended=above.attended,
            environment=above.environment,
            session_id=None,
            inviting_session=session_of(above),
            principal=above.principal,
            agent=wish.label,
            skills=above.skills if wish.skill is None else (*above.skills, wish.skill),
            depth=above.depth + 1,
            by_model=True,
        )
        plan = replace(
            parent.plan,
            model=model,
            ceiling=bounds.ceiling,
            offer=wish.offer,
            instructions=wish.instructions,
            limits=limited(parent.plan.limits, wish, context),
            entry=wish.entry,
        )
        return Standing(
            execution,
            plan,
            parent.scope,
            self._told(parent, wish.label, context.call_id),
            snapshot,
            TokenBudget(wish.tokens, parent.budget),
        )

    def _told(self, parent: Standing, label: str, call_id: str) -> Sink:
        """The parent's watcher, told what happens in the child for as long as the parent goes on:
        a child in the background may outlast the turn that somebody watches."""
        sink, under_way = parent.sink, self._served.under_way
        if sink is ignore:
            return ignore

        def told(event: Event) -> None:
            if under_way.find(parent.execution.id) is not None:
                sink(ChildEvent(label, call_id, event))

        return told

    @property
    def _served(self) -> AgentRuntime:
        if self._runtime is None:
            raise LocalError("no runtime was named for these children")
        return self._runtime

    def _ended(self, scope: SessionScope) -> None:
        self._running[scope] -= 1
        if not self._running[scope]:
            del self._running[scope]


class Child:
    """One child: run once, or closed unused."""

    def __init__(
        self,
        runtime: AgentRuntime,
        parent: Standing,
        standing: Standing,
        prompt: str,
        call_id: str,
        ended: Callable[[SessionScope], None],
    ) -> None:
        """`Children.prepared` makes it; `ended` is called once, when it is over."""
        self._runtime = runtime
        self._parent = parent.execution.id
        self._standing = standing
        self._prompt = prompt
        self._call_id = call_id
        self._ended: Callable[[SessionScope], None] | None = ended

    @property
    def standing(self) -> Standing:
        """What it is made of."""
        return self._standing

    async def run(self, interrupt: InterruptToken | None) -> RunResult:
        """Its one turn, until it has answered or a bound is reached. Then it is closed.

        Raises `ChildRefused` where a hook does not let it begin.
        """
        standing, runtime = self._standing, self._runtime
        execution, label = standing.execution, standing.execution.agent or ""
        try:
            with runtime.under_way.begun(standing):
                opening = await runtime.occasions.subagent_starts(
                    execution, label, self._prompt, parent=self._parent, interrupt=interrupt
                )
                if opening.denied is not None:
                    text = f"{label} may not begin: {opening.denied}"
                    raise ChildRefused("denied_by_hook", text)
                prompt = with_context(self._prompt, opening.context)
                try:
                    result = await self._turn(prompt, interrupt)
                except BaseException as error:
                    await runtime.occasions.subagent_broke_off(
                        execution, label, error, parent=self._parent
                    )
                    raise
                await runtime.occasions.subagent_stopped(
                    execution,
                    label,
                    parent=self._parent,
                    status=result.status.value,
                    reason=result.reason,
                )
                return result
        finally:
            self.close()

    async def _turn(self, prompt: str, interrupt: InterruptToken | None) -> RunResult:
        standing, runtime = self._standing, self._runtime
        missing = runtime.missing
        turn = Turn(
            prompt,
            standing.execution,
            standing.snapshot or runtime.snapshot(),
            instructions(standing.plan.instructions, missing),
            interrupt,
            standing.sink,
            missing,
            parent_call=self._call_id,
            budget=standing.budget,
        )
        executor = Executor(
            standing.plan.model,
            runtime.invoker,
            new_call_id=runtime.make_id,
            limits=standing.plan.limits,
            witness=runtime.witness,
        )
        said: list[Message] = []
        return await executor.run(turn, said)

    def close(self) -> None:
        """It is over, or never began. Idempotent."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(self._standing.scope)
