"""What a scripted provider refuses: each rule has a request that breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.testing.provider_names import refusal_of

LONG = "x" * 65


def _chat(name: str = "t", id: str = "c") -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}


def _responses(name: str = "t", id: str = "c") -> dict[str, Any]:
    call = {"type": "function_call", "name": name, "call_id": id, "arguments": "{}"}
    return {"input": [call]}


def _messages(name: str = "t", id: str = "c") -> dict[str, Any]:
    block = {"type": "tool_use", "name": name, "id": id, "input": {"name": "a b"}}
    return {"messages": [{"role": "assistant", "content": [block]}]}


@pytest.mark.parametrize(
    ("path", "body", "wrong"),
    [
        ("/v1/chat/completions", _chat(), None),
        ("/v1/chat/completions", _chat(name="a b"), "a name"),
        ("/v1/chat/completions", _chat(id=LONG), "an id"),
        ("/v1/responses", _responses(), None),
        ("/v1/responses", {"input": "Go."}, None),
        ("/v1/responses", _responses(name=""), "a name"),
        ("/v1/responses", _responses(id=""), "an id"),
        ("/v1/messages", _messages(), None),
        ("/v1/messages", _messages(name=LONG), "a name"),
        ("/v1/messages", _messages(id="a.b"), "an id"),
        ("/v1/messages", {"messages": [{"role": "user", "content": " "}]}, "non-whitespace"),
        ("/v1/other", _messages(name=""), None),
    ],
)
def test_what_the_services_refuse_is_refused(
    path: str, body: dict[str, Any], wrong: str | None
) -> None:
    """Names everywhere, ids as each service has them, blank texts by Anthropic alone."""
    found = refusal_of(path, body)
    assert found is None if wrong is None else wrong in (found or "")
