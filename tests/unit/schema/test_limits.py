"""Bounds of judging: depth, size, and work that no schema or value can make endless."""

from __future__ import annotations

import time
from typing import Any

import pytest

from lockgate.schema.error import SchemaError
from lockgate.schema.limits import MAX_DEPTH
from lockgate.schema.validate import compile_schema


def fits(schema: Any, value: Any) -> bool:
    """Whether a value is valid, everything in the schema being checked."""
    compiled = compile_schema(schema)
    assert compiled.remarks == ()
    return compiled.violations(value) == ()


def nested_schema(levels: int) -> Any:
    """Properties of properties of properties."""
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"p": schema}}
    return schema


def nested_value(levels: int) -> Any:
    """The value that `nested_schema` describes."""
    value: Any = "x"
    for _ in range(levels):
        value = {"p": value}
    return value


@pytest.mark.parametrize("levels", [64, 600, 100_000])
def test_a_schema_that_nests_too_deep_is_refused(levels: int) -> None:
    """With a message about depth, and without exhausting any stack (PB-111)."""
    with pytest.raises(SchemaError, match="deeper than 128 levels"):
        compile_schema(nested_schema(levels))


def test_a_schema_of_the_greatest_depth_works() -> None:
    """Sixty-three levels of objects are 127 levels of JSON."""
    assert fits(nested_schema(63), nested_value(63))
    assert not fits(nested_schema(63), nested_value(62))


def test_a_schema_that_is_too_large_is_refused() -> None:
    """So many values that compiling them would stall the loop."""
    with pytest.raises(SchemaError, match="more than 20,000 values"):
        compile_schema({"enum": list(range(30_000))})


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 1_000, 3_000, 100_000])
def test_a_value_that_nests_too_deep_is_a_violation(levels: int) -> None:
    """Also where the schema would follow it all the way down (PB-111)."""
    endless = {"type": "object", "properties": {"p": {"$ref": "#"}}}
    (violation,) = compile_schema(endless).violations(nested_value(levels))
    assert violation.message == "nests deeper than 128 levels"


def test_a_deep_value_of_no_interest_is_valid() -> None:
    """A schema that does not look down does not care how deep it goes."""
    assert fits({"type": "object"}, nested_value(100_000))
    closed = {"type": "object", "properties": {"a": {"type": "string"}}}
    (violation,) = compile_schema(closed).violations({"a": nested_value(100_000)})
    assert "deeper" in violation.message


def doubling(levels: int, keyword: str) -> dict[str, Any]:
    """A few hundred bytes that look at a value 2 ** levels times."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for n in range(1, levels + 1):
        definitions[f"d{n}"] = {keyword: [{"$ref": f"#/$defs/d{n - 1}"}] * 2}
    return {"$defs": definitions, "properties": {"a": {"$ref": f"#/$defs/d{levels}"}}}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize("levels", [26, 40])
def test_alternatives_of_alternatives_can_not_stall_the_loop(keyword: str, levels: int) -> None:
    """What a value would cost is reckoned before it is judged."""
    begin = time.perf_counter()
    compiled = compile_schema(doubling(levels, keyword))
    (violation,) = compiled.violations({"a": 3})
    assert "too large or too deeply nested" in violation.message
    assert compiled.violations({}) == ()
    assert time.perf_counter() - begin < 2


def test_so_many_ways_to_look_at_the_arguments_are_refused() -> None:
    """Where even the empty object would cost too much, there is nothing to offer."""
    schema = doubling(40, "anyOf")
    with pytest.raises(SchemaError, match="looks at one value in over"):
        compile_schema({"$defs": schema["$defs"], "allOf": [schema["properties"]["a"]]})


def test_a_moderate_number_of_alternatives_is_judged() -> None:
    """The bound is far from what people write."""
    compiled = compile_schema(doubling(10, "anyOf"))
    assert compiled.violations({"a": "x"}) == ()
    assert compiled.violations({"a": 3}) != ()


def test_recursion_with_branches_is_judged_as_deep_as_it_is_affordable() -> None:
    """Filters within filters: ordinary ones are judged, monstrous ones refused, quickly."""
    branches = [
        {"type": "object", "properties": {word: {"type": "array", "items": {"$ref": "#/$defs/f"}}}}
        for word in ("and", "or", "not")
    ] + [{"type": "object", "properties": {"field": {"type": "string"}}, "required": ["field"]}]
    schema = {"$defs": {"f": {"anyOf": branches}}, "properties": {"filter": {"$ref": "#/$defs/f"}}}
    compiled = compile_schema(schema)

    def filters(levels: int) -> Any:
        value: Any = {"field": 5}
        for _ in range(levels):
            value = {"and": [value]}
        return value

    assert compiled.violations({"filter": {"and": [{"field": "a"}]}}) == ()
    begin = time.perf_counter()
    for levels in range(50):
        compiled.violations({"filter": filters(levels)})
    hostile = compile_schema(
        {"properties": {"p": {"anyOf": [{"$ref": "#"}] * 100}}, "minProperties": 1}
    )
    for levels in range(60):
        hostile.violations(nested_value(levels))
    assert time.perf_counter() - begin < 10


def test_many_options_and_many_items_can_not_stall_the_loop() -> None:
    """Neither judging them nor telling what is wrong with each of them."""
    begin = time.perf_counter()
    options = {"properties": {"a": {"items": {"enum": [f"x{n}" for n in range(10_000)]}}}}
    compiled = compile_schema(options)
    assert compiled.violations({"a": ["x9999"] * 1_000}) == ()
    first, more = compiled.violations({"a": ["y"] * 1_000})
    assert first.path == "$.a[0]"
    assert more.message == "is large: only the first of its violations is told"
    branches = compile_schema(
        {"properties": {"a": {"items": {"anyOf": [{"const": n} for n in range(6_000)]}}}}
    )
    (violation,) = branches.violations({"a": [5_999] * 100_000})
    assert "too large" in violation.message
    numbers = compile_schema({"properties": {"a": {"items": {"type": "integer"}}}})
    assert numbers.violations({"a": ["y"] * 200_000})[0].path == "$.a[0]"
    assert time.perf_counter() - begin < 5


def test_a_schema_that_refers_to_itself_in_place_is_no_endless_loop() -> None:
    """It says nothing, and says it at once."""
    for schema in (
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ):
        assert compile_schema(schema).violations({"a": 1}) == ()


@pytest.mark.parametrize("pattern", ["((", r"(?P<n>a)\Z", r"[\w-.]", "((a{1000}){1000}){1000}"])
def test_an_expression_that_can_not_be_run_is_left_unchecked(pattern: str) -> None:
    """Another dialect's, broken, or too large when compiled: told, the rest is checked."""
    compiled = compile_schema(
        {
            "properties": {
                "a": {"type": "string", "pattern": pattern},
                "b": {"type": "string", "pattern": "^x"},
            }
        }
    )
    assert compiled.violations({"a": "anything", "b": "x"}) == ()
    assert len(compiled.violations({"a": 1, "b": "y"})) == 2
    assert compiled.remarks == (
        "the regular expression at properties.a.pattern can not be run: it is not checked",
    )


