"""The arguments of a call, taken out of the caller's hands, and their digests.

Two digests, for two purposes. The one in a question and a ticket is over the tool's fingerprint
and the canonical form (RFC 8785): it means the same in another process and another version. The
one in a record is keyed and over our own sorted encoding: a record leaves the machine more
easily than the state database, and short arguments could be guessed from a digest without a key.
It also costs a thirtieth, and every call pays it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from lockgate.calls.heard import Heard
from lockgate.decision import Reason
from lockgate.schema.shape import ELSEWHERE
from lockgate.schema.violation import Violation
from lockgate.tools.fingerprint import canonical_digest
from lockgate.tools.registry import Registered
from lockgate.tools.subject import NO_SUBJECTS, Subjects
from lockgate.tools.tool import Declared

MAX_DEPTH: Final = 100
"""Levels of nesting that arguments may have; deeper ones are refused before anything reads them."""

_SCALARS: Final = frozenset({str, int, bool, type(None)})
_KEYS: Final = frozenset({str})
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class Taken(msgspec.Struct, frozen=True, gc=False):  # JSON has no cycles
    """Arguments as the road knows them: a copy nobody else holds, or what is wrong with them."""

    value: dict[str, Any]
    digest: str
    """Keyed, for records; of no use for comparing across keys."""
    fault: Violation | None = None
    """Why they are no JSON object, without the value; `value` is then empty."""
    heard: Heard | None = None
    """What hooks said of the call before it was decided; None: nothing."""

    @property
    def notes(self) -> tuple[Reason, ...]:
        """What hooks did, for its records."""
        return () if self.heard is None else self.heard.notes

    @property
    def context(self) -> str:
        """What hooks have to say to the model with its result."""
        return "" if self.heard is None else self.heard.context

    def __repr__(self) -> str:
        return f"<Taken {self.digest or self.fault}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """What `rich` shows: as `repr`, never the value."""
        return [("digest", self.digest), ("fault", self.fault)]


def keyed(key: bytes) -> hashlib.blake2b:
    """What the digests in records begin with: `key`, at most 64 bytes, hashed once for all."""
    return hashlib.blake2b(digest_size=16, key=key)


def take(arguments: object, digests: hashlib.blake2b, fault: str | None = None) -> Taken:
    """Copy `arguments` deeply, so that what was decided and asked about is what runs (B-01).

    Never raises: what is no JSON object comes back as a `fault`, and so does what the caller knows
    to be none (`Call.fault`). `digests` is `keyed`.
    """
    if fault is not None:
        return Taken({}, "", Violation("$", fault, "$: is no JSON object"))
    try:
        if type(arguments) is not dict and not isinstance(arguments, Mapping):
            raise NotJSON("$", f"must be an object, not {_name(arguments)}")
        value: dict[str, Any] = copied(arguments)
        data = _ENCODER.encode(value)
    except NotJSON as error:
        return Taken({}, "", error.violation)
    except UnicodeEncodeError:
        return Taken(
            {}, "", Violation("$", "holds half a surrogate pair, which is no Unicode text")
        )
    except (ValueError, OverflowError):
        return Taken({}, "", Violation("$", "holds a number that is too long to be sent"))
    digest = digests.copy()
    digest.update(data)
    return Taken(value, digest.hexdigest())


def unmentioned(tool: Registered, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The names among `arguments` that the tool's schema neither mentions nor makes a rule for."""
    schema = tool.definition.input_schema
    if not ELSEWHERE.isdisjoint(schema) or "additionalProperties" in schema:
        return ()
    known: object = schema.get("properties")
    if not isinstance(known, Mapping):
        return ()
    return tuple(name for name in arguments if name not in known)


def call_digest(
    tool: Declared, arguments: Mapping[str, Any], subjects: Subjects = NO_SUBJECTS
) -> str:
    """What an answer is bound to: the tool's name, its definition, these very arguments, and what
    the paths among them are now."""
    origin = tool.definition.origin
    bound: list[Any] = [tool.name, origin.fingerprint.digest, arguments]
    if subjects is not NO_SUBJECTS and (paths := list(subjects.paths)):
        bound.append([[name, path.real] for name, path in paths])
    return canonical_digest(bound)


class NotJSON(ValueError):
    """A value that is no JSON, with its place."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.violation = Violation(path, message)


def copied(value: Any) -> Any:
    """A deep copy of a JSON value in plain dicts and lists.

    Raises `NotJSON` for anything else: another type, a key that is no string, NaN and infinities,
    more than `MAX_DEPTH` levels. A subclass of a JSON type (an enum member) becomes the plain
    value.
    """
    # Most arguments are names and scalars, for which a copy of the top level is a deep one.
    if type(value) is dict:
        flat = cast("dict[Any, Any]", value)
        if _KEYS.issuperset(map(type, flat)) and _SCALARS.issuperset(map(type, flat.values())):
            return flat.copy()
    return _copied(value, (), 0)


def copied_again(value: dict[str, Any]) -> dict[str, Any]:
    """A deep copy of what `copied` has made, in C: plain already, so nothing is looked at."""
    copy: dict[str, Any] = msgspec.to_builtins(value)
    return copy


_Path: TypeAlias = tuple[Any, ...]
"""The way to a value as (way to its container, key or index); put into words only on failure."""


def _copied(value: Any, path: _Path, depth: int) -> Any:
    if type(value) in _SCALARS:
        return value
    if depth > MAX_DEPTH:
        raise NotJSON("$", f"nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _object(cast("Mapping[Any, Any]", value), path, depth + 1)
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [
            item if type(item) in _SCALARS else _copied(item, (path, index), depth + 1)
            for index, item in enumerate(items)
        ]
    return _scalar(value, path)


def _object(value: Mapping[Any, Any], path: _Path, depth: int) -> dict[str, Any]:
    copy: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str:
            if not isinstance(key, str):
                raise NotJSON(_words(path), f"has a key that is {_name(key)} and no string")
            key = str.__str__(key)
        copy[key] = item if type(item) in _SCALARS else _copied(item, (path, key), depth)
    return copy


def _scalar(value: Any, path: _Path) -> Any:
    """Floats, and subclasses of JSON's types, which become the plain value."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJSON(_words(path), "is NaN or infinite, which JSON has no word for")
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    raise NotJSON(_words(path), f"is {_name(value)}, which is no JSON value")


def _words(path: _Path) -> str:
    parts: list[str] = []
    while path:
        path, step = path
        parts.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "$" + "".join(reversed(parts))


def _name(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"
