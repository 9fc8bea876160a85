"""The hooks of a call: told before it, before its question, of a refusal, and after it.

No hook is asked about a call that is refused anyway, and a hook's own call has no hooks. What is
told is a copy; what a hook says can make a call stricter, never looser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from lockgate.calls import refusals
from lockgate.calls.arguments import Taken, take
from lockgate.calls.asking import MAX_NOTE
from lockgate.calls.call import Call
from lockgate.calls.decide import Ask
from lockgate.calls.declared import HOOK
from lockgate.calls.heard import Heard, with_context
from lockgate.calls.leash import Leash
from lockgate.calls.refusals import Refuse
from lockgate.calls.resolving import resolve
from lockgate.content import Text
from lockgate.decision import Reason
from lockgate.errors import Fate
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.matching import Matchers
from lockgate.hooks.merge import Merged
from lockgate.hooks.registry import Firing, Hooks
from lockgate.hooks.result import HookDecision
from lockgate.policy.approval import Answer
from lockgate.rules.about import AboutTool
from lockgate.tools.registry import Registered
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.subject import Subjects

WITHHELD: Final = "withheld"
"""The reason of a result of which the model is shown nothing but why."""

_LISTED: Final[Mapping[HookEvent, tuple[str, str]]] = {
    HookEvent.PRE_TOOL: ("hook_before", "is told before the call: it may object, ask or rewrite"),
    HookEvent.PERMISSION_REQUEST: (
        "hook_question",
        "is told before anybody is asked: it may say no",
    ),
    HookEvent.POST_TOOL: ("hook_after", "is told of the result: it may withhold or replace it"),
}
HOOK_CODES: Final = frozenset(code for code, _ in _LISTED.values())
"""Codes of the hooks that a call is listed with."""
CONDITIONS: Final = frozenset({"hook_before", "hook_question"})
"""Codes of the hooks that can change the verdict."""


class Ended(msgspec.Struct, frozen=True, gc=False):
    """A call that was made: what came of it, and the hooks that are to be told."""

    result: ToolResult
    fate: Fate
    duration: float
    attempts: int
    hooks: tuple[Hook, ...] = ()


class Consulting:
    """Runs the hooks of calls and turns what they say into what the road knows.

    Whoever calls it has looked at `Hooks.any` first: without hooks a call costs no more than that.
    """

    def __init__(self, hooks: Hooks, digests: hashlib.blake2b) -> None:
        """`digests` is `calls.arguments.keyed`, for arguments that hooks rewrite."""
        self._hooks = hooks
        self._matchers = Matchers(hooks)
        self._digests = digests

    def is_asked(self, call: Call) -> bool:
        """Whether any hook could have a say before `call`."""
        return bool(self._hooks.of(HookEvent.PRE_TOOL)) and call.execution.entry != HOOK

    async def before(self, call: Call, taken: Taken, registered: Registered) -> Taken | Refuse:
        """The arguments as the hooks before a call leave them, with what else they said; or the
        refusal, where they deny the call or the turn is interrupted meanwhile."""
        hooks = self._of(HookEvent.PRE_TOOL, call, registered)
        if not hooks:
            return taken
        firing = Firing(hooks, _told(HookEvent.PRE_TOOL, call))
        with Leash(interrupt=call.interrupt) as leash:
            await firing.run()
        if leash.pulled is not None:
            return refusals.skipped(registered, call.name)
        merged = firing.merged()
        if merged.denied:
            return refusals.by_hooks(registered, merged.reasons)
        if merged.updated_input is not None:
            taken = take(merged.updated_input, self._digests)
            if taken.fault is not None:
                what = f"hooks gave arguments that are no JSON: {taken.fault}"
                return refusals.by_hooks(registered, (Reason("hook_rewrites", what),))
        heard = _heard(merged)
        return taken if heard is None else replace(taken, heard=heard)

    async def on_question(self, ask: Ask, call: Call) -> Answer | None:
        """The no that a hook gives in the approvers' place; None: they are asked."""
        if not self._hooks.any:
            return None
        event = HookEvent.PERMISSION_REQUEST
        hooks = self._of(event, call, ask.registered)
        if not hooks:
            return None
        details = {"reasons": [reason.text for reason in ask.reasons]}
        merged = await self._hooks.fire(_told(event, call, details=details), hooks)
        return Answer(False, HOOK, note=merged.why[:MAX_NOTE]) if merged.denied else None

    async def on_refusal(self, call: Call, refuse: Refuse) -> None:
        """Tell hooks that a rule, a hook or an answer refused a call; nothing they say counts."""
        registered = refuse.registered
        if registered is None or refuse.kind not in (ErrorKind.DENIED, ErrorKind.NOT_APPROVED):
            return
        event = HookEvent.PERMISSION_DENIED
        hooks = self._of(event, call, registered)
        if not hooks:
            return
        details: dict[str, Any] = {
            "kind": refuse.kind.value,
            "reason": refuse.code,
            "reasons": [reason.text for reason in refuse.reasons],
        }
        if refuse.answer is not None:
            details["approver"] = refuse.answer.approver
        firing = Firing(hooks, _told(event, call, details=details))
        with Leash(interrupt=call.interrupt):
            await firing.run()
        firing.merged()

    def following(self, call: Call, registered: Registered) -> tuple[Hook, ...]:
        """The hooks that are to be told of the result of `call`."""
        return self._of(HookEvent.POST_TOOL, call, registered)

    async def after(self, call: Call, hooks: tuple[Hook, ...], result: ToolResult) -> Merged:
        """What they say of it. One that an interrupt cuts off has failed, and withholds the result
        if its failure denies."""
        response = {
            "text": result.text,
            "isError": result.is_error,
            "kind": None if result.kind is None else result.kind.value,
            "reason": result.reason,
            "structured": result.structured,
        }
        firing = Firing(hooks, _told(HookEvent.POST_TOOL, call, response=response))
        with Leash(interrupt=call.interrupt):
            await firing.run()
        return firing.merged()

    def listed(
        self, call: Call, registered: Registered, *, any_arguments: bool
    ) -> tuple[Reason, ...]:
        """The hooks that would be told of `call`, each with when; for reading."""
        return tuple(
            Reason(code, f"the hook {hook.name} {words}", hook.source)
            for event, (code, words) in _LISTED.items()
            for hook in (
                self._matchers.possible(event, registered)
                if any_arguments and call.execution.entry != HOOK
                else self._of(event, call, registered)
            )
            if hook.is_for(call.execution.skills)
        )

    def _of(self, event: HookEvent, call: Call, registered: Registered) -> tuple[Hook, ...]:
        """The hooks of `event` that `call` is for; a hook's own call is for none."""
        if call.execution.entry == HOOK:
            return ()

        def resolved(about: AboutTool) -> Subjects:
            return resolve(registered, about, call.arguments, call.execution.environment)

        hooks = self._matchers.matching(event, registered, call.arguments, resolved)
        skills = call.execution.skills
        return tuple(hook for hook in hooks if hook.is_for(skills))


