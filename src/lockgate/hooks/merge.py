"""What several hooks of one event say, made one word. Pure.

The strictest decision wins. What two hooks would have done in two different ways is done in
neither: two different rewrites are a refusal, two different replacements of an output withhold it
(docs/decisions/0041). No order of the hooks changes what is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from lockgate.decision import Reason
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookDecision, HookResult

MAX_REASON: Final = 1000
"""Characters of a hook's reason that are kept; handlers hand it on whole."""
MAX_CONTEXT: Final = 20_000
"""Characters of what one hook adds for the model that are kept."""

_STRICTNESS: Final[Mapping[HookDecision, int]] = {
    HookDecision.DEFER: 0,
    HookDecision.ALLOW: 1,
    HookDecision.ASK: 2,
    HookDecision.DENY: 3,
}
_WORDS: Final[Mapping[HookDecision, tuple[str, str]]] = {
    HookDecision.ALLOW: ("hook_allows", "has no objection"),
    HookDecision.ASK: ("hook_asks", "has it asked about"),
    HookDecision.DENY: ("hook_denies", "denies it"),
}
"""The code of a reason, and the words after the hook's name."""
_ASKED: Final = frozenset({HookEvent.PRE_TOOL, HookEvent.PERMISSION_REQUEST})
"""Where somebody can be asked; elsewhere a hook that wants it has denied."""
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class Failure(msgspec.Struct, frozen=True):
    """A hook that did not say anything usable."""

    kind: str
    """What went wrong, without a value: the name of an exception, `timeout`, `cut off`, ..."""


Said: TypeAlias = tuple[Hook, HookResult | Failure]


class Merged(msgspec.Struct, frozen=True):
    """What the hooks of one event say together."""

    decision: HookDecision = HookDecision.DEFER
    """Of an event that decides; DEFER and ALLOW change nothing."""
    reasons: tuple[Reason, ...] = ()
    """Of every hook that is as strict; each names its hook."""
    notes: tuple[Reason, ...] = ()
    """For records: rewrites, and failures that stopped nothing."""
    updated_input: Mapping[str, Any] | None = None
    """The arguments in whose place the call is made; None where it is denied."""
    updated_output: str | None = None
    """What the model is shown in the place of the result; None where it is denied."""
    context: str = ""
    """For the model."""
    failed: tuple[tuple[str, str], ...] = ()
    """Names of hooks that failed, each with what went wrong."""

    @property
    def denied(self) -> bool:
        """Whether the event's matter is not to go on."""
        return self.decision is HookDecision.DENY

    @property
    def why(self) -> str:
        """The reasons in one line."""
        return "; ".join(dict.fromkeys(reason.text for reason in self.reasons))

    def __repr__(self) -> str:
        return f"<Merged {self.decision.value}, {len(self.reasons)} reasons>"


NOTHING_SAID: Final = Merged()


def merge(event: HookEvent, said: Iterable[Said]) -> Merged:
    """One word out of what every hook of `event` has said, in declared order.

    What a hook says that its event has no use for (`updated_input` elsewhere than at PRE_TOOL,
    `updated_output` elsewhere than at POST_TOOL, a word that is none) is a failure of the hook.
    """
    judged = [(hook, _usable(event, result)) for hook, result in said]
    decided: list[tuple[HookDecision, Reason]] = []
    notes: list[Reason] = []
    rewrites: dict[bytes, tuple[Mapping[str, Any], list[str]]] = {}
    outputs: dict[str, list[str]] = {}
    contexts: list[str] = []
    for hook, result in judged:
        if isinstance(result, Failure):
            reason = Reason(
                "hook_failed", f"the hook {hook.name} failed: {result.kind}", hook.source
            )
            if event.decides and hook.denies_on_error:
                decided.append((HookDecision.DENY, reason))
            else:
                notes.append(reason)
            continue
        if event.decides and (word := _word(event, hook, result)) is not None:
            decided.append(word)
        if result.updated_input is not None:
            updated = result.updated_input
            rewrites.setdefault(_ENCODER.encode(dict(updated)), (updated, []))[1].append(hook.name)
            notes.append(_noted("hook_rewrites", "rewrote the arguments", hook, result))
        if result.updated_output is not None:
            outputs.setdefault(result.updated_output, []).append(hook.name)
            notes.append(_noted("hook_replaces", "replaced what the model is shown", hook, result))
        if result.context:
            contexts.append(clipped(result.context, MAX_CONTEXT))
    decided += _disagreeing("the arguments", [names for _, names in rewrites.values()])
    decided += _disagreeing("what the model is shown", list(outputs.values()))
    top = max(
        (word for word, _ in decided), key=_STRICTNESS.__getitem__, default=HookDecision.DEFER
    )
    denied = top is HookDecision.DENY
    return Merged(
        top,
        tuple(dict.fromkeys(reason for word, reason in decided if word is top)),
        tuple(notes),
        None if denied or not rewrites else next(iter(rewrites.values()))[0],
        None if denied or not outputs else next(iter(outputs)),
        "\n".join(contexts),
        tuple((hook.name, r.kind) for hook, r in judged if isinstance(r, Failure)),
    )


def _usable(event: HookEvent, result: HookResult | Failure) -> HookResult | Failure:
    """`result`, or what is wrong with it: a hook in code may say anything."""
    if isinstance(result, Failure):
        return result
    if result.decision is not None and not isinstance(result.decision, HookDecision):  # pyright: ignore[reportUnnecessaryIsInstance] - no type checker stands before a hook
        return Failure("its decision is no HookDecision")
    if not isinstance(result.reason, str) or not isinstance(result.context, str):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        return Failure("its reason and its context have to be text")
    if result.updated_output is not None:
        if event is not HookEvent.POST_TOOL:
            return Failure("it replaces an output where there is none")
        if not isinstance(result.updated_output, str):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            return Failure("the output it gives is no text")
    if result.updated_input is not None:
        if event is not HookEvent.PRE_TOOL:
            return Failure("it rewrites arguments where nothing is called any more")
        if not isinstance(result.updated_input, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            return Failure("the arguments it gives are no object")
        try:
            _ENCODER.encode(dict(result.updated_input))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no JSON
            return Failure(f"the arguments it gives are no JSON ({type(error).__name__})")
    return result


def _word(event: HookEvent, hook: Hook, result: HookResult) -> tuple[HookDecision, Reason] | None:
    decision = result.decision
    if decision is None or decision is HookDecision.DEFER:
        return None
    code, words = _WORDS[decision]
    if decision is HookDecision.ASK and event not in _ASKED:
        decision = HookDecision.DENY
        words = "wants somebody asked, and nobody is asked here"
    return decision, _noted(code, words, hook, result)


def _noted(code: str, words: str, hook: Hook, result: HookResult) -> Reason:
    why = f": {clipped(result.reason, MAX_REASON)}" if result.reason else ""
    return Reason(code, f"the hook {hook.name} {words}{why}", hook.source)


def _disagreeing(what: str, several: list[list[str]]) -> list[tuple[HookDecision, Reason]]:
    """The refusal, where hooks would replace the same thing in different ways."""
    if len(several) < 2:
        return []
    names = sorted({name for names in several for name in names})
    told = f"the hooks {' and '.join(names)} replace {what} in different ways"
    return [(HookDecision.DENY, Reason("hooks_disagree", told))]


def clipped(text: str, most: int) -> str:
    """`text`, or as much of it as may be, and how much more there was."""
    return text if len(text) <= most else f"{text[:most]} [and {len(text) - most} characters more]"
