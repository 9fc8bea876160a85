"""Quote removal: what a word is when nothing has to be expanded, and when something has."""

from __future__ import annotations

import pytest

from lockgate.rules.command.words import OPEN, Word, closed, unquote, unquote_ansi


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ("git", "git"),
        ("'r'm", "rm"),
        ('"rm"', "rm"),
        (r"r\m", "rm"),
        (r"$'\x72m'", "rm"),
        (r"$'r\155'", "rm"),
        ('r""m', "rm"),
        ("''", ""),
        ("'a b'", "a b"),
        ("'$(x)'", "$(x)"),
        ('"a\\$b"', "a$b"),
        ('"a\\xb"', "a\\xb"),
        ('"a\\\nb"', "ab"),
        ('"foo$"', "foo$"),
        (r"\$HOME", "$HOME"),
        (r"\~", "~"),
        ("HEAD~1", "HEAD~1"),
        ("'~'", "~"),
        ("a#b", "a#b"),
        ("[", "["),
        ("{}", "{}"),
        ("-I{}", "-I{}"),
        ("stash@{0}", "stash@{0}"),
        ("é", "é"),
    ],
)
def test_a_word_without_its_quotes(raw: str, word: str) -> None:
    """What the program gets, to the byte."""
    assert unquote(raw) == word


@pytest.mark.parametrize(
    "raw",
    [
        "$x",
        '"$x"',
        "`x`",
        '"`x`"',
        "$(x)",
        "a*",
        "a?",
        "[a]",
        "{a,b}",
        "a{1..2}",
        "~",
        "~/x",
        "a=~",
        "x:~",
        "#x",
        "",
        "a b",
        "a;b",
        "a&",
        "<(x)",
        "a>b",
        "'a",
        '"a',
        "a\\",
        "$'a",
        "a\\\nb",
        '"$("',
    ],
)
def test_a_word_that_is_not_known(raw: str) -> None:
    """Anything the shell expands, any unfinished quote, and anything that is no single word."""
    assert unquote(raw) is None


@pytest.mark.parametrize("body", [r"\0", r"\x00", r"\u0041", r"\cA", r"\xff", r"\777", r"\z"])
def test_escapes_that_are_not_trusted(body: str) -> None:
    """NUL ends the word in bash, others depend on the locale, unknown ones on the version."""
    assert unquote_ansi(body) is None


def test_ansi_escapes() -> None:
    """The escapes of the manual that stand for one ASCII character."""
    assert unquote_ansi(r"a\n\t\\\'\"\?\e\x41\101") == "a\n\t\\'\"?\x1bAA"


def test_a_word_hides_its_text() -> None:
    """A word is an argument's value: its repr does not show it, and quoting does not tell apart."""
    assert "secret" not in repr(Word("secret"))
    assert Word("a", bare=True) == Word("a")
    assert (OPEN.literal, Word("a").literal) == (None, "a")
    assert closed(("a", "b")) == (Word("a"), Word("b"))
