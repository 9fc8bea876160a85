"""What can still be had of a frame that can not be read."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.framing import LineFramer, Oversized
from lockgate.mcp.protocol.salvage import addressee, prune


@given(st.binary(max_size=200))
def test_looking_for_an_address_never_raises(frame: bytes) -> None:
    """Any bytes have an address or none."""
    assert len(addressee(frame)) == 2
    prune(frame, 3)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{', (1, None)),
        (b'{"jsonrpc":"2.0","id":"\\u0061","error":{', ("a", None)),
        (b'{"jsonrpc":"2.0","id":1.0,"result":', (1, None)),
        (b'{"method":"ping","id":1,"jsonrpc":"2.0","params":[[', (None, 1)),
        (b'{"jsonrpc":"2.0","id":1', (None, None)),
        (b'{"jsonrpc":"2.0","id":[1],"result":{}', (None, None)),
        (b'{"jsonrpc":"1.0","id":1,"result":{', (None, None)),
        (b'{"id":1,"result":{', (None, None)),
        (b'{"x":{"jsonrpc":"2.0","id":9,"result":1}', (None, None)),
        (b'{"jsonrpc":"2.0","result":{"id":9},', (None, None)),
        (b'["jsonrpc","2.0","id",1,"result"', (None, None)),
        (b'{"jsonrpc":"2.0","text":"unfinished "id":3,"result":1', (None, None)),
    ],
)
def test_only_the_members_of_the_message_itself_count(
    frame: bytes, expected: tuple[object, object]
) -> None:
    """An id inside a result, in a list, in a string or without the marks is nobody's."""
    assert addressee(frame) == expected


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 5, "result": {"text": "x" * 20_000}},
        {"result": {"text": 'y",{"id":6}' * 2_000}, "jsonrpc": "2.0", "id": 5},
        {"result": {"text": "z" * 20_000}, "id": 5, "jsonrpc": "2.0"},
    ],
)
def test_the_call_of_an_oversized_answer_is_found(message: dict[str, object]) -> None:
    """What the framer keeps of it is enough, whether the id stands first or last."""
    text = json.dumps(message, separators=(",", ":")).encode()
    (frame,) = LineFramer(10_000).feed(text + b"\n")
    assert isinstance(frame, Oversized)
    assert addressee(frame.head) == (5, None)


def test_pruning_keeps_what_is_shallow() -> None:
    """Everything deeper than the given level becomes null; strings are no brackets."""
    frame = b'{"a":[1,{"b":[2,{"c":"]}"}]},"[["],"d":{}}'
    assert json.loads(prune(frame, 2) or b"") == {"a": [1, None, "[["], "d": {}}
    assert prune(frame, 10) == frame


def test_pruning_refuses_what_is_not_balanced_or_too_large() -> None:
    """Nothing is made up, and nothing takes long."""
    assert prune(b"[[[", 2) is None
    assert prune(b"[" + b" " * 9_000_000 + b"]", 2) is None


def test_a_huge_hopeless_frame_costs_little() -> None:
    """Looking stops after a bounded number of tokens."""
    frame = b"{" + b'"a":[],' * 1_000_000
    start = time.perf_counter()
    addressee(frame)
    assert time.perf_counter() - start < 2
