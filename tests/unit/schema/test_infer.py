"""From a function to the schema of its arguments, and back from valid arguments to typed values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest

from lockgate.schema.infer import SignatureError, infer
from lockgate.schema.validate import compile_schema


class Context:
    """Stands for what a caller fills in."""


class Colour(enum.Enum):
    """An enum is given by value."""

    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    """A place."""

    x: int
    y: int = 0


class Row(TypedDict, total=False):
    """A typed dictionary."""

    name: str


class Tree(msgspec.Struct):
    """A struct that holds its like."""

    children: list[Tree] = []


def schema_of(annotation: Any) -> Any:
    """The schema of a parameter with this annotation, and what it refers to."""

    def function(value: Any) -> None: ...

    function.__annotations__["value"] = annotation
    schema = infer(function).schema
    return schema["properties"]["value"], schema.get("$defs", {})


TYPES: Any = (
    (str, {"type": "string"}, "x", 1),
    (int, {"type": "integer"}, 1, "1"),
    (float, {"type": "number"}, 1.5, "1"),
    (bool, {"type": "boolean"}, True, 1),
    (None, {"type": "null"}, None, 0),
    (Path, {"type": "string"}, "/a", 1),
    (Literal["a", "b"], {"enum": ["a", "b"]}, "a", "c"),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1], ["1"]),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, 1),
    (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x", []),
    (Annotated[int, msgspec.Meta(ge=1)], {"type": "integer", "minimum": 1}, 1, 0),
    (Any, {}, [None], None),
)


@pytest.mark.parametrize(("annotation", "expected", "good", "bad"), TYPES)
def test_a_type_becomes_its_schema(annotation: Any, expected: Any, good: Any, bad: Any) -> None:
    """And the schema admits what the type admits."""
    schema, _ = schema_of(annotation)
    assert schema == expected
    compiled = compile_schema(schema, root="any")
    assert compiled.violations(good) == ()
    if annotation is not Any:
        assert compiled.violations(bad) != ()


def test_a_tuple_has_its_length() -> None:
    """Each place has its own type, and there is no further one."""
    schema, _ = schema_of(tuple[int, str])
    compiled = compile_schema(schema, root="any")
    assert compiled.violations([1, "a"]) == ()
    assert all(compiled.violations(bad) for bad in ([1], [1, "a", 2], ["a", 1]))


@pytest.mark.req("S0-21")
@pytest.mark.parametrize("annotation", [Point, Row, Tree])
def test_what_is_nested_is_closed_as_well(annotation: Any) -> None:
    """A misspelt key is refused, not ignored: in dataclasses, typed dictionaries and structs."""
    reference, definitions = schema_of(annotation)
    assert definitions[annotation.__name__]["additionalProperties"] is False
    assert reference == {"$ref": f"#/$defs/{annotation.__name__}"}


@pytest.mark.req("S0-21")
def test_the_arguments_are_closed() -> None:
    """An argument nobody declared is refused, with the near name."""

    def search(limit: int = 5) -> None: ...

    compiled = compile_schema(infer(search).schema)
    (violation,) = compiled.violations({"limt": 3})
    assert "did you mean" in violation.message


def test_a_dict_of_anything_stays_open() -> None:
    """What is declared open is open."""
    schema, _ = schema_of(dict[str, Any])
    assert "additionalProperties" not in schema or schema["additionalProperties"] is not False


def test_a_parameter_with_a_default_is_optional() -> None:
    """The default is shown where it is JSON of the parameter's own type, and nowhere else."""

    def function(
        a: int,
        b: Colour = Colour.RED,
        c: int | None = None,
        d: int = None,  # type: ignore[assignment]  # noqa: RUF013  # pyright: ignore[reportArgumentType] - people write this
        e: Path = Path("/x"),
        f: Any = object(),  # noqa: B008 - a sentinel, as people write them
    ) -> None: ...

    schema = infer(function).schema
    assert schema["required"] == ["a"]
    defaults = {k: v["default"] for k, v in schema["properties"].items() if "default" in v}
    assert defaults == {"b": "red", "c": None, "e": "/x"}


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    """And nothing else."""

    def function() -> None: ...

    signature = infer(function)
    assert signature.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert signature.convert({}) == {}


