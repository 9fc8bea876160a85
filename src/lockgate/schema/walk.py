"""Where schemas stand inside a schema: the one map of keywords that hold others.

Everything that looks through a schema goes by it, so data (`enum`, `const`, `default`, `examples`)
is never mistaken for a schema, nor a property called `$ref` for a reference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

Node: TypeAlias = dict[str, Any]
"""A schema that is an object."""
Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the root of the schema."""

SAME_PLACE: Final = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("dependentSchemas", "dependencies"),
    }
)
"""Keywords whose schemas look at the very value that their owner looks at."""

_ONE: Final = frozenset(
    {
        *("not", "if", "then", "else", "items", "additionalItems", "contains"),
        *("additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_NAMED: Final = frozenset(
    {
        *("properties", "patternProperties", "$defs", "definitions"),
        *("dependentSchemas", "dependencies"),
    }
)
_HOLDERS: Final = _ONE | _MANY | _NAMED


def subschemas(node: Node) -> Iterator[tuple[str, str | int | None, Any]]:
    """The schemas directly in `node`: (keyword, key or index or None, schema).

    A schema is a dict or a bool; whatever else stands in such a place is yielded by nobody.
    """
    for keyword in _HOLDERS & node.keys():
        held = node[keyword]
        if isinstance(held, dict):
            if keyword in _NAMED:
                for name, schema in cast("Node", held).items():
                    if isinstance(schema, dict | bool):
                        yield keyword, name, schema
            elif keyword in _ONE:
                yield keyword, None, held
        elif isinstance(held, bool):
            if keyword in _ONE:
                yield keyword, None, held
        elif isinstance(held, list) and keyword in _MANY:
            for index, schema in enumerate(cast("list[Any]", held)):
                if isinstance(schema, dict | bool):
                    yield keyword, index, schema


def schemas(root: Node) -> list[Node]:
    """Every schema object in `root`, itself first, as `nodes` but without the paths, which cost
    more than all else of it. In no order but that."""
    found = [root]
    for node in found:  # which grows meanwhile
        for keyword in _HOLDERS & node.keys():
            held = node[keyword]
            if isinstance(held, dict):
                if keyword in _NAMED:
                    named = cast("Node", held).values()
                    found += [schema for schema in named if isinstance(schema, dict)]
                elif keyword in _ONE:
                    found.append(cast("Node", held))
            elif isinstance(held, list) and keyword in _MANY:
                found += [schema for schema in cast("list[Any]", held) if isinstance(schema, dict)]
    return found


def nodes(root: Node) -> Iterator[tuple[Path, Node]]:
    """Every schema object in `root`, itself first, with its path. Needs no call stack."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        for keyword, key, schema in subschemas(node):
            if isinstance(schema, dict):
                below = (*path, keyword) if key is None else (*path, keyword, key)
                waiting.append((below, cast("Node", schema)))


def depth_and_size(value: object, deepest: int, largest: int) -> tuple[int, int]:
    """How deep a JSON value nests (a scalar is 0) and how many values it holds, itself included.

    Stops early once `deepest` or `largest` is passed, and returns what it had by then, which is
    over the bound in question. Needs no call stack.
    """
    size = 1
    depth = 0
    level = [value] if _holds(value) else []
    while level:
        below: list[object] = []
        for item in level:
            held = _parts(item)
            size += len(held)
            below += [part for part in held if type(part) not in _SCALARS and _holds(part)]
        depth += 1
        if depth > deepest or size > largest:
            break
        level = below
    return depth, size


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""What holds nothing, as is known without looking for abstract bases."""


def _holds(value: object) -> bool:
    return isinstance(value, dict | list | tuple | Mapping)


def _parts(value: object) -> Collection[object]:
    if isinstance(value, dict | Mapping):
        return cast("Mapping[object, object]", value).values()
    return cast("list[object]", value)
