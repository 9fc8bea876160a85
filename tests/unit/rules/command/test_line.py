"""The analysis of a whole line: both readers, everything inside, and the bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.line import MAX_COMMANDS, MAX_LENGTH, MAX_SIGNS, analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import caught
from lockgate.rules.matcher import Match


def commands(line: str) -> set[str]:
    """Known commands of a line, words joined by spaces."""
    return {" ".join(c.literal) for c in analyse(line).certain if c.literal is not None}


def test_a_plain_line_has_no_doubt() -> None:
    """Literal words and connectives are all there is to know."""
    found = analyse("git status && git log | head -3")
    assert found.doubts == frozenset()
    assert commands("git status && git log | head -3") == {"git status", "git log", "head -3"}


@pytest.mark.parametrize("line", ["", " ", "\n", "# note", "A=1", "> x"])
def test_a_line_without_a_command(line: str) -> None:
    """Nothing to allow is not allowed."""
    assert Doubt.NOTHING in analyse(line).doubts


@pytest.mark.parametrize(
    "character", "\x00\r\x0b\x1b\x7f\xa0\xad\u200b\u202e\u2003\u3000\ufeff\ud800"
)
def test_odd_characters(character: str) -> None:
    """Controls, unusual spaces, marks that hide or turn text, and half of a pair: asked about."""
    assert Doubt.CHARACTERS in analyse(f"git{character}status").doubts


def test_lines_inside_of_lines() -> None:
    """What a shell reads once more is analysed, as deep as it goes, up to a bound."""
    assert "rm x" in commands("bash -c \"sh -c 'ls; rm x'\"")
    assert commands("eval 'a; b'") >= {"a", "b"}
    deep = "x"
    for _ in range(12):
        deep = "eval " + deep
    assert Doubt.LENGTH in analyse(deep).doubts


def test_bounds() -> None:
    """A line that is too long, or holds too many signs, commands or levels, is asked about."""
    assert Doubt.LENGTH in analyse("a" * (MAX_LENGTH + 1)).doubts
    assert Doubt.LENGTH in analyse("a|" * MAX_SIGNS + "a|a").doubts
    assert Doubt.LENGTH in analyse(";".join(f"a{n}" for n in range(MAX_COMMANDS + 1))).doubts
    assert analyse("(" * 250).doubts
    assert Doubt.LENGTH in analyse("{ " * 150 + "a" + "; }" * 150).doubts


def test_two_readings_must_agree() -> None:
    """A line of which the grammar makes something else than our own reader is asked about."""
    assert Doubt.READINGS in analyse("git a\\\tb").doubts
    for line in ("!a", "a #b", "[ a = b ]", "a\\;b"):
        assert analyse(line).doubts == frozenset()


def test_repr_shows_no_word_of_the_line() -> None:
    """An analysis may be logged; the line in it is an argument's value."""
    assert "secret" not in repr(analyse("curl -H secret; secret=1 secret $secret"))


@given(st.text())
def test_any_text_is_read(line: str) -> None:
    """Nothing makes the analysis fail."""
    analyse(line)


@given(st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")))
def test_any_bytes_are_read(line: str) -> None:
    """Bytes that are no text are a doubt, not an error."""
    found = analyse(line)
    if any(ord(c) >= 0xD800 and ord(c) < 0xE000 for c in line):
        assert Doubt.CHARACTERS in found.doubts


@given(st.text("$(){}[]<>|&;`'\"\\ \n#=ab!*?~-", max_size=60))
def test_any_signs_are_read(line: str) -> None:
    """The same for what the grammar is made of."""
    analyse(line)


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line", ["((rm x); ls)", "ls; if rm", "[[ a -eq 1 ]] && rm x", "rm 'x", "case a in rm"]
)
def test_what_is_misread_may_hold_any_of_its_words(line: str) -> None:
    """A deny sees the name of a command also where the grammar took it for something else."""
    analysis = analyse(line)
    assert analysis.doubts & {Doubt.UNPLACED, Doubt.EVALUATION}
    assert caught(analysis, CommandPattern.parse("rm:*")) >= Match.MAYBE


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line",
    [
        'bash -c "rm -rf $X"',
        'bash -c "ls; rm $X"',
        "bash -c 'rm '$X",
        "bash -c rm\\ $X",
        'sh -c "rm `x`"',
        'eval "rm $X"',
        "eval rm $X",
        'timeout 5 bash -c "rm $X"',
        'trap "rm $X" EXIT',
        'su -c "rm $X"',
    ],
)
def test_a_script_that_is_known_in_part_is_read_so_far(line: str) -> None:
    """What an expansion adds to it does not hide what it begins with."""
    analysis = analyse(line)
    assert analysis.doubts
    assert caught(analysis, CommandPattern.parse("rm:*")) is Match.YES


def test_a_script_that_goes_on_within_a_name_may_be_any() -> None:
    """`r$X` begins with r, and that is all."""
    analysis = analyse('bash -c "r$X"')
    assert caught(analysis, CommandPattern.parse("rm:*")) is Match.MAYBE
