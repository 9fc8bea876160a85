"""`./docs/**`: which files a rule means, by the real, absolute path of what a call names.

| written | means |
|---|---|
| `.env`, `*.pem`, `**/keys/*` | at any depth |
| `./docs/a.md`, `docs/a.md` | from the directory of the configuration |
| `/srv/data/*`, `~/notes/**` | from the root, from the person's home |
| `docs/**` | whatever lies below `docs` |
| `docs/` | the directory `docs` and whatever lies below it |

`*`, `?` and `[...]` never mean a slash, a `**` stands alone between two slashes, and a backslash
takes a character's meaning away. An allow rule means exactly what is written, of the real path
alone; a deny or ask rule also what lies below, and a path as it is written besides where it leads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from lockgate.rules.glob import Glob, GlobError
from lockgate.rules.matcher import Match
from lockgate.tools.subject import Resolved, ResolvedPath, SubjectKind

_LONGEST: Final = 4096
"""Characters; no path is longer."""
_REORDERING: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters that change the order in which others are shown: a rule would not read as it is."""

_Parts = tuple[Glob | None, ...]
"""Of a pattern, from the root; None is `**`, any number of names."""
_ANY_NAME: Final = Glob.parse("*")


class PathPatternError(ValueError):
    """A pattern that can not be read: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Which files are meant."""

    text: str
    """As it was written."""
    source: str | None
    """Where the rule stands (file and key path), for reasons."""
    absolute: bool
    """Written from the root or the home directory: it may mean what lies outside the file roots."""
    constrains: bool
    """False if it means everything there is, such as `*`, `**` or `/**`."""
    _entry: _Parts = field(repr=False)
    _tree: bool = field(repr=False)
    """Written with a slash at the end: a directory and all that is below."""
    _strict: tuple[_Parts, ...] = field(repr=False)
    """What a deny or ask rule means: the pattern, and where its leading directories really are."""
    _hints: tuple[str, ...] = field(repr=False)
    """A text for each of `_strict` that is in every path which is spelled exactly as it means."""

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        base: str,
        home: str | None,
        source: str | None = None,
        real: Callable[[str], str] | None = None,
    ) -> Self:
        """Read a pattern. Raises `PathPatternError`.

        `base` and `home` are the real, absolute directories that `./` and `~/` stand for; without
        `home` a `~` is an error. `real`, which must not raise, tells where a directory that is
        written without wildcards really is, now: a deny or ask rule then also means its files by
        that name.
        """
        _check_text(text)
        anchor, rest, absolute = _anchor(text, base, home)
        start = (
            None if anchor is None else [Glob.of_name(name) for name in anchor.split("/") if name]
        )
        parts = _parts(start, rest)
        tree = text.endswith("/") or not rest
        if not rest and text == "~":
            tree = False
        strict = [_strictly(parts)]
        if real is not None and (known := _known(parts)):
            there = real("/" + "/".join(known))
            names = tuple([Glob.of_name(name) for name in there.split("/") if name])
            strict.append(_strictly(names + parts[len(known) :]))
        unbound = None in parts or tree
        constrains = any(part is not None and part.constrains for part in parts) or not unbound
        entry = parts
        if len(parts) > 1 and parts[-1] is None and not tree:
            entry = (*parts[:-1], _ANY_NAME, None)
        hints = tuple(map(_hint, strict))
        return cls(text, source, absolute, constrains, entry, tree, tuple(strict), hints)

    @property
    def kind(self) -> SubjectKind:
        """The kind of subject it is a pattern for."""
        return SubjectKind.PATH

    def allows(self, resolved: Resolved) -> bool:
        """Whether the real path is meant for certain, exactly as it is written.

        Not for a path that could not be resolved, and outside of the file roots only if the pattern
        is `absolute`.
        """
        if not isinstance(resolved, ResolvedPath) or resolved.problem is not None:
            return False
        if resolved.root is None and not self.absolute:
            return False
        folds = resolved.folds_case
        if not folds and self._hints[0] not in resolved.real:
            return False
        names = _names(resolved.real)
        if not self._tree:
            return _matches(self._entry, names, folds, certain=True)
        if resolved.directory and _matches(self._entry, names, folds, certain=True):
            return True
        return _matches((*self._entry, _ANY_NAME, None), names, folds, certain=True)

    def catches(self, resolved: Resolved) -> Match:
        """How far a path is meant by a rule that has to hold.

        It is if its real path, the path as it is written, or a directory above either is; and if it
        could not be resolved. MAYBE for one of which it is not known where it starts.
        """
        if not isinstance(resolved, ResolvedPath):
            return Match.YES
        if resolved.unplaced:
            return self._wherever(resolved.lexical)
        if resolved.problem is not None:
            return Match.YES
        real, lexical, folds = resolved.real, resolved.lexical, resolved.folds_case
        for path in (real,) if lexical == real else (real, lexical):
            names: list[str] | None = None
            exactly = not folds and path.isascii()
            for parts, hint in zip(self._strict, self._hints, strict=True):
                if exactly and hint not in path:
                    continue
                names = names or _names(path)
                if _matches(parts, names, folds, certain=False):
                    return Match.YES
        return Match.NO

    def _wherever(self, relative: str) -> Match:
        """How far a path is meant that starts nobody knows where: for certain if a pattern for any
        directory means its names. Else it may be, as any of them may be a link."""
        names = [] if relative.startswith("..") else _names(relative)
        anywhere = (parts for parts in self._strict if parts and parts[0] is None)
        certain = any(_matches(parts, names, folds=False, certain=False) for parts in anywhere)
        return Match.YES if certain else Match.MAYBE

    def may_lie_below(self, resolved: Resolved) -> bool:
        """Whether something that a deny or ask rule means may lie in a directory, by its name.

        For tools that reach into a directory and can not be told to leave files out.
        """
        if not isinstance(resolved, ResolvedPath) or resolved.problem is not None:
            return True
        if not resolved.directory:
            return False
        return any(
            _leads_to(parts, _names(path), resolved.folds_case)
            for path in (resolved.real, resolved.lexical)
            for parts in self._strict
        )


