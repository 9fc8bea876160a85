"""One field of a form as a person sees it, and what a line that they type means. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from lockgate.bridges.arguments import scalar
from lockgate.bridges.question import row
from lockgate.bridges.stranger import labelled, their_words
from lockgate.mcp.protocol.form import Choice, Field, Kind
from lockgate.showing import folded, quoted

_YES: Final = frozenset({"y", "yes", "true", "on"})
_NO: Final = frozenset({"n", "no", "false", "off"})
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,300}")
_REAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_HIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMATS: Final[Mapping[str, str]] = {
    "email": "an e-mail address",
    "uri": "an address with its scheme (https://...)",
    "date": "a date, as in 2026-07-28",
    "date-time": "a date and time, as in 2026-07-28T09:30:00Z",
}


@dataclass(frozen=True, slots=True)
class Given:
    """A value for a field; `left_out` if it gets none."""

    value: Any = None
    left_out: bool = False


def field_lines(field: Field, width: int) -> Iterator[str]:
    """What is asked for, what it has to be, and which choices there are."""
    yield from labelled("name", quoted(field.name), width)
    if field.title is not None:
        yield from labelled("title", quoted(field.title[:200]), width)
    if field.description is not None:
        yield from their_words(field.description, width)
    yield from row("has to be", _kind(field), width)
    if field.choices:
        numbers = _numbered(field)
        how = "by number or as written" if numbers else "as written"
        several = ", several with commas between them" if field.kind is Kind.SEVERAL else ""
        yield from row("choose", how + several, width)
        for index, choice in enumerate(field.choices, 1):
            yield from labelled(f"{index}" if numbers else "-", _choice(choice), width)
    if field.has_default:
        yield from row("default", f"{value_text(field.default)} (an empty line)", width)


def prompt_of(field: Field) -> str:
    """What stands before the line that is typed."""
    if field.has_default:
        return "value [the default]: "
    return "value: " if field.required else "value [none]: "


def value_text(value: Any) -> str:
    """A value on one line, nothing hidden in it."""
    if isinstance(value, list):
        return ", ".join(map(scalar, cast("list[Any]", value))) or "no choice"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return scalar(value)


def understood_value(field: Field, typed: str) -> Given | str:
    """The value that a line gives to a field; a text says what is wrong with it instead.

    An empty line is the default if there is one, and else no value; `""` is the empty text.
    """
    if not typed:
        if field.has_default:
            return Given(field.default)
        return "it has to have a value" if field.required else Given(left_out=True)
    if _HIDDEN.search(typed):
        return "it holds a character that can not be seen, of an arrow key perhaps: type it again"
    value = _value(field, typed)
    if isinstance(value, _Wrong):
        return value.why
    wrong = field.fault(value)
    return Given(value) if wrong is None else f"it {wrong}"


class _Wrong:
    def __init__(self, why: str) -> None:
        self.why = why


def _value(field: Field, typed: str) -> Any:
    match field.kind:
        case Kind.TEXT:
            return "" if typed == '""' else typed
        case Kind.INTEGER:
            if _WHOLE.fullmatch(typed):
                return int(typed)
            return _Wrong("it has to be a whole number, as in 42")
        case Kind.NUMBER:
            if _WHOLE.fullmatch(typed):
                return int(typed)
            return float(typed) if _REAL.fullmatch(typed) else _Wrong("it has to be a number")
        case Kind.SWITCH:
            word = typed.casefold()
            if word in _YES or word in _NO:
                return word in _YES
            return _Wrong("it has to be yes or no")
        case Kind.ONE:
            return _chosen(field, typed)
        case Kind.SEVERAL:
            return _several(field, typed)


def _several(field: Field, typed: str) -> list[str] | _Wrong:
    made: list[str] = []
    for part in typed.split(","):
        found = _chosen(field, part.strip()) if part.strip() else None
        if isinstance(found, _Wrong):
            return found
        if found is not None and found not in made:
            made.append(found)
    return made


def _chosen(field: Field, typed: str) -> str | _Wrong:
    """A choice by its value, its title or its number, in that order."""
    for found in (
        [choice for choice in field.choices if choice.value == typed],
        [choice for choice in field.choices if choice.title == typed],
    ):
        if len(found) == 1:
            return found[0].value
    near = [c for c in field.choices if typed.casefold() in (c.value.casefold(), _folded(c))]
    if len(near) == 1:
        return near[0].value
    if _numbered(field) and typed.isascii() and typed.isdecimal() and len(typed) < 6:
        index = int(typed)
        if 0 < index <= len(field.choices):
            return field.choices[index - 1].value
    return _Wrong(f"{quoted(typed[:40])} is none of the choices")


def _folded(choice: Choice) -> str | None:
    return None if choice.title is None else choice.title.casefold()


def _numbered(field: Field) -> bool:
    """Whether a number can not be taken for a choice that is one itself."""
    return not any(
        text is not None and text.strip().isdecimal()
        for choice in field.choices
        for text in (choice.value, choice.title)
    )


def _choice(choice: Choice) -> str:
    if choice.title is None:
        return quoted(choice.value)
    return f"{quoted(choice.title)}, sent as {quoted(choice.value)}"


def _kind(field: Field) -> str:
    """What it has to be, in words."""
    parts: list[str] = [field.kind.value]
    if field.kind is Kind.TEXT and field.format is not None:
        parts = [_FORMATS.get(field.format, f"text of the format {quoted(field.format[:40])}")]
    unit = {Kind.TEXT: " characters", Kind.SEVERAL: " choices"}.get(field.kind, "")
    least, most = field.least, field.most
    if least is not None and most is not None:
        parts.append(f"{least:g} to {most:g}{unit}")
    elif least is not None:
        parts.append(f"at least {least:g}{unit}")
    elif most is not None:
        parts.append(f"at most {most:g}{unit}")
    if field.pattern is not None:
        parts.append(f"of the pattern {quoted(field.pattern[:80])}")
    parts.append("required" if field.required else "can be left out")
    return ", ".join(parts)


def remark_lines(remark: str, width: int) -> list[str]:
    """What is wrong, before it is asked again."""
    return folded(remark, width, "-> ", "   ")
