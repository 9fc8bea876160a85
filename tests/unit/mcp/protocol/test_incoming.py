"""JSON-RPC frames that arrive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.jsonrpc import (
    INTERNAL_ERROR,
    Failure,
    Incoming,
    Invalid,
    Notification,
    Request,
    RequestId,
    Response,
    decode,
    decode_all,
    decode_value,
    notification,
    request,
    response,
)
from lockgate.mcp.protocol.results import parse_tools_page

IDS = st.integers() | st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def invalid(frame: bytes) -> Invalid:
    """What came of a frame, which has to be an `Invalid`."""
    incoming = decode(frame)
    assert isinstance(incoming, Invalid)
    return incoming


# ---------------------------------------------------------------- any input


@given(
    st.binary(max_size=300)
    | JSON.map(lambda v: json.dumps(v).encode())
    | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
        JSON | st.just("2.0"),
    ).map(lambda v: json.dumps(v).encode())
)
def test_decoding_never_raises(frame: bytes) -> None:
    """Whatever arrives is one of five events; a batch is a tuple of them."""
    assert isinstance(decode(frame), Response | Failure | Request | Notification | Invalid)
    assert decode_all(frame)


@given(IDS, st.dictionaries(st.text(max_size=5), JSON))
def test_a_response_round_trip(id: RequestId, result: dict[str, Any]) -> None:
    """What is written as a response is read as that response, its id of the same type."""
    incoming = decode(response(id, result).payload)
    assert isinstance(incoming, Response)
    assert (incoming.id, type(incoming.id)) == (id, type(id))
    assert decode_value(incoming.result) == result


@given(IDS, st.text(max_size=20), st.none() | st.dictionaries(st.text(max_size=5), JSON))
def test_a_request_and_a_notification_round_trip(
    id: RequestId, method: str, params: dict[str, Any] | None
) -> None:
    """The same for the two that have a method; absent parameters stay absent."""
    asked = decode(request(id, method, params).payload)
    told = decode(notification(method, params).payload)
    assert isinstance(asked, Request)
    assert isinstance(told, Notification)
    assert (asked.id, asked.method, told.method) == (id, method, method)
    for incoming in (asked, told):
        read = None if incoming.params is None else decode_value(incoming.params)
        assert read == params


# ---------------------------------------------------------------- ids (PB-038, PB-039)


@pytest.mark.parametrize(
    ("text", "id"),
    [("2", 2), ('"2"', "2"), ("2.0", 2), ("2e0", 2), ("0", 0), ('""', ""), (str(2**70), 2**70)],
)
def test_ids_are_strings_or_integers_and_kept_apart(text: str, id: RequestId) -> None:
    """`2` and `"2"` are different, `2.0` is 2, 0 and "" are ids like others."""
    incoming = decode(f'{{"jsonrpc":"2.0","id":{text},"result":{{}}}}'.encode())
    assert isinstance(incoming, Response)
    assert (incoming.id, type(incoming.id)) == (id, type(id))


@pytest.mark.parametrize("text", ["null", "true", "[]", "{}", "2.5", "1e999"])
def test_a_result_without_a_usable_id_is_invalid(text: str) -> None:
    """Nobody can be given it; it is reported and answers nothing."""
    found = invalid(f'{{"jsonrpc":"2.0","id":{text},"result":{{}}}}'.encode())
    assert found.id is None
    assert "id" in found.reason


def test_an_error_without_an_id_is_still_an_error() -> None:
    """A peer that could not read a request can not name it (JSON-RPC 2.0, section 5)."""
    for member in ('"id":null,', ""):
        frame = f'{{"jsonrpc":"2.0",{member}"error":{{"code":-32700,"message":"?"}}}}'
        assert decode(frame.encode()) == Failure(None, -32700, "?")


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ('{"code":-32601,"message":"no","data":[1]}', Failure(1, -32601, "no", [1])),
        ('{"code":-32601.0,"message":"no"}', Failure(1, -32601, "no")),
        ('{"code":"x"}', Failure(1, INTERNAL_ERROR, "")),
        ('{"code":true,"message":5}', Failure(1, INTERNAL_ERROR, "(a message that is a number)")),
        ('"boom"', Failure(1, INTERNAL_ERROR, "boom")),
        ("null", Failure(1, INTERNAL_ERROR, "(an error that is null)")),
        ("[]", Failure(1, INTERNAL_ERROR, "(an error that is an array)")),
    ],
)
def test_errors_of_any_shape_are_errors(error: str, failure: Failure) -> None:
    """The call fails with what the peer said, however badly it said it."""
    assert decode(f'{{"jsonrpc":"2.0","id":1,"error":{error}}}'.encode()) == failure


def test_a_null_error_beside_a_result_is_none() -> None:
    """JSON-RPC 1 servers write both members; only a real error counts."""
    both = b'{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}'
    assert isinstance(decode(both), Response)
    clash = b'{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{"code":1,"message":"m"}}'
    assert decode(clash) == Failure(1, 1, "m")


# ---------------------------------------------------------------- what is no message


@pytest.mark.parametrize(
    "frame",
    [
        b"Server version : 1.2",
        b"[MCP] list_tools requested",
        b'{"level":"info","msg":"started"}',
        b'{"id":1,"result":"not ours"}',
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
        b"42",
        b"null",
        b"[]",
        b'"ready"',
        b"true",
        b"{}",
        b'{"jsonrpc":"2.0","id":1}',
        b"",
    ],
)
def test_noise_is_invalid_and_answers_nobody(frame: bytes) -> None:
    """Log lines, JSON or not, never fail the call that waits (PB-001, PB-002)."""
    found = invalid(frame)
    assert (found.id, found.asked) == (None, None)


def test_the_preview_is_short_and_printable() -> None:
    """It may go into a log: bounded, without control characters or broken bytes."""
    found = invalid(b"\x1b[31mred\xff\r" + b"x" * 5000)
    assert found.preview.startswith("\\x1b[31mred\\xff\\r")
    assert found.preview.isprintable()
    assert len(found.preview) < 250


def test_a_byte_order_mark_is_stepped_over() -> None:
    """The frame behind it counts; a mark alone is noise (PB-010)."""
    mark = b"\xef\xbb\xbf"
    assert isinstance(decode(mark + b'{"jsonrpc":"2.0","id":1,"result":{}}'), Response)
    assert isinstance(decode(mark), Invalid)


def test_carriage_returns_are_white_space() -> None:
    """Between tokens they mean nothing (PB-010)."""
    assert isinstance(decode(b'{"jsonrpc":\r"2.0",\r"id":1,"result":{}\r}\r'), Response)


def test_invalid_utf8_refuses_the_frame_and_names_whom_it_answers() -> None:
    """Byte and id are known, so that the call can be failed at once (PB-011)."""
    found = invalid(b'{"jsonrpc":"2.0","id":7,"result":{"text":"a \x97 b"}}')
    assert (found.id, found.offset) == (7, 44)
    assert "byte 44" in found.reason


def test_values_by_the_rules_do_not_lose_the_call() -> None:
    """NaN, half surrogates and huge numbers inside a result are read, not refused (PB-126)."""
    frame = rb'{"jsonrpc":"2.0","id":1,"result":{"a":NaN,"b":"\ud800","c":1e999,"d":1}}'
    incoming = decode(frame)
    assert isinstance(incoming, Response)
    assert decode_value(incoming.result) == {"a": None, "b": "\ufffd", "c": None, "d": 1}


# ---------------------------------------------------------------- depth (PB-111)


def nested(depth: int, *, closed: bool = True) -> bytes:
    """Arrays in arrays."""
    return b"[" * depth + (b"]" * depth if closed else b"")


@pytest.mark.parametrize("depth", [3_000, 100_000])
@pytest.mark.parametrize(
    ("frame", "id"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":%s}', 1),
        (b'{"result":%s,"jsonrpc":"2.0","id":"q"}', "q"),
        (b'{"result":%s,"id":3,"jsonrpc":"2.0"}', 3),
        (b'{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"m","data":%s}}', 4),
        (b"%s", None),
    ],
)
def test_deep_frames_are_refused_and_the_call_is_found(
    depth: int, frame: bytes, id: RequestId | None
) -> None:
    """The reason is the depth, wherever in the frame the id stands."""
    found = invalid(frame % nested(depth))
    assert "nested too deep" in found.reason
    assert found.id == id


def test_a_deep_frame_that_never_closes_is_found_too() -> None:
    """100,000 open brackets, cut off: the id before them is enough."""
    found = invalid(b'{"jsonrpc":"2.0","id":1,"result":' + nested(100_000, closed=False))
    assert found.id == 1


@given(st.integers(0, 200))
@pytest.mark.req("B-03")
def test_a_message_that_is_cut_short_says_so(at: int) -> None:
    """Wherever it is cut, in the middle of a character too; one that is damaged was not."""
    whole = (
        '{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"für \u20ac 3"}],"n":12}}'.encode()
    )
    found = invalid(whole[: 34 + at % (len(whole) - 34)])
    assert (found.id, found.cut) == (1, True)
    for damaged in (whole.replace(b"[", b"[["), whole.replace(b"3", b"\xff"), whole + b"}"):
        assert invalid(damaged).cut is False


def test_a_deep_request_of_the_peer_can_be_refused_by_its_id() -> None:
    """It waits for an answer, and is not mistaken for an answer to us."""
    frame = b'{"jsonrpc":"2.0","id":"p","method":"x","params":%s}'
    found = invalid(frame % nested(3000))
    assert (found.id, found.asked) == (None, "p")


@pytest.mark.req("S3-10")
def test_one_tool_that_is_too_deep_does_not_cost_the_others() -> None:
    """A list of tools is handed on, so that each is judged alone (PB-111)."""
    schema = '{"type":"object","properties":{"p":' * 600 + "{}" + "}}" * 600
    tools = '{"name":"ok"},{"name":"deep","inputSchema":' + schema + '},{"name":"fine"}'
    incoming = decode(f'{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}'.encode())
    assert isinstance(incoming, Response)
    page = parse_tools_page(incoming.result)
    assert [tool.name for tool in page.tools] == ["ok", "fine"]
    assert [left.tool for left in page.left_out] == ["deep"]
    assert "deeper than" in page.left_out[0].reason


def test_a_deep_list_that_is_broken_is_invalid() -> None:
    """Pruning is for whole frames only."""
    frame = b'{"jsonrpc":"2.0","id":1,"result":{"tools":' + nested(3000, closed=False)
    assert invalid(frame).id == 1


# ---------------------------------------------------------------- requests and batches


def test_a_request_with_a_bad_method_names_who_waits() -> None:
    """The peer can be told that it was not understood."""
    found = invalid(b'{"jsonrpc":"2.0","id":5,"method":5}')
    assert (found.id, found.asked) == (None, 5)


def test_a_request_with_a_null_id_is_invalid() -> None:
    """MCP has no such id (2026-07-28, basic: Requests)."""
    assert "id" in invalid(b'{"jsonrpc":"2.0","id":null,"method":"ping"}').reason


def test_text_before_a_message_on_its_line_still_names_the_call() -> None:
    """A print without a newline spoils the frame, not the whole wait."""
    assert invalid(b'50% done {"jsonrpc":"2.0","id":7,"result":{}}').id == 7
    assert invalid(b'{"jsonrpc":"2.0","id":8,"result":{}} done').id == 8


def kinds(incoming: tuple[Incoming, ...]) -> list[str]:
    """The names of the events."""
    return [type(one).__name__ for one in incoming]


def test_a_batch_is_refused_by_one_and_read_by_the_other() -> None:
    """Only 2025-03-26 had batches; who speaks it asks for `decode_all`."""
    frame = b' [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"m"},3]'
    assert "batch" in invalid(frame).reason
    assert kinds(decode_all(frame)) == ["Response", "Notification", "Invalid"]
    assert kinds(decode_all(b"\xef\xbb\xbf" + frame)) == ["Response", "Notification", "Invalid"]


def test_a_batch_of_nothing_is_invalid() -> None:
    """JSON-RPC 2.0, section 6."""
    assert kinds(decode_all(b"[]")) == ["Invalid"]


def test_a_single_message_is_a_batch_of_one() -> None:
    """`decode_all` reads what `decode` reads."""
    assert kinds(decode_all(b'{"jsonrpc":"2.0","method":"m"}')) == ["Notification"]


def test_a_batch_that_is_no_json_or_too_deep_is_one_invalid() -> None:
    """It is refused as a whole."""
    for frame in (b"[1,", nested(100_000)):
        assert kinds(decode_all(frame)) == ["Invalid"]
