"""Words as they look, however they are written: for finding what somebody may have disguised. Pure.

What is folded is only ever looked at, never shown and never sent.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing, beside those whose category says so."""
_DROPPED: Final = frozenset({"Cf", "Mn", "Me"})
"""Categories of what is drawn as nothing, and of marks on letters."""

_LIKE: Final = str.maketrans(
    # Cyrillic
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458"
    "\u0501\u04bb\u051b\u051d\u0475\u04cf"
    # Greek
    "\u03b1\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c4\u03c5\u03c7\u03c9"
    # Armenian
    "\u0578\u0585\u057d\u0570\u0581"
    # Latin: dotless, barred, slashed, of phonetic writing, small capitals
    "\u0131\u0142\u0111\u00f8\u0251\u0261\u1d00\u0299\u1d04\u1d05\u1d07\u0262\u029c\u026a\u1d0a"
    "\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
    "abekmhopctyxsijdhqwvl" + "aenikvopotuxw" + "nouhg" + "ildoagabcdeghijklmnoprstuvwyz",
)
_FIGURES: Final = str.maketrans("013457$@!", "oleastsai")
"""Figures and signs that stand for letters in a word such as pa55w0rd."""

_APART: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
"""Where words end, in a name or in a sentence."""
_SPELT: Final = re.compile(r"\b(\w) (?=\w\b)")
"""Letters that stand alone, one after the other: a word that is spelt out."""


def plain_words(text: str) -> str:
    """`text` in small letters without marks, invisible characters or punctuation; one blank
    between two words, also between those of a name."""
    kept = _bare(text)
    spaced = _APART.sub(" ", kept).strip().casefold()
    return unicodedata.normalize("NFC", _SPELT.sub(r"\1", spaced))


def as_seen(words: str) -> str:
    """What `plain_words` gave, with the Latin letters that others look like."""
    return words.translate(_LIKE)


def run_together(name: str) -> str:
    """A name as one word, figures that stand for letters as those."""
    letters = _bare(name).casefold().translate(_LIKE).translate(_FIGURES)
    return "".join(filter(str.isalpha, letters))


def _bare(text: str) -> str:
    """Without marks and what is drawn as nothing; other forms of a letter are that letter."""
    return "".join(
        char
        for char in unicodedata.normalize("NFKD", text)
        if char not in _BLANK and unicodedata.category(char) not in _DROPPED
    )
