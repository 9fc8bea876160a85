"""URI templates (RFC 6570, all four levels): parsed strictly, expanded without surprises. No I/O.

A server's template and a caller's values come from two strangers. What is not of the grammar is
refused, not passed on as text, and a value never makes a step up or down of a path: `..` as such,
behind escapes, or put together from two values is refused (docs/decisions/0035).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

Value: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""Of a variable: a text, a list, or pairs (RFC 6570, 2.3). An empty list or mapping is undefined.
"""

MAX_TEMPLATE: Final = 8_192
"""Characters of a template that are read."""
MAX_VARIABLES: Final = 256
"""Places for a value, whichever variable they are for: each is written out."""
MAX_URI: Final = 65_536
"""Characters that an expansion may have."""

_RESERVED: Final = ":/?#[]@!$&'()*+,;="
_VARIABLE: Final = re.compile(
    r"((?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2})+)*)"
    r"(?::([1-9][0-9]{0,3})|(\*))?"
)
"""A name, and how much of the value counts, or that its parts stand apart. The hyphen is not in the
RFC; servers write it, and it means nothing else."""
_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_PIECE: Final = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BETWEEN: Final = re.compile(r"[/\\]")
_DECODINGS: Final = 4
"""How often escapes of escapes are undone before what is left is taken for what it is."""


class BadTemplate(ValueError):
    """A text that is no URI template. The message says why, in a clause."""


class BadValue(ValueError):
    """A value that can not go into a template. The message names the variable, never the value."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """How one kind of expression is written out (RFC 6570, appendix A)."""

    first: str = ""
    between: str = ","
    named: bool = False
    if_empty: str = ""
    """What follows the name of an empty value."""
    reserved: bool = False
    """Whether reserved characters, and escapes that are there already, stay."""
    in_path: bool = True
    """Whether what it makes can be a part of the path."""


_OPERATORS: Final[Mapping[str, _Operator]] = {
    "": _Operator(),
    "+": _Operator(reserved=True),
    "#": _Operator("#", reserved=True, in_path=False),
    ".": _Operator(".", "."),
    "/": _Operator("/", "/"),
    ";": _Operator(";", ";", named=True),
    "?": _Operator("?", "&", named=True, if_empty="=", in_path=False),
    "&": _Operator("&", "&", named=True, if_empty="=", in_path=False),
}


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable in an expression."""

    name: str
    prefix: int | None = None
    """How many characters of the value count; None: all."""
    explode: bool = False
    """Whether the parts of a list or of pairs stand apart."""


@dataclass(frozen=True, slots=True)
class _Expression:
    operator: _Operator
    variables: tuple[Variable, ...]


