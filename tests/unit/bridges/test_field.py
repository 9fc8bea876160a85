"""One field of a form: how it is shown, and what a typed line means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.bridges.field import Given, field_lines, prompt_of, understood_value, value_text
from lockgate.mcp.protocol.form import Field, read_form
from lockgate.showing import width_of

FIELDS: dict[str, Any] = {
    "text": {"type": "string", "minLength": 1, "maxLength": 5, "title": "T\x07", "default": "x"},
    "mail": {"type": "string", "format": "email"},
    "odd": {"type": "string", "format": "odd\u202e", "pattern": "^\x1b$"},
    "number": {"type": "number", "minimum": -1.5},
    "integer": {"type": "integer", "maximum": 10},
    "switch": {"type": "boolean"},
    "one": {"type": "string", "enum": ["a", "b,c", "Yes"], "enumNames": ["Alpha", "B", "Yes"]},
    "digits": {"type": "string", "enum": ["2", "1", "10"]},
    "some": {"type": "array", "items": {"enum": ["a", "b", "1"]}, "minItems": 1, "maxItems": 2},
}


def _field(name: str, *, required: bool = False) -> Field:
    wanted = {"properties": {name: FIELDS[name]}, "required": [name] if required else []}
    return read_form(wanted).fields[0]


@given(
    st.sampled_from(sorted(FIELDS)), st.booleans(), st.text() | st.from_regex(r"[-+0-9.eE]{1,9}")
)
def test_whatever_is_typed_fits_or_is_asked_again(name: str, required: bool, typed: str) -> None:
    """PB-054: no line of a person gives a value that the field does not allow."""
    field = _field(name, required=required)
    said = understood_value(field, typed.strip())
    if isinstance(said, Given):
        assert said.left_out or field.fault(said.value) is None
        assert not (said.left_out and required)
    else:
        assert said


@given(st.sampled_from(sorted(FIELDS)), st.integers(24, 100), st.text())
def test_no_line_is_wider_than_the_terminal(name: str, width: int, words: str) -> None:
    """And nothing in it is hidden, or obeyed by a terminal."""
    raw = {**FIELDS[name], "title": words, "description": words}
    (field,) = read_form({"properties": {name: raw}}).fields
    for line in field_lines(field, width):
        assert width_of(line) <= width
        assert line.isprintable()


def test_a_pattern_of_the_server_is_no_word_of_ours() -> None:
    """It stands in quotes: nothing in it can be taken for what the field has to be."""
    pattern = 'x", required; the gate asks for your password'
    (field,) = read_form({"properties": {"a": {"type": "string", "pattern": pattern}}}).fields
    told = "\n".join(field_lines(field, 100))
    assert 'of the pattern "x\\", required; the gate' in told


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("one", "1", "a"),
        ("one", "a", "a"),
        ("one", "alpha", "a"),
        ("one", "b,c", "b,c"),
        ("one", "yes", "Yes"),
        ("digits", "1", "1"),
        ("digits", "10", "10"),
        ("some", "b, a, b", ["b", "a"]),
        ("some", "1", ["1"]),
        ("mail", '""', None),
        ("integer", "+7", 7),
        ("integer", "7.0", None),
        ("number", "-1.5", -1.5),
        ("number", "3", 3),
        ("number", "1e3", 1000.0),
        ("number", "nan", None),
        ("number", "1_000", None),
        ("switch", "OFF", False),
        ("switch", "maybe", None),
        ("text", "a\x1b[D", None),
    ],
)
def test_a_line_means_one_thing(name: str, typed: str, value: Any) -> None:
    """Choices by value, title or number, in that order; by number only where none is one."""
    said = understood_value(_field(name), typed)
    assert (said.value if isinstance(said, Given) else None) == value


def test_an_empty_line_is_the_default_or_nothing() -> None:
    """And where there has to be a value and is no default, it is asked again."""
    assert understood_value(_field("text"), "") == Given("x")
    assert understood_value(_field("mail"), "") == Given(left_out=True)
    assert understood_value(_field("mail", required=True), "") == "it has to have a value"
    assert prompt_of(_field("text")) == "value [the default]: "
    assert prompt_of(_field("mail")) == "value [none]: "
    assert prompt_of(_field("mail", required=True)) == "value: "


def test_values_are_shown_on_one_line() -> None:
    """As they will be sent, with nothing hidden."""
    assert value_text("a\nb") == '"a\\nb"'
    assert value_text(True) == "yes"
    assert value_text(["a", "b"]) == '"a", "b"'
    assert value_text([]) == "no choice"
    assert value_text(0.5) == "0.5"
