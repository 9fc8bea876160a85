"""`src/**/*.{ts,tsx}`: which files Glob means, by their path from the searched directory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from lockgate.builtin.files.problem import wrong_argument
from lockgate.rules.glob import Glob, GlobError

MAX_ALTERNATIVES: Final = 100
"""Patterns that one with braces may stand for."""


class _Bad(ValueError):
    """Why a text is no pattern."""


@dataclass(frozen=True, slots=True)
class FilePattern:
    """One without a slash means names at any depth; else it starts at the searched directory."""

    alternatives: tuple[tuple[Glob | None, ...], ...]
    """Each from left to right; None is `**`, any number of directories."""

    @classmethod
    def parse(cls, text: str, argument: str = "pattern") -> Self:
        """Read a pattern, which is given as that argument. Raises `FileProblem`."""
        try:
            if text.startswith(("/", "~")):
                raise _Bad("it is relative; give the directory to search as `path`")
            return cls(tuple(_parts(one) for one in _expanded(text)))
        except _Bad as bad:
            raise wrong_argument("pattern", f"{argument}: {bad}") from None

    @property
    def anchored(self) -> bool:
        """Whether it starts at the searched directory."""
        return all(parts[0] is not None for parts in self.alternatives)

    def matches(self, name: str, *, folds_case: bool) -> bool:
        """Whether a file is meant; `name` has `/` between its parts."""
        names = name.split("/")
        return any(_matches(parts, names, folds_case) for parts in self.alternatives)


def _parts(text: str) -> tuple[Glob | None, ...]:
    parts: list[Glob | None] = [] if "/" in text.rstrip("/") else [None]
    for word in text.split("/"):
        if word in ("", "."):
            continue
        if word == "..":
            raise _Bad("it can not go up; give the directory to search as `path`")
        if word == "**":
            if not parts or parts[-1] is not None:
                parts.append(None)
            continue
        try:
            parts.append(Glob.parse(word))
        except GlobError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise _Bad(f"it {error.message}{hint}") from None
    if not parts or parts[-1] is None:  # `src/**` means the files below src
        parts.append(Glob.parse("*"))
    return tuple(parts)


def _matches(parts: tuple[Glob | None, ...], names: list[str], folds_case: bool) -> bool:
    """Only the last `**` that was met is tried again: what an earlier one could take, it can."""
    part = name = 0
    wide, resume = -1, 0
    while name < len(names):
        glob = parts[part] if part < len(parts) else None
        if part < len(parts) and glob is None:
            wide, resume = part, name
            part += 1
            continue
        if glob is not None and glob.may_mean(names[name], folds_case=folds_case):
            part += 1
            name += 1
            continue
        if wide < 0:
            return False
        resume += 1
        part, name = wide + 1, resume
    return part == len(parts)


def _expanded(text: str) -> list[str]:
    """The patterns that one with braces stands for."""
    waiting, done = [text], list[str]()
    while waiting:
        one = waiting.pop()
        found = _first_braces(one)
        if found is None:
            done.append(one)
        else:
            start, end, choices = found
            waiting += [one[:start] + choice + one[end:] for choice in choices]
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise _Bad(f"its braces stand for over {MAX_ALTERNATIVES} patterns")
    return done


def _first_braces(text: str) -> tuple[int, int, list[str]] | None:
    """Where the first pair of braces is, and what stands between its commas."""
    start, depth, choices, at = -1, 0, list[str](), 0
    begin = 0
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1
        elif character == "{":
            if depth == 0:
                start, begin = at, at + 1
            depth += 1
        elif character == "," and depth == 1:
            choices.append(text[begin:at])
            begin = at + 1
        elif character == "}" and depth:
            depth -= 1
            if depth == 0:
                return start, at + 1, [*choices, text[begin:at]]
        at += 1
    if depth:
        raise _Bad(r"it has a { without its }; write \{ for itself")
    return None
