"""Templates of declared hooks: `{{tool_input.a.b}}`, `{{context.x}}`, `{{env.X}}`.

What stands for a reference is inserted as a value, once, and never read again: a value that looks
like a reference stays what it is, and none can end a text it stands in. A text that is nothing but
one reference becomes the value, with its type; inside a longer text scalars become text. Parsed
when the configuration is read; whatever is not there when it is rendered fails the hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

import msgspec

JSON: TypeAlias = Any

ROOTS: Final = ("tool_input", "context", "env")
"""What a reference may begin with: the arguments of the call, the whole of what the hook is told,
variables of the environment that the configuration lists."""

MAX_DEPTH: Final = 32
"""Levels of nesting that a template may have."""

_MARK: Final = re.compile(r"\\\{\{|\{\{(.*?)\}\}|\{\{", re.DOTALL)
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_$-]+")
_HINT: Final = "write {{tool_input.NAME}}, {{context.NAME}} or {{env.NAME}}; a literal {{ is \\{{"


class TemplateError(ValueError):
    """What is written is no template. The text names the reference, and `hint` what to write."""

    def __init__(self, message: str, hint: str = _HINT, where: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.where = where
        """Where in the value, such as `.labels[0]`; empty for the value itself."""


class NotThere(LookupError):
    """A reference leads to nothing, or to what can not stand there. The text holds no value."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One `{{...}}`."""

    root: str
    """One of `ROOTS`."""
    path: tuple[str, ...]
    """Names of members, and positions in lists; never empty for `env`."""

    def __str__(self) -> str:
        return f"{{{{{'.'.join((self.root, *self.path))}}}}}"


