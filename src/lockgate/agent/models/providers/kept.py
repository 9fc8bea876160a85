"""What a provider wants back with the next request, as JSON: `ModelReply.state`.

Thinking with its signature, encrypted reasoning, ids of its own. It is written with a session and
read in another process. Where it and the transcript disagree the transcript counts: it is what was
decided about.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from lockgate.agent.model import ModelReply, ToolCall
from lockgate.content import JSONObject
from lockgate.schema.limits import MAX_DEPTH
from lockgate.schema.walk import depth_and_size

_FORM: Final = 1
"""Of the state; another one is left aside."""
_DROPPED: Final = frozenset({"usage", "timestamp", "metadata", "run_id", "conversation_id"})


def state_of(response: ModelResponse, calls: Sequence[ToolCall], name: str) -> JSONObject | None:
    """What `response` needs kept beside its text and `calls`; None if that is nothing, or nothing
    that could be sent back (half a surrogate pair)."""
    if not any(_holds_more(part) for part in response.parts):
        return None
    whole = replace(response, parts=list(_named(response.parts, calls)))
    (dumped,) = ModelMessagesTypeAdapter.dump_python([whole], mode="json")
    kept = {
        key: value
        for key, value in cast("dict[str, Any]", dumped).items()
        if value is not None and key not in _DROPPED
    }
    try:
        json.dumps(kept, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None
    return {"form": _FORM, "by": name, "response": kept}


def restored(reply: ModelReply, name: str) -> ModelResponse | None:
    """The response that `reply` was made from; None if another model made it, or it is not known,
    or does not say what the transcript says."""
    state = reply.state
    if state is None or state.get("form") != _FORM or state.get("by") != name:
        return None
    try:
        (found,) = ModelMessagesTypeAdapter.validate_python([state.get("response")])
    except ValueError:  # written by another version of the library
        return None
    if not isinstance(found, ModelResponse) or not _agrees(found, reply):
        return None
    return replace(found, parts=list(_named(found.parts, reply.calls)))


def decoded(arguments: str | Mapping[str, Any] | None) -> dict[str, Any] | str:
    """Arguments as the model wrote them: an object, or what is wrong with them."""
    if not arguments:
        return {}
    try:
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, allow_nan=False)
        found: object = json.loads(arguments, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return f"they end or break at character {error.pos + 1}: {error.msg}"
    except (ValueError, TypeError, RecursionError):
        return "they hold what JSON has no place for"
    if not isinstance(found, dict):
        return f"they are {_KINDS.get(type(found), 'a value')}"
    # The road would refuse them, and the library can not write them once more.
    if depth_and_size(cast("object", found), MAX_DEPTH, sys.maxsize)[0] > MAX_DEPTH:
        return f"they nest deeper than {MAX_DEPTH} levels"
    return cast("dict[str, Any]", found)


_KINDS: Final[Mapping[type, str]] = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _holds_more(part: ModelResponsePart) -> bool:
    if isinstance(part, TextPart | ToolCallPart):
        return part.id is not None or bool(part.provider_details)
    return isinstance(part, ThinkingPart)


def _named(
    parts: Sequence[ModelResponsePart], calls: Sequence[ToolCall]
) -> list[ModelResponsePart]:
    """`parts`, their calls under the ids of `calls`; what could not be read is empty."""
    left = iter(calls)
    made: list[ModelResponsePart] = []
    for part in parts:
        call = next(left, None) if isinstance(part, ToolCallPart) else None
        if isinstance(part, ToolCallPart) and call is not None:
            arguments = part.args if call.fault is None else {}
            made.append(replace(part, tool_call_id=call.id, args=arguments))
        elif isinstance(part, TextPart | ThinkingPart):
            made.append(part)
    return made


def _agrees(response: ModelResponse, reply: ModelReply) -> bool:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return (
        text == reply.text
        and len(calls) == len(reply.calls)
        and all(
            part.tool_name == call.name
            and (call.fault is not None or decoded(part.args) == dict(call.arguments))
            for part, call in zip(calls, reply.calls, strict=True)
        )
    )
