"""The form that a server wants filled in: its fields, and what a value has to be. No I/O.

2026-07-28 and 2025-11-25, client/elicitation: a flat object of texts, numbers, switches, choices.
Read leniently where only the writing differs (titled choices in each of their spellings, fields
that may be null as pydantic writes them, references into the schema itself); what is no such field
is refused, since nobody could fill it in.
"""

from __future__ import annotations

import datetime
import enum
import math
import re
import sys
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from lockgate.mcp.protocol.jsontext import Unreadable, kind_of

MAX_FIELDS: Final = 50
"""Fields of one form; a person would not fill in more."""
MAX_CHOICES: Final = 500
"""Choices of one field."""

_LARGEST: Final = sys.float_info.max
_ABSENT: Final = msgspec.UNSET
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})"
)


class Kind(enum.Enum):
    """What a field holds."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "whole number"
    SWITCH = "yes or no"
    ONE = "one choice"
    SEVERAL = "choices"


class Choice(msgspec.Struct, frozen=True):
    """One that can be made."""

    value: str
    """What is sent."""
    title: str | None = None
    """How it is called instead."""


class Field(msgspec.Struct, frozen=True):
    """One thing that is wanted. All texts in it are the server's."""

    name: str
    kind: Kind
    required: bool = False
    title: str | None = None
    description: str | None = None
    default: Any = _ABSENT
    """A value that fits; UNSET without one, and where the server's own does not fit."""
    choices: tuple[Choice, ...] = ()
    format: str | None = None
    """As it came: `email`, `uri`, `date`, `date-time`; what else there is means nothing here."""
    least: float | None = None
    """The smallest number, the fewest characters or choices."""
    most: float | None = None
    pattern: str | None = None
    """Checked with the whole schema, not here: a stranger's expression can take for ever."""

    @property
    def has_default(self) -> bool:
        return self.default is not _ABSENT

    def fault(self, value: Any) -> str | None:
        """What is wrong with `value`, completing "it ..."; None if it is right."""
        match self.kind:
            case Kind.TEXT:
                return self._text_fault(value)
            case Kind.NUMBER | Kind.INTEGER:
                return self._number_fault(value)
            case Kind.SWITCH:
                return None if isinstance(value, bool) else "has to be yes or no"
            case Kind.ONE:
                known = {choice.value for choice in self.choices}
                right = isinstance(value, str) and value in known
                return None if right else "has to be one of the choices"
            case Kind.SEVERAL:
                return self._choices_fault(value)

    def _text_fault(self, value: Any) -> str | None:
        if not isinstance(value, str):
            return "has to be a text"
        if self.least is not None and len(value) < self.least:
            return f"has to have at least {_counted(self.least, 'character')}"
        if self.most is not None and len(value) > self.most:
            return f"has to have at most {_counted(self.most, 'character')}"
        match self.format:
            case "email":
                return None if _EMAIL.fullmatch(value) else "has to be an e-mail address"
            case "uri":
                right = _URI.fullmatch(value)
                return None if right else "has to be an address with its scheme (https://...)"
            case "date":
                right = _DATE.fullmatch(value) and _is_time(value)
                return None if right else "has to be a date, as in 2026-07-28"
            case "date-time":
                right = _TIME.fullmatch(value) and _is_time(value)
                return None if right else "has to be a date and time, as in 2026-07-28T09:30:00Z"
            case _:
                return None

    def _number_fault(self, value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            return "has to be a number"
        if self.kind is Kind.INTEGER and not (isinstance(value, int) or value.is_integer()):
            return "has to be a whole number"
        if self.least is not None and value < self.least:
            return f"has to be at least {self.least:g}"
        if self.most is not None and value > self.most:
            return f"has to be at most {self.most:g}"
        return None

    def _choices_fault(self, value: Any) -> str | None:
        known = {choice.value for choice in self.choices}
        if not isinstance(value, list):
            return "has to be choices"
        made = cast("list[Any]", value)
        if not all(isinstance(one, str) and one in known for one in made):
            return "has to be made of the choices"
        if self.least is not None and len(made) < self.least:
            return f"has to be at least {_counted(self.least, 'choice')}"
        if self.most is not None and len(made) > self.most:
            return f"has to be at most {_counted(self.most, 'choice')}"
        return "holds a choice twice" if len(set(made)) < len(made) else None


class Form(msgspec.Struct, frozen=True):
    """What is wanted, in the server's order. Without fields it asks for a yes alone."""

    fields: tuple[Field, ...] = ()

    def faults(self, values: Mapping[str, Any]) -> dict[str, str]:
        """By field, what is wrong with these values, completing "it ..."; empty if they fit."""
        found: dict[str, str] = {}
        for field in self.fields:
            if field.name not in values:
                if field.required:
                    found[field.name] = "is missing"
            elif (wrong := field.fault(values[field.name])) is not None:
                found[field.name] = wrong
        known = {field.name for field in self.fields}
        return found | {name: "is not asked for" for name in values if name not in known}


def read_form(schema: Mapping[str, Any]) -> Form:
    """Read a `requestedSchema`. Raises `Unreadable`; its reason completes "a form that ..."."""
    if schema.get("type", "object") != "object":
        raise Unreadable("is no object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise Unreadable(f"has {kind_of(properties)} where its fields have to be")
    held = cast("dict[str, Any]", properties)
    if len(held) > MAX_FIELDS:
        raise Unreadable(f"has {len(held)} fields, over the {MAX_FIELDS} that are asked about")
    wanted = schema.get("required")
    required = cast("list[Any]", wanted) if isinstance(wanted, list) else []
    if not all(isinstance(name, str) and name in held for name in required):
        raise Unreadable("requires a field that it does not have")
    return Form(tuple(_field(name, held[name], name in required, schema) for name in held))


def _field(name: str, raw: Any, required: bool, schema: Mapping[str, Any]) -> Field:
    member = _resolved(raw, schema)
    if member is None:
        raise Unreadable(f"has the field {name[:60]!r}, which can not be read")
    outer = member
    options = _options(member.get("anyOf"), schema)
    if options is not None and not _titled(member.get("anyOf")):
        # A value or null: it may be left out.
        real = [option for option in options if option.get("type") != "null"]
        if len(real) != 1 or len(real) == len(options):
            raise Unreadable(f"has the field {name[:60]!r}, which can be of several types")
        member = {**real[0], **{key: held for key, held in outer.items() if key != "anyOf"}}
    kind, choices, bounds = _kind(name, member, schema)
    least, most = (_number(member.get(bound)) for bound in bounds)
    if not _satisfiable(kind, least, most, len(choices)):
        raise Unreadable(f"has the field {name[:60]!r}, whose bounds leave no value")
    field = Field(
        name,
        kind,
        required,
        _text(member.get("title")),
        _text(member.get("description")),
        choices=choices,
        format=_text(member.get("format")) if kind is Kind.TEXT else None,
        least=least,
        most=most,
        pattern=_text(member.get("pattern")) if kind is Kind.TEXT else None,
    )
    default = member.get("default", _ABSENT)
    if default is _ABSENT or default is None or field.fault(default) is not None:
        return field
    return msgspec.structs.replace(field, default=default)


def _satisfiable(kind: Kind, least: float | None, most: float | None, choices: int) -> bool:
    """Whether there is a value within the bounds: nobody is asked for one that there is not."""
    if kind is Kind.SEVERAL:
        most = choices if most is None else min(most, choices)
    if kind is not Kind.NUMBER:
        least = None if least is None else math.ceil(least)
        most = None if most is None else math.floor(most)
    if kind in (Kind.TEXT, Kind.SEVERAL) and most is not None and most < 0:
        return False
    return least is None or most is None or least <= most


def _kind(
    name: str, member: Mapping[str, Any], schema: Mapping[str, Any]
) -> tuple[Kind, tuple[Choice, ...], tuple[str, str]]:
    """What it holds, its choices, and the keywords of its bounds."""
    told = member.get("type")
    if isinstance(told, list):
        real = [one for one in cast("list[Any]", told) if one != "null"]
        told = real[0] if len(real) == 1 else None
    choices = _choices(name, member)
    if told in ("string", None) and choices:
        return Kind.ONE, choices, ("", "")
    match told:
        case "string":
            return Kind.TEXT, (), ("minLength", "maxLength")
        case "number":
            return Kind.NUMBER, (), ("minimum", "maximum")
        case "integer":
            return Kind.INTEGER, (), ("minimum", "maximum")
        case "boolean":
            return Kind.SWITCH, (), ("", "")
        case "array":
            items = _resolved(member.get("items"), schema)
            inner = () if items is None else _choices(name, items)
            if inner:
                return Kind.SEVERAL, inner, ("minItems", "maxItems")
            raise Unreadable(f"has the field {name[:60]!r}, a list without choices")
        case _:
            what = told[:20] if isinstance(told, str) else "no type of a form"
            raise Unreadable(f"has the field {name[:60]!r}, which is of {what!r}")


def _choices(name: str, member: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The choices, in whichever way they are written."""
    found: list[Choice] = []
    for keyword in ("oneOf", "anyOf"):
        if _titled(member.get(keyword)):
            for option in member[keyword]:
                found.append(Choice(option["const"], _text(option.get("title"))))
            break
    else:
        values = member.get("enum")
        if not isinstance(values, list):
            if isinstance(member.get("const"), str):
                return (Choice(member["const"]),)
            return ()
        names = member.get("enumNames")  # 2025-06-18, and later as legacy
        titles = cast("list[Any]", names) if isinstance(names, list) else []
        for index, value in enumerate(cast("list[Any]", values)):
            if not isinstance(value, str):
                raise Unreadable(f"has the field {name[:60]!r}, with a choice that is no text")
            found.append(Choice(value, _text(titles[index]) if index < len(titles) else None))
    if len(found) > MAX_CHOICES:
        raise Unreadable(f"has the field {name[:60]!r}, of {len(found)} choices")
    return tuple({choice.value: choice for choice in found}.values())


def _titled(options: Any) -> bool:
    """Whether it is a list of choices with a `const` each."""
    if not isinstance(options, list) or not options:
        return False
    held = cast("list[Any]", options)
    return all(
        isinstance(one, dict) and isinstance(cast("dict[str, Any]", one).get("const"), str)
        for one in held
    )


def _options(value: Any, schema: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    if not isinstance(value, list):
        return None
    found = [_resolved(one, schema) for one in cast("list[Any]", value)]
    return [one for one in found if one is not None]


def _resolved(value: Any, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A member; a reference into the schema's own definitions is followed once."""
    if not isinstance(value, dict):
        return None
    member = cast("dict[str, Any]", value)
    reference = member.get("$ref")
    if reference is None:
        return member
    parts = reference.split("/") if isinstance(reference, str) else []
    if len(parts) != 3 or parts[0] != "#" or parts[1] not in ("$defs", "definitions"):
        return None
    definitions = schema.get(parts[1])
    found = (
        cast("dict[str, Any]", definitions).get(parts[2]) if isinstance(definitions, dict) else None
    )
    if not isinstance(found, dict) or "$ref" in found:
        return None
    return {**cast("dict[str, Any]", found), **{k: v for k, v in member.items() if k != "$ref"}}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= _LARGEST else None  # else nothing that could be shown


def _finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _is_time(value: str) -> bool:
    try:
        datetime.datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True


def _counted(number: float, what: str) -> str:
    return f"{number:g} {what}" + ("" if number == 1 else "s")
