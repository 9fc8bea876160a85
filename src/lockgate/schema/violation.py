"""What is wrong with a value, told so that whoever made it can mend it.

A violation names the place, what is expected there, and the type or the key that was found. It
never holds what a value contains: arguments carry secrets, and results are recorded and shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import jsonschema_rs

from lockgate.schema.shape import kind_of
from lockgate.schema.spelling import nearest

MAX_VIOLATIONS: Final = 50
"""How many are told at once; a last one says how many more there are."""

_Kind = jsonschema_rs.ValidationErrorKind
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_KEY: Final = 64
_MAX_OPTIONS: Final = 20
_MAX_FORMS: Final = 3


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong with a value."""

    path: str
    """Where, from `$`, the value itself: `$.filters[0].op`, `$["odd key"]`."""
    message: str
    """What is expected there, without what the value holds."""
    recorded: str | None = field(default=None, compare=False)
    """What is kept of it: without keys that the schema does not name, which are the caller's own
    text and may be a secret in the wrong place. None: its message, at no place."""

    @property
    def record(self) -> str:
        """What may be kept: the caller itself is told the whole."""
        if self.recorded is not None:
            return self.recorded
        return f"{'$' if self.path == '$' else 'a value in it'}: {self.message}"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def describe(
    errors: Iterable[jsonschema_rs.ValidationError], schema: Mapping[str, Any]
) -> tuple[Violation, ...]:
    """The violations behind the validator's errors, each once, in the validator's order."""
    names = _every_name(schema)
    found: list[Violation] = []
    for error in errors:
        where, what = error.instance_path, expectation(error, schema)
        kept = [part if isinstance(part, int) or part in names else None for part in where]
        recorded = f"{_path(kept)}: {_nameless(error, what)}"
        found.append(Violation(_path(where), what, recorded))
    found = list(dict.fromkeys(found))
    if len(found) > MAX_VIOLATIONS:
        more = len(found) - MAX_VIOLATIONS
        found = [*found[:MAX_VIOLATIONS], Violation("$", f"{more} more violations are not listed")]
    return tuple(found)


def no_json(value: object) -> Violation:
    """The violation of a value that no JSON text can be: names the first place that is at fault."""
    path, message = next(_faults(value), ("$", "is no JSON value"))
    return Violation(path, message)


def expectation(
    error: jsonschema_rs.ValidationError, schema: Mapping[str, Any] | None = None
) -> str:
    """What one error of the validator says was expected, in our words and without the value."""
    kind = error.kind
    match kind:
        case _Kind.Type(types):
            return f"must be {_any_of(types)}, not {kind_of(error.instance)}{_mend(error, types)}"
        case _Kind.Required(name):
            return f"lacks the required {key_text(name)}"
        case _Kind.AdditionalProperties(names) | _Kind.UnevaluatedProperties(names):
            return _unexpected(names, _known_names(schema, error.schema_path))
        case _Kind.Enum(options):
            return f"must be one of {_options(options)}"
        case _Kind.Constant(value):
            return f"must be {_options([value])}"
        case _Kind.AnyOf(context) | _Kind.OneOfNotValid(context):
            return _alternatives(context, len(error.instance_path))
        case _Kind.OneOfMultipleValid(_):
            return "fits several of its alternatives and must fit exactly one"
        case _Kind.Minimum(limit):
            return f"must be at least {limit}"
        case _Kind.ExclusiveMinimum(limit):
            return f"must be greater than {limit}"
        case _Kind.Maximum(limit):
            return f"must be at most {limit}"
        case _Kind.ExclusiveMaximum(limit):
            return f"must be less than {limit}"
        case _Kind.MultipleOf(step):
            return f"must be a multiple of {step}"
        case _Kind.MinLength(limit):
            return (
                f"must have at least {_counted(limit, 'character')}, has {_length(error.instance)}"
            )
        case _Kind.MaxLength(limit):
            return (
                f"must have at most {_counted(limit, 'character')}, has {_length(error.instance)}"
            )
        case _Kind.Pattern(pattern):
            return f"must match the regular expression {_cut(pattern)}"
        case _Kind.BacktrackLimitExceeded(_) | _Kind.RegexEngineFailure(_):
            return "could not be matched against its regular expression within the bound"
        case _Kind.MinItems(limit):
            return f"must have at least {_counted(limit, 'item')}, has {_length(error.instance)}"
        case _Kind.MaxItems(limit) | _Kind.AdditionalItems(limit):
            return f"must have at most {_counted(limit, 'item')}, has {_length(error.instance)}"
        case _Kind.UnevaluatedItems(_):  # it holds the items themselves
            return "has items that its schema does not admit"
        case _Kind.UniqueItems():
            return "must have no two equal items"
        case _Kind.Contains():
            return "must have an item of the kind that its schema names"
        case _Kind.MinProperties(limit):
            return f"must have at least {_counted(limit, 'key')}, has {_length(error.instance)}"
        case _Kind.MaxProperties(limit):
            return f"must have at most {_counted(limit, 'key')}, has {_length(error.instance)}"
        case _Kind.PropertyNames(inner):
            return f"has a key that is not allowed: a key {expectation(inner)}"
        case _Kind.FalseSchema():
            return "must not be there"
        case _Kind.Not(_):
            return "must not be what its schema rules out"
        case _Kind.ContentEncoding(encoding):
            return f"must be encoded as {_cut(encoding)}"
        case _Kind.ContentMediaType(media_type):
            return f"must be of the media type {_cut(media_type)}"
        case _Kind.Format(name):
            return f"must be a valid {_cut(name)}"
        case _:
            return f"does not satisfy {kind.name!r}"


