"""What a function's docstring says: about the function, and about each parameter.

The three common forms are read: `Args:` (Google), `Parameters` underlined (NumPy), `:param x:`
(Sphinx). Whatever is not about parameters stays in the description, as it was written.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_GOOGLE_HEAD: Final = re.compile(r"(Args|Arguments|Parameters|Params):\s*")
_GOOGLE_ITEM: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ITEM: Final = re.compile(r"\*{0,2}(\w+)\s*(?::.*)?")
_SPHINX_ITEM: Final = re.compile(
    r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)
_SPHINX_TYPE: Final = re.compile(r":type\s+\w+\s*:.*")
_SPHINX_FIELD: Final = re.compile(r":\w+[^:]*:.*")


@dataclass(frozen=True, slots=True)
class Documented:
    """A docstring, read."""

    description: str
    """Without what is about parameters; may be empty."""
    parameters: Mapping[str, str]
    """What is said of each parameter, on one line; those of which nothing is said are absent."""


def read_docstring(text: str | None) -> Documented:
    """Read a docstring; None and any text at all are fine."""
    lines = inspect.cleandoc(text or "").splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if _GOOGLE_HEAD.fullmatch(line):
            at = _read_section(lines, at + 1, _GOOGLE_ITEM, parameters)
        elif line.strip() == "Parameters" and _is_underline(lines, at + 1):
            at = _read_numpy(lines, at + 2, parameters)
        elif match := _SPHINX_ITEM.fullmatch(line):
            at = _read_field(lines, at, match, parameters)
        elif _SPHINX_TYPE.fullmatch(line):
            at += 1
        else:
            kept.append(line)
            at += 1
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Documented(description, {name: said for name, said in parameters.items() if said})


def _read_section(
    lines: list[str], at: int, item: re.Pattern[str], parameters: dict[str, str]
) -> int:
    """Read the indented lines after `Args:`; returns where they end."""
    margin: int | None = None
    name: str | None = None
    while at < len(lines):
        line = lines[at]
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if indent == 0:
                break
            margin = indent if margin is None else margin
            match = item.fullmatch(line.strip()) if indent <= margin else None
            if match is not None:
                name = str(match[1])
                parameters[name] = match[2].strip()
            elif name is not None:
                parameters[name] = f"{parameters[name]} {line.strip()}".strip()
        at += 1
    return at


def _read_numpy(lines: list[str], at: int, parameters: dict[str, str]) -> int:
    name: str | None = None
    while at < len(lines):
        line = lines[at]
        if line and not line[0].isspace():
            if _is_underline(lines, at + 1):
                break
            match = _NUMPY_ITEM.fullmatch(line.strip())
            if match is None:
                break
            name = str(match[1])
            parameters[name] = ""
        elif name is not None and line.strip():
            parameters[name] = f"{parameters[name]} {line.strip()}".strip()
        at += 1
    return at


def _read_field(lines: list[str], at: int, match: re.Match[str], parameters: dict[str, str]) -> int:
    said = match[2].strip()
    at += 1
    while at < len(lines) and lines[at].strip() and not _SPHINX_FIELD.fullmatch(lines[at].strip()):
        said = f"{said} {lines[at].strip()}".strip()
        at += 1
    parameters[match[1]] = said
    return at


def _is_underline(lines: list[str], at: int) -> bool:
    return at < len(lines) and re.fullmatch(r"-{3,}\s*", lines[at]) is not None
