"""Whether a provider would take a transcript: what OpenAI's and Anthropic's services refuse.

Stricter than either where that costs nothing: both sets of rules are held against every transcript.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from lockgate.agent.model import Message, ModelReply, ToolAnswer, UserMessage

_Wire: TypeAlias = dict[str, Any]


def refusals_of(transcript: Sequence[Message]) -> list[str]:
    """What is wrong with it; empty if the next thing that a person says can follow."""
    said = [*transcript, UserMessage("and now?")]
    return [*_by_openai(_openai(said)), *_by_anthropic(_anthropic(said))]


# ---------------------------------------------------------------------- chat completions


def _openai(said: Sequence[Message]) -> list[_Wire]:
    messages: list[_Wire] = []
    for message in said:
        match message:
            case UserMessage():
                messages.append({"role": "user", "content": message.text})
            case ModelReply():
                wire: _Wire = {"role": "assistant", "content": message.text or None}
                if message.calls:
                    wire["tool_calls"] = [
                        {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
                        for call in message.calls
                    ]
                messages.append(wire)
            case ToolAnswer():
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": message.call_id,
                        "content": message.result.text,
                    }
                )
    return messages


def _by_openai(messages: Sequence[_Wire]) -> Iterator[str]:
    """Each call is answered once, by the messages right behind it, and nothing else is answered."""
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"openai: message {number} answers no call that is open"
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            yield f"openai: before message {number} calls have no answer: {sorted(open_calls)}"
        open_calls = set()
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [])
            if message["content"] is None and not calls:
                yield f"openai: message {number} says nothing"
            ids = [call["id"] for call in calls]
            if len(set(ids)) < len(ids):
                yield f"openai: message {number} has an id twice"
            open_calls = set(ids)
            for call in calls:
                json.dumps(call["arguments"], allow_nan=False)


# ---------------------------------------------------------------------- messages


def _anthropic(said: Sequence[Message]) -> list[_Wire]:
    """Neighbours of one role are one message, as the service joins them."""
    blocks = [(role, block) for message in said for role, block in _blocks(message)]
    return [
        {"role": role, "content": [block for _, block in run]}
        for role, run in groupby(blocks, key=lambda pair: pair[0])
    ]


def _blocks(message: Message) -> Iterator[tuple[str, _Wire]]:
    match message:
        case UserMessage():
            yield "user", {"type": "text", "text": message.text}
        case ModelReply():
            if message.text or not message.calls:
                yield "assistant", {"type": "text", "text": message.text}
            for call in message.calls:
                yield "assistant", {"type": "tool_use", "id": call.id, "input": call.arguments}
        case ToolAnswer():
            yield "user", {"type": "tool_result", "tool_use_id": message.call_id}


def _by_anthropic(messages: Sequence[_Wire]) -> Iterator[str]:
    """The person begins and has the last word; every call is answered by the very next message,
    before any text; no id is used twice; no text is blank."""
    seen: set[str] = set()
    asked: list[str] = []
    if not messages or messages[0]["role"] != "user" or messages[-1]["role"] != "user":
        yield "anthropic: the first and the last message have to be a person's"
    for number, message in enumerate(messages):
        content: list[_Wire] = message["content"]
        kinds = [block["type"] for block in content]
        answers = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(answers) != sorted(asked):
            yield f"anthropic: message {number} answers {answers}, and asked was {asked}"
        if kinds[: len(answers)] != ["tool_result"] * len(answers):
            yield f"anthropic: message {number} has text before its results"
        if any(block["type"] == "text" and not block["text"].strip() for block in content):
            yield f"anthropic: message {number} has a blank text"
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
        twice = [each for each in asked if each in seen or asked.count(each) > 1]
        if twice:
            yield f"anthropic: message {number} uses ids again: {twice}"
        seen.update(asked)
    if asked:
        yield f"anthropic: the last message leaves calls without an answer: {asked}"
