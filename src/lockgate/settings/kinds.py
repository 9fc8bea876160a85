"""The kinds of single values: text, switches, durations, words from a list, paths, and lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lockgate.settings.expansion import has_reference
from lockgate.settings.findings import spelling_hint
from lockgate.settings.nodes import Listing, Node, Scalar, is_null, kind_of
from lockgate.settings.reading import MISSING, At, Missing

MAX_SECONDS = 86_400.0
"""The longest duration: 24 hours."""

_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|s|m|h|d)?")
_UNIT: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": MAX_SECONDS}
_PIN = re.compile(r"[0-9a-fA-F]{64}")
_DURATION_HINT = "write 30s, 500ms, 2m or a number of seconds; over 0 and at most 24h"
_DAYS_HINT = "write 30m, 12h, 7d or a number of seconds; over 0 and at most "


class _LaterWins:
    """Kinds whose values are not joined across layers."""

    __slots__ = ()

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


def scalar_text(
    node: Node, at: At, *, wanted: str, hint: str | None = None, many_lines: bool = False
) -> tuple[str, bool] | Missing:
    """The text of a scalar (expanded) and whether a variable was in it; a finding otherwise.

    Numbers and switches count as the text that was written: `8080` is "8080", `0x50` is "0x50".
    """
    if not isinstance(node, Scalar):
        return at.fault(node, f"must be {wanted}, not {kind_of(node)}", hint)
    if is_null(node):
        return at.fault(node, f"must be {wanted}, not nothing", 'an empty text is written ""')
    return at.text(node, many_lines=many_lines)


class Text(_LaterWins, msgspec.Struct, frozen=True):
    """Any text that is not empty."""

    words: str = "text"

    def read(self, node: Node, at: At) -> str | Missing:
        """The text."""
        found = scalar_text(node, at, wanted="text")
        if isinstance(found, Missing):
            return MISSING
        if not found[0].strip():
            return at.fault(node, "is empty", "give a text, or remove the key")
        return found[0]


class Switch(_LaterWins, msgspec.Struct, frozen=True):
    """`true` or `false`; text counts as well, so that a variable can hold it."""

    words: str = "true | false"

    def read(self, node: Node, at: At) -> bool | str | Missing:
        """The switch; as text while variables are not expanded."""
        found = scalar_text(node, at, wanted="true or false")
        if isinstance(found, Missing):
            return MISSING
        text, from_variable = found
        if from_variable and at.environ is None:
            return text
        match text:
            case "true" | "True" | "TRUE":
                return True
            case "false" | "False" | "FALSE":
                return False
            case _:
                return at.fault(node, f"{_shown(node, from_variable)} is neither true nor false")


class Duration(_LaterWins, msgspec.Struct, frozen=True):
    """Seconds as a float, from `30s`, `500ms`, `2m`, `1h` or a plain number of seconds."""

    words: str = "duration"
    days: int | None = None
    """The longest it may be, which may then be written in days (`7d`); None: 24 hours."""

    def read(self, node: Node, at: At) -> float | str | Missing:
        """The seconds; as text while variables are not expanded."""
        hint = _DURATION_HINT if self.days is None else f"{_DAYS_HINT}{self.days}d"
        found = scalar_text(node, at, wanted="a duration", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        text, from_variable = found
        if from_variable and at.environ is None:
            return text
        match = _DURATION.fullmatch(text)
        seconds = float(match[1]) * _UNIT[match[2] or "s"] if match else 0.0
        fits = self.days is not None or not match or match[2] != "d"
        if not (fits and 0 < seconds <= MAX_SECONDS * (self.days or 1)):
            shown = _shown(node, from_variable)
            return at.fault(node, f"{shown} is no usable duration", hint)
        return seconds


class Pin(_LaterWins, msgspec.Struct, frozen=True):
    """The digest of a tool's definition."""

    words: str = "64 hexadecimal digits"

    def read(self, node: Node, at: At) -> str | Missing:
        """The digits, in lower case."""
        hint = "lockgate pins show TOOL prints it"
        found = scalar_text(node, at, wanted="a digest", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        if not _PIN.fullmatch(found[0]):
            return at.fault(node, "is not 64 hexadecimal digits", hint)
        return found[0].lower()


class Choice(_LaterWins, msgspec.Struct, frozen=True):
    """One word of a list; never expanded."""

    options: Mapping[str, Any]
    """Each spelling with its value."""
    told: Mapping[str, str]
    """Words that deserve a sentence of their own."""
    words: str

    def read(self, node: Node, at: At) -> Any:
        """The value that the word stands for."""
        listed = ", ".join(self.options)
        if not isinstance(node, Scalar) or is_null(node):
            return at.fault(node, f"must be a word, not {kind_of(node)}", f"one of: {listed}")
        if node.text in self.options:
            return self.options[node.text]
        if node.text in self.told:
            return at.fault(node, f"{_shown(node, False)} can not be used", self.told[node.text])
        if "${" in node.text:
            return at.fault(node, "variables do not expand here", f"one of: {listed}")
        if not self.options:
            return at.fault(node, f"unknown value {_shown(node, False)}", "leave the list empty")
        hint = spelling_hint(node.text, self.options, what="one of")
        return at.fault(node, f"unknown value {_shown(node, False)}", hint)


class Many(_LaterWins, msgspec.Struct, frozen=True):
    """A list of values of one kind."""

    each: Any
    words: str
    unique: bool = True
    hint: str | None = None

    def read(self, node: Node, at: At) -> tuple[Any, ...] | Missing:
        """The values in order."""
        if not isinstance(node, Listing):
            hint = self.hint or "write [first, second] or one item a line, each after a dash"
            return at.fault(node, f"must be a list, not {kind_of(node)}", hint)
        values: list[Any] = []
        for index, item in enumerate(node.items):
            found = self.each.read(item, at.item(index))
            if isinstance(found, Missing):
                continue
            if self.unique and found in values:
                at.item(index).fault(item, "stands twice in the list")
            values.append(found)
        return tuple(values)


class Argument(_LaterWins, msgspec.Struct, frozen=True):
    """One argument of a command: any text, also an empty one."""

    words: str = "text"

    def read(self, node: Node, at: At) -> str | Missing:
        """The text; never shown in a message."""
        found = scalar_text(node, at, wanted="text")
        if isinstance(found, Missing):
            return MISSING
        return _without_nul(found[0], node, at)


class Command(_LaterWins, msgspec.Struct, frozen=True):
    """One program: a bare name for PATH, or a path, relative to the file."""

    words: str = "program"

    def read(self, node: Node, at: At) -> str | Missing:
        """The program, its path made absolute; as it was written while nothing is expanded."""
        hint = None
        if isinstance(node, Listing):
            hint = "command is one program; its arguments go into args: [...]"
        found = scalar_text(node, at, wanted="one program", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        text, _ = found
        if isinstance(_without_nul(text, node, at), Missing):
            return MISSING
        if not text.strip():
            return at.fault(node, "is empty", "name the program to start")
        if at.environ is None and has_reference(text):
            return text
        if "/" not in text and not text.startswith("~"):
            if re.search(r"\s", text):
                hint = "command is one program; its arguments go into args: [...]"
                return at.fault(node, "holds white space", hint)
            return text
        path = _path_of(text, node, at)
        if isinstance(path, Missing):
            return MISSING
        return text if at.environ is None else str(path)


class Directory(_LaterWins, msgspec.Struct, frozen=True):
    """A directory, relative to the file. Whether it is there shows when the server starts."""

    words: str = "path"
    noun: str = "directory"
    """What it is a path of, such as `file`."""

    def read(self, node: Node, at: At) -> Path | str | Missing:
        """The absolute path; the text as it was written while nothing is expanded."""
        found = scalar_text(node, at, wanted="a path")
        if isinstance(found, Missing):
            return MISSING
        text, _ = found
        if isinstance(_without_nul(text, node, at), Missing):
            return MISSING
        if not text.strip():
            return at.fault(node, "is empty", f"name a {self.noun}, or remove the key")
        if at.environ is None and has_reference(text):
            return text
        path = _path_of(text, node, at)
        return text if at.environ is None and not isinstance(path, Missing) else path


class ModelName(_LaterWins, msgspec.Struct, frozen=True):
    """`provider:model`; `scripted:PATH` has a path, relative to the file."""

    words: str = "`provider:model`"

    def read(self, node: Node, at: At) -> str | Missing:
        """The name as it stands, of a script with its absolute path."""
        hint = "write provider:model, such as anthropic:claude-sonnet-4-6, or scripted:PATH"
        found = scalar_text(node, at, wanted="a model", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        if at.environ is None and has_reference(found[0]):
            return found[0]
        scheme, colon, rest = found[0].partition(":")
        if not colon or not scheme.strip() or not rest.strip():
            return at.fault(node, "names no usable model", hint)
        if scheme != "scripted":
            return found[0]
        path = _path_of(rest, node, at)
        if isinstance(path, Missing):
            return MISSING
        return found[0] if at.environ is None else f"scripted:{path}"


def _path_of(text: str, node: Node, at: At) -> Path | Missing:
    if text.startswith("~"):
        first, _, rest = text.partition("/")
        if first != "~":
            return at.fault(node, "~NAME is not expanded", "write the whole path")
        if at.environ is None:
            return Path(text)
        home = at.environ.get("HOME", "")
        if home and not Path(home).is_absolute():
            return at.fault(node, "~ needs HOME, which is no full path", "write the whole path")
        if not home:
            return at.fault(node, "~ needs HOME, which is not set", "write the whole path")
        return Path(home) / rest
    # Joined, never normalised: `link/../x` may be elsewhere than `x`.
    return at.folder / text


def _without_nul(text: str, node: Node, at: At) -> str | Missing:
    if "\0" in text:
        return at.fault(node, "holds a NUL character", "no program can be handed one")
    return text


def _shown(node: Node, from_variable: bool) -> str:
    text = node.text if isinstance(node, Scalar) else ""
    if from_variable:
        names = re.findall(r"\$\{[A-Za-z_][A-Za-z0-9_]*", text)
        return f"the value of {' and '.join(name + '}' for name in names)}"
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
