"""Values that are never shown: found however a program writes them, and nothing else is touched."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockgate.process.hidden import MARK, REMEMBERED, SHORTEST, Hidden, Learned
from lockgate.process.tail import LastLines

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SECRET = st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=40)
PLAIN_SECRET = st.text("abcXYZ019-_é", min_size=SHORTEST, max_size=40)

SPELLINGS: list[Callable[[str], str]] = [
    str,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    repr,
    ascii,
    quote,
    quote_plus,
    lambda text: quote(text, safe=""),
    lambda text: quote(text, safe="").replace("%C3%A9", "%c3%a9"),
]


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    """`data` in pieces, cut near these places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)]


@given(SECRET, TEXT, TEXT, st.lists(st.integers(0, 200), max_size=5), st.booleans())
@example("[***]\n[***]", "", "", [], False)
@example("[***]\n\n\n", "", "", [], False)
@example("a\nb\nc\nd", "", "", [], False)
@example("ab[***]c", "ab", "c", [], False)
@example("hidden", "hid", "den", [], True)
@example("\\x1b[31m", "\x1b[31m", "", [], False)
@example("aaaaaa", "aaaaaaa", "aaa", [3], True)
def test_a_tail_never_holds_a_value(
    secret: str, before: str, after: str, cuts: list[int], ended: bool
) -> None:
    """Whatever the value, the text around it, and the pieces in which the stream is read."""
    told: list[str] = []
    heard = LastLines(told.append, hidden=Hidden([secret]))
    silent = LastLines(hidden=Hidden([secret]))
    for piece in pieces_of((before + secret + after).encode(), cuts):
        heard.feed(piece)
        silent.feed(piece)
        assert secret not in heard.text()
        assert secret not in silent.text()
    if ended:
        heard.end()
    assert secret not in heard.text()
    assert not [line for line in told if secret in line]


@given(PLAIN_SECRET, st.sampled_from(SPELLINGS))
def test_a_value_is_found_as_programs_write_it(secret: str, spelling: Callable[[str], str]) -> None:
    """In JSON, as Python writes text, in an address."""
    written = spelling(secret)
    tail = LastLines(hidden=Hidden([secret]))
    tail.feed(b"key=" + written.encode() + b"\n")
    quotes = written[:1] if written[:1] in ("'", '"') else ""
    assert tail.text() == f"key={quotes}{MARK}{quotes}"


@pytest.mark.parametrize("width", [4, 9, 10, 31])
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_value_that_is_wrapped_is_found(width: int, indent: str) -> None:
    """Over as many lines as are kept, with their indentation and in colours."""
    secret = "-".join(("sk", "0123456789abcdefghijklmnop"))
    text = f"bad token {secret} given"
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    tail = LastLines(hidden=Hidden([secret]))
    tail.feed("".join(f"{indent}\x1b[1m{line}\x1b[0m\r\n" for line in lines).encode())
    shown = "".join(tail.text().replace("\\x1b[1m", "").replace("\\x1b[0m", "").split())
    assert not [at for at in range(len(secret) - 3) if secret[at : at + 4] in shown]
    assert shown.startswith("badtoken")
    assert shown.endswith("given")


def test_a_value_that_is_cut_is_hidden_as_far_as_it_shows() -> None:
    """At the width of a line, in a line that is not finished, and where lines are gone."""
    secret = "0123456789" * 300
    tail = LastLines(kept=2, hidden=Hidden([secret]))
    tail.feed(b"token " + secret.encode() + b"\n")
    assert tail.text().startswith(f"token {MARK} … (")
    tail.feed(b"again " + secret[:77].encode())
    assert tail.text().endswith(f"again {MARK}")
    lines = [secret[at : at + 100] for at in range(0, len(secret), 100)]
    tail.feed("\n".join(["", *lines, "end\n"]).encode())
    assert tail.text() == f"{MARK}\nend"
    tail.feed("\n".join([*lines, "x", ""]).encode())
    assert tail.text() == f"{MARK}\nx"


def test_the_lines_of_a_value_are_values() -> None:
    """A private key is printed line by line, and perhaps not all of it."""
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBg\nkqhkiG9w0BAQEF\n"
    tail = LastLines(hidden=Hidden([key]))
    tail.feed(b"can not read MIIEvgIBADANBg\nkqhkiG9w0BAQEF: bad\n")
    assert tail.text() == f"can not read {MARK}\n{MARK}: bad"


def test_the_longest_counts_where_one_holds_the_other() -> None:
    """Values that overlap or hold each other leave nothing behind."""
    hidden = Hidden(["secret", "secret-long", "long-tail"])
    assert hidden.hide("a secret-long b") == f"a {MARK} b"
    assert hidden.hide("a secret-long-tail b") == f"a {MARK} b"


def test_other_text_stays() -> None:
    """Short values are parts of many words: they are not looked for."""
    text = "a debug line\n  with 12345 and true"
    assert Hidden(["debug", "12345", "true", "", "      "]).hide(text) == text
    assert Hidden().lines("a\x1bb\n\n c ") == "a\\x1bb\n\n c"


@given(SECRET, TEXT, TEXT)
def test_one_line_is_one_line_within_its_limit(secret: str, before: str, after: str) -> None:
    """Printable, bounded, without the value."""
    shown = Hidden([secret]).line(f"{before}\n{secret}{after}" * 3, 40)
    assert secret not in shown
    assert len(shown) <= 40
    assert all(char.isprintable() for char in shown)


def test_many_long_values_and_a_full_tail_are_quick() -> None:
    """Credentials of some kilobytes among dozens of variables, all lines of a tail full."""
    hidden = Hidden([json.dumps({"key": f"{n}" * 2000}) for n in range(20)] + ["a" * 4000])
    tail = LastLines(hidden=hidden)
    tail.feed(b"aaaa" * 5000 + b"\n" + (b"a" * 499 + b"\n") * 25)
    begun = time.process_time()
    tail.text()
    assert time.process_time() - begun < 1


def test_it_says_nothing_about_its_values() -> None:
    """Not in its repr either."""
    assert repr(Hidden(["secret"])) == "<Hidden, 1 values>"


def test_what_is_learnt_is_hidden_from_then_on() -> None:
    """A token that is got while the program runs is hidden by what was made before; the last ones
    stay hidden; a `repr` holds none."""
    learned = Learned()
    hidden = Hidden(["given-value"], learned)
    assert hidden.hide("a token-number-1") == "a token-number-1"
    learned.learn("token-number-1", "")
    assert hidden.hide("a token-number-1 given-value") == "a [***] [***]"
    for number in range(2, REMEMBERED + 2):
        learned.learn(f"token-number-{number}-")
    assert hidden.hide(f"token-number-{REMEMBERED + 1}-") == "[***]"
    assert len(learned.values) == REMEMBERED
    assert "token" not in repr(learned) + repr(hidden)
