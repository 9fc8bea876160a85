"""From a typed function to the schema of its arguments, and from valid arguments to typed values.

msgspec reads the types, for the schema and for the conversion alike, so the two can not differ. An
inferred schema is closed: an argument nobody declared is refused, not ignored (S0-21), also inside
dataclasses, typed dictionaries and structs.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

import msgspec

from lockgate.schema.docstring import read_docstring
from lockgate.schema.walk import Node, nodes

_TEMPLATE: Final = "#/$defs/{name}"
_EXTRA_TYPES: Final[Mapping[type, Mapping[str, Any]]] = {Path: {"type": "string"}}
"""Types that msgspec leaves to us: each is made from a string by calling it."""


class SignatureError(TypeError):
    """A function whose arguments can not be described by a schema: which parameter, and why."""


class Signature:
    """What a function takes, as a schema and as a conversion. Immutable."""

    __slots__ = ("_struct", "description", "injected", "schema")

    def __init__(
        self,
        struct: type[msgspec.Struct],
        schema: Mapping[str, Any],
        description: str,
        injected: tuple[str, ...],
    ) -> None:
        self.schema = schema
        """JSON Schema 2020-12 of the arguments, an object with `additionalProperties: false`."""
        self.description = description
        """The docstring without what is about parameters."""
        self.injected = injected
        """Parameters that the caller fills in, which the schema does not show."""
        self._struct = struct

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments for the function, of the annotated types.

        `arguments` fit the schema; a parameter that is absent is left to the function's default.
        Raises `msgspec.ValidationError` for what a schema can not say: a date that is none, an
        integer written as 5.0, or an objection of a type's own constructor.
        """
        made = msgspec.convert(arguments, self._struct, dec_hook=_decode_extra)
        return {
            name: value
            for name in self._struct.__struct_fields__
            if (value := getattr(made, name)) is not msgspec.UNSET
        }


def infer(function: Callable[..., Any], *, injected: type | None = None) -> Signature:
    """Read the signature, the type hints and the docstring of `function`.

    Parameters annotated with the type `injected` are left out of the schema and listed. What a
    parameter means is taken from its annotation (`Annotated[str, "..."]`, or a `msgspec.Meta` with
    a description), else from the docstring.

    Raises `SignatureError` for a parameter that can not be given by name (`*args`, `**kwargs`,
    positional-only), has no type, or one that JSON has no form for.
    """
    name = getattr(function, "__qualname__", repr(function))
    hints = _hints(function, name)
    documented = read_docstring(inspect.getdoc(function))
    fields: list[tuple[str, Any, Any]] = []
    left_out: list[str] = []
    defaults: dict[str, Any] = {}
    described: dict[str, str] = {}
    for parameter in inspect.signature(function).parameters.values():
        where = f"{name}: the parameter {parameter.name}"
        if injected is not None and _is_injected(hints.get(parameter.name), injected):
            left_out.append(parameter.name)
            continue
        _refuse_unnameable(parameter, where)
        if parameter.name not in hints:
            raise SignatureError(
                f"{where} has no type: annotate it, with Any if it may be anything"
            )
        hint, said = _without_words(hints[parameter.name])
        if said := said or documented.parameters.get(parameter.name):
            described[parameter.name] = said
        _refuse_unfit(hint, where)
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, hint, msgspec.NODEFAULT))
        else:
            fields.append((parameter.name, hint | msgspec.UnsetType, msgspec.UNSET))
            defaults[parameter.name] = (hint, parameter.default)
    struct = msgspec.defstruct(
        "_ArgumentsOfTool",
        [(n, h) if d is msgspec.NODEFAULT else (n, h, d) for n, h, d in fields],
        kw_only=True,
        forbid_unknown_fields=True,
    )
    schema = _schema(struct, name)
    properties = cast("dict[str, Node]", schema["properties"])
    for parameter_name, said in described.items():
        properties[parameter_name].setdefault("description", said)
    for parameter_name, (hint, default) in defaults.items():
        _note_default(properties[parameter_name], hint, default)
    return Signature(struct, schema, documented.description, tuple(left_out))


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise SignatureError(f"{name}: a type annotation can not be resolved: {error}") from error
    hints.pop("return", None)
    return hints


def _is_injected(hint: Any, injected: type) -> bool:
    return hint is injected or (
        get_origin(hint) in (Union, types.UnionType)
        and set(get_args(hint)) == {injected, type(None)}
    )


def _refuse_unnameable(parameter: inspect.Parameter, where: str) -> None:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            raise SignatureError(f"{where} collects what is not named; name each parameter")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise SignatureError(f"{where} is positional-only; arguments are given by name")
        case _:
            if parameter.name.startswith("__"):
                raise SignatureError(f"{where} begins with two underscores; rename it")


def _without_words(hint: Any) -> tuple[Any, str | None]:
    """A hint without the plain strings that annotate it, and the last of these."""
    if get_origin(hint) is not Annotated:
        return hint, None
    bare, *extras = get_args(hint)
    words = [extra for extra in extras if isinstance(extra, str)]
    rest = tuple(extra for extra in extras if not isinstance(extra, str))
    return (Annotated[(bare, *rest)] if rest else bare), (words[-1] if words else None)


def _refuse_unfit(hint: Any, where: str) -> None:
    """Raise for a type that has no JSON form, naming the parameter it belongs to."""
    try:
        msgspec.json.schema_components((hint,), schema_hook=_extra_schema)
        msgspec.json.Decoder(hint, dec_hook=_decode_extra)
    except (TypeError, NotImplementedError, RecursionError) as error:
        first_line = str(error).strip().splitlines()[-1] if str(error).strip() else "no JSON form"
        raise SignatureError(
            f"{where} has a type that JSON has no form for: {first_line}"
        ) from error


def _schema(struct: type[msgspec.Struct], name: str) -> dict[str, Any]:
    try:
        (reference,), components = msgspec.json.schema_components(
            (struct,), schema_hook=_extra_schema, ref_template=_TEMPLATE
        )
    except TypeError as error:
        raise SignatureError(f"{name}: {error}") from error
    schema = components.pop(reference["$ref"].removeprefix(_TEMPLATE.format(name="")))
    del schema["title"]
    if not schema["required"]:
        del schema["required"]
    if components:
        schema["$defs"] = components
    for _, node in nodes(schema):
        if "properties" in node:
            node.setdefault("additionalProperties", False)
    return schema


def _note_default(schema: Node, hint: Any, default: Any) -> None:
    """Put a default into the schema if it is JSON and of its parameter's own type."""
    try:
        plain = msgspec.to_builtins(default, enc_hook=_encode_extra)
        msgspec.convert(plain, hint, dec_hook=_decode_extra)
    except (TypeError, ValueError, NotImplementedError):
        return
    schema["default"] = plain


def _extra_schema(kind: type) -> dict[str, Any]:
    if kind in _EXTRA_TYPES:
        return dict(_EXTRA_TYPES[kind])
    raise NotImplementedError


def _decode_extra(kind: type, value: Any) -> Any:
    if kind in _EXTRA_TYPES and isinstance(value, str):
        return kind(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def _encode_extra(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError
