"""What the library makes of a provider's answer, as a reply of the loop."""

from __future__ import annotations

import json

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from lockgate.agent.model import ModelReply, ToolCall, Usage
from lockgate.agent.models.providers.kept import decoded, state_of
from lockgate.errors import Fate, Fault, PeerError, Phase


def text_of(event: ModelResponseStreamEvent) -> str:
    """The piece of text that an event of a stream brings; thinking is none."""
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def size_of(event: ModelResponseStreamEvent) -> int:
    """Characters that an event of a stream adds to a reply; one more, so that empty ones count."""
    match event:
        case PartStartEvent(part=part):
            return 1 + _size(part)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return 1 + len(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text, signature_delta=signature)):
            return 1 + len(text or "") + len(signature or "")
        case PartDeltaEvent(delta=ToolCallPartDelta(tool_name_delta=name, args_delta=arguments)):
            return 1 + len(name or "") + _length(arguments)
        case _:
            return 1


def size_of_whole(response: ModelResponse) -> int:
    """Characters of a reply: text, thinking, and calls with their arguments."""
    return sum(1 + _size(part) for part in response.parts)


def _size(part: ModelResponsePart) -> int:
    match part:
        case TextPart(content=text):
            return len(text)
        case ThinkingPart(content=text, signature=signature):
            return len(text) + len(signature or "")
        case ToolCallPart(tool_name=name, args=arguments, tool_call_id=id):
            return len(name) + len(id) + _length(arguments)
        case _:
            return 0


def _length(arguments: object) -> int:
    if not arguments:
        return 0
    return len(arguments if isinstance(arguments, str) else json.dumps(arguments, default=str))


def reply_of(response: ModelResponse, name: str) -> ModelReply:
    """The reply. Raises `PeerError` for one that the provider withheld."""
    if response.finish_reason == "content_filter":
        raise _withheld(name, "the provider's filter stopped the reply")
    if response.finish_reason == "error":
        raise _withheld(name, "the provider says that the reply failed")
    # A reason that the library does not know may be a limit too.
    unknown = response.finish_reason is None and _said_why(response)
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return ModelReply(
        text,
        calls,
        cut_off=response.finish_reason == "length" or response.state != "complete" or unknown,
        usage=Usage(
            response.usage.input_tokens,
            response.usage.output_tokens,
            response.usage.cache_read_tokens,
        ),
        state=state_of(response, calls, name),
    )


def says_whole(response: ModelResponse, *, streamed: bool) -> bool:
    """Whether the provider said that the reply has ended, and why.

    The library takes the end of a stream for the end of the reply where nothing was said, and
    streams by itself what may be long. What was not streamed at all is whole or can not be read,
    and some providers give no reason there.
    """
    if response.state == "incomplete":
        return False
    if streamed:
        return _said_why(response) or response.finish_reason in ("content_filter", "error")
    return _said_why(response) or response.finish_reason is not None


def _said_why(response: ModelResponse) -> bool:
    return bool((response.provider_details or {}).get("finish_reason"))


def _call(part: ToolCallPart) -> ToolCall:
    arguments = decoded(part.args)
    if isinstance(arguments, str):
        fault = f"the arguments are no JSON object: {arguments}. Send one JSON object."
        return ToolCall(part.tool_call_id, part.tool_name, {}, fault)
    return ToolCall(part.tool_call_id, part.tool_name, arguments)


def _withheld(name: str, what: str) -> PeerError:
    return PeerError(
        f"{name}: {what}; put the request in other words, or use another model",
        peer=name,
        phase=Phase.REQUEST,
        fault=Fault.REFUSED,
        fate=Fate.ANSWERED,
        final=True,
    )
