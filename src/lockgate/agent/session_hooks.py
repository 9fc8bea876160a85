"""The hooks of one session: told when it begins and ends, and of each of its turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from lockgate.agent.model import Message
from lockgate.agent.occasions import Occasions, with_context
from lockgate.agent.plan import AgentPlan
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.scope import SessionScope
from lockgate.agent.turn import Turn
from lockgate.tools.context import InterruptToken

RunTurn: TypeAlias = Callable[[Turn], Awaitable[RunResult]]


class SessionHooks:
    """Runs the turns of a session between its hooks.

    The session begins for them with its first turn: one that never says anything is none.
    """

    def __init__(
        self, occasions: Occasions, scope: SessionScope, plan: AgentPlan, *, resumed: bool
    ) -> None:
        self._occasions = occasions
        self._scope = scope
        self._plan = plan
        self._resumed = resumed
        self._begun = False
        self._context = ""
        """What hooks of the session's start want the model told with its next prompt."""
        # Now, so that it is called after the end of whatever turn is under way then.
        scope.own("hooks of its end", self._end)

    async def run(self, turn: Turn, said: Sequence[Message], run: RunTurn) -> RunResult:
        """One turn by `run`, unless a hook denies it: then nothing is added to what was `said`.

        What it raises, a cancellation too, passes through, once hooks were told that the turn is
        over (`Occasions.turn_broke_off`).
        """
        await self._begin(turn.interrupt)
        try:
            result = await self._turn(turn, said, run)
        except BaseException as error:
            await self._occasions.turn_broke_off(turn.execution, error)
            raise
        await self._occasions.turn_stopped(turn.execution, result.status.value, result.reason)
        return result

    async def _turn(self, turn: Turn, said: Sequence[Message], run: RunTurn) -> RunResult:
        opening = await self._occasions.turn_starts(turn.execution, turn.prompt, turn.interrupt)
        if opening.denied is not None:
            return RunResult(
                "", RunStatus.DENIED, turn.execution.id, "hook", opening.denied, tuple(said)
            )
        context = "\n".join(filter(None, (self._context, opening.context)))
        self._context = ""
        return await run(replace(turn, prompt=with_context(turn.prompt, context)))

    async def _begin(self, interrupt: InterruptToken | None) -> None:
        if self._begun:
            return
        self._begun = True
        plan, session_id = self._plan, self._scope.session_id
        self._context = await self._occasions.session_started(
            session_id,
            plan.environment,
            attended=plan.attended,
            source="resume" if self._resumed else "startup",
            interrupt=interrupt,
        )

    async def _end(self) -> None:
        if not self._begun:
            return
        plan = self._plan
        await self._occasions.session_ended(
            self._scope.session_id, plan.environment, attended=plan.attended
        )
