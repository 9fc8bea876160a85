"""What is shown of a stranger's text: all of it, and nothing that deceives the eye."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError, LocalError, Problem
from lockgate.showing import (
    folded,
    holds_secret,
    is_token,
    looks_secret,
    masked,
    quoted,
    visible,
    visible_error,
    visible_json,
    visible_lines,
    width_of,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("한글 é 漢字 😀", "한글 é 漢字 😀"),
        ("a\nb\rc\td", "a\\nb\\rc\\td"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("a\u200bb\ufeffc", "a\\u200bb\\ufeffc"),
        ("a\u00a0b\u3000c", "a\\xa0b\\u3000c"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("\u3164\u115f\u2800", "\\u3164\\u115f\\u2800"),
        ("x\ufe0f", "x\\ufe0f"),
        ("\U000e0041\U000e0042", "\\U000e0041\\U000e0042"),
        ("\ue000\ud800", "\\ue000\\ud800"),
    ],
)
def test_what_a_terminal_hides_or_obeys_is_escaped(text: str, shown: str) -> None:
    """Controls, escapes, bidi marks, blanks of all kinds, tags; letters stay letters."""
    assert visible(text) == shown


def test_marks_may_not_pile_up() -> None:
    """Three on a letter are writing, more of them cover the lines around."""
    assert visible("e\u0301\u0302\u0303") == "e\u0301\u0302\u0303"
    assert visible("e" + "\u0301" * 5) == "e\u0301\u0301\u0301\\u0301\\u0301"
    assert visible("e" + "\u302e" * 7) == "e" + "\u302e" * 6 + "\\u302e"
    assert visible("e" + "\u0301\u302e" * 4) == "e" + "\u0301\u302e" * 3 + "\\u0301\\u302e"


def test_words_of_many_marks_are_writing() -> None:
    """Burmese and Thai as they are written."""
    for word in (
        "\u1000\u103c\u103d\u1031\u1038",
        "\u1000\u103c\u1031\u102c\u1004\u1037\u103a",
        "\u0e19\u0e49\u0e33",
    ):
        assert visible(word) == word


def test_lines_of_a_text_stay_lines() -> None:
    """Everything else in them is escaped; tabs are blanks."""
    text = "one\r\n\ttwo\x1b[2J\r\n\u202ethree\x9b1m\n"
    assert visible_lines(text) == "one\n        two\\x1b[2J\n\\u202ethree\\x9b1m\n"


@given(st.text())
def test_json_for_a_terminal_is_the_same_json(text: str) -> None:
    """And none of it is hidden or obeyed."""
    value = {"k": text.encode("utf-8", "replace").decode()}
    shown = visible_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(shown) == value
    for line in shown.split("\n"):
        assert not any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Zl", "Zp"} for c in line)


@given(st.text(), st.integers(4, 90), st.sampled_from(["", "> "]))
def test_folding_loses_nothing_and_fits(text: str, width: int, margin: str) -> None:
    """The pieces are the text, and no line is wider than it may be."""
    shown = visible(text)
    lines = folded(shown, width, margin, margin)
    assert "".join(line.removeprefix(margin) for line in lines) == shown
    assert all(width_of(line) <= width for line in lines)


def test_folding_breaks_at_blanks() -> None:
    """Where there is one in the second half of the line."""
    assert folded("one two three four", 10) == ["one two ", "three four"]
    assert folded("onetwothreefour", 6) == ["onetwo", "threef", "our"]
    assert folded("", 6, "- ") == ["- "]


@pytest.mark.parametrize("text", ["α" * 10, "\U0001f1e6" * 10, "漢" * 10, "é" * 10])
def test_folding_allows_for_wide_drawing(text: str) -> None:
    """Terminals differ on these: where some draw two columns, two are counted."""
    assert folded(text, 10) == [text[:5], text[5:]]


@given(st.text())
def test_everything_visible_is_one_harmless_line(text: str) -> None:
    """No character of it is a control, a format, a private or an unassigned one, or a blank."""
    for char in visible(text):
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        assert char == " " or not char.isspace()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('say "hi"', '"say \\"hi\\""'),
        ("C:\\new", '"C:\\\\new"'),
        ("", '""'),
        (" " * 24, '"' + " " * 24 + '"'),
        ("a" + " " * 400 + "b", '"a\\{400 times " "}b"'),
        ("\n" * 200 + "x", '"\\{200 times "\\n"}x"'),
        ("\\" * 30, '"\\{30 times "\\\\"}"'),
        ('\\{400 times " "}', '"\\\\{400 times \\" \\"}"'),
    ],
)
def test_a_string_in_quotes_is_unambiguous(text: str, shown: str) -> None:
    """Backslashes are doubled, quotes escaped, long runs counted; text can not imitate that."""
    assert quoted(text) == shown


def unquoted(shown: str) -> str:
    """The text that `quoted` shows, read back."""
    text, at, body = "", 0, shown[1:-1]
    named = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    lengths = {"x": 2, "u": 4, "U": 8}
    while at < len(body):
        if body[at] != "\\":
            text, at = text + body[at], at + 1
        elif body[at + 1] in named:
            text, at = text + named[body[at + 1]], at + 2
        elif body[at + 1] == "{":
            count, rest = body[at + 2 :].split(" times ", 1)
            end = 1
            while rest[end] != '"' or rest[end + 1] != "}":
                end += 2 if rest[end] == "\\" else 1
            text += unquoted(rest[: end + 1]) * int(count)
            at += 2 + len(count) + len(" times ") + end + 2
        else:
            length = lengths[body[at + 1]]
            text += chr(int(body[at + 2 : at + 2 + length], 16))
            at += 2 + length
    return text


@given(st.text(max_size=30) | st.text('\\"{}n times 0123', max_size=40), st.integers(1, 40))
def test_nothing_is_lost_in_quotes(text: str, count: int) -> None:
    """What is shown can be read back to the very text."""
    for each in (text, text + "x" * count, " " * count + text):
        assert unquoted(quoted(each)) == each


def test_a_megabyte_is_quoted_quickly() -> None:
    """By the length of the text, not by its square."""
    assert len(quoted("lorem ipsum " * 100_000)) == 1_200_002


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("한글", 4), ("e\u0301", 1), ("ｒｍ", 4), ("", 0), ("e\u302e", 3), ("e\u0903", 2)],
)
def test_columns_are_counted_as_terminals_do(text: str, columns: int) -> None:
    """Wide letters take two, marks none."""
    assert width_of(text) == columns


@pytest.mark.parametrize(
    "name",
    ["token", "accessToken", "API_KEY", "apiKey", "password", "client_secret", "Authorization"],
)
def test_names_of_secrets(name: str) -> None:
    """In the usual spellings."""
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["path", "query", "keyboard", "monkey", "author", "n", ""])
def test_names_of_other_things(name: str) -> None:
    """A part of a word is no word."""
    assert not looks_secret(name)


def test_a_secret_is_shown_by_its_length() -> None:
    """That it is there is shown, what it is not."""
    assert masked("hunter2") == "[masked, 7 characters]"
    assert masked(7) == "[masked, 1 character]"


def test_the_place_of_a_problem_makes_no_line_of_its_own() -> None:
    """A directory or a key may be named by a stranger: it is on the line that it belongs to, and
    obeyed by no terminal. The lines of the error stay."""
    file = Path("/a\nerror: all is well\x1b[2J/\u202e.yaml")
    error = ConfigError(
        Problem("unknown key", "mcp.\rx", file, 3, 5, hint="remove it"), Problem("two"), "three"
    )
    assert visible_error(error).split("\n") == [
        "/a\\nerror: all is well\\x1b[2J/\\u202e.yaml:3:5: mcp.\\rx: unknown key",
        "  remove it",
        "two",
        "three",
    ]
    assert visible_error(ConfigError(Problem("m", "p", Path("f.yaml"), 1))) == "f.yaml:1: p: m"


def test_any_error_is_shown_with_its_lines() -> None:
    """What it says, and nothing that a terminal would obey."""
    assert visible_error(LocalError("one\x1b[2J\ntwo\u202e")) == "one\\x1b[2J\ntwo\\u202e"


@pytest.mark.parametrize(
    "text",
    [
        "PGPASSWORD=x psql",
        "--token=x",
        "login --api-key x",
        'echo {"password": "x"}',
        "Authorization: Bearer x",
        "curl -H 'X-Auth-Token:x' https://h",
        "curl -u ann:x https://h",
        "https://ann:x@h/",
        "Basic dXNlcjpwYXNz",
        "run ghp_0123456789",
        "a c2VjcmV0LWJ5LWl0c2VsZg0a1b2",
        "mysql -u root -phunter2 shop",
        "sshpass -p hunter2 ssh host",
        "aws configure set aws_secret_access_key hunter2",
        "-----BEGIN RSA PRIVATE KEY-----",
        "k=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x",
    ],
)
def test_what_holds_a_secret(text: str) -> None:
    """By the name in front of it, by what carries it, or by itself."""
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "git push --force origin main",
        "rm -rf build",
        "mkdir -p src/lockgate",
        "drop table sessions",
        "the token is lost",
        "keyboard = 5",
        "ann@x.example",
        "https://x.example/a?b#c",
        "/usr/lib/python3.11/site-packages",
    ],
)
def test_what_holds_none(text: str) -> None:
    """Ordinary lines and texts, so that they can be answered for good."""
    assert not holds_secret(text)


@given(st.text(max_size=2000))
def test_any_text_is_looked_through(text: str) -> None:
    """Without an error; what is a token by itself is found among other words too."""
    holds_secret(text)
    assert holds_secret(f"{text} AKIAIOSFODNN7EXAMPLE {text}")
    assert is_token("AKIAIOSFODNN7EXAMPLE")


@pytest.mark.parametrize("word", ["abcdefgh", "\uac00\ub098\ub2e4\ub77c"])
def test_a_word_that_fits_in_a_line_is_never_broken(word: str) -> None:
    """Wherever it would end, and however wide its letters are."""
    for before in range(1, 12):
        text = f"{'x' * before} {word} {word}"
        for width in range(12, 24):
            lines = folded(text, width)
            assert "".join(lines) == text
            assert [w for line in lines for w in line.split()] == text.split()
