"""Keeps a transcript in the form that every model accepts: unique call ids, one answer for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall
from lockgate.tools.result import ErrorKind, ToolResult


def with_unique_ids(reply: ModelReply, transcript: Sequence[Message]) -> ModelReply:
    """`reply`, its calls under ids that are not empty and that the transcript does not hold yet.

    A model's own id stays wherever it can. A new one follows from the place in the transcript.
    """
    taken = {call.id for earlier in _replies(transcript) for call in earlier.calls}
    calls: list[ToolCall] = []
    for position, call in enumerate(reply.calls):
        wanted = call.id
        if not wanted.strip() or wanted in taken:
            wanted = stem = f"call-{len(transcript)}-{position}"
            suffix = 0
            while wanted in taken:
                suffix += 1
                wanted = f"{stem}-{suffix}"
        taken.add(wanted)
        calls.append(call if wanted == call.id else replace(call, id=wanted))
    if all(a is b for a, b in zip(calls, reply.calls, strict=True)):
        return reply
    return replace(reply, calls=tuple(calls))


def unanswered(transcript: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls that have no answer, in order. Only a turn that was cancelled or suspended leaves
    any."""
    answered = {message.call_id for message in transcript if isinstance(message, ToolAnswer)}
    return tuple(
        call for reply in _replies(transcript) for call in reply.calls if call.id not in answered
    )


def settle(transcript: list[Message]) -> None:
    """Answer what an earlier turn left without an answer, so that a new turn can begin.

    The answers claim nothing: such a call may wait under a ticket, or the turn was cancelled while
    it ran.
    """
    for call in unanswered(transcript):
        text = (
            f"No result of {call.name} reached this conversation: the turn ended first. Whether "
            "the call took effect is not known; look before you repeat it."
        )
        result = ToolResult.error(ErrorKind.OUTCOME_UNKNOWN, text, reason="turn_ended")
        transcript.append(ToolAnswer(call.id, call.name, result))


def _replies(transcript: Sequence[Message]) -> Iterator[ModelReply]:
    return (message for message in transcript if isinstance(message, ModelReply))
