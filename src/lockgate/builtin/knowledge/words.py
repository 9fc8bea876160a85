"""How a text is cut into the words that are indexed, and how a query asks for them.

A word of letters and digits is found by its beginning, one of English without its usual endings:
`deployments` finds `deploy`. (SQLite's own stems, of the porter tokenizer, do not go together with
beginnings: there `deploy` becomes `deploi`, which `deployment` does not begin with.) Korean,
Chinese and Japanese have no such words: endings grow on them, or no blank parts them. There every
pair of neighbours is indexed, and the last sign of a run by itself, so any piece of a run is found,
one sign long or many. SQLite's own trigrams find nothing under three signs, which most Korean nouns
have not. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

MAX_WORDS: Final = 32
"""Words of one query that count."""
_MIN_PREFIX: Final = 3
"""Letters from which on a word stands for all that begin with it."""
_MIN_STEM: Final = 4
_ENDINGS: Final = ("ments", "ment", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "e", "y")
"""What is taken off an English word, if four letters are left."""

_SIGNS: Final = (
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul: letters by themselves, syllables
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_PIECE: Final = re.compile(f"([{_SIGNS}]+)|([^\\W_{_SIGNS}]+)")


def folded(text: str) -> str:
    """As words are compared: composed, compatible forms made one, without capitals."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def indexed(text: str) -> str:
    """What stands in the index for a text: its words, parted by blanks."""
    tokens: list[str] = []
    for signs, word in _PIECE.findall(folded(text)):
        tokens += [*map("".join, pairwise(signs)), signs[-1]] if signs else [word]
    return " ".join(tokens)


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query, folded, each once, at most `MAX_WORDS`."""
    found = (signs or word for signs, word in _PIECE.findall(folded(query)))
    return tuple(dict.fromkeys(found))[:MAX_WORDS]


def expression(words: tuple[str, ...], *, every: bool) -> str:
    """The query in SQLite's syntax: documents with `every` one of the words, or with any.

    Each word stands in quotes and holds letters and digits alone, so none is syntax.
    """
    return (" AND " if every else " OR ").join(map(_term, words))


def stem(word: str) -> str:
    """The beginning that a word is looked for by; the word itself if it is not English."""
    if not (word.isascii() and word.isalpha()):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return _single(word.removesuffix(ending))
    if word.endswith("s") and len(word) > _MIN_PREFIX:
        return _single(word[:-1])
    return word


def _single(text: str) -> str:
    """Without the second of two equal letters at the end: `runn` of `running` is `run`."""
    return text[:-1] if len(text) > _MIN_PREFIX and text[-1] == text[-2] else text


def _term(word: str) -> str:
    if not re.match(f"[{_SIGNS}]", word):
        if len(word) < _MIN_PREFIX:
            return f'"{word}"'
        # The word as it is counts twice.
        return f'("{word}" OR "{stem(word)}"*)'
    if len(word) == 1:
        return f'"{word}"*'
    return f'"{" ".join(map("".join, pairwise(word)))}"'