def test_names_under_an_expression_that_can_not_be_run_are_not_refused() -> None:
    """`additionalProperties: false` beside it would else refuse what it was to admit."""
    compiled = compile_schema(
        {"type": "object", "patternProperties": {"((": {}}, "additionalProperties": False}
    )
    assert compiled.violations({"x": 1}) == ()
    assert "patternProperties" in compiled.remarks[0]


def test_more_expressions_than_anybody_writes_are_left_unchecked() -> None:
    """Compiling thousands of dear ones would stall the loop; the rest is checked."""
    begin = time.perf_counter()
    properties = {f"p{n}": {"pattern": rf"^(\w{{1,90}}){{1,9}}$|{n}"} for n in range(5_000)}
    schema = {
        "properties": {**properties, "n": {"type": "integer"}},
        "patternProperties": {"^x": {"type": "string"}},
        "additionalProperties": False,
    }
    compiled = compile_schema(schema)
    assert compiled.remarks == ("there are more than 100 regular expressions: none is checked",)
    assert compiled.violations({"p0": "", "xx": 1}) == ()
    assert compiled.violations({"n": "x"}) != ()
    assert time.perf_counter() - begin < 3


def test_finding_out_which_reference_dangles_is_bounded() -> None:
    """In a large schema all of them are left unchecked rather than each tried."""
    begin = time.perf_counter()
    properties = {f"p{n}": {"$ref": f"#/$defs/d{n % 60}", "maxLength": 4} for n in range(3_000)}
    definitions: dict[str, Any] = {f"d{n}": {} for n in range(59)}
    compiled = compile_schema({"properties": properties, "$defs": definitions})
    assert "one of 60 references leads nowhere" in compiled.remarks[0]
    assert time.perf_counter() - begin < 3


def test_too_many_bad_expressions_leave_the_schema_unchecked() -> None:
    """They are dropped one by one, up to a bound."""
    properties = {f"p{n}": {"pattern": "(("} for n in range(60)}
    compiled = compile_schema({"properties": properties})
    assert compiled.violations({"p0": 1}) == ()
    assert "nothing is checked" in compiled.remarks[-1]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", r"^(a+)+\1$", r"^(?:(a|a)*)*\1$"])
def test_an_expression_can_not_stall_the_loop(pattern: str) -> None:
    """Backtracking is bounded: a value that would need more does not fit."""
    compiled = compile_schema({"properties": {"a": {"type": "string", "pattern": pattern}}})
    begin = time.perf_counter()
    assert compiled.violations({"a": "a" * 5_000 + "!"}) != ()
    assert time.perf_counter() - begin < 2
