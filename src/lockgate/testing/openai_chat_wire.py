"""OpenAI's Chat Completions, as far as a reply of a model goes; many other servers speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lockgate.testing.provider_steps import Said, SaidCall, pieces

_REASONS: Final[Mapping[str, str]] = {"length": "length", "filter": "content_filter"}


def chat_message(said: Said, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The whole completion."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": None}
    if said.calls:
        message["tool_calls"] = [_call(call, call.arguments) for call in said.calls]
    choice = {"index": 0, "message": message, "finish_reason": _reason(said), "logprobs": None}
    return {**_head(asked), "object": "chat.completion", "choices": [choice], "usage": _usage(said)}


def chat_events(said: Said, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a stream of it."""
    yield _chunk(asked, {"role": "assistant", "content": ""})
    for piece in pieces(said.text):
        yield _chunk(asked, {"content": piece})
    for index, call in enumerate(said.calls):
        yield _chunk(asked, {"tool_calls": [{"index": index, **_call(call, "")}]})
        for piece in pieces(call.arguments):
            part = {"index": index, "function": {"arguments": piece}}
            yield _chunk(asked, {"tool_calls": [part]})
    yield _chunk(asked, {}, _reason(said))
    whole: dict[str, Any] = {**_head(asked), "object": "chat.completion.chunk", "choices": []}
    yield _data({**whole, "usage": _usage(said)})
    yield b"data: [DONE]\n\n"


def _head(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "created": 1_700_000_000, "model": asked["model"]}


def _reason(said: Said) -> str:
    return _REASONS.get(said.finish) or ("tool_calls" if said.calls else "stop")


def _usage(said: Said) -> dict[str, Any]:
    return {
        "prompt_tokens": said.input,
        "completion_tokens": said.output,
        "total_tokens": said.input + said.output,
        "prompt_tokens_details": {"cached_tokens": said.cached},
    }


def _call(call: SaidCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _chunk(asked: Mapping[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return _data({**_head(asked), "object": "chat.completion.chunk", "choices": [choice]})


def _data(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
