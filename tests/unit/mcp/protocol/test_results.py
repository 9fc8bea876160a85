"""The answer to tools/call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lockgate.content import Text, UnknownContent
from lockgate.mcp.protocol.content import MAX_BLOCKS
from lockgate.mcp.protocol.jsontext import MAX_DEPTH
from lockgate.mcp.protocol.results import CallResult, parse_call_result


def parsed(result: Any) -> CallResult:
    """The result of a JSON value."""
    return parse_call_result(json.dumps(result).encode())


@given(
    st.binary(max_size=100)
    | st.dictionaries(
        st.sampled_from(["content", "isError", "structuredContent", "resultType", "x"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.none()),
    ).map(lambda v: json.dumps(v).encode())
)
def test_reading_a_result_never_raises(raw: bytes) -> None:
    """Any answer to a call is a result."""
    assert isinstance(parse_call_result(raw), CallResult)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "text", "text", "image", 1]), "text": st.text(max_size=5)},
    optional={"annotations": st.dictionaries(st.text(max_size=3), JSON) | JSON, "_meta": JSON},
)


@given(
    st.fixed_dictionaries(
        {"content": st.lists(BLOCKS, max_size=3)},
        optional={"structuredContent": JSON, "resultType": st.text(max_size=9), "_meta": JSON},
    ),
    st.booleans(),
)
def test_the_quick_way_reads_what_the_rules_read(result: dict[str, Any], is_error: bool) -> None:
    """An ordinary result is read in one pass; a number in the place of a boolean forces the other
    way, whose result is the same but for what it remarks on that."""
    ordinary = parsed({**result, "isError": is_error})
    odd = parsed({**result, "isError": int(is_error)})
    assert odd.remarks[:-1] == ordinary.remarks
    assert replace(odd, remarks=ordinary.remarks) == ordinary


def test_a_plain_result() -> None:
    """Content, structured content, no error, nothing to remark."""
    result = parsed({"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 2**70}})
    assert result == CallResult((Text("a"),), structured={"n": 2**70})


def test_missing_content_is_empty() -> None:
    """The SDK of others raises here."""
    assert parsed({}) == parsed({"content": None}) == CallResult()


@pytest.mark.parametrize(
    ("value", "is_error", "remarked"),
    [
        (True, True, False),
        (False, False, False),
        (1, True, True),
        ("true", True, True),
        (0, False, True),
        ("false", False, True),
        ("no", False, True),
        ("", False, True),
        ({}, False, True),
        ("yes", True, True),
        (" TRUE", True, True),
        ("failed", True, True),
        (2, True, True),
        (["x"], True, True),
        ({"code": 1}, True, True),
        (None, False, True),
        ([], False, True),
    ],
)
def test_an_error_is_an_error_by_any_clear_word(value: Any, is_error: bool, remarked: bool) -> None:
    """`true`, and all that does not clearly say false; whatever is no boolean is remarked upon."""
    result = parsed({"content": [], "isError": value})
    assert result.is_error is is_error
    assert bool(result.remarks) is remarked


def test_an_error_keeps_its_text_and_its_structure() -> None:
    """Both reach the caller, who checks no schema on errors (PB-120)."""
    answer = {
        "isError": True,
        "content": [{"type": "text", "text": "ORA-00942"}],
        "structuredContent": {"error": "x"},
    }
    assert parsed(answer) == CallResult((Text("ORA-00942"),), True, {"error": "x"})


def test_an_answer_that_is_not_final_is_recognised() -> None:
    """By its resultType (2026-07-28, InputRequiredResult); a final one says complete or nothing."""
    assert not parsed({"resultType": "input_required", "inputRequests": {}}).is_final
    assert parsed({"resultType": "complete"}).is_final
    assert parsed({}).is_final
    assert parsed({"resultType": "partial"}).result_type == "partial"
    assert parsed({"resultType": 5}).result_type == "a number"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, ()),
        ("done", (Text("done"),)),
        ([1], (UnknownContent("array", [1]),)),
        (5, (UnknownContent("number", 5),)),
    ],
)
def test_an_answer_that_is_no_object_is_shown(value: Any, content: tuple[Any, ...]) -> None:
    """With a remark; it is not made an error, for the server said it succeeded."""
    result = parsed(value)
    assert (result.content, result.is_error) == (content, False)
    assert "not an object" in result.remarks[0]


def test_an_answer_that_can_not_be_decoded_is_an_error_that_says_so() -> None:
    """The frame was whole, the value is not."""
    for raw in (b"{", b'{"a":"\xff"}', b"[" * 5000):
        result = parse_call_result(raw)
        assert result.is_error
        assert "the server's answer is" in result.content[0].as_text()


def test_structure_that_is_too_deep_is_left_out_and_said_so() -> None:
    """The rest of the result stays (PB-111)."""
    deep: Any = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    result = parsed({"content": [{"type": "text", "text": "a"}], "structuredContent": {"d": deep}})
    assert result.structured is None
    assert result.content[0] == Text("a")
    assert "nested deeper" in result.content[1].as_text()


def test_rules_that_changed_a_value_are_remarked_upon() -> None:
    """NaN in a structured result is null, and somebody can find out why (PB-126)."""
    result = parse_call_result(b'{"structuredContent":{"x":NaN}}')
    assert result.structured == {"x": None}
    assert "read as null" in result.remarks[0]


@pytest.mark.parametrize("odd", [[], [{"type": "text", "text": 1}]])
def test_more_blocks_than_anyone_reads_are_left_out_and_said_so(odd: list[Any]) -> None:
    """Whichever way the result is read; as many as are taken are no reason to say anything."""
    block = {"type": "text", "text": "x"}
    whole = [*odd, *[block] * (MAX_BLOCKS - len(odd))]
    exact = parsed({"content": whole})
    assert len(exact.content) == MAX_BLOCKS
    assert not [remark for remark in exact.remarks if "left out" in remark]
    over = parsed({"content": [*whole, block, block]})
    assert len(over.content) == MAX_BLOCKS + 1
    assert over.content[-1] == Text(f"[{over.remarks[-1]}]")
    assert over.remarks[-1].startswith(f"2 of {MAX_BLOCKS + 2} content blocks are left out")
