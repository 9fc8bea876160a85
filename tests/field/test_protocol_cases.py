"""Field cases that are decided by the protocol alone: bytes in, events and values out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.mcp.protocol.framing import LineFramer, Oversized
from lockgate.mcp.protocol.jsonrpc import Failure, Incoming, Invalid, Response, decode, decode_value
from lockgate.mcp.protocol.negotiation import (
    Finding,
    Found,
    GiveUp,
    Initialize,
    Use,
    advance,
    begin,
)
from lockgate.mcp.protocol.results import parse_call_result, parse_initialize, parse_tools_page

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}'


LONG = '"' + "x" * 100_000 + '"'


def arrive(*pieces: bytes) -> list[Incoming]:
    """The events of a stream that comes in these pieces and then ends."""
    framer = LineFramer()
    frames = [frame for piece in pieces for frame in framer.feed(piece)]
    last = framer.rest()
    if last is not None:
        frames.append(last)
    assert not any(isinstance(frame, Oversized) for frame in frames)
    return [decode(frame) for frame in frames if isinstance(frame, bytes)]


def texts(incoming: Incoming) -> list[str]:
    """The content of a call's answer."""
    assert isinstance(incoming, Response)
    return [block.as_text() for block in parse_call_result(incoming.result).content]


def test_pb_001_lines_that_are_not_json_are_skipped() -> None:
    """Banners, empty lines and log lines before and between messages cost nothing."""
    noise = b"Server version : 1.2\n\n   \n"
    events = arrive(noise + ANSWER + b"\n[MCP] list_tools requested\n" + ANSWER + b"\n")
    assert [type(event) for event in events] == [Invalid, Response, Invalid, Response]
    assert events[0] == decode(b"Server version : 1.2")


def test_pb_002_json_that_is_no_message_is_skipped() -> None:
    """None of it is an answer to anybody, so the call that waits goes on waiting."""
    noise = [b'{"level":"info","msg":"started"}', b"42", b"null", b"[]", b'"ready"', b"true"]
    events = arrive(b"\n".join([*noise, ANSWER, *noise, ANSWER]))
    assert [isinstance(event, Response) for event in events] == [*[False] * 6, True] * 2
    assert all(event.id is None for event in events if isinstance(event, Invalid))


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 132_000, 8_000_000])
def test_pb_005_a_line_of_any_length_is_whole(size: int) -> None:
    """And the next one is too."""
    text = "x" * size
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [text]}}).encode() + b"\n"
    pieces = [line[i : i + 65_536] for i in range(0, len(line), 65_536)]
    first, second = arrive(*pieces, ANSWER + b"\n")
    assert [len(t) for t in texts(first)] == [size]
    assert texts(second) == ["ok"]


def test_pb_006_pieces_make_no_difference() -> None:
    """One write, small pieces, a cut inside a character, two messages in one write."""
    text = "가" * 400_000
    line = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}},
        ensure_ascii=False,
    ).encode()
    cut = line.index("가".encode()) + 1
    for pieces in (
        [line + b"\n"],
        [(line + b"\n")[i : i + 4096] for i in range(0, len(line) + 1, 4096)],
        [line[:cut], line[cut : cut + 1], line[cut + 1 :] + b"\n"],
        [line + b"\n" + line + b"\n"],
    ):
        assert all(texts(event) == [text] for event in arrive(*pieces))


def test_pb_008_an_answer_without_a_newline_is_delivered_at_the_end() -> None:
    """The server exits right after it."""
    assert texts(arrive(ANSWER)[0]) == ["ok"]


def test_pb_010_line_ends_and_byte_order_marks() -> None:
    """CRLF, a BOM before the first line, and a carriage return as white space."""
    spaced = ANSWER.replace(b",", b",\r")
    for stream in (ANSWER + b"\r\n", b"\xef\xbb\xbf" + ANSWER + b"\n", spaced + b"\r\n"):
        assert [texts(event) for event in arrive(stream)] == [["ok"]]


def test_pb_011_invalid_utf8_costs_one_frame() -> None:
    """It is refused with its offset and the id of its call; the next frame is read."""
    bad = ANSWER.replace(b"ok", b"\xb0\xa1")
    first, second = arrive(bad + b"\n" + ANSWER + b"\n")
    assert isinstance(first, Invalid)
    assert (first.id, first.offset) == (1, bad.index(b"\xb0"))
    assert texts(second) == ["ok"]


