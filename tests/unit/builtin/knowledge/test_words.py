"""How texts are cut into words, and what a query means."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.knowledge.snippet import WIDTH, snippet
from lockgate.builtin.knowledge.words import MAX_WORDS, expression, indexed, stem, words_of


def finds(query: str, text: str, *, every: bool = True) -> bool:
    """Whether a query finds a text."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(content, tokenize = 'unicode61')")
    database.execute("INSERT INTO words VALUES (?)", (indexed(text),))
    asked = expression(words_of(query), every=every)
    found = database.execute("SELECT 1 FROM words WHERE words MATCH ?", (asked,)).fetchall()
    database.close()
    return bool(found)


KOREAN = "데이터베이스를 먼저 백업하고, 서버를 재시작한다."


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("데이터베이스", KOREAN),
        ("데이터", KOREAN),
        ("베이스", KOREAN),
        ("서버", KOREAN),
        ("다", KOREAN),
        ("백업 서버 재시작", KOREAN),
        ("데이터", unicodedata.normalize("NFD", "데이터")),
        (unicodedata.normalize("NFD", "데이터"), "데이터"),
        ("検索", "全文検索の方法"),
        ("数据", "我的数据库"),
        ("deploy", "Deployments of last week"),
        ("deployments", "how to deploy"),
        ("running", "it runs"),
        ("caches", "caching"),
        ("queries", "one query"),
        ("files", "a file"),
        ("CONFIG", "config.yaml"),
        ("config yaml", "config.yaml"),
        ("snake", "snake_case_name"),
        ("GPT모델", "새 GPT 모델"),
        ("cafe", "café"),
        ("ﬁle", "file"),
        ("42", "port 42"),
    ],
)
def test_a_query_finds(query: str, text: str) -> None:
    """Words of English by beginnings, pieces of any length of Korean, Japanese and Chinese."""
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("이터데", KOREAN),
        ("서버 삭제", KOREAN),
        ("string", "a strong wind"),
        ("4", "port 42"),
        ("port 43", "port 42"),
    ],
)
def test_a_query_does_not_find(query: str, text: str) -> None:
    """What is not there, or not all of it."""
    assert not finds(query, text)


WORD = st.text(
    st.characters(codec="ascii", categories=["L", "N"])
    | st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),
    min_size=1,
    max_size=12,
)


@given(st.lists(WORD, min_size=1, max_size=6), st.data())
def test_each_word_of_a_text_finds_it(words: list[str], data: st.DataObject) -> None:
    """Whatever is written is found by any of its own words, and by all together."""
    text = ", ".join(words)
    assert finds(data.draw(st.sampled_from(words)), text)
    assert finds(text, text)


@given(st.text(max_size=60))
def test_no_query_is_syntax(query: str) -> None:
    """Whatever a query holds, SQLite reads words of it and nothing else."""
    if words_of(query):
        finds(query, "some text", every=False)


@pytest.mark.parametrize("query", ['"', "*", "^", "-", "()", "!?", "_", "  "])
def test_what_has_no_word_has_none(query: str) -> None:
    """Such a query is refused before anything is asked."""
    assert words_of(query) == ()


def test_a_query_is_bounded() -> None:
    """Each word once, and so many of them."""
    assert words_of("a b A") == ("a", "b")
    assert len(words_of(" ".join(map(str, range(100))))) == MAX_WORDS


@given(WORD)
def test_a_stem_begins_its_word(word: str) -> None:
    """So a word always finds itself."""
    assert word.startswith(stem(word))
    assert stem(word)


def test_a_snippet_shows_most_of_the_words() -> None:
    """On one line, and bounded, with where something is left out."""
    text = "alpha " + "filler " * 100 + "alpha\nand beta " + "rest " * 100
    piece = snippet(text, ["alpha", "beta"])
    assert piece.startswith("...")
    assert piece.endswith("...")
    assert "alpha and beta" in piece
    assert len(piece) <= WIDTH + 6
    assert snippet("short", ["nothing"]) == "short"
    assert snippet("short", []) == "short"


@given(st.text(max_size=600), st.lists(st.text(min_size=1, max_size=5), max_size=4))
def test_a_snippet_is_bounded(text: str, words: list[str]) -> None:
    """Of any text, for any words."""
    assert len(snippet(text, words)) <= WIDTH + 6
