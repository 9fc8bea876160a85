"""Compiled schemas: what is wrong with a value, all of it at once, without fetching anything.

Keywords that are present are enforced, absent ones are lenient, and nothing is ever added to a
schema that its owner did not write (S3-05). Values are judged as they are: no string becomes a
number and no null is dropped (PB-116, PB-117); the violations tell the model what to send instead.
`format` is an annotation and is not judged, whatever the draft.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final, cast

import jsonschema_rs

from lockgate.schema.error import SchemaError
from lockgate.schema.limits import (
    LARGE_SCHEMA,
    MAX_DEPTH,
    MAX_LOOKS,
    MAX_LOOKS_AT_ONE_VALUE,
    MAX_TELLING,
    looks_by_depth,
    refuse_oversized,
)
from lockgate.schema.prune import (
    place,
    show,
    without_dangling,
    without_foreign_dialects,
    without_many_patterns,
    without_pattern,
)
from lockgate.schema.shape import excludes_objects, kind_of
from lockgate.schema.violation import Violation, describe, expectation, no_json
from lockgate.schema.walk import Node, Path, depth_and_size

__all__ = ["CompiledSchema", "SchemaError", "Violation", "compile_schema"]

_DIALECTS: Final[Mapping[str, type[jsonschema_rs.Validator]]] = {
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "json-schema.org/schema": jsonschema_rs.Draft202012Validator,
}
"""By address without scheme and without an empty fragment. The last means "the latest"."""

_PATTERNS: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=100_000, size_limit=1 << 18, dfa_size_limit=1 << 20
)
"""A regular expression is a stranger's program: its compiled size and its steps are bounded."""

_MAX_PRUNINGS: Final = 16
"""Parts that can not be checked which are dropped one by one; with more nothing is checked."""

_UNTOLD: Final = (Violation("$", "does not fit its schema"),)
"""What is said where the validator refuses a value and names no reason."""

_Kind = jsonschema_rs.ValidationErrorKind


class CompiledSchema:
    """A schema ready to judge values. Immutable; may be used by any number of tasks."""

    __slots__ = ("_looks", "_size", "_validator", "remarks", "schema")

    def __init__(
        self,
        schema: Node,
        validator: jsonschema_rs.Validator | None,
        looks: tuple[int, ...] | None,
        size: int,
        remarks: tuple[str, ...],
    ) -> None:
        self.schema: Mapping[str, Any] = schema
        """As its owner wrote it."""
        self.remarks = remarks
        """What is left unchecked and why, one sentence each; empty if everything is checked."""
        self._validator = validator
        self._looks = looks
        self._size = size

    def violations(self, value: object) -> tuple[Violation, ...]:
        """Everything that is wrong with `value`; empty if it is valid. Never raises.

        `value` is decoded JSON; what is no JSON value (a set, a lone surrogate) is a violation.
        The messages name paths, types, keys and what the schema asks for, never what the value
        holds.
        """
        validator = self._validator
        if validator is None:
            return ()
        if type(value) is not dict and isinstance(value, Mapping):
            value = dict(cast("Mapping[str, Any]", value))
        if self._looks is None:
            try:
                if validator.is_valid(value):
                    return ()
            except (ValueError, RecursionError):
                pass  # told below
        return self._judge(validator, cast("object", value))

    def _judge(self, validator: jsonschema_rs.Validator, value: object) -> tuple[Violation, ...]:
        if self._looks is not None and (found := self._too_much(value, self._looks)):
            return (found,)
        try:
            if validator.is_valid(value):
                return ()
            depth, size = depth_and_size(value, MAX_DEPTH, sys.maxsize)
            if depth > MAX_DEPTH:
                return (Violation("$", f"nests deeper than {MAX_DEPTH} levels"),)
            if size * self._size <= MAX_TELLING:
                return describe(validator.iter_errors(value), self.schema) or _UNTOLD
            return self._first(validator, value)
        except (ValueError, RecursionError):  # what the validator says of what is no JSON
            return (no_json(value),)

    def _first(self, validator: jsonschema_rs.Validator, value: object) -> tuple[Violation, ...]:
        """One violation of a value for which finding all of them could take minutes."""
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            more = Violation("$", "is large: only the first of its violations is told")
            return (*describe((error,), self.schema), more)
        return _UNTOLD

    def _too_much(self, value: object, looks: tuple[int, ...]) -> Violation | None:
        """Whether judging `value` could exhaust the stack or take too long."""
        depth, size = depth_and_size(value, MAX_DEPTH, MAX_LOOKS)
        if depth > MAX_DEPTH:
            return Violation("$", f"nests deeper than {MAX_DEPTH} levels")
        reach = depth if size > 1 else 0  # an empty object has nothing below it to look at
        if looks[min(reach, len(looks) - 1)] * size > MAX_LOOKS:
            return Violation(
                "$", f"is too large or too deeply nested ({depth} levels) for this schema"
            )
        return None

    def __repr__(self) -> str:
        state = "unchecked" if self._validator is None else type(self._validator).__name__
        return f"<CompiledSchema {state}, {len(self.remarks)} remarks>"