def _check_text(text: str) -> None:
    if not text:
        raise PathPatternError("names no file", "write a path, as in ./docs/**")
    if len(text) > _LONGEST:
        raise PathPatternError(f"is longer than any path ({_LONGEST} characters)")
    if text[0].isspace() or (text[-1].isspace() and not text.endswith("\\ ")):
        raise PathPatternError("begins or ends with a space", r"leave it out, or write it as '\ '")
    if text[0] == "!":
        raise PathPatternError(
            "begins with !, and no rule takes back another",
            r"write a rule in the list that it belongs to, or \! for the character itself",
        )
    if text[0] == "$" or "${" in text:
        raise PathPatternError(
            "has a variable, and rules are taken as written", "write ~/ for home"
        )
    for at, character in enumerate(text):
        if character in "{}" and text[at - 1 : at] != "\\":
            raise PathPatternError(
                f"has a {character}, and no rule has alternatives",
                rf"write a rule for each, or \{character} for the character itself",
            )
        if unicodedata.category(character) in ("Cc", "Cs") or character in _REORDERING:
            raise PathPatternError(
                f"has the character U+{ord(character):04X}, which can not be seen",
                "write ? in its place",
            )


def _anchor(text: str, base: str, home: str | None) -> tuple[str | None, str, bool]:
    """Where a pattern starts (None: anywhere), what of it remains, and whether it is absolute."""
    if text.startswith("/"):
        return "/", text.strip("/"), True
    if text == "~" or text.startswith("~/"):
        if home is None:
            raise PathPatternError("begins with ~, and there is no home directory", "write it out")
        return home, text[1:].strip("/"), True
    if text.startswith("~"):
        raise PathPatternError(
            "begins with ~ and the name of a user",
            r"write the path, or \~ for the character itself",
        )
    rest = text.rstrip("/")
    first, slash, _ = rest.partition("/")
    if first == "**" or (not slash and first not in (".", "..")):
        return None, rest, False
    return base, rest, False


def _parts(start: Sequence[Glob] | None, rest: str) -> _Parts:
    """The parts of a pattern from the root: `start`, or anything if that is None, and `rest`."""
    parts: list[Glob | None] = [None] if start is None else list(start)
    for word in rest.split("/"):
        if word in ("", "."):
            continue
        if word == "**":
            if not parts or parts[-1] is not None:
                parts.append(None)
        elif word == "..":
            if not parts:
                raise PathPatternError("has a .. that leads above the root", "leave it out")
            last = parts.pop()
            if last is None or last.literal is None:
                raise PathPatternError("has a .. behind a wildcard", "write the directory itself")
        elif "**" in word.replace("\\*", ""):
            raise PathPatternError(
                "has a ** that is not all there is between two slashes",
                "write **/ for any depth, and one * within a name",
            )
        else:
            try:
                parts.append(Glob.parse(word))
            except GlobError as error:
                raise PathPatternError(error.message, error.hint) from None
    return tuple(parts)


def _strictly(parts: _Parts) -> _Parts:
    """`parts`, and all that is below what they mean; of `x/**` the directory `x` itself too."""
    while parts and parts[-1] is None:
        parts = parts[:-1]
    return (*parts, None)


def _known(parts: _Parts) -> list[str]:
    """The leading names that are written without wildcards."""
    known: list[str] = []
    for part in parts:
        if part is None or part.literal is None:
            break
        known.append(part.literal)
    return known


def _hint(parts: _Parts) -> str:
    """The first names in a row that are written without wildcards. To look for before the path is
    taken apart."""
    at = next((i for i, part in enumerate(parts) if part and part.literal is not None), 0)
    return "".join(f"/{name}" for name in _known(parts[at:]))


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _matches(parts: _Parts, names: list[str], folds: bool, *, certain: bool) -> bool:
    """Whether `parts` mean the whole path `names`.

    Only the last `**` that was met is ever tried again: what an earlier one could take, it can.
    """
    part = name = 0
    wide, resume = -1, 0
    while name < len(names):
        if part < len(parts):
            glob = parts[part]
            if glob is None:
                if part + 1 == len(parts):
                    return True
                wide, resume = part, name
                part += 1
                continue
            if _means(glob, names[name], folds, certain):
                part += 1
                name += 1
                continue
        if wide < 0:
            return False
        resume += 1
        part, name = wide + 1, resume
    return all(glob is None for glob in parts[part:])


def _means(glob: Glob, name: str, folds: bool, certain: bool) -> bool:
    if name == glob.literal:
        return True
    if certain:
        return glob.means(name, folds_case=folds)
    return glob.may_mean(name, folds_case=folds)


def _leads_to(parts: _Parts, names: list[str], folds: bool) -> bool:
    """Whether some path that begins with `names` can be meant."""
    states = {0}
    for name in names:
        following: set[int] = set()
        for at in states:
            if at == len(parts):
                continue
            glob = parts[at]
            if glob is None:
                return True
            if _means(glob, name, folds, certain=False):
                following.add(at + 1)
        states = following
    return bool(states)