@pytest.mark.parametrize(("text", "id"), [(b'"2"', "2"), (b"2.0", 2), (b"2", 2)])
@pytest.mark.parametrize("body", [b'"result":{}', b'"error":{"code":1,"message":"m"}'])
def test_pb_038_ids_keep_their_type(text: bytes, id: object, body: bytes) -> None:
    """`"2"` does not answer 2 and can be told from it; 2.0 does."""
    event = decode(b'{"jsonrpc":"2.0","id":' + text + b"," + body + b"}")
    assert isinstance(event, Response | Failure)
    assert (event.id, type(event.id)) == (id, type(id))


def test_pb_039_an_error_with_id_null_is_an_event_of_its_own() -> None:
    """Nobody's, but with what the server said."""
    event = decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad"}}')
    assert event == Failure(None, -32600, "bad")


def negotiate(*findings: Finding) -> object:
    """The step after these findings, the first of them about the probe."""
    now, step = begin()
    for finding in findings:
        now, step = advance(now, finding)
    return step


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"protocolVersion": "2024-11-05"}, "2024-11-05"),
        ({"protocolVersion": "2099-01-01"}, "2099-01-01, which is not known here"),
        ({}, "without a protocol version"),
    ],
)
def test_pb_041_the_version_that_is_answered_is_checked(answer: Any, outcome: str) -> None:
    """An older known one is used, an unknown or missing one refused by name."""
    parsed = parse_initialize(json.dumps(answer).encode())
    step = negotiate(Finding(Found.ERROR), Finding.initialized(parsed))
    if isinstance(step, Use):
        assert step.revision.name == outcome
    else:
        assert isinstance(step, GiveUp)
        assert outcome in step.message


@pytest.mark.parametrize("code", [-32602, -32022])
def test_pb_041_supported_versions_are_tried_once(code: int) -> None:
    """`data.supported` of a refusal, whatever its code."""
    data = {"supported": ["2025-03-26", "2024-11-05"], "requested": "2025-11-25"}
    refusal = Finding.refused(Failure(1, code, "Unsupported protocol version", data))
    step = negotiate(Finding(Found.ERROR), refusal)
    assert isinstance(step, Initialize)
    assert step.revision.name == "2025-03-26"
    assert isinstance(negotiate(Finding(Found.ERROR), refusal, refusal), GiveUp)


@pytest.mark.parametrize(
    "finding",
    [
        Finding.refused(Failure(1, -32601, "Method not found")),
        Finding.refused(Failure(1, -32602, "Invalid request parameters")),
        Finding(Found.SILENT),
        Finding(Found.EXITED),
        Finding(Found.MALFORMED),
    ],
)
def test_pb_043_whatever_the_probe_brings_is_followed_by_initialize(finding: Finding) -> None:
    """On the same link, unless that is gone."""
    step = negotiate(finding)
    assert isinstance(step, Initialize)
    assert step.new_link is (finding.found is Found.EXITED)


def test_pb_107_odd_schemas_cost_their_own_tool() -> None:
    """The valid tool is always there; each odd one has its documented fate."""
    odd: dict[str, Any] = {
        "null": None,
        "empty": {},
        "dialect": {"$schema": "http://json-schema.org/draft-07/schema#"},
        "object": {"type": "object"},
        "array": [],
        "string": "object",
        "true": True,
        "or null": {"type": ["object", "null"]},
        "OBJECT": {"type": "OBJECT"},
    }
    tools: list[Any] = [{"name": name, "inputSchema": schema} for name, schema in odd.items()]
    tools += [{"name": "missing"}, None, {"name": 5}, {"name": "valid", "inputSchema": {}}]
    page = parse_tools_page(json.dumps({"tools": tools}).encode())
    listed = [tool.name for tool in page.tools]
    assert listed == ["empty", "dialect", "object", "or null", "missing", "valid"]
    left = [left.tool for left in page.left_out]
    assert left == ["null", "array", "string", "true", "OBJECT", "tool 11", "tool 12"]
    assert all(left.reason for left in page.left_out)


