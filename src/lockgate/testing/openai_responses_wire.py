"""OpenAI's Responses, as far as a reply of a model goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from lockgate.testing.provider_steps import Said, pieces

ENCRYPTED: Final = "gAAAAencrypted"
"""What was thought, as only the provider reads it: it has to come back as it is."""
_REASONS: Final[Mapping[str, str]] = {"length": "max_output_tokens", "filter": "content_filter"}


def responses_message(said: Said, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The whole response."""
    return _response(said, asked, list(_items(said)))


def responses_events(said: Said, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a stream of it."""
    number = count()

    def event(kind: str, **fields: Any) -> bytes:
        body = json.dumps({"type": kind, "sequence_number": next(number), **fields})
        return f"event: {kind}\ndata: {body}\n\n".encode()

    begun = {**_response(said, asked, []), "status": "in_progress", "usage": None}
    begun["incomplete_details"] = None
    yield event("response.created", response=begun)
    for index, item in enumerate(_items(said)):
        yield event("response.output_item.added", output_index=index, item=_opened(item))
        yield from _deltas(item, index, event)
        yield event("response.output_item.done", output_index=index, item=item)
    whole = responses_message(said, asked)
    yield event(f"response.{whole['status']}", response=whole)


def _response(said: Said, asked: Mapping[str, Any], output: list[dict[str, Any]]) -> dict[str, Any]:
    reason = _REASONS.get(said.finish)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": asked["model"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "output": output,
        "usage": {
            "input_tokens": said.input,
            "input_tokens_details": {"cached_tokens": said.cached},
            "output_tokens": said.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": said.input + said.output,
        },
    }


def _items(said: Said) -> Iterator[dict[str, Any]]:
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        yield {
            "type": "reasoning",
            "id": "rs_1",
            "summary": summary,
            "encrypted_content": ENCRYPTED,
        }
    if said.text:
        text: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
        yield {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [text],
        }
    for number, call in enumerate(said.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }


def _opened(item: dict[str, Any]) -> dict[str, Any]:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return {**item, "summary": []}


def _deltas(item: dict[str, Any], index: int, event: Callable[..., bytes]) -> Iterator[bytes]:
    place = {"item_id": item["id"], "output_index": index}
    match item["type"]:
        case "message":
            (text,) = item["content"]
            place = {**place, "content_index": 0}
            yield event("response.content_part.added", **place, part={**text, "text": ""})
            for piece in pieces(text["text"]):
                yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield event("response.output_text.done", **place, text=text["text"], logprobs=[])
            yield event("response.content_part.done", **place, part=text)
        case "function_call":
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **place, delta=piece)
            yield event(
                "response.function_call_arguments.done", **place, arguments=item["arguments"]
            )
        case _:
            (summary,) = item["summary"]
            place = {**place, "summary_index": 0}
            part = {**summary, "text": ""}
            yield event("response.reasoning_summary_part.added", **place, part=part)
            for piece in pieces(summary["text"]):
                yield event("response.reasoning_summary_text.delta", **place, delta=piece)
            yield event("response.reasoning_summary_part.done", **place, part=summary)
