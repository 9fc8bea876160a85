"""`${NAME}` and `${NAME:-default}` in a value, replaced once from the environment.

What a variable holds is never looked at for further references. A `$` that begins neither stays as
it is; a literal `${` is written `$${`. A variable that is unset, empty or only white space needs a
default. One line end is trimmed from the end of a variable's value, because secrets that were read
from files end so; other control characters are refused (in `env`, inner line ends and tabs are
kept: a private key has them).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

_PLACEHOLDER = re.compile(
    r"(?P<escape>\$\$\{)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<rest>:-(?P<default>(?:[^{}$]|\$(?!\{))*))?\}"
    r"|(?P<other>\$\{)"
)
_SYNTAX_HINT = "write ${NAME} or ${NAME:-default}; a literal ${ is written $${"


class Fault(msgspec.Struct, frozen=True):
    """Why a reference can not be replaced. Names the variable, never its value."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """A value after expansion."""

    text: str = field(repr=False)
    variables: tuple[str, ...] = ()
    """The variables that stood in it, whether their value or their default was used."""
    faults: tuple[Fault, ...] = ()
    """With any of these the text is of no use."""


def has_reference(text: str) -> bool:
    """Whether expansion would change the text, or refuse it."""
    return "${" in text


def needed(text: str) -> tuple[str, ...]:
    """The variables that a text refers to without a default, in their order."""
    found = _PLACEHOLDER.finditer(text)
    return tuple(match["name"] for match in found if match["name"] and match["rest"] is None)


def expand(text: str, environ: Mapping[str, str] | None, *, many_lines: bool = False) -> Expanded:
    """Replace the references of one value.

    With `environ` None only the syntax is checked and the text comes back as it was written.
    `many_lines` keeps line ends and tabs inside a variable's value.
    """
    if "${" not in text:
        return Expanded(text)
    variables: list[str] = []
    faults: list[Fault] = []

    def replace(match: re.Match[str]) -> str:
        if match["escape"]:
            return "${"
        if match["other"]:
            faults.append(Fault("holds a ${ that is no reference", _SYNTAX_HINT))
            return ""
        name, default = match["name"], match["default"]
        variables.append(name)
        if environ is None:
            return ""
        value = environ.get(name, "")
        if not value.strip():
            if match["rest"] is not None:
                return default
            state = "only white space" if value else "empty" if name in environ else "not set"
            hint = f"set {name} in the environment, or write ${{{name}:-}} where nothing will do"
            faults.append(Fault(f"${{{name}}} is {state}", hint))
            return ""
        value = value.removesuffix("\n").removesuffix("\r")
        if fault := _unfit(name, value, many_lines):
            faults.append(fault)
            return ""
        return value

    result = _PLACEHOLDER.sub(replace, text)
    return Expanded(text if environ is None else result, tuple(variables), tuple(faults))


def _unfit(name: str, value: str, many_lines: bool) -> Fault | None:
    kept = "\n\r\t" if many_lines else ""
    for char in value:
        if char in kept:
            continue
        category = unicodedata.category(char)
        if category == "Cc":
            what = "a line end" if char in "\n\r" else f"the control character U+{ord(char):04X}"
            return Fault(f"the value of ${{{name}}} holds {what}", "take it out of the variable")
        if category == "Cs":
            return Fault(f"the value of ${{{name}}} is not UTF-8", "set it to valid UTF-8")
    return None
