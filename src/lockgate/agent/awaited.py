"""What a session is told of its calls that were put off, when its next turn begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockgate.agent.message_json import UnreadableMessage, decoded_result
from lockgate.agent.model import ToolAnswer, ToolCall
from lockgate.calls.waiting import Waiting
from lockgate.tools.result import ErrorKind, ToolResult


@dataclass(frozen=True, slots=True)
class Told:
    """What the calls that waited come to."""

    answers: tuple[ToolAnswer, ...] = ()
    """For those that the transcript has no answer for yet."""
    notices: tuple[str, ...] = ()
    """For those whose answer in the transcript says that they wait, and which do not any more."""
    noticed: tuple[Waiting, ...] = ()
    """Those that `notices` tell of."""
    over: tuple[Waiting, ...] = ()
    """Others that have come to their end."""


def told_of(waiting: Sequence[Waiting], unanswered: Sequence[ToolCall]) -> Told:
    """The answers and notices for calls that waited; for a call whose outcome is not known none is
    made up here: `transcript.settle` says so."""
    still = {call.id for call in unanswered}
    answers: list[ToolAnswer] = []
    noticed: list[Waiting] = []
    over: list[Waiting] = []
    for call in waiting:
        ended = call.answered != "open"
        if call.call_id not in still and call.ticket:
            if ended:
                noticed.append(call)
            continue
        if call.call_id in still and (result := _result(call)) is not None:
            answers.append(ToolAnswer(call.call_id, call.tool, result))
        if ended:
            over.append(call)
    return Told(tuple(answers), tuple(map(_notice, noticed)), tuple(noticed), tuple(over))


def _result(call: Waiting) -> ToolResult | None:
    match call.answered:
        case "result":
            return _read(call)
        case "open":
            text = (
                f"{call.tool} was not run yet: a person has still to answer (ticket {call.ticket})."
                " It will be run if they say yes. Do not call it again for that."
            )
            return ToolResult.error(ErrorKind.NOT_APPROVED, text, reason="waiting")
        case "refused":
            text = f"{call.tool} was not run: the answer was no, or none came in time."
            return ToolResult.error(ErrorKind.NOT_APPROVED, text, reason="refused_later")
        case "unknown":
            return None


def _read(call: Waiting) -> ToolResult | None:
    try:
        return decoded_result(call.result or b"")
    except UnreadableMessage:
        return None


def _notice(call: Waiting) -> str:
    result = _read(call) if call.answered == "result" else None
    if result is not None and not result.is_error:
        what = "was answered yes since, and it was run. Look for its effect if you need to know it"
    elif call.answered == "refused" or (result and result.kind is ErrorKind.NOT_APPROVED):
        what = "was answered no since, or its time ran out: it was not run"
    elif result is not None and result.kind is not None:
        what = f"was answered since, and it failed ({result.kind.value})"
    else:
        what = "was answered yes since; whether it took effect is not known"
    return f"The call of {call.tool} that waited for an answer {what}."