@dataclass(frozen=True, slots=True)
class Joined:
    """A text with references in it."""

    parts: tuple[str | Reference, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Members:
    """An object; names are never templates."""

    items: tuple[tuple[str, Template], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Template, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that stands for itself: a scalar."""

    value: JSON = field(repr=False)


Template: TypeAlias = Reference | Joined | Members | Items | Literal


def parse_template(value: JSON, variables: frozenset[str] | None = None) -> Template:
    """Read a JSON value in which texts may hold references.

    `variables` are the names that `{{env.X}}` may use; None: any. Raises `TemplateError`.
    """
    return _parsed(value, variables, "", 0)


def references(template: Template) -> Iterator[Reference]:
    """Every reference in it, in order."""
    match template:
        case Reference():
            yield template
        case Joined():
            yield from (part for part in template.parts if isinstance(part, Reference))
        case Members():
            for _, inner in template.items:
                yield from references(inner)
        case Items():
            for inner in template.items:
                yield from references(inner)
        case Literal():
            return


def render(template: Template, data: Mapping[str, JSON], env: Mapping[str, str]) -> JSON:
    """The value that `template` makes of what a hook is told. Pure.

    `data` is `HookInput.data()`, `env` the listed variables that are set. Raises `NotThere`.
    """
    match template:
        case Literal():
            return template.value
        case Reference():
            return _found(template, data, env)
        case Joined():
            parts = (
                part if isinstance(part, str) else _text(part, _found(part, data, env))
                for part in template.parts
            )
            return "".join(parts)
        case Members():
            return {name: render(inner, data, env) for name, inner in template.items}
        case Items():
            return [render(inner, data, env) for inner in template.items]


def written(template: Template) -> JSON:
    """The JSON value that it was parsed from, for people who are to accept it."""
    match template:
        case Literal():
            return _escaped(template.value) if isinstance(template.value, str) else template.value
        case Reference():
            return str(template)
        case Joined():
            parts = (_escaped(p) if isinstance(p, str) else str(p) for p in template.parts)
            return "".join(parts)
        case Members():
            return {name: written(inner) for name, inner in template.items}
        case Items():
            return [written(inner) for inner in template.items]


def _escaped(text: str) -> str:
    return text.replace("{{", "\\{{")


def _parsed(value: JSON, variables: frozenset[str] | None, where: str, depth: int) -> Template:
    if depth > MAX_DEPTH:
        raise TemplateError(f"is nested over {MAX_DEPTH} levels deep", "write it flatter", where)
    if isinstance(value, str):
        return _of_text(value, variables, where)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, JSON]", value).items()
        return Members(
            tuple(
                (_name(name, where), _parsed(inner, variables, f"{where}.{name}", depth + 1))
                for name, inner in members
            )
        )
    if isinstance(value, list | tuple):
        items = cast("list[JSON]", value)
        return Items(
            tuple(
                _parsed(inner, variables, f"{where}[{index}]", depth + 1)
                for index, inner in enumerate(items)
            )
        )
    return Literal(value)


def _name(name: str, where: str) -> str:
    if "{{" in name:
        hint = "only values are templates: write the name as it is"
        raise TemplateError("has a reference in the name of a member", hint, where)
    return name


def _of_text(text: str, variables: frozenset[str] | None, where: str) -> Template:
    parts: list[str | Reference] = []
    at = 0
    for mark in _MARK.finditer(text):
        parts.append(text[at : mark.start()])
        at = mark.end()
        if mark.group().startswith("\\"):
            parts.append("{{")
        elif mark[1] is None:
            raise TemplateError("has a {{ without its }}", where=where)
        else:
            parts.append(_reference(mark[1], variables, where))
    parts.append(text[at:])
    kept = _merged(parts)
    if not kept:
        return Literal("")
    if len(kept) == 1:
        only = kept[0]
        return Literal(only) if isinstance(only, str) else only
    return Joined(kept)


def _merged(parts: list[str | Reference]) -> tuple[str | Reference, ...]:
    """Without empty texts, neighbouring ones made one."""
    kept: list[str | Reference] = []
    for part in parts:
        if isinstance(part, str) and kept and isinstance(kept[-1], str):
            kept[-1] += part
        elif part:
            kept.append(part)
    return tuple(kept)


def _reference(inside: str, variables: frozenset[str] | None, where: str) -> Reference:
    root, *path = inside.strip().split(".")
    shown = f"{{{{{inside.strip()[:60]}}}}}"
    if root not in ROOTS:
        raise TemplateError(f"{shown} begins with none of {', '.join(ROOTS)}", where=where)
    for segment in path:
        if not _SEGMENT.fullmatch(segment):
            hint = "names are separated by dots, of letters, digits, _, $ and -; positions in lists"
            raise TemplateError(f"{shown} can not be read", f"{hint} count from 0", where)
    if root == "env":
        if len(path) != 1:
            raise TemplateError(f"{shown} names no variable", where=where)
        if variables is not None and path[0] not in variables:
            hint = f"list it: hookVariables: [{path[0]}]"
            raise TemplateError(f"{shown} is no variable that hooks may use", hint, where)
    return Reference(root, tuple(path))


def _found(reference: Reference, data: Mapping[str, JSON], env: Mapping[str, str]) -> JSON:
    if reference.root == "env":
        try:
            return env[reference.path[0]]
        except KeyError:
            raise NotThere(f"{reference} is not set") from None
    value: JSON = data if reference.root == "context" else data.get("tool_input")
    if reference.root == "tool_input" and value is None:
        raise NotThere(f"{reference}: this event is about no call")
    for segment in reference.path:
        if isinstance(value, Mapping) and segment in value:
            value = cast("Mapping[str, JSON]", value)[segment]
        elif isinstance(value, list | tuple) and _index(segment, cast("list[JSON]", value)):
            value = cast("list[JSON]", value)[int(segment)]
        else:
            raise NotThere(f"{reference} leads to nothing")
    return value


def _index(segment: str, items: list[JSON]) -> bool:
    right = segment.isascii() and segment.isdecimal() and len(segment) < 10
    return right and int(segment) < len(items)


def _text(reference: Reference, value: JSON) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    raise NotThere(f"{reference} is no text, number or switch, and stands inside a text")