def _heard(merged: Merged) -> Heard | None:
    """What is to count of what the hooks before a call said, apart from a denial and a rewrite."""
    asks = merged.reasons if merged.decision is HookDecision.ASK else ()
    told = merged.notes if asks else merged.reasons + merged.notes
    return Heard(asks, told, merged.context) if asks or told or merged.context else None


def shown_after(result: ToolResult, merged: Merged, registered: Registered) -> ToolResult:
    """What the model is shown of a result: less, other, or more than the tool gave.

    The call was made, so its kind of error stays what it was: a result that is withheld is no
    refusal.
    """
    if merged.denied:
        text = (
            f"{registered.name} was run, and what came of it is withheld: {merged.why}. "
            "Do not call it again to see it."
        )
        if result.is_error and result.kind is not None:
            text += f" It ended as {result.kind.value}."
        shown = replace(result, content=(Text(text),), reason=WITHHELD, structured=None, meta=None)
        return with_context(shown, merged.context)
    if merged.updated_output is not None:
        content = (Text(merged.updated_output),)
        result = replace(result, content=content, structured=None, meta=None)
    return with_context(result, merged.context)


def _told(
    event: HookEvent,
    call: Call,
    *,
    response: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
) -> HookInput:
    execution = call.execution
    told = HookInput(
        event,
        execution_id=execution.id,
        session_id=execution.session_id,
        agent=execution.agent,
        cwd=str(execution.environment.cwd),
        attended=execution.attended,
        tool_name=call.name,
        tool_input=call.arguments,
        call_id=call.id,
        tool_response=response,
        ceiling=execution.bounds.ceiling,
    )
    return told if details is None else msgspec.structs.replace(told, details=details)