def test_pb_108_schemas_of_something_else_are_found_when_listed() -> None:
    """They are not offered; the other tools are usable."""
    bad: list[Any] = [
        {"type": "string"},
        {"type": "object", "properties": [1, 2]},
        {"type": "object", "required": "x"},
    ]
    tools = [{"name": f"bad{i}", "inputSchema": schema} for i, schema in enumerate(bad)]
    raw = json.dumps({"tools": [*tools, {"name": "ok", "inputSchema": {"type": "object"}}]})
    page = parse_tools_page(raw.encode())
    assert [tool.name for tool in page.tools] == ["ok"]
    assert [left.tool for left in page.left_out] == ["bad0", "bad1", "bad2"]


def test_pb_111_depth_costs_one_tool_one_frame() -> None:
    """600 schemas in each other, a result 3,000 deep, a line of 100,000 brackets."""
    schema = '{"type":"object","properties":{"p":' * 600 + "{}" + "}}" * 600
    listing = f'{{"tools":[{{"name":"deep","inputSchema":{schema}}},{{"name":"ok"}}]}}'
    deep = "[" * 3000 + "]" * 3000
    stream = "\n".join(
        [
            f'{{"jsonrpc":"2.0","id":1,"result":{listing}}}',
            f'{{"jsonrpc":"2.0","id":2,"result":{{"structuredContent":{deep}}}}}',
            "[" * 100_000,
            ANSWER.decode(),
        ]
    )
    first, second, third, fourth = arrive(stream.encode())
    assert isinstance(first, Response)
    page = parse_tools_page(first.result)
    assert ([t.name for t in page.tools], [t.tool for t in page.left_out]) == (["ok"], ["deep"])
    for event, id in ((second, 2), (third, None)):
        assert isinstance(event, Invalid)
        assert "nested too deep" in event.reason
        assert event.id == id
    assert texts(fourth) == ["ok"]


def test_pb_122_every_block_yields_something_readable() -> None:
    """Texts inline under their address, links with name and address, binaries by type and size,
    strangers by name."""
    content: list[Any] = [
        {"type": "text", "text": "a"},
        {
            "type": "resource",
            "resource": {"uri": "u:1", "mimeType": "application/pdf", "blob": "AAAA"},
        },
        {"type": "resource_link", "uri": "u:2", "name": "report", "size": 7},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "u:3", "text": "inline"}},
        {"type": "future"},
        {},
        None,
        {"type": "text"},
        {"type": "text", "text": 5},
    ]
    result = parse_call_result(json.dumps({"content": content}).encode())
    shown = [block.as_text() for block in result.content]
    assert len(shown) == len(content)
    assert (shown[0], shown[4], shown[9]) == ("a", "[resource u:3]\ninline", "5")
    assert "application/pdf" in shown[1]
    assert "report" in shown[2]
    assert "u:2" in shown[2]
    assert "audio/wav" in shown[3]
    assert "future" in shown[5]
    assert len(result.remarks) == 5


def test_pb_126_numbers_nobody_can_hold() -> None:
    """No crash, all digits of a big integer, and what we write on is valid JSON."""
    frame = b'{"jsonrpc":"2.0","id":1,"result":{"structuredContent":%s}}'
    event = decode(frame % b'{"x": NaN, "y": 1e999, "z": 12345678901234567890123}')
    assert isinstance(event, Response)
    structured = parse_call_result(event.result).structured
    assert structured == {"x": None, "y": None, "z": 12345678901234567890123}
    assert json.loads(json.dumps(structured, allow_nan=False)) == structured
    assert decode_value(event.result) == {"structuredContent": structured}


@pytest.mark.parametrize(
    ("cursor", "follow"),
    [('""', ""), ("null", None), ("0", None), ("5", None), ("{}", None), (LONG, LONG[1:-1])],
)
def test_pb_140_what_a_cursor_can_be(cursor: str, follow: object) -> None:
    """Strings are followed, an empty one too (by the client, once); wrong types end the list."""
    page = parse_tools_page(f'{{"tools":[],"nextCursor":{cursor}}}'.encode())
    assert page.next_cursor == follow
    assert bool(page.remarks) is (cursor in ("0", "5", "{}"))
