"""Violations: all at once, with the place and what is expected, and never what the value holds."""

from __future__ import annotations

import json
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.schema.validate import compile_schema
from lockgate.schema.violation import MAX_VIOLATIONS, Violation

SECRET = "hunter2-hunter2"  # noqa: S105 - what must not be echoed


def told(schema: Any, value: Any) -> list[str]:
    """What is wrong with the value of a single property `v`, or with the arguments themselves."""
    compiled = compile_schema({"type": "object", "properties": {"v": schema}})
    return [str(violation) for violation in compiled.violations({"v": value})]


def test_everything_is_told_at_once() -> None:
    """One round of mending is enough."""
    compiled = compile_schema(
        {
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1},
                "mode": {"enum": ["fast", "slow"]},
                "filters": {"type": "array", "items": {"type": "object", "required": ["op"]}},
            },
            "required": ["path"],
            "additionalProperties": False,
        }
    )
    value = {"limit": 0, "mode": "x", "filters": [{"op": 1}, {}], "limt": 3}
    assert {str(violation) for violation in compiled.violations(value)} == {
        "$.limit: must be at least 1",
        '$.mode: must be one of "fast", "slow"',
        '$.filters[1]: lacks the required "op"',
        '$: lacks the required "path"',
        '$: has no key "limt"; did you mean "limit"?',
    }


MESSAGES: Any = (
    ({"type": "string"}, 1, "must be a string, not an integer"),
    ({"type": ["array", "object"]}, 1.5, "must be an array or an object, not a number"),
    (
        {"type": ["array", "object", "null"]},
        True,
        "must be an array, an object or null, not a boolean",
    ),
    ({"const": "x"}, "y", 'must be "x"'),
    ({"enum": [1, None, "a"]}, 2, 'must be one of 1, null, "a"'),
    ({"minimum": 1}, 0, "must be at least 1"),
    ({"maximum": 1}, 2, "must be at most 1"),
    ({"exclusiveMinimum": 1}, 1, "must be greater than 1"),
    ({"exclusiveMaximum": 1}, 1, "must be less than 1"),
    ({"multipleOf": 5}, 3, "must be a multiple of 5"),
    ({"minLength": 3}, "ab", "must have at least 3 characters, has 2"),
    ({"maxLength": 1}, "ab", "must have at most 1 character, has 2"),
    ({"pattern": "^[a-z]+$"}, "1", 'must match the regular expression "^[a-z]+$"'),
    ({"minItems": 2}, [1], "must have at least 2 items, has 1"),
    ({"maxItems": 1}, [1, 2], "must have at most 1 item, has 2"),
    ({"uniqueItems": True}, [1, 1], "must have no two equal items"),
    ({"contains": {"const": 1}}, [2], "must have an item of the kind that its schema names"),
    ({"minProperties": 1}, {}, "must have at least 1 key, has 0"),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, "must have at most 1 key, has 2"),
    (
        {"prefixItems": [{}], "unevaluatedItems": False},
        [1, 2],
        "has items that its schema does not admit",
    ),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "has a key that is not allowed"),
    ({"not": {"type": "string"}}, "x", "must not be what its schema rules out"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'lacks the required "b"'),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
        5,
        "fits several of its alternatives and must fit exactly one",
    ),
)


@pytest.mark.parametrize(("schema", "value", "message"), MESSAGES)
def test_every_keyword_has_words_of_its_own(schema: Any, value: Any, message: str) -> None:
    """What is expected, in plain words."""
    (text,) = told(schema, value)
    assert text.startswith(f"$.v: {message}")


def test_a_forbidden_property_must_not_be_there() -> None:
    """`false` as a schema admits nothing."""
    assert told(False, 1) == ["$.v: must not be there"]


MENDING: tuple[tuple[Any, Any, str], ...] = (
    ({"type": "string"}, None, "not null; leave the key out if there is no value"),
    ({"type": "object"}, '{"x": 1}', "not a string; send the value itself, not its JSON text"),
    ({"type": "array"}, "[1]", "not a string; send the value itself, not its JSON text"),
    ({"type": "integer"}, "5", "not a string; write it without quotes"),
    ({"type": "number"}, " -1.5e3", "not a string; write it without quotes"),
    ({"type": "boolean"}, "false", "not a string; write it without quotes"),
    ({"type": "integer"}, "abc", "must be an integer, not a string"),
)


