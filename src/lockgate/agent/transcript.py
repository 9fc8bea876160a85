"""Keeps a transcript in the form that every model accepts: unique call ids, one answer for each."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias, overload

from lockgate.agent.journal import Journal
from lockgate.agent.message_json import encoded, encoded_result
from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall
from lockgate.calls.waiting import Waiting
from lockgate.errors import LockgateError
from lockgate.tools.result import ErrorKind, ToolResult

_log = logging.getLogger(__name__)


class Transcript(Sequence[Message]):
    """Everything said in one session, in order; with a journal, written down as it is said.

    What may lead to a call is there only once it is written: a reply that can not be kept is not
    taken, so none of its calls is made (decision 0045). The answer to a call that was made is there
    in any case, and is written with, and before, whatever is said next.
    """

    def __init__(self, said: Iterable[Message] = (), journal: Journal | None = None) -> None:
        """`said` is what the journal holds already."""
        self._said = list(said)
        self._journal = journal
        self._unwritten: list[bytes] = []
        self._early: dict[str, Waiting] = {}
        """Answers that were written down before their turn in the transcript came."""

    def append(self, message: Message) -> None:
        """Say `message`. Raises what the journal raises, and then it was not said, unless it is
        the answer to a call."""
        if self._journal is not None:
            self._write(message, self._journal)
        self._said.append(message)

    def extend(self, answers: Sequence[ToolAnswer]) -> None:
        """Say these answers; a journal takes all of them at once. Never raises for what can not be
        written: it is written with what is said next."""
        if self._journal is not None and answers:
            self._unwritten += map(encoded, answers)
            self._write_answers(answers, self._journal)
        self._said += answers

    def finished(self, answer: ToolAnswer) -> None:
        """A call has this answer, and others of its reply have none yet: a journal keeps it from
        now on, though it is said in the order of the calls.

        Never raises for what can not be written: `append` will try again.
        """
        if self._journal is None:
            return
        result = encoded_result(answer.result)
        early = Waiting(answer.call_id, answer.name, "", "result", result)
        if self._note(early, self._journal):
            self._early[answer.call_id] = early

    def put_off(self, call: ToolCall, ticket: str) -> None:
        """A call waits for an answer that will come elsewhere: a journal keeps under which ticket.

        Never raises for what can not be written: then it will not be known what came of it.
        """
        if self._journal is not None:
            self._note(Waiting(call.id, call.name, ticket), self._journal)

    def _note(self, call: Waiting, journal: Journal) -> bool:
        try:
            journal.note_waiting([call])
        except LockgateError as error:
            _log.warning("what came of %s is not written down yet: %s", call.tool, error)
            return False
        return True

    def _write(self, message: Message, journal: Journal) -> None:
        self._unwritten.append(encoded(message))
        if isinstance(message, ToolAnswer):
            self._write_answers([message], journal)
            return
        try:
            journal.write(self._unwritten)
        except LockgateError:
            del self._unwritten[-1]
            raise
        self._unwritten.clear()

    def _write_answers(self, answers: Sequence[ToolAnswer], journal: Journal) -> None:
        """Write what is not written, of which these are the last."""
        try:
            journal.write(self._unwritten)
        except LockgateError as error:
            names = ", ".join(dict.fromkeys(answer.name for answer in answers))
            _log.warning("the answer to a call of %s is not written down yet: %s", names, error)
            return
        self._unwritten.clear()
        early = [self._early.pop(a.call_id) for a in answers if a.call_id in self._early]
        if early:
            # A process that dies in between finds both, and takes the one in its place.
            with suppress(LockgateError):
                journal.forget(early)

    def flush(self) -> None:
        """Write down what is not written yet. Raises what the journal raises."""
        if self._journal is not None and self._unwritten:
            self._journal.write(self._unwritten)
            self._unwritten.clear()

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        return self._said[index]

    def __len__(self) -> int:
        return len(self._said)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._said)

    def __repr__(self) -> str:
        return f"<Transcript of {len(self._said)} messages>"


Said: TypeAlias = list[Message] | Transcript
"""What a turn adds to: a session's transcript, or a list where nothing is kept."""


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


def settle(transcript: Said) -> None:
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