def _mend(error: jsonschema_rs.ValidationError, types: Sequence[str]) -> str:
    """What is most likely to help, for the slips that models make (PB-116, PB-117)."""
    found = error.instance
    if found is None and error.instance_path and isinstance(error.instance_path[-1], str):
        return "; leave the key out if there is no value"
    if isinstance(found, str):
        if found[:1] in ("{", "[") and not {"object", "array"}.isdisjoint(types):
            return "; send the value itself, not its JSON text"
        if not {"integer", "number", "boolean"}.isdisjoint(types) and _is_one(found):
            return "; write it without quotes"
    return ""


def _is_one(text: str) -> bool:
    """Whether a text says a number, true or false, and would be one without its quotes."""
    return text.strip().lower() in ("true", "false") or _NUMBER.fullmatch(text.strip()) is not None


def _nameless(error: jsonschema_rs.ValidationError, what: str) -> str:
    """What was expected, without a key that only the value names."""
    match error.kind:
        case _Kind.AdditionalProperties(names) | _Kind.UnevaluatedProperties(names):
            keys = "a key" if len(names) == 1 else f"{len(names)} keys"
            return f"has {keys} that its schema does not name"
        case _Kind.AnyOf(context) | _Kind.OneOfNotValid(context):
            return f"fits none of its {len(context)} alternatives"
        case _:
            return what


def _every_name(schema: Mapping[str, Any]) -> frozenset[str]:
    """Every key that a schema names as that of a property, at any depth."""
    found: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            held = cast("Mapping[str, Any]", part)
            properties = held.get("properties")
            if isinstance(properties, Mapping):
                found.update(cast("Mapping[str, Any]", properties))
            waiting += held.values()
        elif isinstance(part, list):
            waiting += cast("list[Any]", part)
    return frozenset(found)


def _path(parts: Sequence[str | int | None]) -> str:
    """From the value; None is a key that is not told."""
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part is None:
            text += "[...]"
        elif _PLAIN_KEY.fullmatch(part) and len(part) <= _MAX_KEY:
            text += f".{part}"
        else:
            text += f"[{key_text(part)}]"
    return text


def key_text(name: str) -> str:
    """A key as it is told: in quotes, cut, with nothing that a terminal obeys or hides."""
    return json.dumps(name if len(name) <= _MAX_KEY else name[: _MAX_KEY - 3] + "...")


def _cut(text: str) -> str:
    return json.dumps(text if len(text) <= 120 else text[:117] + "...")


def _any_of(types: Sequence[str]) -> str:
    """The types with their articles, null last."""
    named = [f"{'an' if word[0] in 'aio' else 'a'} {word}" for word in types if word != "null"]
    words = [*named, "null"] if "null" in types else named
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _options(options: Sequence[Any]) -> str:
    shown = [_cut_json(option) for option in options[:_MAX_OPTIONS]]
    if len(options) > _MAX_OPTIONS:
        shown.append(f"... ({len(options)} in all)")
    return ", ".join(shown)


