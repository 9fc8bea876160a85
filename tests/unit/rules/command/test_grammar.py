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


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line",
    [
        *("git >x push", "git <in push", "git 2>&1 push", "git 2>&- push", "git >x >y push"),
        *("git <<X push\nX", "git <<X >y push\nX", "git <<<x push", ">x git push", "! git >x push"),
        *("A=1 git >x push", "if git >x push; then a; fi", "a | git >x push", "a && git >x push"),
        *("$(git >x push)", "time git >x push", "git >x push &", "git >x 'pu'sh"),
        *("git >x$(a)b push", "git >x\\\n push", "git 2>&1 >x push 3>y"),
    ],
)  # fmt: skip
def test_a_word_behind_a_redirection_belongs_to_its_command(line: str) -> None:
    """As the shell has it; the tree gives such words to the redirection."""
    found = [[word.literal for word in command.words] for command in read_grammar(line).commands]
    assert ["git", "push"] in found


def test_words_behind_a_redirection_of_no_command_may_be_anybodys() -> None:
    """The shell takes it for an error; a deny sees the words all the same."""
    commands = read_grammar("{ a; } >x push").commands
    assert [[w.literal for w in c.words] for c in commands] == [["a"], [None, "push"]]
    assert [c.certain for c in commands] == [True, False]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a >x", ["x"]),
        ("a >>'x y' 2>z", ["x y", "z"]),
        ("a &>x; b >|y", ["x", "y"]),
        ("a >&x", ["x"]),
        ("a >x b", ["x"]),
        ("{ a; } >x", ["x"]),
        ("a 3<>x", ["x"]),
        ("$(a >x)", ["x"]),
        ("a 2>&1 >&2 2>&- <x", []),
        ("a >$x", []),
        ("a >~/x", ["~/x"]),
        ("a >'~/x'", ["./~/x"]),
        ("a >~root/x", []),
        ("a <<<x", []),
    ],
)
def test_the_files_that_are_written_to(line: str, names: list[str]) -> None:
    """As far as their names are known; what is only read is not among them."""
    assert sorted(read_grammar(line).writes) == sorted(names)
