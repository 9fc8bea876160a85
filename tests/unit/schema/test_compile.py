"""Compiling schemas: what is honoured, left unchecked or refused, and at what cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lockgate.schema.error import SchemaError
from lockgate.schema.validate import compile_schema


def fits(schema: Any, value: Any) -> bool:
    """Whether a value is valid, everything in the schema being checked."""
    compiled = compile_schema(schema)
    assert compiled.remarks == ()
    return compiled.violations(value) == ()


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (None, "is null, not an object"),
        ([], "is an array, not an object"),
        ("object", "is a string, not an object"),
        (True, "is a boolean, not an object"),
        (5, "is an integer, not an object"),
        ({"type": "OBJECT"}, "type fits none"),
        ({"type": "object", "properties": [1, 2]}, "properties must be an object"),
        ({"type": "object", "properties": {"a": 5}}, "properties.a must be"),
        ({"type": "object", "required": "x"}, "required must be an array"),
        ({"$schema": 5}, "$schema is an integer"),
        ({"properties": {"a": {"$ref": 5}}}, "must be a string"),
        ({"description": "\ud800"}, "no JSON text can hold"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place(schema: Any, words: str) -> None:
    """The tool is left out by name and with this reason (PB-107, PB-108)."""
    with pytest.raises(SchemaError) as refused:
        compile_schema(schema)
    assert words in refused.value.reason


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["null", "array"]},
        {"enum": [1, "a"]},
        {"const": 3},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"enum": [1]}, {"type": "array"}]},
        {"allOf": [{"type": "object"}, {"type": "string"}]},
        {"allOf": [False]},
    ],
)
def test_a_schema_that_admits_no_object_is_refused(schema: Any) -> None:
    """Arguments are always an object: nothing could ever fit."""
    with pytest.raises(SchemaError, match="admits no object"):
        compile_schema(schema)


LENIENT: Any = (
    {},
    {"type": "object"},
    {"$schema": "http://json-schema.org/draft-07/schema#"},
    {"type": ["object", "null"]},
    {"anyOf": [{"type": "object"}, {"type": "string"}]},
    {"anyOf": [{"type": "object"}, {"properties": {"a": {}}}]},
    {"enum": [{"a": 1}, {}]},
    {"properties": {}},
    {"unknownKeyword": 1},
)


@pytest.mark.req("S3-05")
@pytest.mark.parametrize("schema", LENIENT)
def test_an_absent_keyword_is_lenient(schema: Any) -> None:
    """An empty schema, and one without a type, admit any object (PB-106, PB-107)."""
    assert fits(schema, {})


@pytest.mark.req("S3-05")
def test_additional_properties_are_not_forbidden_unless_the_schema_does() -> None:
    """Without the keyword an extra argument is sent on; with it, it is refused (PB-118)."""
    assert fits({"type": "object", "properties": {"a": {}}}, {"a": 1, "extra": 2})
    closed: Any = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    assert not fits(closed, {"a": 1, "extra": 2})


DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_06 = "http://json-schema.org/draft-06/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    ("dialect", "schema", "good", "bad"),
    [
        (DRAFT_04, {"minimum": 3, "exclusiveMinimum": True}, 4, 3),
        (DRAFT_06, {"exclusiveMinimum": 3}, 4, 3),
        (DRAFT_07, {"items": [{"type": "string"}]}, ["a", 1], [1]),
        (DRAFT_07, {"definitions": {"F": {"type": "string"}}, "type": "string"}, "a", 1),
        (DRAFT_2019, {"items": [{"type": "string"}]}, ["a", 1], [1]),
        (DRAFT_2020, {"prefixItems": [{"type": "string"}]}, ["a", 1], [1]),
        (None, {"prefixItems": [{"type": "string"}]}, ["a", 1], [1]),
    ],
)
def test_the_named_draft_is_honoured(dialect: str | None, schema: Any, good: Any, bad: Any) -> None:
    """Its keywords mean what they meant in it; no `$schema` means 2020-12 (PB-113)."""
    whole: dict[str, Any] = {"type": "object", "properties": {"v": schema}}
    if dialect is not None:
        whole["$schema"] = dialect
    assert fits(whole, {"v": good})
    assert not fits(whole, {"v": bad})


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    "dialect",
    [
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/schema#",
    ],
)
def test_a_dialect_is_known_in_all_its_spellings(dialect: str) -> None:
    """With or without an empty fragment, by either scheme."""
    assert not fits({"$schema": dialect, "properties": {"a": {"type": "string"}}}, {"a": 1})


@pytest.mark.req("S3-05")
@pytest.mark.parametrize("dialect", ["http://example.com/mine", "", "draft-07", "ftp://x/y"])
def test_an_unknown_dialect_is_left_unchecked(dialect: str) -> None:
    """Nothing is judged by rules nobody knows, and a remark says so."""
    compiled = compile_schema({"$schema": dialect, "type": "object", "required": ["a"]})
    assert compiled.violations({}) == ()
    assert "is unknown: nothing is checked" in compiled.remarks[0]


@pytest.mark.req("S3-05")
def test_a_part_in_an_unknown_dialect_is_left_unchecked() -> None:
    """That part only."""
    compiled = compile_schema(
        {
            "properties": {
                "a": {"$schema": "http://example.com/mine", "type": "string"},
                "b": {"type": "string"},
            }
        }
    )
    assert compiled.violations({"a": 1}) == ()
    assert compiled.violations({"b": 1}) != ()
    assert compiled.remarks == (
        'properties.a names the unknown dialect "http://example.com/mine": it is not checked',
    )


@pytest.mark.req("S3-05")
@pytest.mark.parametrize(
    "reference", ["#/$defs/Missing", "#nowhere", "http://example.com/s", "other.json", "urn:x:y"]
)
def test_a_reference_that_leads_nowhere_is_left_unchecked(reference: str) -> None:
    """What it stands for; what stands beside it, and the rest, is checked (PB-110)."""
    compiled = compile_schema(
        {
            "properties": {
                "a": {"$ref": reference, "type": "string"},
                "b": {"$ref": "#/$defs/B"},
            },
            "$defs": {"B": {"type": "integer"}},
        }
    )
    assert compiled.violations({"a": "anything", "b": 1}) == ()
    assert [v.path for v in compiled.violations({"a": 1, "b": "x"})] == ["$.a", "$.b"]
    assert len(compiled.remarks) == 1
    assert reference in compiled.remarks[0]


@pytest.mark.req("S3-05")
def test_every_kind_of_local_reference_is_followed() -> None:
    """Pointers with escapes, definitions of old, anchors, and dynamic ones (PB-110)."""
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/a~1b"},
            "b": {"$ref": "#/$defs/%C3%A9"},
            "c": {"$ref": "#/definitions/C"},
            "d": {"$ref": "#D"},
            "e": {"$dynamicRef": "#E"},
        },
        "$defs": {
            "a/b": {"type": "string"},
            "é": {"type": "string"},
            "D": {"$anchor": "D", "type": "string"},
            "E": {"$dynamicAnchor": "E", "type": "string"},
        },
        "definitions": {"C": {"type": "string"}},
    }
    assert fits(schema, dict.fromkeys("abcde", "x"))
    assert len(compile_schema(schema).violations(dict.fromkeys("abcde", 1))) == 5


@pytest.mark.req("S3-05")
def test_many_dangling_references_are_dropped_together() -> None:
    """A schema full of them is not tried reference by reference."""
    properties = {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(100)}
    compiled = compile_schema({"properties": properties, "required": ["p0"]})
    assert compiled.violations({"p0": 1}) == ()
    assert compiled.violations({}) != ()
    assert len(compiled.remarks) == 1


def test_data_that_looks_like_a_schema_is_left_alone() -> None:
    """A `$ref` in an enum, a const, a default or an example is no reference."""
    data = {"$ref": "#/nowhere", "$schema": "http://example.com/mine"}
    schema = {
        "properties": {
            "a": {"enum": [data]},
            "b": {"const": data, "default": data, "examples": [data]},
            "$ref": {"type": "string"},
        }
    }
    assert fits(schema, {"a": data, "b": data, "$ref": "x"})


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.mark.req("S3-05")
def test_nothing_is_ever_fetched(listener: tuple[str, list[str]]) -> None:
    """A schema names an address that would answer: nobody calls there, now or when judging."""
    address, asked = listener
    for schema in (
        {"properties": {"a": {"$ref": f"{address}/schema.json"}}},
        {"$schema": f"{address}/dialect.json"},
        {"$id": f"{address}/root.json", "properties": {"a": {"$ref": "other.json"}}},
        {"properties": {"a": {"$schema": f"{address}/d", "$id": f"{address}/e"}}},
        {"properties": {"a": {"$ref": "file:///etc/hostname"}}},
    ):
        compiled = compile_schema(schema)
        assert compiled.violations({"a": 1}) == ()
    assert asked == []


def test_format_is_an_annotation_in_every_draft() -> None:
    """What counts as a good address is the server's to say."""
    for dialect in (DRAFT_07, DRAFT_2020):
        schema = {"$schema": dialect, "properties": {"a": {"type": "string", "format": "uri"}}}
        assert fits(schema, {"a": "not a uri"})


def test_the_repr_says_how_much_is_checked() -> None:
    """For logs and debuggers; nothing of the schema itself."""
    assert repr(compile_schema({})) == "<CompiledSchema Draft202012Validator, 0 remarks>"
    assert repr(compile_schema({"$schema": "x"})) == "<CompiledSchema unchecked, 1 remarks>"
