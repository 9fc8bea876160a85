"""JSON-RPC frames that are sent."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from lockgate.mcp.protocol.jsonrpc import (
    Outgoing,
    Unwritable,
    error_response,
    notification,
    request,
    response,
)


def test_a_request_says_what_it_is() -> None:
    """The frame is JSON-RPC 2.0 with its members in the usual order, the value beside it agrees."""
    made = request(1, "tools/call", {"name": "x"}, headers=(("A", "b"),))
    assert made.payload == b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'
    assert (made.id, made.method, made.headers) == (1, "tools/call", (("A", "b"),))


def test_the_other_three() -> None:
    """A notification has no id, an answer no method."""
    told = notification("n", {"a": None})
    assert told == Outgoing(b'{"jsonrpc":"2.0","method":"n","params":{"a":null}}', None, "n")
    assert response("a", {}) == Outgoing(b'{"jsonrpc":"2.0","id":"a","result":{}}', "a")
    refused = error_response(3, -32601, "no", {"x": 1})
    assert json.loads(refused.payload)["error"] == {
        "code": -32601,
        "message": "no",
        "data": {"x": 1},
    }
    assert "data" not in json.loads(error_response(3, -32601, "no").payload)["error"]


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**30, 1e22, -0.0, "\u2028한글\x00"])
def test_values_are_written_exactly(value: Any) -> None:
    """Integers of any size, doubles and any whole string arrive as they were."""
    assert json.loads(request(1, "m", {"v": value}).payload)["params"]["v"] == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("\ud800", "surrogate"),
        ({"\udfff": 1}, "surrogate"),
        (float("nan"), "not finite"),
        ([None, {"a": (1.0, float("inf"))}], "not finite"),
        (object(), "no JSON form"),
        ({(1, 2): 3}, "no JSON form"),
    ],
)
def test_what_json_can_not_hold_is_refused_not_changed(value: Any, why: str) -> None:
    """What is sent is what was asked for, or nothing is sent (B-01)."""
    with pytest.raises(Unwritable, match=why):
        request(1, "m", {"v": value})


def test_what_is_too_deep_to_write_is_refused() -> None:
    """By depth, not with a crash."""
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(Unwritable, match="nested too deep"):
        request(1, "m", {"v": deep})


def test_a_refusal_shows_no_value() -> None:
    """An argument's value is never in an error."""
    with pytest.raises(Unwritable) as caught:
        request(1, "m", {"password": "s3cret\ud800"})
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_frame_never_holds_a_newline() -> None:
    """A Raw may bring white space along; inside strings a newline is escaped anyway."""
    made = request(1, "m", {"a": msgspec.Raw(b'{\n"x":\n1}'), "b": "1\n2"})
    assert b"\n" not in made.payload
    assert json.loads(made.payload)["params"] == {"a": {"x": 1}, "b": "1\n2"}
