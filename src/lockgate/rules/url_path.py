"""The path of an address, as patterns see it: in every way in which a server may read it.

Servers differ in when they undo escapes, whether `//` is one slash, and what `;` means. A path that
climbs out of `/docs/` on one of them has to count as one that does.
"""

from __future__ import annotations

import unicodedata
from typing import Final, Self, TypeAlias
from urllib.parse import quote, unquote_to_bytes

import msgspec

Way: TypeAlias = tuple[str, ...]
"""One reading: the parts between the slashes, decoded. A slash at the end is an empty last part."""

_STRUCTURE: Final = "./\\%;?#"
"""What parts of a path are told apart by, on one server or another."""
_HARMLESS: Final = frozenset({"Pd", "Pi", "Pf"})
"""Dashes and quotation marks: no server takes them for structure."""
_DEPTH: Final = 6
"""How often an escape may be escaped again before the path counts as unreadable."""


class PathGlobError(ValueError):
    """A pattern's path that can not be read."""


def readings(path: str) -> frozenset[Way] | None:
    """Every way to read a normalised path; None if there is one that can not be told.

    That is a path with bytes that are no UTF-8 or with control characters, however escaped.
    """
    ways: set[Way] = set()
    apart = [_decoded(part) for part in path.split("/")[1:]]
    if None not in apart:  # a server to which an escaped slash separates nothing
        ways.add(_folded([part for part in apart if part is not None]))
    for _ in range(_DEPTH):
        decoded = _decoded(path)
        if decoded is None:
            return None
        flat = decoded.replace("\\", "/")
        for text in (flat, _without_parameters(flat)):
            ways.add(_folded(text.split("/")[1:]))
            ways.add(_folded([part for part in text.split("/")[1:-1] if part] + [_last(text)]))
        if decoded == path:
            return frozenset(ways)
        path = decoded
    return None


def is_odd(part: str) -> bool:
    """Whether some server may take a decoded part for another name, or for structure.

    Escapes that are none (`%u002e`), dots with blanks (which some cut off), and what is a dot or a
    slash in other alphabets (full width, fractions, ...): what such a part means is not told.
    """
    if any(character in "%?#" for character in part):
        return True
    if part and not part.strip(" .+"):
        return True
    if part.isascii():
        return False
    folded = unicodedata.normalize("NFKC", part)
    if any(folded.count(character) != part.count(character) for character in _STRUCTURE):
        return True
    kinds = {unicodedata.category(character) for character in part if not character.isascii()}
    return any(kind[0] not in "LMN" and kind not in _HARMLESS for kind in kinds)


def _decoded(path: str) -> str | None:
    try:
        text = unquote_to_bytes(path).decode("utf-8")
    except UnicodeError:
        return None
    return text if text.isprintable() else None


def _without_parameters(text: str) -> str:
    return "/".join(part.partition(";")[0] for part in text.split("/"))


def _last(text: str) -> str:
    return text.rpartition("/")[2]


def _folded(parts: list[str]) -> Way:
    folded: list[str] = []
    for at, part in enumerate(parts):
        if part in (".", ".."):
            if part == ".." and folded:
                folded.pop()
            if at == len(parts) - 1:
                folded.append("")
        else:
            folded.append(part)
    return tuple(folded) or ("",)


class _Part(msgspec.Struct, frozen=True):
    """One part of a pattern: literal pieces with anything between them; one piece is exact."""

    pieces: tuple[str, ...]

    def matches(self, name: str, *, fold: bool = False) -> bool:
        pieces = self.pieces
        if fold:
            name = name.casefold()
            pieces = tuple(piece.casefold() for piece in pieces)
        if len(pieces) == 1:
            return name == pieces[0]
        first, *middle, last = pieces
        if not name.startswith(first) or not name.endswith(last):
            return False
        at, end = len(first), len(name) - len(last)
        for piece in middle:  # the first place is the best one: nothing has to be tried again
            found = name.find(piece, at, max(at, end))
            if found < 0:
                return False
            at = found + len(piece)
        return at <= end


class PathGlob(msgspec.Struct, frozen=True):
    """`docs/**`: which paths are meant. `*` stays within a part, `**` is any number of parts."""

    parts: tuple[_Part | None, ...]
    """None is `**`."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a path without its first slash. Raises `PathGlobError`."""
        parts: list[_Part | None] = []
        for word in text.split("/"):
            if word == "**":
                if not parts or parts[-1] is not None:
                    parts.append(None)
                continue
            if "**" in word:
                raise PathGlobError("a ** stands alone between two slashes")
            pieces = tuple(_decoded(quote(piece, safe="%")) for piece in word.split("*"))
            if any(piece is None or set("%/\\;") & set(piece) for piece in pieces):
                raise PathGlobError("the path holds an escape, a backslash or a semicolon")
            plain = tuple(piece for piece in pieces if piece is not None)
            if plain in ((".",), ("..",)) or (len(parts) and word == "" and None is parts[-1]):
                raise PathGlobError("the path holds a . or .. or a slash behind **")
            parts.append(_Part(plain))
        return cls(tuple(parts))

    def matches(self, way: Way) -> bool:
        """Whether it is exactly what is written; a `**` at the end means one part at least."""
        parts = self.parts
        if parts and parts[-1] is None:
            parts = (*parts[:-1], _Part(("", "")), None)
        return _fits(parts, way, strict=False)

    def means(self, way: Way) -> bool:
        """Whether it is exactly that, and nothing in it is odd that is not written here."""
        written = {part.pieces[0] for part in self.parts if part and len(part.pieces) == 1}
        odd = any(is_odd(part) for part in way if part not in written)
        return not odd and self.matches(way)

    def reaches(self, way: Way) -> bool:
        """Whether it is what is written or lies below, whatever the letter case."""
        bare = tuple(part for part in way if part)  # `/a/` and `//a` are `/a` to many
        parts = tuple(part for part in self.parts if part is None or part.pieces != ("",))
        return _fits(parts, bare, strict=True) or _fits(self.parts, way, strict=True)


def _fits(parts: tuple[_Part | None, ...], way: Way, *, strict: bool) -> bool:
    """Whether the parts mean the way; `strict`: or what it lies below, whatever the letter case."""
    states = _opened({0}, parts)
    for name in way:
        if strict and len(parts) in states:
            return True
        following: set[int] = set()
        for at in states:
            if at < len(parts):
                part = parts[at]
                if part is None:
                    following.add(at)
                elif part.matches(name, fold=strict):
                    following.add(at + 1)
        states = _opened(following, parts)
    return len(parts) in states


def _opened(states: set[int], parts: tuple[_Part | None, ...]) -> set[int]:
    """With what a `**` of no parts leads to."""
    opened = set(states)
    for at in sorted(states):
        while at < len(parts) and parts[at] is None:
            at += 1
            opened.add(at)
    return opened
