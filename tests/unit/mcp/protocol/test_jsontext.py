"""JSON texts of strangers into values."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.jsontext import (
    MAX_DEPTH,
    Unreadable,
    decode_noted,
    decode_value,
    deeper_than,
    first_bad_byte,
    kind_of,
    mend,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value: Any) -> None:
    """Every value that JSON can carry comes back equal, half surrogates excepted."""
    read, remarks = decode_noted(json.dumps(value, ensure_ascii=False).encode())
    assert read == value
    assert remarks == ()


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda t: json.dumps(t).encode()))
def test_nothing_but_unreadable_is_raised(text: bytes) -> None:
    """Any bytes are a value or `Unreadable`, and mending never fails."""
    with contextlib.suppress(Unreadable):
        decode_value(text)
    mend(text)


@given(st.lists(st.sampled_from(["\\", '"', "u", "d", "D", "8", "c", "0", "\\ud83d", "\\ude00"])))
def test_strings_full_of_escapes_are_read_or_refused(parts: list[str]) -> None:
    """Half pairs become U+FFFD and every string that is read can be written again."""
    try:
        value = decode_value(f'"{"".join(parts)}"'.encode())
    except Unreadable:
        return
    msgspec.json.encode(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"18446744073709551616", 2**64),
        (b"-9223372036854775809", -(2**63) - 1),
        (b"12345678901234567890123", 12345678901234567890123),
        (b"1" * 4300, int("1" * 4300)),
        (b"1.0", 1.0),
        (b"1e2", 100.0),
        (b"1e-999", 0.0),
    ],
)
def test_numbers_in_range_are_kept(text: bytes, value: float) -> None:
    """Integers are exact at any size that Python reads, other numbers are doubles (PB-126)."""
    assert decode_noted(text) == (value, ())
    assert type(decode_value(text)) is type(value)


@pytest.mark.parametrize(
    "text", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" * 4301, b"12.5E+4000"]
)
def test_numbers_nobody_can_hold_read_as_null(text: bytes) -> None:
    """Not finite or out of range: null and a remark, the neighbours are untouched (PB-126)."""
    value, remarks = decode_noted(b'{"x": ' + text + b', "y": [1.5, "NaN 1e999", 7]}')
    assert value == {"x": None, "y": [1.5, "NaN 1e999", 7]}
    assert remarks == ("a number that is not finite, or out of range, was read as null",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"\ud83dx\ude00"', "\ufffdx\ufffd"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\\ud800 \ud800"', "\\ud800 \ufffd"),
        (rb'{"\udfff": "\u00e9"}', {"\ufffd": "é"}),
    ],
)
def test_half_a_surrogate_pair_reads_as_the_replacement_character(text: bytes, value: Any) -> None:
    """So every string can be written as UTF-8 again; whole pairs and escaped ones stay."""
    assert decode_noted(text) == (value, ("half a surrogate pair was read as U+FFFD",))


def test_the_last_of_equal_members_counts() -> None:
    """One rule for all frames."""
    assert decode_value(b'{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("depth", [3_000, 100_000])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_refused_by_depth(depth: int, closed: bool) -> None:
    """It is neither a crash nor just "not JSON" (PB-111)."""
    text = b"[" * depth + (b"]" * depth if closed else b"")
    with pytest.raises(Unreadable, match="nested too deep"):
        decode_value(text)


def test_invalid_utf8_is_refused_with_its_offset() -> None:
    """The byte that is wrong is named (PB-011)."""
    with pytest.raises(Unreadable, match="not valid UTF-8 at byte 7") as caught:
        decode_value(b'"\xea\xb0\x80abc\x97"')
    assert caught.value.offset == 7


@pytest.mark.parametrize("text", [b"", b"{", b"[1,]", b"'a'", b"{} {}", b'"\t"', b"01", b"nul"])
def test_what_is_not_json_is_refused(text: bytes) -> None:
    """The reason says so."""
    with pytest.raises(Unreadable, match="not JSON"):
        decode_value(text)


@given(st.text(max_size=30), st.integers(0, 3), st.binary(min_size=1, max_size=3))
def test_the_first_bad_byte_is_the_one_python_finds(text: str, spread: int, more: bytes) -> None:
    """The offset is right, also where the text is looked at in pieces."""
    data = b"x" * (spread * 524_288) + text.encode() + more
    expected = None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        expected = error.start
    assert first_bad_byte(data) == expected


@pytest.mark.parametrize("lead", [1024 * 1024 - 2, 1024 * 1024 - 1, 1024 * 1024])
def test_a_character_across_two_pieces_is_whole(lead: int) -> None:
    """Validation in pieces does not cut characters."""
    assert first_bad_byte(b"x" * lead + "가".encode() * 3) is None
    assert first_bad_byte(b"x" * lead + "가".encode()[:2]) == lead


@pytest.mark.parametrize("levels", [1, MAX_DEPTH, MAX_DEPTH + 1, 900])
def test_depth_counts_every_level(levels: int) -> None:
    """Objects and arrays count one each; scalars none."""
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"k": value, "l": 2}
    assert not deeper_than(value, levels)
    assert deeper_than(value, levels - 1)
    assert not deeper_than(5, 0)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_kinds_are_named_in_the_words_of_json(value: Any, kind: str) -> None:
    """A boolean is not a number, whatever Python says."""
    assert kind_of(value) == kind


def test_mending_leaves_good_text_alone() -> None:
    """What needs no rule is returned as it was."""
    text = rb'{"a": -12.5e10, "b": "\u00e9 \" NaN", "c": 1e308}'
    assert mend(text) == (text, ())
    assert math.isfinite(decode_value(text)["c"])
