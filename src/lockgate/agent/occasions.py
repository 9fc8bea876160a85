"""What happens to sessions, turns and sub-agents, told to hooks.

Every wait is bounded by the time limits of the hooks. Whoever begins something asks first, and
begins nothing that was denied; what ends is told, however it ends, and nothing that a hook says
changes it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from lockgate.calls.leash import Leash
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.merge import NOTHING_SAID, Merged
from lockgate.hooks.registry import Firing, Hooks
from lockgate.tools.context import Environment, Execution, InterruptToken

LAST_WORD: Final = 2.0
"""Seconds that a cancellation waits for hooks of what it ends, whatever their own limits are."""
ENDING: Final = 2.0
"""Seconds more in which those that have not ended by then, and are cancelled, have to be over."""

_log: Final = logging.getLogger("lockgate.hooks")

SessionSource = Literal["startup", "resume"]
"""How a session began: new, or taken up again with what was said before."""


class Opening(msgspec.Struct, frozen=True):
    """What hooks say of a turn, or the work of a sub-agent, that is about to begin."""

    denied: str | None = None
    """Why it must not begin; None: it may."""
    context: str = ""
    """What the model is to be told beside the prompt, as data: see `with_context`."""


FREE: Final = Opening()
"""No hook says anything."""


class Occasions:
    """Tells the hooks of a runtime what begins and ends. Used on its loop."""

    def __init__(
        self, hooks: Hooks, *, last_word: float = LAST_WORD, ending: float = ENDING
    ) -> None:
        """`last_word` and `ending` in seconds, as `LAST_WORD` and `ENDING`."""
        self._hooks = hooks
        self._patience = (last_word, ending)

    async def session_started(
        self,
        session_id: str,
        environment: Environment,
        *,
        attended: bool,
        source: SessionSource = "startup",
        interrupt: InterruptToken | None = None,
    ) -> str:
        """A session begins; what hooks want the model told with its first prompt. A hook that
        `interrupt` cuts off has failed."""
        event, details = HookEvent.SESSION_START, {"source": source}
        told = _of_session(event, session_id, environment, attended, details)
        return (await self._cut_off_by(interrupt, told)).context

    async def session_ended(
        self, session_id: str, environment: Environment, *, attended: bool
    ) -> None:
        """A session that was started ends."""
        await self._fire(_of_session(HookEvent.SESSION_END, session_id, environment, attended, {}))

    async def turn_starts(
        self, execution: Execution, prompt: str, interrupt: InterruptToken | None = None
    ) -> Opening:
        """A prompt is about to be worked on. A hook that `interrupt` cuts off has failed."""
        return await self._opening(HookEvent.TURN_START, execution, {"prompt": prompt}, interrupt)

    async def turn_stopped(self, execution: Execution, status: str, reason: str | None) -> None:
        """A turn is over; `status` and `reason` as in its `RunResult`."""
        await self._fire(_of(HookEvent.TURN_STOP, execution, {"status": status, "reason": reason}))

    async def turn_broke_off(self, execution: Execution, error: BaseException) -> None:
        """A turn has ended without a result, by `error`, which is to be raised on: as status
        `cancelled`, or `failed` with the kind of error as its reason.

        A cancellation waits for this no longer than `LAST_WORD` and `ENDING`.
        """
        await self._broke_off(HookEvent.TURN_STOP, execution, {}, error)

    async def subagent_starts(
        self,
        execution: Execution,
        name: str,
        prompt: str,
        *,
        parent: str,
        interrupt: InterruptToken | None = None,
    ) -> Opening:
        """A sub-agent or a forked skill is about to work on `prompt`. `execution` is the child's,
        `parent` the id of the execution that invites it."""
        details = {"subagent": name, "prompt": prompt, "parent_execution_id": parent}
        return await self._opening(HookEvent.SUBAGENT_START, execution, details, interrupt)

    async def subagent_stopped(
        self, execution: Execution, name: str, *, parent: str, status: str, reason: str | None
    ) -> None:
        """It has ended; `status` and `reason` as in its `RunResult`."""
        details = {
            "subagent": name,
            "parent_execution_id": parent,
            "status": status,
            "reason": reason,
        }
        await self._fire(_of(HookEvent.SUBAGENT_STOP, execution, details))

    async def subagent_broke_off(
        self, execution: Execution, name: str, error: BaseException, *, parent: str
    ) -> None:
        """It has ended without a result: see `turn_broke_off`."""
        details = {"subagent": name, "parent_execution_id": parent}
        await self._broke_off(HookEvent.SUBAGENT_STOP, execution, details, error)

    async def _broke_off(
        self,
        event: HookEvent,
        execution: Execution,
        details: Mapping[str, Any],
        error: BaseException,
    ) -> None:
        if not self._hooks.of(event):
            return
        if isinstance(error, Exception):
            ended = {"status": "failed", "reason": type(error).__name__}
            await self._fire(_of(event, execution, {**details, **ended}))
        elif isinstance(error, asyncio.CancelledError):  # nothing else leaves the loop running
            told = _of(event, execution, {**details, "status": "cancelled"})
            await self._last_word(Firing(self._hooks.of(event), told), event)

    async def _last_word(self, firing: Firing, event: HookEvent) -> None:
        """Run the hooks of what is cancelled, in a task of their own: this one's next wait may be
        cancelled again, by somebody who is in a hurry, and that ends them at once.

        The caller raises the cancellation on; none is lost here.
        """
        running = asyncio.ensure_future(firing.run())
        for seconds in self._patience:
            try:
                await asyncio.wait((running,), timeout=seconds)
            except asyncio.CancelledError:
                pass
            if running.done():
                break
            running.cancel()
        else:
            _log.warning("a hook of %s goes on although it was cancelled", event.value)
        firing.merged()
        if running.done() and not running.cancelled():
            running.result()  # raises what ends a program

    async def _opening(
        self,
        event: HookEvent,
        execution: Execution,
        details: Mapping[str, Any],
        interrupt: InterruptToken | None,
    ) -> Opening:
        if not self._hooks.of(event):
            return FREE
        merged = await self._cut_off_by(interrupt, _of(event, execution, details))
        return Opening(merged.why if merged.denied else None, merged.context)

    async def _cut_off_by(self, interrupt: InterruptToken | None, told: HookInput) -> Merged:
        hooks = self._hooks.of(told.event)
        if not hooks:
            return NOTHING_SAID
        firing = Firing(hooks, told)
        with Leash(interrupt=interrupt):
            await firing.run()
        return firing.merged()

    async def _fire(self, told: HookInput) -> Merged:
        return await self._hooks.fire(told) if self._hooks.any else NOTHING_SAID


def with_context(prompt: str, context: str) -> str:
    """`prompt` with what hooks have to say, marked as data that is not the person's."""
    if not context:
        return prompt
    return f"{prompt}\n\n[from hooks: data, not the words of the person]\n{context}"


def _of(event: HookEvent, execution: Execution, details: Mapping[str, Any]) -> HookInput:
    return HookInput(
        event,
        execution_id=execution.id,
        session_id=execution.session_id,
        agent=execution.agent,
        cwd=str(execution.environment.cwd),
        attended=execution.attended,
        ceiling=execution.bounds.ceiling,
        details={key: value for key, value in details.items() if value is not None},
    )


def _of_session(
    event: HookEvent,
    session_id: str,
    environment: Environment,
    attended: bool,
    details: Mapping[str, Any],
) -> HookInput:
    return HookInput(
        event,
        session_id=session_id,
        cwd=str(environment.cwd),
        attended=attended,
        details=details,
    )