def test_what_a_parameter_means_comes_from_annotation_or_docstring() -> None:
    """The annotation wins; what both leave out is not described."""

    def function(
        a: Annotated[str, "from the annotation"],
        b: Annotated[int, msgspec.Meta(description="from the meta")],
        c: str,
        d: str,
    ) -> None:
        """Do something.

        Args:
            a: ignored
            b: ignored
            c: from the docstring
        """

    properties = infer(function).schema["properties"]
    assert [properties[name].get("description") for name in "abcd"] == [
        "from the annotation",
        "from the meta",
        "from the docstring",
        None,
    ]


def test_what_the_caller_fills_in_is_not_shown() -> None:
    """Also where it may be None; the names are listed."""

    def function(a: int, context: Context, other: Context | None = None) -> None: ...

    signature = infer(function, injected=Context)
    assert list(signature.schema["properties"]) == ["a"]
    assert signature.injected == ("context", "other")


def _collects(*values: int) -> None: ...


def _gathers(**values: int) -> None: ...


def _positional(value: int, /) -> None: ...


def _untyped(value) -> None:  # type: ignore[no-untyped-def]  # pyright: ignore - the point of the test
    ...


def _complex(value: complex) -> None: ...


def _callback(value: Callable[[], None]) -> None: ...


def _unresolved(value: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore - the point of the test
    ...


def _ambiguous(value: Point | Tree) -> None: ...


def _dunder(__value: int = 0) -> None: ...


UNFIT: Any = (
    (_collects, "parameter values collects what is not named"),
    (_gathers, "parameter values collects what is not named"),
    (_positional, "parameter value is positional-only"),
    (_untyped, "parameter value has no type"),
    (_complex, "parameter value has a type that JSON has no form for"),
    (_callback, "parameter value has a type that JSON has no form for"),
    (_unresolved, "can not be resolved"),
    (_dunder, "begins with two underscores"),
    (_ambiguous, "parameter value has a type that JSON has no form for"),
)


@pytest.mark.parametrize(("function", "words"), UNFIT)
def test_what_can_not_be_given_by_name_and_as_json_is_refused(function: Any, words: str) -> None:
    """Naming the function, the parameter and what is wrong with it."""
    with pytest.raises(SignatureError, match=words) as refused:
        infer(function)
    assert function.__name__ in str(refused.value)


def test_arguments_are_converted_to_the_annotated_types() -> None:
    """What is absent is left to the function's own default."""

    def function(
        point: Point,
        colour: Colour,
        path: Path,
        rows: list[Row],
        pair: tuple[int, str],
        when: datetime.date | None = None,
        more: int = 3,
    ) -> None: ...

    given = infer(function).convert(
        {
            "point": {"x": 1},
            "colour": "blue",
            "path": "/a/b",
            "rows": [{"name": "r"}],
            "pair": [1, "a"],
            "when": "2026-01-02",
        }
    )
    assert given == {
        "point": Point(1),
        "colour": Colour.BLUE,
        "path": Path("/a/b"),
        "rows": [{"name": "r"}],
        "pair": (1, "a"),
        "when": datetime.date(2026, 1, 2),
    }


@pytest.mark.parametrize("value", ["not a date", "2026-13-45"])
def test_what_a_schema_can_not_say_is_found_when_converting(value: str) -> None:
    """With the place, and without the value."""

    def function(when: datetime.date) -> None: ...

    with pytest.raises(msgspec.ValidationError, match=r"\$\.when") as refused:
        infer(function).convert({"when": value})
    assert value not in str(refused.value)


def test_a_type_may_be_called_like_the_arguments() -> None:
    """No name of ours stands in the way of one of theirs."""
    own = dataclasses.make_dataclass("_ArgumentsOfTool", [("x", int)])

    def function(value: Any, other: int) -> None: ...

    function.__annotations__["value"] = own
    signature = infer(function)
    assert list(signature.schema["properties"]) == ["value", "other"]
    assert compile_schema(signature.schema).violations({"value": {"x": 1}, "other": 2}) == ()


def test_recursive_types_are_described() -> None:
    """By reference, and judged and converted to any affordable depth."""

    def function(tree: Tree) -> None: ...

    signature = infer(function)
    leaf: dict[str, Any] = {}
    value = {"tree": {"children": [{"children": [leaf]}]}}
    assert compile_schema(signature.schema).violations(value) == ()
    assert compile_schema(signature.schema).violations({"tree": {"childs": []}}) != ()
    assert signature.convert(value)["tree"].children[0].children[0].children == []
