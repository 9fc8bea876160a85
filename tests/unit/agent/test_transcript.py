"""A transcript that every model accepts: unique ids, one answer for each call."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.agent.transcript import Transcript, settle, unanswered, with_unique_ids
from lockgate.calls.waiting import Waiting
from lockgate.errors import LocalError
from lockgate.tools.result import ErrorKind, ToolResult


def _reply(*ids: str) -> ModelReply:
    return ModelReply("", tuple(ToolCall(id, "t", {}) for id in ids))


def test_good_ids_stay() -> None:
    """A reply with nothing to mend is handed on as it is."""
    reply = _reply("a", "b")
    assert with_unique_ids(reply, [_reply("c")]) is reply


def test_empty_and_repeated_ids_are_replaced() -> None:
    """Empty, blank, twice in a reply, and used in an earlier reply."""
    mended = with_unique_ids(_reply("", "  ", "x", "x", "old"), [UserMessage("go"), _reply("old")])
    ids = [call.id for call in mended.calls]
    assert ids[2] == "x"
    assert len(set(ids) | {"old"}) == 6
    assert all(id.strip() for id in ids)


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "call-1-0", "call-1-1", "call-1-0-1"]))))
def test_ids_are_unique_whatever_a_model_says(replies: list[list[str]]) -> None:
    """Also when a model's own ids look like the ones we make."""
    transcript: list[Message] = [UserMessage("go")]
    for ids in replies:
        transcript.append(with_unique_ids(_reply(*ids), transcript))
    seen = [c.id for m in transcript if isinstance(m, ModelReply) for c in m.calls]
    assert len(seen) == len(set(seen))
    assert all(id.strip() for id in seen)


def test_a_new_turn_answers_what_was_left_open() -> None:
    """The answer claims nothing: whether the call took effect is not known."""
    done = ToolAnswer("a", "t", ToolResult.of("done"))
    transcript: list[Message] = [UserMessage("go"), _reply("a", "b"), done]
    assert [call.id for call in unanswered(transcript)] == ["b"]
    settle(transcript)
    assert not unanswered(transcript)
    last = transcript[-1]
    assert isinstance(last, ToolAnswer)
    assert (last.call_id, last.result.kind) == ("b", ErrorKind.OUTCOME_UNKNOWN)
    settle(transcript)
    assert len(transcript) == 4


class _Journal:
    """Notes what it is given at a time; refuses as long as it is told to."""

    def __init__(self) -> None:
        self.written: list[int] = []
        self.forgotten: list[int] = []
        self.full = False

    def read(self) -> tuple[bytes, ...]:
        return ()

    def write(self, messages: Sequence[bytes]) -> None:
        if self.full:
            raise LocalError("the disk is full")
        self.written.append(len(messages))

    def seen(self) -> bytes | None:
        return None

    def note_seen(self, seen: bytes) -> None:
        del seen

    def note_waiting(self, calls: Sequence[Waiting]) -> None:
        del calls

    def waiting(self) -> tuple[Waiting, ...]:
        return ()

    def forget(self, calls: Sequence[Waiting]) -> None:
        self.forgotten.append(len(calls))

    def close(self) -> None:
        pass


def test_the_answers_of_one_reply_are_written_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """However many they are; what could not be written is written with what is said next."""
    journal = _Journal()
    transcript = Transcript((), journal)
    transcript.append(_reply("a", "b", "c"))
    answers = [ToolAnswer(id, "t", ToolResult.of("done")) for id in "abc"]
    for answer in answers:
        transcript.finished(answer)
    journal.full = True
    transcript.extend(answers)
    assert list(transcript)[1:] == answers
    assert "of t is not written down yet" in caplog.text
    journal.full = False
    transcript.append(UserMessage("go on"))
    assert journal.written == [1, 4]
    transcript.append(_reply("d", "e"))
    later = [ToolAnswer(id, "t", ToolResult.of("done")) for id in "de"]
    for answer in later:
        transcript.finished(answer)
    transcript.extend(later)
    assert (journal.written[2:], journal.forgotten) == ([1, 2], [2])
