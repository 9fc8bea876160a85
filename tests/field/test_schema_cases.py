"""Field cases about schemas and arguments, where the validator alone decides."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.schema.validate import compile_schema
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.function import tool
from lockgate.tools.registry import Registry


@pytest.mark.req("S3-05")
def test_pb_105_a_schema_is_advertised_whole() -> None:
    """Every root key is kept, the enum behind a reference among them, and it is enforced."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "arguments",
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/F"}},
        "$defs": {"F": {"type": "string", "enum": ["a", "b"]}},
        "additionalProperties": False,
        "examples": [{"f": "a"}],
        "x-vendor": {"k": 1},
    }
    registry = Registry()
    registry.register(ScriptedTool("t", input_schema=schema))
    entry = registry.snapshot().get("t")
    assert entry is not None
    assert dict(entry.tool.definition.input_schema) == schema
    assert entry.schema.violations({"f": "a"}) == ()
    (violation,) = entry.schema.violations({"f": "c"})
    assert str(violation) == '$.f: must be one of "a", "b"'


def test_pb_116_null_is_judged_by_the_schema() -> None:
    """Refused where it does not fit, with what to do; kept where it does; nothing is dropped."""
    compiled = compile_schema(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "c": {"default": None},
            },
        }
    )
    arguments = {"a": None, "b": None, "c": None}
    (violation,) = compiled.violations(arguments)
    assert str(violation) == (
        "$.a: must be a string, not null; leave the key out if there is no value"
    )
    assert arguments == {"a": None, "b": None, "c": None}
    assert compiled.violations({"b": None, "c": None}) == ()


def test_pb_117_nothing_is_coerced_and_everything_is_told() -> None:
    """Text where something else is asked for is a precise error; text stays text."""
    compiled = compile_schema(
        {
            "type": "object",
            "properties": {
                "filter": {"type": "object"},
                "n": {"type": "integer"},
                "flag": {"type": "boolean"},
                "s": {"type": "string"},
            },
        }
    )
    arguments = {"filter": '{"x":1}', "n": "5", "flag": "false", "s": '{"not":"an object"}'}
    assert {str(violation) for violation in compiled.violations(arguments)} == {
        "$.filter: must be an object, not a string; send the value itself, not its JSON text",
        "$.n: must be an integer, not a string; write it without quotes",
        "$.flag: must be a boolean, not a string; write it without quotes",
    }
    whole: tuple[Any, ...] = ('{"n": 5}', [{"n": 5}], None, 5)
    assert all(len(compiled.violations(odd)) == 1 for odd in whole)


@pytest.mark.req("S3-05")
def test_pb_118_an_extra_argument_follows_the_schema() -> None:
    """Sent on without the keyword, refused with it, and our own tools always refuse it."""
    registry = Registry()
    properties = {"limit": {"type": "integer"}}
    registry.register(
        ScriptedTool("open", input_schema={"type": "object", "properties": properties})
    )
    registry.register(
        ScriptedTool(
            "closed",
            input_schema={
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
            },
        )
    )

    @tool
    def own(limit: int = 5) -> None: ...

    registry.register(own)
    snapshot = registry.snapshot()

    def said(name: str) -> list[str]:
        entry = snapshot.get(name)
        assert entry is not None
        return [violation.message for violation in entry.schema.violations({"limt": 3})]

    assert said("open") == []
    assert said("closed") == ['has no key "limt"; did you mean "limit"?']
    assert said("own") == ['has no key "limt"; did you mean "limit"?']
