"""The second reader: few things known, the rest refused."""

from __future__ import annotations

import pytest

from lockgate.rules.command.plain import is_assignment, read_plain


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("", []),
        ("# only", []),
        ("git", ["git"]),
        (" git\tstatus ", ["git status"]),
        ("a;b&&c||d|e\nf", ["a", "b", "c", "d", "e", "f"]),
        ("a |\n b", ["a", "b"]),
        ("a \\\n b", ["a b"]),
        ("(a; b) && { c; }", ["a", "b", "c"]),
        ("( (a) )", ["a"]),
        ("! a", ["a"]),
        ("time a", ["a"]),
        ("if a; then b; elif c; then d; else e; fi; f", ["a", "b", "c", "d", "e", "f"]),
        ("while a; do b; done | c", ["a", "b", "c"]),
        ("until a\ndo b\ndone", ["a", "b"]),
        ("a if then fi", ["a if then fi"]),
        ("'if' a", ["if a"]),
        ("ti\\me a", ["time a"]),
        ("a # b\nc", ["a", "c"]),
        ("a #\\\nc", ["a", "c"]),
    ],
)
def test_commands_are_found(line: str, commands: list[str]) -> None:
    """In the order in which they are written; keywords only where a command may begin."""
    assert read_plain(line) == tuple(tuple(command.split()) for command in commands)


@pytest.mark.parametrize(
    "line",
    [
        *("a &", "a & b", "a > b", "a < b", "a <<E", "a 2>&1", "a |& b", "a;;b", "&& a", "a | | b"),
        *("$x", "a $x", "a `b`", "a *", "a ?", "a [b]", "a {b,c}", "~", "a ~/b", "A=1 a", "A=1"),
        *("for x in a; do b; done", "case a in b) c;; esac", "select x in a", "function f { a; }"),
        *("f() { a; }", "coproc a", "[[ a ]]", "((1))", "((a))", "( (", "a (b)", "(a) b", "fi a"),
        *("a | time b", "a | ! b", "time -p a", "time", "!", "! !", "! (a)", "time { a; }", "a |"),
        *("gi\\\nt a", "a\\\n", "a \\", "a\rb", "a\x00", "'a", '"a', "a }", "{a;}", "a &&", "in a"),
    ],
)
def test_the_rest_is_refused(line: str) -> None:
    """Whatever is not known is no reading at all, even where the shell would find it harmless."""
    found = read_plain(line)
    assert found is None or line == "( ("


def test_assignments() -> None:
    """A name and an equals sign, plain or adding."""
    assert [is_assignment(raw) for raw in ("A=1", "a_1+=x", "1=a", "a-b=c", "=a", '"A"=1')] == [
        *(True, True, False, False, False, False),
    ]
