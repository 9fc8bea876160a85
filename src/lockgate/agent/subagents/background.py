"""Sub-agents in the background: they belong to a session, and end with it at the latest.

A turn of the session starts them and any later one may ask for their answer. They work within the
bounds of the turn that started them, and ask through its session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final

from lockgate.agent.children import Child, ChildRefused, Children
from lockgate.agent.run import RunResult
from lockgate.agent.scope import SessionScope
from lockgate.agent.underway import Standing
from lockgate.agent.wish import Wish
from lockgate.errors import LocalError
from lockgate.tools.context import InterruptToken, ToolContext

MAX_KEPT: Final = 50
"""Of one session, those that are remembered, ended ones included: the oldest of these give way."""
GRACE: Final = 10.0
"""Seconds that they have to end by themselves when their session does."""
ENDING: Final = 5.0
"""Seconds in which those that have not, and are cancelled, have to be over."""

_log: Final = logging.getLogger(__name__)


class BackgroundAgent:
    """One of them. It has begun when it is made."""

    def __init__(self, id: str, agent: str, child: Child) -> None:
        """`id` is unique in the session; `child` is run, and closed whatever happens."""
        self.id = id
        self.agent = agent
        self.interrupt = InterruptToken()
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._ended: float | None = None
        self._child = child
        self.fetched = False
        """Whether its answer was asked for after its end."""
        self.refused: str | None = None
        """Why it was not let begin after all."""
        self.task = asyncio.create_task(child.run(self.interrupt), name=f"background {id}")
        self.task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[RunResult]) -> None:
        self._ended = self._clock()
        self._child.close()  # a task that was cancelled before its first step never came to it
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, ChildRefused):
                self.refused = str(error)
                return
            if isinstance(error, LocalError):
                return  # the gate closes, and it had not begun: its crew tells of it
            _log.error("the sub-agent %s failed: %s", self.id, type(error).__name__)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.task.done()

    @property
    def too_late(self) -> bool:
        """Whether the gate was closing before it could begin."""
        return self.state == "failed" and isinstance(self.task.exception(), LocalError)

    @property
    def seconds(self) -> float:
        """How long it has taken so far, or took."""
        return (self._clock() if self._ended is None else self._ended) - self._began

    @property
    def result(self) -> RunResult | None:
        """What came of it; None while it runs, and if it was cancelled or broke."""
        if self.running or self.task.cancelled() or self.task.exception() is not None:
            return None
        return self.task.result()

    @property
    def state(self) -> str:
        """One word or two, for people and models."""
        if self.running:
            return "running"
        result = self.result
        if result is None:
            if self.refused is not None:
                return "refused"
            return "cancelled" if self.task.cancelled() else "failed"
        return "answered" if result.answered else f"no answer ({result.reason})"


class Background:
    """All sub-agents in the background of a runtime, session by session."""

    def __init__(self, children: Children, *, grace: float = GRACE) -> None:
        self._children = children
        self._grace = grace
        self._crews: dict[SessionScope, _Crew] = {}

    def start(self, agent: str, wish: Wish, context: ToolContext) -> BackgroundAgent:
        """Start one for the call of `context`, and return at once.

        Raises `ChildRefused` as `Children.prepared`, and where there is no session that it could
        belong to: calls that no model made, calls of sub-agents, and sessions that end.
        """
        inviter = self._children.inviter(context)
        if inviter is None:
            text = "only a session has sub-agents in the background, and this call belongs to none"
            raise ChildRefused("no_session", text)
        if inviter.execution.depth:
            text = "a sub-agent starts none in the background: leave `background` out"
            raise ChildRefused("not_in_background", text)
        if inviter.scope.closed:  # whose turn may go on while those that are there are waited for
            raise ChildRefused("session_ends", "the session ends, and starts nothing any more")
        crew = self._crew(inviter)
        child = self._children.prepared(wish, _without_deadline(context))
        return crew.start(agent, child)

    def of(self, context: ToolContext) -> tuple[BackgroundAgent, ...]:
        """Those of the session whose own call it is, oldest first; a sub-agent has none."""
        inviter = self._children.inviter(context)
        if inviter is None or inviter.execution.depth or inviter.scope not in self._crews:
            return ()
        return tuple(self._crews[inviter.scope].members)

    def __len__(self) -> int:
        """How many run."""
        return sum(one.running for crew in self._crews.values() for one in crew.members)

    def _crew(self, inviter: Standing) -> _Crew:
        scope = inviter.scope
        crew = self._crews.get(scope)
        if crew is None:
            crew = _Crew(self._grace, lambda: self._crews.pop(scope, None))
            scope.own("background sub-agents", crew.close)
            scope.tells(crew.news)
            self._crews[scope] = crew
        return crew


class _Crew:
    """Those of one session."""

    def __init__(self, grace: float, closed: Callable[[], object]) -> None:
        self.members: list[BackgroundAgent] = []
        self._grace = grace
        self._closed = closed
        self._started = 0
        self._told: set[str] = set()
        """Ids of those of whose end the model was told."""

    def start(self, agent: str, child: Child) -> BackgroundAgent:
        self._started += 1
        started = BackgroundAgent(f"{agent}-{self._started}", agent, child)
        self.members.append(started)
        over = max(0, len(self.members) - MAX_KEPT)
        for old in [one for one in self.members if not one.running][:over]:
            self.members.remove(old)
        return started

    def news(self) -> Iterator[str]:
        """Who has ended, unless the model knows."""
        for one in self.members:
            if not one.running and not one.fetched and one.id not in self._told:
                self._told.add(one.id)
                yield f"{one.id}, in the background, has ended: list_agents has what came of it."

    async def close(self) -> None:
        """Interrupt all, so that each ends with a result for its calls; cancel what does not."""
        tasks = [one.task for one in self.members if one.running]
        unheard = [one for one in self.members if one.running or one.too_late]
        for one in self.members:
            one.interrupt.interrupt()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=self._grace)
        finally:
            left = [task for task in tasks if not task.done()]
            for task in left:
                task.cancel()
            self._closed()
            if left:
                _, lost = await asyncio.wait(left, timeout=ENDING)
                for task in lost:
                    _log.warning("%s goes on although it was cancelled", task.get_name())
            for one in unheard:
                if one.result is None or not one.result.answered:
                    _log.warning("the sub-agent %s ended with its session, with no answer", one.id)


def _without_deadline(context: ToolContext) -> ToolContext:
    """The same call, whose time is not that of what it started, and whose interrupt ends it not."""
    return ToolContext(context.execution, context.call_id, parent_call=context.parent_call)
