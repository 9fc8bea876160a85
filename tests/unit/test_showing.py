"""What is shown of a stranger's text: all of it, and nothing that deceives the eye."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.showing import looks_secret, masked, quoted, visible, width_of


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
    ("text", "columns"), [("abc", 3), ("한글", 4), ("e\u0301", 1), ("ｒｍ", 4), ("", 0)]
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
