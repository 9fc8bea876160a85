"""What kind of values a schema admits at all, and what kind a value is, in JSON's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from lockgate.schema.walk import Node

ELSEWHERE: Final = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if"}
    | {"patternProperties", "propertyNames", "dependentSchemas", "dependencies"}
)
"""Keywords beside `properties` that may speak of a property: with one of them at its root, a schema
does not say by its `properties` alone which names it knows."""


def kind_of(value: object) -> str:
    """The JSON type of a decoded value, with its article: `a string`, `an object`, `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "an array"
        case _:
            return "no JSON value"


def excludes_objects(schema: object, *, steps: int = 8) -> bool:
    """Whether it is plain that no object can fit `schema`: by its type, enum, const or branches.

    Looks `steps` branches deep and follows no reference; False means that an object may fit.
    """
    if not isinstance(schema, dict):
        return schema is False
    node = cast("Node", schema)
    types = node.get("type")
    if isinstance(types, str) and types != "object":
        return True
    if isinstance(types, list) and "object" not in types:
        return True
    if "const" in node and not isinstance(node["const"], Mapping):
        return True
    options = node.get("enum")
    if isinstance(options, list) and not any(
        isinstance(option, Mapping) for option in cast("list[Any]", options)
    ):
        return True
    if steps <= 0:
        return False
    for keyword in ("anyOf", "oneOf"):
        if (branches := _branches(node, keyword)) and all(
            excludes_objects(branch, steps=steps - 1) for branch in branches
        ):
            return True
    return any(excludes_objects(branch, steps=steps - 1) for branch in _branches(node, "allOf"))


def _branches(node: Node, keyword: str) -> list[Any]:
    held = node.get(keyword)
    return cast("list[Any]", held) if isinstance(held, list) else []
