"""The first reader: commands wherever they hide, and what else a line does."""

from __future__ import annotations

import pytest

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.grammar import read_grammar


def names(line: str) -> list[str | None]:
    """What is called in a line, in order; None where an expansion decides."""
    return sorted((command.name or "" for command in read_grammar(line).commands), key=str)


@pytest.mark.parametrize(
    "line",
    [
        *("x", "a; x", "a && x", "a || x", "a | x", "a |& x", "a & x", "(x)", "{ x; }", "! x"),
        *("time x", "time -p x", "A=1 x", "x > y", "> y x", "$(x)", "`x`", "a $(x)", 'a "$(x)"'),
        *('a "`x`"', "a <(x)", "a >(x)", "a ${b:-$(x)}", "a $((`x`))", "a $(( $(x) ))", "A=$(x)"),
        *("A=(1 $(x))", "a $(b $(x))", "if x; then a; fi", "if a; then x; fi", "!x;x"),
        *("while x; do a; done",),
        *("until a; do x; done", "for i in $(x); do a; done", "for i in 1; do x; done", "a;x"),
        *("f() { x; }",),
        *("function f { x; }", "coproc x", "coproc { x; }", "case a in b) x;; esac", "x;a"),
        *("[[ -n $(x) ]]",),
        *("case $(x) in a) b;; esac", "cat <<E\n$(x)\nE", "cat <<< $(x)", "a[$(x)]=1"),
        *("select i in a; do x; done",),
        *("declare a=$(x)", "a > $(x)", "cat <<A <<B\n$(x)\nA\nb\nB", "a\\\n; x", "a #\nx", "x\na"),
    ],
)  # fmt: skip
def test_a_command_does_not_hide(line: str) -> None:
    """`x` is found in every construct that can hold a command."""
    assert "x" in names(line)


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("a > b", Doubt.REDIRECTION),
        ("a <<E\nE", Doubt.REDIRECTION),
        ("a <<< b", Doubt.REDIRECTION),
        ("A=1 a", Doubt.ASSIGNMENT),
        ("a & b", Doubt.BACKGROUND),
        ("coproc a", Doubt.BACKGROUND),
        ("a $b", Doubt.EXPANSION),
        ("a *", Doubt.EXPANSION),
        ("a $((1))", Doubt.EVALUATION),
        ("((1))", Doubt.EVALUATION),
        ("[[ a ]]", Doubt.EVALUATION),
        ("f() { a; }", Doubt.FUNCTION),
        ("for i in a; do b; done", Doubt.CONTROL),
        ("case a in b) c;; esac", Doubt.CONTROL),
        ("declare a", Doubt.SHELL_STATE),
        ("unset a", Doubt.SHELL_STATE),
        ("a (", Doubt.UNPLACED),
        ("if a", Doubt.UNPLACED),
    ],
)
def test_what_else_a_line_does(line: str, doubt: Doubt) -> None:
    """Each construct has the doubt that is named for it."""
    assert doubt in read_grammar(line).doubts


def test_backticks_in_a_here_document_are_read_again() -> None:
    """The tree has them as text; they are handed back as lines."""
    assert read_grammar("cat <<E\na `x y` b\nE").scripts == ["x y"]


def test_bytes_that_touch_are_one_word() -> None:
    """Whatever nodes the tree makes of it, the shell sees one word."""
    (command,) = read_grammar('g"i"\'t\' a"b"c').commands
    assert command.literal == ("git", "abc")


def test_the_known_part_of_an_open_word_is_kept() -> None:
    """`r${z}m` begins with r, which a deny rule needs to know."""
    (command,) = read_grammar("r${z}m x").commands
    assert (command.words[0].text, command.name) == ("r", None)
