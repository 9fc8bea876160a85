"""Builtins: what each of them does to the rest of the line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.shell_builtins import BUILTINS, inside_builtin
from lockgate.rules.command.words import OPEN, closed


def doubts(line: str) -> frozenset[Doubt]:
    """Those of one builtin."""
    found = inside_builtin(closed(tuple(line.split())))
    assert found is not None
    return found.doubts


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="NOT CHECKED: no /bin/bash")
def test_every_builtin_is_known() -> None:
    """What the installed bash calls a builtin is on the list: a new one would go unseen."""
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-c", "compgen -b"],
        capture_output=True, text=True, timeout=10, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) <= BUILTINS


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("printf -v a[$(x)] y", Doubt.EVALUATION),
        ("printf -va y", Doubt.EVALUATION),
        ("printf x%n PATH", Doubt.EVALUATION),
        ("printf -- %-5ln a", Doubt.EVALUATION),
        ("test -v a", Doubt.EVALUATION),
        ("[ x -a -R a ]", Doubt.EVALUATION),
        ("read a", Doubt.EVALUATION),
        ("let a", Doubt.EVALUATION),
        ("mapfile a", Doubt.EVALUATION),
        ("wait -n", Doubt.EVALUATION),
        ("compgen -W x", Doubt.EVALUATION),
        ("declare a", Doubt.SHELL_STATE),
        ("unset a", Doubt.SHELL_STATE),
        ("alias a=b", Doubt.SHELL_STATE),
        ("hash -p a b", Doubt.SHELL_STATE),
        ("enable -f a b", Doubt.SHELL_STATE),
        ("set -x", Doubt.SHELL_STATE),
        ("shopt -s extglob", Doubt.SHELL_STATE),
        ("getopts a b", Doubt.SHELL_STATE),
        ("jobs -x a", Doubt.SHELL_STATE),
        ("cd a", Doubt.DIRECTORY),
        ("pushd a", Doubt.DIRECTORY),
        ("source a", Doubt.UNSEEN),
        (". a", Doubt.UNSEEN),
        ("eval a", Doubt.UNSEEN),
        ("trap a EXIT", Doubt.UNSEEN),
        ("exec a", Doubt.WRAPPER),
        ("command a", Doubt.WRAPPER),
        ("builtin a", Doubt.WRAPPER),
    ],
)
def test_builtins_that_do_more_than_they_say(line: str, doubt: Doubt) -> None:
    """Operands evaluated, state of the shell, directory, other lines, other commands."""
    assert doubts(line) == {doubt}


@pytest.mark.parametrize(
    "line",
    [
        "echo a",
        "true",
        ":",
        "pwd",
        "printf %s a",
        "printf -- -v",
        "test -f a",
        "[ a = b ]",
        "exit 1",
        "type a",
        "printf 100%%n",
        "command -v a",
        "command -V a",
        "kill 1",
    ],
)
def test_builtins_that_do_not(line: str) -> None:
    """These do what they say."""
    assert doubts(line) == frozenset()


def test_an_unknown_operand_may_be_the_option() -> None:
    """`printf $x` may be `printf -v`, `test $x` may be `test -v`."""
    for name in ("printf", "test"):
        found = inside_builtin((*closed((name,)), OPEN))
        assert found is not None
        assert found.doubts == {Doubt.EVALUATION}


def test_programs_are_no_builtins() -> None:
    """By name alone: a path, or a name that is not known, is none."""
    assert inside_builtin(closed(("git",))) is None
    assert inside_builtin(closed(("/bin/echo",))) is None
    assert inside_builtin((OPEN,)) is None
