"""The keys of a rule that says more than its text, and the kinds of their values."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec

from lockgate.settings.kinds import Choice, Pin, Switch, Text, scalar_text
from lockgate.settings.nodes import Listing, Node, Place, Scalar, Table, kind_of
from lockgate.settings.reading import MISSING, At, Key, Missing, Section

JSON: TypeAlias = Any

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_UNTIL_HINT: Final = "write 2027-01-01, or 2027-01-01T08:00:00+09:00"


class _LaterWins:
    """Kinds whose values are not joined across layers."""

    __slots__ = ()

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


class Moment(_LaterWins, msgspec.Struct, frozen=True):
    """Unix time, from a day (its beginning in UTC) or a date and time with offset (RFC 3339)."""

    words: str = "day | date and time with offset"

    def read(self, node: Node, at: At) -> float | Missing:
        """The time."""
        found = scalar_text(node, at, wanted="a day", hint=_UNTIL_HINT)
        if isinstance(found, Missing):
            return MISSING
        text = found[0]
        try:
            if _DAY.fullmatch(text):
                return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
            if _MOMENT.fullmatch(text):
                return datetime.fromisoformat(text.upper()).timestamp()
        except (ValueError, OverflowError):
            pass
        return at.fault(node, f"{text[:40]!r} is no day, nor a time with its offset", _UNTIL_HINT)


class Example(msgspec.Struct, frozen=True):
    """A call, as far as the rule speaks of it."""

    value: JSON
    """A text (the subject, or a tool's name) or an object of arguments."""
    place: Place
    path: str


class Examples(_LaterWins, msgspec.Struct, frozen=True):
    """A list of texts and objects of arguments."""

    words: str = "list of examples"

    def read(self, node: Node, at: At) -> tuple[Example, ...] | Missing:
        """The examples in order."""
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", 'write ["git status"]')
        found: list[Example] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            if isinstance(item, Listing):
                hint = "write a text, or arguments as {name: value}"
                inner.fault(item, "must be an example, not a list", hint)
                continue
            value = item.text if isinstance(item, Scalar) else json_value(item, inner)
            if not isinstance(value, Missing):
                found.append(Example(value, item.place, inner.path))
        return tuple(found)


def json_value(node: Node, at: At) -> JSON | Missing:
    """A value as JSON has it."""
    if isinstance(node, Listing):
        items = [json_value(item, at.item(index)) for index, item in enumerate(node.items)]
        return MISSING if any(isinstance(item, Missing) for item in items) else items
    if isinstance(node, Table):
        members = {name.text: json_value(value, at.key(name.text)) for name, value in node}
        broken = any(isinstance(value, Missing) for value in members.values())
        return MISSING if broken else members
    match node.type:
        case "null":
            return None
        case "boolean":
            return node.text.lower() == "true"
        case "number":
            return _number(node, at)
        case _:
            return node.text


def _number(node: Scalar, at: At) -> int | float | Missing:
    text = node.text
    if text[:2] in ("0x", "0o"):
        return int(text, 0)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = float("inf")
    if not abs(number) < float("inf"):
        return at.fault(node, "is no number that JSON has", "put it in quotes if it is a text")
    return number


_RULE: Final = Key(
    "rule", Text(), None, "required", "The calls it is about, as in a rule without other keys."
)
_REASON: Final = Key(
    "reason", Text(), None, "none", "Why it is there; told with every decision it makes."
)
_EXAMPLES: Final = (
    Key(
        "match",
        Examples(),
        (),
        "[]",
        "Calls that it has to mean, checked when the file is loaded: commands, paths or addresses"
        " for a rule about one, `{name: value}` for a rule about arguments, names of tools for any"
        " other.",
    ),
    Key("noMatch", Examples(), (), "[]", "Calls that it must not mean, checked likewise."),
)
ALLOW_RULE: Final = Section(
    "permissions.allow[]",
    "A rule that says more than its text.",
    (
        _RULE,
        _REASON,
        *_EXAMPLES,
        Key(
            "when",
            Choice(
                MappingProxyType(
                    {"attended": "attended", "unattended": "unattended", "any": "any"}
                ),
                MappingProxyType({}),
                "attended | unattended | any",
            ),
            "attended",
            "attended",
            "In which runs it answers.",
        ),
        Key(
            "until",
            Moment(),
            None,
            "forever",
            "From when on it answers no more: the beginning of this day in UTC, or this time.",
        ),
        Key(
            "destructive",
            Switch(),
            False,
            "false",
            "Whether it also answers for a tool that can destroy. It then names one tool, and"
            " constrains every argument of the call or ends in `...`.",
        ),
        Key(
            "pin",
            Pin(),
            None,
            "none",
            "The digest of the one definition it answers for. Under another one it says nothing.",
        ),
        Key(
            "exact",
            Switch(),
            False,
            "false",
            "Whether it answers only for calls without any other argument, in which no path leads"
            " elsewhere by a symbolic link. An answer for always is written down so.",
        ),
    ),
)
_HOLDS: Final = "ask and deny rules always hold: leave it out"
STRICT_RULE: Final = Section(
    "permissions.ask[] and permissions.deny[]",
    "The same for rules that always hold.",
    (_RULE, _REASON, *_EXAMPLES),
    told=MappingProxyType(dict.fromkeys(("when", "until", "destructive", "pin", "exact"), _HOLDS)),
)
