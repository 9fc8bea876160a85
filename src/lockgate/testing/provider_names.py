"""What a scripted provider refuses of a request, as the real ones do: names, ids, blank texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

_Wire: TypeAlias = Mapping[str, Any]
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""OpenAI's; Anthropic takes 128 characters."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]+")
"""Anthropic's."""
_MAX_ID: Final = 64
"""OpenAI's."""


def refusal_of(path: str, body: _Wire) -> str | None:
    """Why the service at `path` would answer 400; None if it would not for what is looked at."""
    look = {
        "/v1/chat/completions": _chat,
        "/v1/responses": _responses,
        "/v1/messages": _messages,
    }.get(path)
    return None if look is None else next(look(body), None)


def _chat(body: _Wire) -> Iterator[str]:
    for tool in body.get("tools") or ():
        yield from _bad_name("tools", tool["function"]["name"])
    for message in body.get("messages") or ():
        for call in message.get("tool_calls") or ():
            yield from _bad_name("tool_calls", call["function"]["name"])
            yield from _long_id(call["id"])
        if message["role"] == "tool":
            yield from _long_id(message["tool_call_id"])


def _responses(body: _Wire) -> Iterator[str]:
    for tool in body.get("tools") or ():
        yield from _bad_name("tools", tool["name"])
    given: object = body.get("input")
    for item in cast("list[_Wire]", given) if isinstance(given, list) else ():
        match item:
            case {"type": "function_call", "name": name, "call_id": id}:
                yield from _bad_name("input", name)
                yield from _long_id(id)
            case {"type": "function_call_output", "call_id": id}:
                yield from _long_id(id)
            case _:
                pass


def _messages(body: _Wire) -> Iterator[str]:
    for tool in body.get("tools") or ():
        yield from _bad_name("tools", tool["name"])
    for message in body.get("messages") or ():
        content = message["content"]
        text: list[_Wire] = [{"type": "text", "text": content}]
        blocks: list[_Wire] = text if isinstance(content, str) else content
        for block in blocks:
            match block:
                case {"type": "tool_use", "name": name, "id": id}:
                    yield from _bad_name("tool_use", name)
                    yield from _odd_id(id)
                case {"type": "tool_result", "tool_use_id": id}:
                    yield from _odd_id(id)
                case {"type": "text", "text": str(words)} if not words.strip():
                    yield "messages: text content blocks must contain non-whitespace text"
                case _:
                    pass


def _bad_name(where: str, name: str) -> Iterator[str]:
    if not _NAME.fullmatch(name):
        yield f"{where}: a name does not match the pattern ^[a-zA-Z0-9_-]{{1,64}}$"


def _long_id(id: str) -> Iterator[str]:
    if not 0 < len(id) <= _MAX_ID:
        yield f"an id has {len(id)} characters, and has to have 1 to {_MAX_ID}"


def _odd_id(id: str) -> Iterator[str]:
    if not _ID.fullmatch(id):
        yield "an id does not match the pattern ^[a-zA-Z0-9_-]+$"