_Part: TypeAlias = str | _Expression


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A parsed template. Made by `parse`."""

    text: str
    """As it came."""
    _parts: tuple[_Part, ...]

    @classmethod
    def parse(cls, text: str) -> UriTemplate:
        """Read a template; one without an expression is a plain URI. Raises `BadTemplate`."""
        if len(text) > MAX_TEMPLATE:
            raise BadTemplate(f"longer than {MAX_TEMPLATE} characters")
        parts: list[_Part] = []
        at = 0
        while at < len(text):
            opening, closing = text.find("{", at), text.find("}", at)
            if closing >= 0 and not at <= opening < closing:
                raise BadTemplate(f"a closing brace without an opening one, at character {closing}")
            if opening < 0:
                parts.append(_literal(text[at:]))
                break
            if closing < 0:
                raise BadTemplate(f"a brace that is not closed, at character {opening}")
            if opening > at:
                parts.append(_literal(text[at:opening]))
            parts.append(_expression(text[opening + 1 : closing], opening))
            at = closing + 1
        template = cls(text, tuple(parts))
        if sum(len(p.variables) for p in parts if not isinstance(p, str)) > MAX_VARIABLES:
            raise BadTemplate(f"more than {MAX_VARIABLES} variables")
        return template

    @property
    def names(self) -> tuple[str, ...]:
        """Its variables, each once, in the order in which they come first."""
        found = (
            v.name for part in self._parts if not isinstance(part, str) for v in part.variables
        )
        return tuple(dict.fromkeys(found))

    @property
    def required(self) -> tuple[str, ...]:
        """Those of which something is missing in the URI if they have no value: the others bring
        their own sign along, and go without a trace."""
        plain = [p for p in self._parts if not isinstance(p, str) and not p.operator.first]
        found = (v.name for part in plain for v in part.variables)
        return tuple(dict.fromkeys(found))

    def expand(self, values: Mapping[str, Value]) -> str:
        """The URI that these values make. A variable without a value is left out (RFC 6570, 3.2.1).

        Raises `BadValue` for a name that the template has not, for what is no text or half a
        surrogate pair, for control characters and for steps (`.` and `..`) in the path, and for an
        expansion over `MAX_URI` characters.
        """
        for name in values:
            if name not in self.names:
                raise BadValue(f"the template has no variable {name[:80]!r}")
        made: list[str] = []
        path: list[str] = []
        bare: list[str] = []
        """The path as the template alone makes it, something harmless in place of each value."""
        in_path, size = True, 0
        for part in self._parts:
            if isinstance(part, str):
                text = plain = part
            else:
                text, plain = _expanded(part, values), f"{part.operator.first}x"
                in_path = in_path and part.operator.in_path
            made.append(text)
            size += len(text)
            if size > MAX_URI:
                raise BadValue(f"the values make a URI of more than {MAX_URI} characters")
            if in_path and isinstance(part, str) and (end := re.search(r"[?#]", part)):
                path.append(part[: end.start()])
                bare.append(part[: end.start()])
                in_path = False
            elif in_path:
                path.append(text)
                bare.append(plain)
        self._check(path, bare)
        return "".join(made)

    def _check(self, path: list[str], bare: list[str]) -> None:
        """Raise `BadValue` if values add steps, or control characters, to a path."""
        plain = _decoded("".join(path))
        if _CONTROL.search(plain):
            raise BadValue("a value puts a control character into the path")
        if _steps(plain) > _steps(_decoded("".join(bare))):
            raise BadValue(
                "a value makes a step, . or .., in the path: write the path that is meant"
            )

    def __str__(self) -> str:
        return self.text


def _literal(text: str) -> str:
    """Text between expressions, with what no URI may hold escaped (RFC 6570, 3.1)."""
    if _CONTROL.search(text):
        raise BadTemplate("a control character")
    try:
        return _escaped(text, reserved=True)
    except UnicodeEncodeError:
        raise BadTemplate("half a surrogate pair") from None


def _expression(text: str, at: int) -> _Expression:
    where = f"at character {at}"
    sign = text[:1] if text[:1] in _OPERATORS else ""
    variables: list[Variable] = []
    for word in text[len(sign) :].split(","):
        found = _VARIABLE.fullmatch(word)
        if found is None:
            raise BadTemplate(f"an expression that RFC 6570 does not know, {where}")
        name, prefix, star = found.groups()
        variables.append(Variable(name, None if prefix is None else int(prefix), star is not None))
    return _Expression(_OPERATORS[sign], tuple(variables))


def _expanded(expression: _Expression, values: Mapping[str, Value]) -> str:
    operator = expression.operator
    found = [
        text
        for variable in expression.variables
        if (value := values.get(variable.name)) is not None
        for text in _written(variable, value, operator)
    ]
    return operator.first + operator.between.join(found) if found else ""


def _written(variable: Variable, value: Value, operator: _Operator) -> Iterator[str]:
    """What one variable with a value becomes; nothing if it counts as undefined."""
    name = variable.name

    def escaped(text: object) -> str:
        if not isinstance(text, str):
            raise BadValue(f"the value of {name!r:.80} holds what is no text")
        try:
            return _escaped(text, reserved=operator.reserved)
        except UnicodeEncodeError:
            raise BadValue(f"the value of {name!r:.80} holds half a surrogate pair") from None

    def under(key: str, text: str) -> str:
        return f"{key}={text}" if text else f"{key}{operator.if_empty}"

    if isinstance(value, str):
        whole = value
        if variable.prefix is not None:
            pieces = _PIECE.findall(value) if operator.reserved else value
            whole = "".join(pieces[: variable.prefix])
        text = escaped(whole)
        yield under(name, text) if operator.named else text
        return
    if not isinstance(value, Mapping | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
        raise BadValue(f"the value of {name!r:.80} is no text, list or mapping")
    if not value:
        return
    if variable.prefix is not None:
        raise BadValue(f"of {name!r:.80} the first characters count, so it has to be a text")
    if isinstance(value, Mapping):
        pairs = [(escaped(k), escaped(v)) for k, v in value.items()]
        if variable.explode:
            yield from (under(k, v) if operator.named else f"{k}={v}" for k, v in pairs)
            return
        texts = [text for pair in pairs for text in pair]
    else:
        texts = [escaped(text) for text in value]
        if variable.explode:
            yield from (under(name, text) if operator.named else text for text in texts)
            return
    joined = ",".join(texts)
    yield under(name, joined) if operator.named else joined


def _escaped(text: str, *, reserved: bool) -> str:
    """Percent-encoded UTF-8; reserved characters and escapes stay if `reserved`."""
    if not reserved:
        return quote(text, safe="")
    made, at = "", 0
    for triplet in _TRIPLET.finditer(text):
        made += quote(text[at : triplet.start()], safe=_RESERVED) + triplet.group()
        at = triplet.end()
    return made + quote(text[at:], safe=_RESERVED)


def _decoded(text: str) -> str:
    """What a server may make of it, which undoes escapes once or more often."""
    for _ in range(_DECODINGS):
        again = unquote(text, errors="replace")
        if again == text:
            break
        text = again
    return text


def _steps(path: str) -> int:
    """How many segments are `.` or `..`, whatever follows them as parameters."""
    return sum(segment.partition(";")[0] in (".", "..") for segment in _BETWEEN.split(path))
