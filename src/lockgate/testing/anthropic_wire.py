"""Anthropic's Messages, as far as a reply of a model goes (API version 2023-06-01)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lockgate.testing.provider_steps import Said, pieces

SIGNATURE: Final = "c2lnbmVk"
"""Of what was thought: it has to come back as it is."""
_REASONS: Final[Mapping[str, str]] = {"length": "max_tokens", "filter": "refusal"}


def anthropic_message(said: Said, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The whole message."""
    return {
        **_head(asked),
        "content": list(_blocks(said)),
        "stop_reason": _reason(said),
        "usage": _usage(said),
    }


def anthropic_events(said: Said, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a stream of it."""
    start: dict[str, Any] = {
        **_head(asked),
        "content": [],
        "stop_reason": None,
        "usage": _usage(said, written=1),
    }
    yield _event("message_start", message=start)
    for index, block in enumerate(_blocks(said)):
        first, deltas = _opened(block, said)
        yield _event("content_block_start", index=index, content_block=first)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": _reason(said), "stop_sequence": None}
    yield _event("message_delta", delta=end, usage={"output_tokens": said.output})
    yield _event("message_stop")


def _head(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "stop_sequence": None,
    }


def _reason(said: Said) -> str:
    return _REASONS.get(said.finish) or ("tool_use" if said.calls else "end_turn")


def _usage(said: Said, *, written: int | None = None) -> dict[str, int]:
    """`input_tokens` is without what came from the cache."""
    return {
        "input_tokens": said.input - said.cached,
        "cache_read_input_tokens": said.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": said.output if written is None else written,
    }


def _blocks(said: Said) -> Iterator[dict[str, Any]]:
    if said.thinking:
        yield {"type": "thinking", "thinking": said.thinking, "signature": SIGNATURE}
    if said.text:
        yield {"type": "text", "text": said.text}
    for call in said.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _read(call.arguments)}


def _read(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _opened(block: dict[str, Any], said: Said) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "thinking":
            thought = [{"type": "thinking_delta", "thinking": p} for p in pieces(said.thinking)]
            signed = {"type": "signature_delta", "signature": SIGNATURE}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thought, signed]
        case "text":
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in pieces(said.text)
            ]
        case _:
            (call,) = (call for call in said.calls if call.id == block["id"])
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": p} for p in pieces(call.arguments)
            ]


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
