"""Messages as JSON: what is read is what was written."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.message_json import (
    UnreadableMessage,
    decoded,
    decoded_result,
    encoded,
    encoded_result,
)
from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, Usage, UserMessage
from lockgate.content import (
    Audio,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
)
from lockgate.errors import LocalError
from lockgate.tools.result import ErrorKind, ToolResult

# Half a pair too: whatever a model or a tool says is kept.
TEXT = st.text(st.characters(), max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=4)
MAYBE = st.none() | TEXT
ABOUT = {"annotations": st.none() | OBJECT, "meta": st.none() | OBJECT}

TEXTS = st.builds(Text, TEXT, **ABOUT)
IMAGES = st.builds(Image, TEXT, TEXT, **ABOUT)
AUDIOS = st.builds(Audio, TEXT, TEXT, **ABOUT)
LINKS = st.builds(ResourceLink, TEXT, TEXT, MAYBE, MAYBE, st.none() | st.integers(), **ABOUT)
RESOURCES = st.builds(EmbeddedResource, TEXT, MAYBE, MAYBE, MAYBE, **ABOUT)
UNKNOWNS = st.builds(UnknownContent, TEXT, JSON)
BLOCKS = TEXTS | IMAGES | AUDIOS | LINKS | RESOURCES | UNKNOWNS


def _result(kind: ErrorKind | None, **fields: Any) -> ToolResult:
    return ToolResult(is_error=kind is not None, kind=kind, **fields)


RESULTS = st.builds(
    _result,
    st.none() | st.sampled_from(ErrorKind),
    content=st.lists(BLOCKS, max_size=3).map(tuple),
    reason=MAYBE,
    structured=JSON,
    meta=st.none() | OBJECT,
)
USERS = st.builds(UserMessage, TEXT, st.lists(IMAGES | AUDIOS | RESOURCES, max_size=2).map(tuple))
CALLS = st.builds(ToolCall, TEXT, TEXT, OBJECT, MAYBE)
COUNTS = st.integers(0, 10**9)
REPLIES = st.builds(
    ModelReply,
    TEXT,
    st.lists(CALLS, max_size=3).map(tuple),
    st.booleans(),
    st.builds(Usage, COUNTS, COUNTS, COUNTS),
    st.none() | OBJECT,
)
ANSWERS = st.builds(ToolAnswer, TEXT, TEXT, RESULTS)
MESSAGES = USERS | REPLIES | ANSWERS


@given(MESSAGES)
def test_every_message_comes_back_as_it_was(message: Message) -> None:
    """Big numbers, halves of characters, images, what a provider wants back: exactly."""
    body = encoded(message)
    assert body.isascii()
    assert decoded(body) == message
    assert encoded(decoded(body)) == body


@given(RESULTS)
def test_every_result_comes_back_as_it_was(result: ToolResult) -> None:
    """As those that wait for their session are kept."""
    assert decoded_result(encoded_result(result)) == result


def test_numbers_that_are_none_come_back_too() -> None:
    """A model's JSON may have them, and a session is kept all the same."""
    body = encoded(ModelReply("", (ToolCall("1", "add", {"n": float("inf"), "big": 2**200}),)))
    reply = decoded(body)
    assert isinstance(reply, ModelReply)
    assert reply.calls[0].arguments == {"n": float("inf"), "big": 2**200}


def _nest(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [_nest(100_000), object(), datetime.datetime.max, {1: set[int]()}]
)
def test_an_answer_is_kept_by_its_text_where_the_rest_is_no_json(value: object) -> None:
    """The call was made: that it was must not be lost for what its result holds."""
    body = encoded(ToolAnswer("1", "add", ToolResult.of("it is done", structured=value)))
    answer = decoded(body)
    assert isinstance(answer, ToolAnswer)
    assert answer.result.text == "it is done"


def test_what_was_said_is_not_half_kept() -> None:
    """A reply that is no JSON is refused: no call of it is made."""
    with pytest.raises(LocalError, match="can not be written down"):
        encoded(ModelReply("", (ToolCall("1", "add", {"n": object()}),)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{}",
        b"\xff",
        b'{"said":"nobody"}',
        b'{"said":"user"}',
        b'{"said":"model","calls":[{"id":"secret"}]}',
        b'{"said":"tool","call":"1","name":"a","result":{"kind":"secret"}}',
        b'{"said":"tool","call":"1","name":"a","result":{"content":[{"block":"secret"}]}}',
        b'{"said":"tool","call":"1","name":"a","result":{"content":[{}]}}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused_without_its_content(body: bytes) -> None:
    """Damaged, or of another version."""
    with pytest.raises(UnreadableMessage) as raised:
        decoded(body)
    assert "secret" not in str(raised.value)
