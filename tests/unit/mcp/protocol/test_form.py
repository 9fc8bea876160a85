"""Forms of servers: every field that the specification has, and what a value has to be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.form import Choice, Field, Kind, read_form
from lockgate.mcp.protocol.jsontext import Unreadable


def _field(raw: Any, **more: Any) -> Field:
    (field,) = read_form({"type": "object", "properties": {"f": raw}, **more}).fields
    return field


RGB = (Choice("#f00", "Red"), Choice("#0f0", "Green"))
TITLED = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]


@pytest.mark.parametrize(
    ("raw", "kind", "choices"),
    [
        ({"type": "string"}, Kind.TEXT, ()),
        ({"type": "number"}, Kind.NUMBER, ()),
        ({"type": "integer"}, Kind.INTEGER, ()),
        ({"type": "boolean"}, Kind.SWITCH, ()),
        ({"type": "string", "enum": ["a", "b"]}, Kind.ONE, (Choice("a"), Choice("b"))),
        ({"enum": ["a"]}, Kind.ONE, (Choice("a"),)),
        ({"type": "string", "const": "a"}, Kind.ONE, (Choice("a"),)),
        (
            {"type": "string", "enum": ["#f00", "#0f0"], "enumNames": ["Red", "Green"]},
            Kind.ONE,
            RGB,
        ),
        ({"enum": ["a", "b"], "enumNames": ["A"]}, Kind.ONE, (Choice("a", "A"), Choice("b"))),
        ({"type": "string", "oneOf": TITLED}, Kind.ONE, RGB),
        ({"type": "string", "anyOf": TITLED}, Kind.ONE, RGB),
        ({"type": "array", "items": {"enum": ["a"]}}, Kind.SEVERAL, (Choice("a"),)),
        ({"type": "array", "items": {"anyOf": TITLED}}, Kind.SEVERAL, RGB),
        ({"type": "array", "items": {"oneOf": TITLED}}, Kind.SEVERAL, RGB),
        ({"type": ["string", "null"]}, Kind.TEXT, ()),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, Kind.INTEGER, ()),
    ],
)  # fmt: skip
def test_every_form_of_a_field_is_read(raw: Any, kind: Kind, choices: tuple[Choice, ...]) -> None:
    """2026-07-28 and 2025-11-25, Requested Schema, with the names of 2025-06-18 and what pydantic
    writes for a field that may be left out."""
    field = _field(raw)
    assert (field.kind, field.choices, field.has_default) == (kind, choices, False)


def test_a_reference_into_the_schema_is_followed() -> None:
    """Enumerations of programs are written like that."""
    field = _field(
        {"$ref": "#/$defs/Color", "description": "which"},
        **{"$defs": {"Color": {"type": "string", "enum": ["red"]}}},
    )
    assert (field.kind, field.description) == (Kind.ONE, "which")


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "is no object"),
        ({"properties": []}, "has an array where"),
        ({"properties": {"a": {"type": "object"}}}, "'object'"),
        ({"properties": {"a": {"type": "null"}}}, "'null'"),
        ({"properties": {"a": {}}}, "no type of a form"),
        ({"properties": {"a": {"type": ["string", "integer"]}}}, "no type of a form"),
        ({"properties": {"a": 3}}, "can not be read"),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, "without choices"),
        ({"properties": {"a": {"type": "array"}}}, "without choices"),
        ({"properties": {"a": {"enum": [1]}}}, "no text"),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}}, "can not be read"),
        ({"properties": {"a": {"$ref": "https://x/y"}}}, "can not be read"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, "several"),
        ({"properties": {"a": {"type": "string"}}, "required": ["b"]}, "does not have"),
        ({"properties": {f"f{n}": {"type": "string"} for n in range(51)}}, "51 fields"),
        ({"properties": {"a": {"enum": [str(n) for n in range(501)]}}}, "501 choices"),
    ],
)
def test_what_nobody_could_fill_in_is_refused(schema: dict[str, Any], why: str) -> None:
    """By name and reason; a half of a form is not shown."""
    with pytest.raises(Unreadable, match=why):
        read_form(schema)


def test_a_reference_that_leads_round_is_refused() -> None:
    """It is followed once."""
    round_ = {"$ref": "#/$defs/x"}
    with pytest.raises(Unreadable):
        read_form({"properties": {"a": round_}, "$defs": {"x": round_}})


def test_a_form_without_fields_asks_for_a_yes() -> None:
    """Nothing has to be filled in, and nothing can be."""
    form = read_form({})
    assert form.fields == ()
    assert form.faults({}) == {}
    assert form.faults({"a": 1}) == {"a": "is not asked for"}


@pytest.mark.parametrize(
    ("raw", "right", "wrong"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd", 3, None]),
        ({"type": "string", "format": "email"}, ["a@b", "ü@b.c"], ["a", "@b", "a b@c", "a@b@c"]),
        ({"type": "string", "format": "uri"}, ["https://a", "urn:x"], ["a", "//a", "https://a b"]),
        ({"type": "string", "format": "date"}, ["2024-02-29"], ["2023-02-29", "2024-2-1", "x"]),
        (
            {"type": "string", "format": "date-time"},
            ["2024-02-29T01:02:03Z", "2024-02-29t01:02:03.5+02:00"],
            ["2024-02-29", "2024-02-29T01:02:03", "2024-02-29T25:02:03Z"],
        ),
        ({"type": "string", "format": "made-up"}, ["anything"], [1]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 1, 0.5], [-1, 1.1, True, "1", 1e999]),
        ({"type": "integer"}, [3, 3.0], [3.5, False, "3"]),
        ({"type": "boolean"}, [True, False], [1, "true", None]),
        ({"type": "string", "enum": ["a"]}, ["a"], ["A", "", 1]),
        (
            {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
            [["a"], ["b", "a"]],
            [[], ["a", "b", "c"], ["d"], ["a", "a"], "a", [1]],
        ),
    ],
)
def test_a_value_is_right_or_it_is_said_what_is_wrong(
    raw: Any, right: list[Any], wrong: list[Any]
) -> None:
    """PB-054: types, limits, formats and choices; a format that is not known judges nothing."""
    field = _field(raw)
    assert [value for value in right if field.fault(value) is not None] == []
    assert [value for value in wrong if field.fault(value) is None] == []


@pytest.mark.parametrize(
    ("raw", "default"),
    [
        ({"type": "string", "default": "x"}, "x"),
        ({"type": "boolean", "default": False}, False),
        ({"type": "number", "default": 0}, 0),
        ({"type": "array", "items": {"enum": ["a"]}, "default": ["a"]}, ["a"]),
        ({"type": "string", "oneOf": TITLED, "default": "#0f0"}, "#0f0"),
    ],
)
def test_a_default_that_fits_is_kept(raw: Any, default: Any) -> None:
    """SEP-1034: every kind of field can have one; false and 0 are defaults too."""
    field = _field(raw)
    assert field.has_default
    assert field.default == default


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "string", "default": 3},
        {"type": "integer", "default": 1.5},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "string", "format": "email", "default": "nobody"},
    ],
)
def test_a_default_that_does_not_fit_is_none(raw: Any) -> None:
    """An empty line would send what the form itself does not allow."""
    assert not _field(raw).has_default


def test_all_that_is_wrong_is_told_at_once() -> None:
    """What is missing, what does not fit, and what was not asked for."""
    form = read_form(
        {"properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}, "required": ["a"]}
    )
    assert form.faults({"b": 1, "c": 2}) == {
        "a": "is missing",
        "b": "has to be yes or no",
        "c": "is not asked for",
    }


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["string", "a", "object"]),
    lambda held: (
        st.lists(held, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "type",
                        "properties",
                        "required",
                        "enum",
                        "enumNames",
                        "oneOf",
                        "anyOf",
                        "items",
                    ),
                    *("const", "title", "default", "format", "minLength", "minimum", "$ref", "a"),
                ]
            ),
            held,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "$defs"]), _json))
def test_any_schema_is_read_or_refused(schema: dict[str, Any]) -> None:
    """Whatever a server sends, nothing else than `Unreadable` is raised."""
    try:
        form = read_form(schema)
    except Unreadable:
        return
    assert isinstance(form.faults({}), dict)


@pytest.mark.parametrize("bound", [10**400, -(10**400), 1e308], ids=["most", "least", "double"])
def test_a_bound_that_no_number_can_show_is_none(bound: float) -> None:
    """A value is judged without it, and nothing fails over it."""
    form = read_form({"properties": {"n": {"type": "integer", "minimum": bound, "default": 1}}})
    (field,) = form.fields
    assert field.least == (bound if bound == 1e308 else None)
    assert field.has_default is (bound != 1e308)
    most = {} if bound == 1e308 else {"maxLength": 3}
    text = {"type": "string", "minLength": bound, **most}
    (field,) = read_form({"properties": {"t": text}}).fields
    assert field.fault("long") is not None


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ({"type": "string", "minLength": 10, "maxLength": 5}, {"minLength": 5, "maxLength": 5}),
        ({"type": "string", "maxLength": -1}, {"maxLength": 0}),
        ({"type": "number", "minimum": 1, "maximum": 0.5}, {"minimum": 0.25, "maximum": 0.5}),
        ({"type": "integer", "minimum": 0.25, "maximum": 0.5}, {"minimum": 0.25, "maximum": 1.5}),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 3},
            {"minItems": 2},
        ),
    ],
)
def test_bounds_that_leave_no_value_are_no_form(bad: dict[str, Any], good: dict[str, Any]) -> None:
    """Nobody is asked for what nothing they type can be, required or not."""
    with pytest.raises(Unreadable, match="whose bounds leave no value"):
        read_form({"properties": {"a": bad}})
    assert read_form({"properties": {"a": {**bad, **good}}}).fields