@pytest.mark.parametrize(("schema", "value", "words"), MENDING)
def test_common_slips_are_told_how_to_mend_them(schema: Any, value: Any, words: str) -> None:
    """Values are judged as they are, never coerced; the model is told what to send (PB-116)."""
    (text,) = told(schema, value)
    assert text.endswith(words)


def test_null_stays_where_the_schema_has_it() -> None:
    """Strict, and no stricter than the schema (PB-116)."""
    schema = {
        "properties": {
            "a": {"type": "string"},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"default": None},
        }
    }
    value = {"a": None, "b": None, "c": None}
    assert [v.path for v in compile_schema(schema).violations(value)] == ["$.a"]
    assert value == {"a": None, "b": None, "c": None}


def test_a_string_that_looks_like_json_is_a_string() -> None:
    """Where a string is asked for, nothing is read into it (PB-117)."""
    assert told({"type": "string"}, '{"not": "an object"}') == []


ODD_WHOLES: tuple[tuple[Any, str], ...] = (
    ('{"a": 1}', "must be an object, not a string; send the value itself, not its JSON text"),
    ([1], "must be an object, not an array"),
    (None, "must be an object, not null"),
    (5, "must be an object, not an integer"),
)


@pytest.mark.parametrize(("value", "message"), ODD_WHOLES)
def test_arguments_that_are_no_object(value: Any, message: str) -> None:
    """A violation at the root, not an exception (PB-117)."""
    assert compile_schema({"type": "object"}).violations(value) == (Violation("$", message),)


def closed(names: list[str], value: dict[str, Any]) -> str:
    """What is said of a value under a schema with exactly these properties."""
    properties: dict[str, Any] = {name: {} for name in names}
    schema = {"properties": properties, "additionalProperties": False}
    (violation,) = compile_schema(schema).violations(value)
    return violation.message


def test_an_unknown_key_gets_the_near_names() -> None:
    """One, several, none near, none at all (PB-118)."""
    names = ["limit", "offset"]
    assert closed(names, {"limt": 1}) == 'has no key "limt"; did you mean "limit"?'
    assert closed(names, {"LIMIT": 1}) == 'has no key "LIMIT"; did you mean "limit"?'
    assert closed(names, {"limt": 1, "ofset": 2}) == (
        'has no keys "limt", "ofset"; near: "limit" for "limt", "offset" for "ofset"'
    )
    assert closed(names, {"frob": 1}) == 'has no key "frob"; the keys are "limit", "offset"'
    assert closed([], {"frob": 1}) == 'has no key "frob"'


def test_near_names_are_found_behind_references_and_inside_items() -> None:
    """The names of the object that refused the key, wherever it is described."""
    schema: Any = {
        "properties": {"rows": {"items": {"$ref": "#/$defs/Row"}}},
        "$defs": {"Row": {"properties": {"name": {}}, "additionalProperties": False}},
    }
    (violation,) = compile_schema(schema).violations({"rows": [{"nmae": 1}]})
    assert str(violation) == '$.rows[0]: has no key "nmae"; did you mean "name"?'


def test_alternatives_of_types_read_as_one_list() -> None:
    """`anyOf` of nothing but types is a choice of types."""
    schema = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}
    assert told(schema, []) == ["$.v: must be a string, an integer or null, not an array"]


def test_alternatives_say_what_is_missing_from_the_likeliest() -> None:
    """The form of the right type first, with what it lacks."""
    schema = {
        "anyOf": [
            {"type": "array"},
            {"type": "object", "required": ["x"]},
            {"type": "object", "required": ["y", "z"]},
        ]
    }
    (text,) = told(schema, {"w": 1})
    assert text == (
        '$.v: fits none of its 3 alternatives: it lacks the required "x"; '
        'or it lacks the required "y" and it lacks the required "z"; '
        "or it must be an array, not an object"
    )


