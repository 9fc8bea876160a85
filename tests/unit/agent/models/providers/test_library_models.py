"""The library's own models for tests behind ours: what holds for every model that it has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from lockgate.agent.model import ModelReply, ModelRequest, ToolAnswer, Usage, UserMessage
from lockgate.agent.models.named import NamedModel
from lockgate.agent.models.providers.model import ProviderModel
from lockgate.errors import Fault, PeerError
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.traits import SideEffectLevel

GO = ModelRequest([UserMessage("go")])


def ours(model: LibraryModel) -> ProviderModel:
    """Ours over one of the library's, which says nothing of ends."""
    return ProviderModel(NamedModel("test:m", "test", "m"), model, marks_ends=False)


async def test_a_model_that_calls_every_tool_gets_every_result(tmp_path: Path) -> None:
    """The library's test model takes the schemas for what they are, calls each tool once with
    arguments that fit, and then tells what came of them."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3}, "word": {"type": "string"}},
        "required": ["n", "word"],
        "additionalProperties": False,
    }
    tools = [
        ScriptedTool(name, level=SideEffectLevel.READ_ONLY, input_schema=schema, replies=[name * 2])
        for name in ("one", "two")
    ]
    async with Workbench(tmp_path, tools) as bench:
        result = await bench.agent(ours(TestModel())).run("go")
    assert [made.tool for made in result.calls] == ["one", "two"]
    assert [tool.runs[0]["n"] for tool in tools] == [3, 3]
    assert result.answered
    assert "oneone" in result.text
    assert "twotwo" in result.text


async def test_what_a_function_says_is_the_reply() -> None:
    """Text is joined, thinking is none of it, and the state keeps it."""

    def says(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert info.instructions == "Be brief."
        parts = [ThinkingPart("Hmm.", signature="s"), TextPart("One. "), TextPart("Two.")]
        return ModelResponse(parts, usage=RequestUsage(input_tokens=3, output_tokens=2))

    reply = await ours(FunctionModel(says)).reply(
        ModelRequest([UserMessage("go")], instructions="Be brief.")
    )
    assert (reply.text, reply.calls, reply.usage) == ("One. Two.", (), Usage(3, 2))
    assert reply.state is not None
    assert reply.state["by"] == "test:m"


async def test_a_function_that_streams_is_heard() -> None:
    """Pieces of text as they come; calls are put together."""

    async def says(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        yield "One. "
        yield "Two."
        yield {0: DeltaToolCall("look", '{"at": ', tool_call_id="c1")}
        yield {0: DeltaToolCall(json_args='"it"}')}

    heard: list[str] = []
    reply = await ours(FunctionModel(stream_function=says)).reply(GO, heard.append)
    assert heard == ["One. ", "Two."]
    assert reply.text == "One. Two."
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [
        ("c1", "look", {"at": "it"})
    ]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (UserError("this model takes no audio"), Fault.UNSUPPORTED),
        (UnexpectedModelBehavior("what is this", "a body with secrets"), Fault.MALFORMED),
        (ModelAPIError("m", "something"), Fault.REFUSED),
        (NotImplementedError("no video"), Fault.UNSUPPORTED),
        (KeyError("secret"), Fault.MALFORMED),
        (AssertionError("secret"), Fault.MALFORMED),
    ],
)
async def test_whatever_the_library_raises_is_the_peers(error: Exception, fault: Fault) -> None:
    """A turn ends with it, and nothing of its own is passed on."""

    def fails(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    with pytest.raises(PeerError) as caught:
        await ours(FunctionModel(fails)).reply(GO)
    assert caught.value.fault is fault
    assert caught.value.__cause__ is None
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("response", "cut_off"),
    [
        (ModelResponse([TextPart("x")], finish_reason="length"), True),
        (ModelResponse([TextPart("x")], state="suspended"), True),
        (ModelResponse([TextPart("x")], provider_details={"finish_reason": "a new one"}), True),
        (ModelResponse([TextPart("x")], finish_reason="stop"), False),
        (ModelResponse([ToolCallPart("look")], finish_reason="tool_call"), False),
    ],
)
async def test_a_reply_is_whole_where_that_is_known(response: ModelResponse, cut_off: bool) -> None:
    """A reason to end that the library has no word for may be a limit."""
    reply = await ours(FunctionModel(lambda messages, info: response)).reply(GO)
    assert reply.cut_off is cut_off


async def test_a_provider_that_says_the_reply_failed_gave_none() -> None:
    """Whatever came of it by then."""
    failed = ModelResponse([TextPart("x")], finish_reason="error")
    with pytest.raises(PeerError, match="the reply failed"):
        await ours(FunctionModel(lambda messages, info: failed)).reply(GO)


async def test_an_error_that_was_heard_half_is_not_asked_for_again() -> None:
    """What was told can not be taken back."""
    asked: list[int] = []

    async def breaks(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        asked.append(1)
        yield "One. "
        raise ModelAPIError("m", "gone")

    with pytest.raises(PeerError):
        await ours(FunctionModel(stream_function=breaks)).reply(GO, lambda text: None)
    assert asked == [1]


def _looks(then: Callable[[str], str]) -> FunctionModel:
    """A model that calls `look` once, and says what it makes of the answer."""

    def says(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answers: list[Any] = [
            part
            for message in messages
            for part in message.parts
            if getattr(part, "part_kind", "") == "tool-return"
        ]
        if answers:
            return ModelResponse([TextPart(then(str(answers[-1].content)))])
        return ModelResponse([ToolCallPart("look", "{broken", "c1")])

    return FunctionModel(says)


async def test_a_call_with_a_fault_is_answered_and_never_made(tmp_path: Path) -> None:
    """The model reads what was wrong, and the transcript has one answer for it."""
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY)
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(ours(_looks(lambda answer: f"I read: {answer}"))).run("go")
    assert tool.runs == []
    assert "no JSON object" in result.text
    replies = [message for message in result.transcript if isinstance(message, ModelReply)]
    answers = [message for message in result.transcript if isinstance(message, ToolAnswer)]
    assert [call.id for call in replies[0].calls] == [answer.call_id for answer in answers]
