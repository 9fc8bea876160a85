"""Leaving unchecked what can not be checked, and saying which part that is (S3-05, PB-110, PB-113).

Nothing here changes what is advertised: pruning works on a copy that only the validator sees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any, Final, cast

from lockgate.schema.walk import Node, Path, schemas, subschemas

MAX_REFERENCES: Final = 64
"""Distinct references of one schema that are tried one by one once one of them leads nowhere."""
MAX_TRYING: Final = 100_000
"""The same, times the size of the schema: each try compiles it anew."""
MAX_PATTERNS: Final = 100
"""Regular expressions of one schema: each may take milliseconds to compile."""

_CLOSING: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties")
"""What has to go together: the last two refuse what the first was to admit."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def references(schema: Node) -> tuple[str, ...]:
    """Every distinct reference in `schema`, in order of their spelling."""
    found = {
        node[keyword]
        for node in schemas(schema)
        for keyword in _REFERENCES
        if isinstance(node.get(keyword), str)
    }
    return tuple(sorted(found))


def without_dangling(
    schema: Node, size: int, resolves: Callable[[Node], bool], remarks: list[str]
) -> Node | None:
    """`schema`, of `size` values, without the references that lead nowhere; None if that is vain.

    `resolves` compiles a schema and says whether all its references were found: it is the judge, so
    that what counts as dangling is what the validator can not follow. What stands beside a dropped
    reference stays.
    """
    known = references(schema)
    if len(known) > MAX_REFERENCES or len(known) * size > MAX_TRYING:
        kept: set[str] = set()
        remarks.append(
            f"one of {len(known)} references leads nowhere, too many to find out which: what they "
            "stand for is not checked"
        )
    else:
        kept = {ref for ref in known if resolves(_keep_references(schema, {ref}))}
        remarks.extend(
            f"the reference {show(ref)} leads nowhere: what it stands for is not checked"
            for ref in known
            if ref not in kept
        )
    pruned = _keep_references(schema, kept)
    return pruned if resolves(pruned) else None


def without_foreign_dialects(
    schema: Node, known: Callable[[str], bool], remarks: list[str]
) -> Node:
    """`schema`, accepting anything wherever a part names a dialect of its own that is unknown."""

    def foreign(node: Node, path: Path) -> Node | None:
        dialect = node.get("$schema")
        if path and isinstance(dialect, str) and not known(dialect):
            remarks.append(
                f"{place(path)} names the unknown dialect {show(dialect)}: it is not checked"
            )
            return {}
        return None

    if not any("$schema" in node for node in schemas(schema)[1:]):
        return schema
    return cast("Node", _rebuilt(schema, (), foreign))


def without_pattern(schema: Node, path: Path, remarks: list[str]) -> Node | None:
    """`schema` without the regular expression at `path`, which the engine can not run.

    `path` ends in `pattern`, or in `patternProperties` and the expression; None if neither stands
    there. With a `patternProperties` goes what closes the object around it, since the names that it
    stood for would else be refused.
    """
    owner = path[:-1] if path and path[-1] == "pattern" else path[:-2]
    named = path[len(owner) :]

    def dropped(node: Node, at: Path) -> Node | None:
        if at != owner:
            return None
        return _without(node, ("pattern",) if named == ("pattern",) else _CLOSING)

    if not named or named[0] not in ("pattern", "patternProperties"):
        return None
    pruned = cast("Node", _rebuilt(schema, (), dropped))
    if pruned == schema:
        return None
    remarks.append(f"the regular expression at {place(path)} can not be run: it is not checked")
    return pruned


def without_many_patterns(schema: Node, remarks: list[str]) -> Node:
    """`schema` without its regular expressions, if there are more than `MAX_PATTERNS`."""
    found = sum(
        isinstance(node.get("pattern"), str) + _length(node.get("patternProperties"))
        for node in schemas(schema)
    )
    if found <= MAX_PATTERNS:
        return schema

    def dropped(node: Node, path: Path) -> Node | None:
        if isinstance(node.get("pattern"), str):
            node = _without(node, ("pattern",))
        return _without(node, _CLOSING) if "patternProperties" in node else node

    remarks.append(f"there are more than {MAX_PATTERNS} regular expressions: none is checked")
    return cast("Node", _rebuilt(schema, (), dropped))


def _length(value: Any) -> int:
    return len(cast("Node", value)) if isinstance(value, dict) else 0


def _without(node: Node, keywords: Collection[str]) -> Node:
    return {keyword: held for keyword, held in node.items() if keyword not in keywords}


def place(path: Path) -> str:
    """A path in a schema as people read it: `properties.a.items`; `the root` for the root."""
    words = [show(str(part)).strip('"') for part in path]
    return ".".join(words) if words else "the root"


def show(text: str) -> str:
    """A stranger's word in a message: quoted, escaped to ASCII, at most 80 characters of it."""
    return json.dumps(text if len(text) <= 80 else text[:77] + "...")


def _keep_references(schema: Node, kept: Collection[str]) -> Node:
    def strip(node: Node, path: Path) -> Node | None:
        if not any(isinstance(node.get(k), str) and node[k] not in kept for k in _REFERENCES):
            return None
        return {
            k: v
            for k, v in node.items()
            if not (k in _REFERENCES and isinstance(v, str) and v not in kept)
        }

    return cast("Node", _rebuilt(schema, (), strip))


def _rebuilt(schema: Any, path: Path, change: Callable[[Node, Path], Node | None]) -> Any:
    """A copy of `schema` in which `change` has replaced schemas, before what is in them is visited.

    Recursive: the depth of a schema is bounded before anything is pruned.
    """
    if not isinstance(schema, dict):
        return schema
    node = cast("Node", schema)
    changed = change(node, path)
    result = dict(node if changed is None else changed)
    for keyword, key, held in tuple(subschemas(result)):
        if key is None:
            result[keyword] = _rebuilt(held, (*path, keyword), change)
            continue
        below = _rebuilt(held, (*path, keyword, key), change)
        if below is held:
            continue
        if result[keyword] is node.get(keyword):
            result[keyword] = type(result[keyword])(result[keyword])
        result[keyword][key] = below
    return result