def compile_schema(schema: object, *, root: str = "object") -> CompiledSchema:
    """Compile the schema of a tool's arguments (`root="object"`) or of any value (`root="any"`).

    No `$schema` means 2020-12; a named draft from 04 to 2020-12 is honoured. An unknown dialect, a
    reference that leads nowhere (nothing is ever fetched) or a regular expression that can not be
    run leaves that part unchecked, told in `remarks`. Raises `SchemaError` for what is no schema:
    no object, invalid by its own dialect, nested or sized beyond all bounds, or one that admits no
    object where arguments are to be described.
    """
    if not isinstance(schema, Mapping):
        raise SchemaError(f"the schema is {kind_of(schema)}, not an object")
    node: Node = dict(cast("Mapping[str, Any]", schema))
    size = refuse_oversized(node)
    remarks: list[str] = []
    dialect = node.get("$schema")
    if dialect is not None and not isinstance(dialect, str):
        raise SchemaError(f"$schema is {kind_of(dialect)}, not a string")
    draft = jsonschema_rs.Draft202012Validator if dialect is None else _dialect(dialect)
    if draft is None:
        remarks.append(f"the dialect {show(dialect or '')} is unknown: nothing is checked")
        return CompiledSchema(node, None, None, size, tuple(remarks))
    checked = without_foreign_dialects(node, lambda name: _dialect(name) is not None, remarks)
    checked = without_many_patterns(checked, remarks)
    compiled = _compile(checked, size, draft, remarks)
    if compiled is None:
        return CompiledSchema(node, None, None, size, tuple(remarks))
    validator, checked = compiled
    if root == "object" and excludes_objects(node):
        raise SchemaError("the schema admits no object, so no arguments can fit it")
    looks = looks_by_depth(checked)
    if looks is not None and looks[0] > MAX_LOOKS_AT_ONE_VALUE:
        raise SchemaError(f"the schema looks at one value in over {MAX_LOOKS_AT_ONE_VALUE:,} ways")
    if looks is None and size > LARGE_SCHEMA:
        looks = (size,)
    worst = None if looks is None else tuple(accumulate(looks, max))
    return CompiledSchema(node, validator, worst, size, tuple(remarks))


def _compile(
    schema: Node, size: int, draft: type[jsonschema_rs.Validator], remarks: list[str]
) -> tuple[jsonschema_rs.Validator, Node] | None:
    """The validator, and the schema it was made from after pruning; None if nothing is left."""

    def made(node: Node) -> jsonschema_rs.Validator:
        return draft(
            node, retriever=_refuse_to_fetch, validate_formats=False, pattern_options=_PATTERNS
        )

    def resolves(node: Node) -> bool:
        try:
            made(node)
        except jsonschema_rs.ValidationError as error:
            return not isinstance(error.kind, _Kind.Referencing)
        return True

    for _ in range(_MAX_PRUNINGS):
        try:
            return made(schema), schema
        except jsonschema_rs.ValidationError as error:
            path: Path = tuple(error.instance_path)
            if isinstance(error.kind, _Kind.Referencing):
                pruned = without_dangling(schema, size, resolves, remarks)
            elif isinstance(error.kind, _Kind.Format):
                pruned = without_pattern(schema, path, remarks)
            else:
                raise SchemaError(
                    f"the schema is invalid: {place(path)} {expectation(error)}"
                ) from None
        except ValueError:
            raise SchemaError("the schema holds what no JSON text can hold") from None
        if pruned is None:
            break
        schema = pruned
    remarks.append("what is left of the schema can not be compiled: nothing is checked")
    return None


def _refuse_to_fetch(uri: str) -> Any:
    raise LookupError("schemas are never fetched")


def _dialect(name: str) -> type[jsonschema_rs.Validator] | None:
    scheme, _, address = name.removesuffix("#").partition("://")
    return _DIALECTS.get(address) if scheme in ("http", "https") else None
