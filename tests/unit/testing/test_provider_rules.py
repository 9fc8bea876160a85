"""What a provider refuses is found: each rule has a transcript that breaks it."""

from __future__ import annotations

import pytest

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.testing.provider_rules import refusals_of
from lockgate.tools.result import ToolResult

ASK = UserMessage("go")


def calls(*ids: str) -> ModelReply:
    """A reply that asks for a call under each id."""
    return ModelReply("", tuple(ToolCall(id, "t", {}) for id in ids))


def answers(*ids: str) -> list[Message]:
    """An answer to each of them."""
    return [ToolAnswer(id, "t", ToolResult.of("ok")) for id in ids]


@pytest.mark.parametrize(
    "transcript",
    [
        [],
        [ASK],
        [ASK, ModelReply("hi")],
        [ASK, calls("a", "b"), *answers("b", "a"), ModelReply("done")],
        [ASK, calls("a"), *answers("a")],
        [ASK, ASK, ModelReply("hi"), ASK],
    ],
)
def test_a_good_transcript_is_taken(transcript: list[Message]) -> None:
    """A person may go on after an answer, after results, and after themselves."""
    assert refusals_of(transcript) == []


@pytest.mark.parametrize(
    ("transcript", "refused"),
    [
        ([ModelReply("hi")], "the first and the last"),
        ([ASK, calls("a")], "have no answer"),
        ([ASK, calls("a", "b"), *answers("a")], "have no answer"),
        ([ASK, calls("a"), *answers("a", "a")], "answers no call"),
        ([ASK, *answers("a")], "answers no call"),
        ([ASK, calls("a"), ASK, *answers("a")], "text before its results"),
        ([ASK, calls("a"), ModelReply("hi"), *answers("a")], "have no answer"),
        ([ASK, calls("a", "a"), *answers("a", "a")], "an id twice"),
        ([ASK, calls("a"), *answers("a"), calls("a"), *answers("a")], "uses ids again"),
        ([ASK, ModelReply("")], "says nothing"),
        ([ASK, ModelReply(" \n")], "a blank text"),
    ],
)
def test_what_is_wrong_is_named(transcript: list[Message], refused: str) -> None:
    """In words that say which rule it is."""
    found = refusals_of(transcript)
    assert any(refused in each for each in found), found
