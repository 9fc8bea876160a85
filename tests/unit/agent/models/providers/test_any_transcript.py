"""Whatever was said, a provider would accept what it is sent of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.messages import ModelRequest as RequestMessage

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.agent.models.providers.sent import Reads, messages
from lockgate.agent.transcript import settle
from lockgate.content import Audio, Content, EmbeddedResource, Image, Text
from lockgate.tools.naming import is_tool_name
from lockgate.tools.result import ErrorKind, ToolResult

_TEXT = st.text(st.characters() | st.sampled_from("\ud83d\ude00"), max_size=8)
"""Half a surrogate pair among it: text of a careless model, of a tool, of a command line."""
_FILE = st.one_of(
    st.builds(Image, st.sampled_from(["AAAA", "A", ""]), st.sampled_from(["image/png", "x/y"])),
    st.builds(Audio, st.just("AAAA"), st.sampled_from(["audio/wav", "audio/ogg"])),
    st.builds(EmbeddedResource, _TEXT, st.none() | _TEXT, st.none() | st.just("AAAA")),
)
_BLOCK = st.one_of(st.builds(Text, _TEXT), _FILE)


def _result(blocks: list[Content], failed: bool) -> ToolResult:
    if failed:
        return ToolResult.error(ErrorKind.TOOL_ERROR, "", content=blocks)
    return ToolResult(tuple(blocks))


_RESULT = st.builds(_result, st.lists(_BLOCK, max_size=3), st.booleans())


@st.composite
def transcripts(draw: st.DrawFn) -> list[Message]:
    """Turns as the loop leaves them, some of which ended early."""
    made: list[Message] = []
    for turn in range(draw(st.integers(1, 3))):
        made.append(UserMessage(draw(_TEXT)))
        replies = draw(st.integers(0, 3))
        for number in range(replies):
            # Only the last reply of a turn may want nothing.
            fewest = 0 if number == replies - 1 else 1
            odd = draw(_TEXT)
            ids = [f"{turn}-{number}-{at}{odd}" for at in range(draw(st.integers(fewest, 2)))]
            calls = tuple(
                ToolCall(each, draw(_TEXT), {draw(_TEXT): [draw(_TEXT), 1]}) for each in ids
            )
            made.append(ModelReply(draw(_TEXT), calls))
            made += [ToolAnswer(each.id, each.name, draw(_RESULT)) for each in calls]
    if draw(st.booleans()):
        made.append(UserMessage("go", tuple(draw(st.lists(_FILE, max_size=2)))))
    settle(made)
    return made


@given(transcripts(), st.booleans(), st.booleans(), st.booleans())
def test_turns_alternate_and_calls_are_answered_at_once(
    transcript: list[Message], images: bool, audio: bool, documents: bool
) -> None:
    """Each call has its one answer in the very next message, in order, before anything else; no
    reply is empty; names and ids are what every provider takes; and what is sent is JSON."""
    sent = messages(transcript, Reads(images, audio, documents), "a:b")
    assert isinstance(sent[0], RequestMessage)
    assert all(type(one) is not type(other) for one, other in pairwise(sent))
    for at, message in enumerate(sent):
        if not isinstance(message, ModelResponse):
            continue
        assert message.parts
        wanted = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
        following = sent[at + 1] if at + 1 < len(sent) else RequestMessage([])
        answers = [
            part.tool_call_id if isinstance(part, ToolReturnPart) else None
            for part in following.parts
        ]
        assert answers[: len(wanted)] == wanted
        assert not any(answers[len(wanted) :])
        for part in [*message.parts, *following.parts]:
            if isinstance(part, ToolCallPart | ToolReturnPart):
                assert is_tool_name(part.tool_name)
                assert is_tool_name(part.tool_call_id)  # the same characters
    assert ModelMessagesTypeAdapter.dump_json(sent)