def _cut_json(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _counted(number: float, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _length(value: Any) -> int:
    return len(cast("str", value)) if isinstance(value, str | list | dict) else 0


def _unexpected(names: Sequence[str], known: Sequence[str]) -> str:
    told = [key_text(name) for name in names[:_MAX_OPTIONS]]
    if len(names) > _MAX_OPTIONS:
        told.append(f"{len(names) - _MAX_OPTIONS} more")
    text = f"has no {'key' if len(names) == 1 else 'keys'} {', '.join(told)}"
    near = {name: close[0] for name in names[:_MAX_OPTIONS] if (close := nearest(name, known))}
    if len(names) == 1 and near:
        return f"{text}; did you mean {key_text(near[names[0]])}?"
    if near:
        told = (f"{key_text(close)} for {key_text(name)}" for name, close in near.items())
        return f"{text}; near: {', '.join(told)}"
    if known:
        listed = ", ".join(key_text(name) for name in known[:_MAX_OPTIONS])
        more = ", ..." if len(known) > _MAX_OPTIONS else ""
        return f"{text}; the keys are {listed}{more}"
    return text


def _known_names(schema: Mapping[str, Any] | None, schema_path: Sequence[str | int]) -> list[str]:
    """The property names of the schema that refused a key; empty if it can not be found."""
    found: Any = schema
    for part in schema_path[:-1]:
        if isinstance(found, Mapping):
            found = cast("Mapping[Any, Any]", found).get(part)
        elif (
            isinstance(found, list)
            and isinstance(part, int)
            and part < len(cast("list[Any]", found))
        ):
            found = cast("list[Any]", found)[part]
        else:
            return []
    if not isinstance(found, Mapping):
        return []
    properties = cast("Mapping[str, Any]", found).get("properties")
    return (
        [str(name) for name in cast("Mapping[str, Any]", properties)]
        if isinstance(properties, Mapping)
        else []
    )


def _alternatives(context: Sequence[Sequence[jsonschema_rs.ValidationError]], depth: int) -> str:
    """What would make a value fit one of its alternatives."""
    types: list[str] = []
    for branch in context:
        if (
            len(branch) == 1
            and isinstance(kind := branch[0].kind, _Kind.Type)
            and len(branch[0].instance_path) == depth
        ):
            types.extend(t for t in kind.types if t not in types)
        else:
            break
    else:
        if types:
            return f"must be {_any_of(types)}, not {kind_of(context[0][0].instance)}"
    forms = [
        " and ".join(_relative(error, depth) for error in branch[:_MAX_FORMS])
        for branch in sorted(context, key=_farness)[:_MAX_FORMS]
        if branch
    ]
    more = f", or one of {len(context) - _MAX_FORMS} more" if len(context) > _MAX_FORMS else ""
    return f"fits none of its {len(context)} alternatives: {'; or '.join(forms)}{more}"


def _farness(branch: Sequence[jsonschema_rs.ValidationError]) -> tuple[bool, int]:
    """Branches of the right type come first, then those with the fewest faults."""
    return any(isinstance(error.kind, _Kind.Type) for error in branch), len(branch)


def _relative(error: jsonschema_rs.ValidationError, depth: int) -> str:
    below = error.instance_path[depth:]
    where = _path(below)[1:].lstrip(".")
    return f"{where} {expectation(error)}" if where else f"it {expectation(error)}"


def _faults(value: object, path: str = "$", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Where `value` is no JSON. Looks as deep as any schema may."""
    if isinstance(value, str):
        if not _encodable(value):
            yield path, "holds half of a surrogate pair, which is no character"
    elif isinstance(value, Mapping) and depth < 200:
        for key, held in cast("Mapping[Any, Any]", value).items():
            if not isinstance(key, str):
                yield path, f"has a key that is {kind_of(key)}, not a string"
            elif not _encodable(key):
                yield path, "has a key with half of a surrogate pair, which is no character"
            else:
                yield from _faults(held, path + _path([key])[1:], depth + 1)
    elif isinstance(value, list | tuple) and depth < 200:
        for index, held in enumerate(cast("list[Any]", value)):
            yield from _faults(held, f"{path}[{index}]", depth + 1)
    elif value is not None and not isinstance(value, bool | int | float):
        yield path, "is no JSON value"


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
