"""What a declared hook answers: one contract for programs, HTTP endpoints and MCP tools.

An answer without `decision` is that of something that was only done: nothing in it counts. What
can not be read, or says what this event has no place for, fails the hook (S3-13); it is never
taken for consent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from lockgate.hooks.event import HookEvent
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.merge import clipped
from lockgate.hooks.result import HookDecision, HookResult

MAX_ANSWER: Final = 1024 * 1024
"""Bytes of one answer; a larger one is a failure."""
MAX_CONTEXT: Final = 10_000
"""Characters of additional context; the rest is cut, and how much is said. A reason is cut with
those of all hooks (`hooks.merge`)."""

_WORDS: Final = MappingProxyType({word.value: word for word in HookDecision})
_TEXTS: Final = ("reason", "additionalContext", "updatedOutput")
_WITH_DECISION: Final = ("updatedInput", "updatedOutput", "additionalContext")
"""Keys that say something only beside a decision."""


def read_answer(text: bytes | str, event: HookEvent, *, due: bool) -> HookResult:
    """The result that an answer stands for.

    With `due` it has to be a JSON object, or empty; without, a text that does not begin as an
    object is no answer and means nothing. Raises `HookFailure`.
    """
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_ANSWER:
        raise HookFailure(f"its answer has over {MAX_ANSWER} bytes")
    bare = text.strip()
    if not bare:
        return HookResult()
    begins = bare.startswith(b"{") if isinstance(bare, bytes) else bare.startswith("{")
    if not begins and not due:
        return HookResult()
    try:
        answer: Any = msgspec.json.decode(bare)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Without the cause: it may quote what was said, and so the arguments.
        raise HookFailure("its answer is no JSON") from None
    if not isinstance(answer, dict):
        raise HookFailure("its answer is no JSON object")
    return result_of(cast("dict[str, Any]", answer), event)


def result_of(answer: Mapping[str, Any], event: HookEvent) -> HookResult:
    """The result that a JSON object stands for. Raises `HookFailure`.

    A key with `null` counts as one that is not there, but for `decision`.
    """
    answer = {k: v for k, v in answer.items() if v is not None or k == "decision"}
    if "decision" not in answer:
        if said := [key for key in _WITH_DECISION if key in answer]:
            raise HookFailure(f"it answered {' and '.join(said)} without a decision")
        return HookResult()
    word = answer["decision"]
    decision = _WORDS.get(word) if isinstance(word, str) else None
    if decision is None:
        raise HookFailure(f"its decision is none of {', '.join(_WORDS)}")
    for key in _TEXTS:
        if key in answer and not isinstance(answer[key], str):
            raise HookFailure(f"its {key} is no text")
    if "updatedInput" in answer:
        if event is not HookEvent.PRE_TOOL:
            raise HookFailure(f"it answered updatedInput at {event.value}; only pre_tool has that")
        if not isinstance(answer["updatedInput"], dict):
            raise HookFailure("its updatedInput is no object")
    if "updatedOutput" in answer and event is not HookEvent.POST_TOOL:
        raise HookFailure(f"it answered updatedOutput at {event.value}; only post_tool has that")
    return HookResult(
        decision,
        answer.get("reason", ""),
        answer.get("updatedInput"),
        clipped(answer.get("additionalContext", ""), MAX_CONTEXT),
        answer.get("updatedOutput"),
    )
