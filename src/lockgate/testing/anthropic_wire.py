"""Anthropic's Messages, as far as a reply of a model goes (API version 2023-06-01)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lockgate.testing.provider_steps import Said, pieces

SIGNATURE: Final = "c2lnbmVk"
"""Of what was thought: it has to come back as it is."""
_REASONS: Final[Mapping[str, str]] = {"length": "max_tokens", "filter": "refusal"}
_OPENED: Final[Mapping[str, Mapping[str, Any]]] = {
    "thinking": {"thinking": "", "signature": ""},
    "text": {"text": ""},
    "tool_use": {"input": {}},
}
"""What of a block is empty when a stream begins it."""


def anthropic_message(said: Said, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The whole message."""
    return {
        **_head(asked),
        "content": [block for block, _ in _blocks(said)],
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
    for index, (block, deltas) in enumerate(_blocks(said)):
        first = {**block, **_OPENED[block["type"]]}
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


def _blocks(said: Said) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block, and the deltas that bring it in a stream."""
    if said.thinking:
        block = {"type": "thinking", "thinking": said.thinking, "signature": SIGNATURE}
        thought = [{"type": "thinking_delta", "thinking": p} for p in pieces(said.thinking)]
        yield block, [*thought, {"type": "signature_delta", "signature": SIGNATURE}]
    if said.text:
        told = [{"type": "text_delta", "text": piece} for piece in pieces(said.text)]
        yield {"type": "text", "text": said.text}, told
    for call in said.calls:
        written = [
            {"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.arguments)
        ]
        given = {"id": call.id, "name": call.name, "input": _read(call.arguments)}
        yield {"type": "tool_use", **given}, written


def _read(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