def test_paths_are_readable_whatever_the_key() -> None:
    """Plain keys with a dot, others quoted, escaped and cut."""
    schema = {"additionalProperties": {"additionalProperties": {"type": "string"}}}
    compiled = compile_schema(schema)

    def path(key: str) -> str:
        return compiled.violations({"a": {key: 1}})[0].path

    assert path("b-c") == "$.a.b-c"
    assert path("odd key") == '$.a["odd key"]'
    assert path("\x1b[2J\u202e") == '$.a["\\u001b[2J\\u202e"]'
    assert path("k" * 1_000) == '$.a["' + "k" * 61 + '..."]'


def test_there_is_an_end_to_the_list() -> None:
    """Fifty are told, and how many more there are."""
    compiled = compile_schema({"additionalProperties": {"type": "string"}})
    violations = compiled.violations({f"k{n}": n for n in range(80)})
    assert len(violations) == MAX_VIOLATIONS + 1
    assert violations[-1].message == "30 more violations are not listed"


NO_JSON: tuple[tuple[Any, str, str], ...] = (
    ({"a": {1, 2}}, "$.a", "is no JSON value"),
    ({"a": [1, object()]}, "$.a[1]", "is no JSON value"),
    ({"a": b"x"}, "$.a", "is no JSON value"),
    ({1: "a"}, "$", "has a key that is an integer, not a string"),
    ({"a": "x\ud800"}, "$.a", "holds half of a surrogate pair, which is no character"),
    ({"a\ud800": 1}, "$", "has a key with half of a surrogate pair, which is no character"),
)


@pytest.mark.parametrize(("value", "path", "message"), NO_JSON)
def test_what_is_no_json_is_a_violation(value: Any, path: str, message: str) -> None:
    """Named by its place, whatever the validator makes of it."""
    items = {"type": "string", "maxLength": 1}
    schema = {"additionalProperties": {"type": ["string", "array"], "maxLength": 1, "items": items}}
    assert compile_schema(schema).violations(value) == (Violation(path, message),)


def test_any_mapping_and_any_number_is_judged() -> None:
    """A read-only view of a dict is an object; integers of any length are integers."""
    compiled = compile_schema({"properties": {"a": {"type": "integer", "maximum": 2**64}}})
    assert compiled.violations(types.MappingProxyType({"a": 2**64})) == ()
    assert compiled.violations({"a": 2**64 + 1}) != ()
    assert compiled.violations({"a": 10**4000}) != ()


KEYWORDS: tuple[Any, ...] = (
    {"prefixItems": [False], "unevaluatedItems": False},
    {"items": False},
    {"unevaluatedProperties": False},
    {"uniqueItems": True, "minItems": 2},
    {"contains": {"type": "integer"}},
    {"propertyNames": False},
    {"type": "integer"},
    {"enum": ["a"]},
    {"const": "a"},
    {"maxLength": 1},
    {"minLength": 99},
    {"pattern": "^x$"},
    {"not": {"type": "string"}},
    {"anyOf": [{"type": "integer"}, {"maxLength": 1}]},
    {"oneOf": [{"type": "string"}, {"minLength": 1}]},
    {"properties": {}, "additionalProperties": False, "type": "object"},
    False,
)


@pytest.mark.parametrize("schema", KEYWORDS)
@pytest.mark.parametrize("value", [SECRET, [SECRET], {"k": SECRET}])
def test_no_message_holds_what_the_value_holds(schema: Any, value: Any) -> None:
    """Arguments carry secrets; messages reach transcripts and records."""
    deep = {"anyOf": [schema, {"items": schema}, {"additionalProperties": schema}]}
    for each in (schema, {"allOf": [schema, deep]}):
        assert SECRET not in json.dumps(told(each, value))


@given(st.dictionaries(st.text(max_size=3), st.text(min_size=12, max_size=20), max_size=3))
def test_no_random_value_is_echoed(value: dict[str, str]) -> None:
    """Whatever the strings are, none of them is told."""
    compiled = compile_schema({"additionalProperties": {"type": "integer"}, "minProperties": 5})
    text = json.dumps([v.message for v in compiled.violations(value)], ensure_ascii=False)
    assert all(held not in text for held in value.values())
