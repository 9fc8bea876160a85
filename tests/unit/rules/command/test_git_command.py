"""git: the ways in which a line makes it start another program."""

from __future__ import annotations

import pytest

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.git_command import inside_git
from lockgate.rules.command.plain import read_plain
from lockgate.rules.command.words import OPEN, closed


def doubts(line: str) -> frozenset[Doubt]:
    """Those of one git command."""
    found = read_plain("git " + line)
    assert found is not None
    (words,) = found
    return inside_git(closed(words)).doubts


@pytest.mark.parametrize(
    "line",
    [
        "",
        "status",
        "log -p -S x",
        "commit -m x",
        "--no-pager log",
        "-P diff",
        "--version",
        "grep x",
        "rebase main",
        "bisect start",
        "submodule status",
        "config --get a.b",
        "clone a b",
        "tag v1",
        "add -A",
        "push origin main",
        "fetch --all",
        "log --grep=exec",
        "diff -O x",
        "clean -fdx",
    ],
)
def test_plain_commands(line: str) -> None:
    """What git does by itself is what the rule for git allows."""
    assert doubts(line) == frozenset()


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("-c a.b=c log", Doubt.PROGRAM_OPTION),
        ("-ca.b=c log", Doubt.PROGRAM_OPTION),
        ("--config-env=a.b=c log", Doubt.PROGRAM_OPTION),
        ("--exec-path=/x log", Doubt.PROGRAM_OPTION),
        ("-p log", Doubt.PROGRAM_OPTION),
        ("--paginate log", Doubt.PROGRAM_OPTION),
        ("--unheard-of log", Doubt.PROGRAM_OPTION),
        ("-C /x log", Doubt.DIRECTORY),
        ("--git-dir=/x log", Doubt.DIRECTORY),
        ("--work-tree /x log", Doubt.DIRECTORY),
        ("bisect run x", Doubt.WRAPPER),
        ("submodule foreach x", Doubt.WRAPPER),
        ("submodule update", Doubt.UNSEEN),
        ("rebase -x y", Doubt.WRAPPER),
        ("rebase --ex y", Doubt.WRAPPER),
        ("rebase -i", Doubt.PROGRAM_OPTION),
        ("grep -Ox y", Doubt.PROGRAM_OPTION),
        ("grep --open-files-in-pager=x y", Doubt.PROGRAM_OPTION),
        ("grep --open y", Doubt.PROGRAM_OPTION),
        ("fetch --upload-pack=x", Doubt.PROGRAM_OPTION),
        ("fetch --upload-pa x", Doubt.PROGRAM_OPTION),
        ("push --receive-pack x", Doubt.PROGRAM_OPTION),
        ("clone -u x y", Doubt.PROGRAM_OPTION),
        ("clone ext::x y", Doubt.PROGRAM_OPTION),
        ("log --output=x", Doubt.PROGRAM_OPTION),
        ("diff --ext-diff", Doubt.PROGRAM_OPTION),
        ("log --pretty=format:%GG", Doubt.PROGRAM_OPTION),
        ("log --format=%h%+GS", Doubt.PROGRAM_OPTION),
        ("log --format '%G?'", Doubt.PROGRAM_OPTION),
        ("show --pretty=tformat:%GK", Doubt.PROGRAM_OPTION),
        ("rev-list --format=%GF x", Doubt.PROGRAM_OPTION),
        ("for-each-ref '--format=%(signature:grade)'", Doubt.PROGRAM_OPTION),
        ("tag '--format=%(*signature)'", Doubt.PROGRAM_OPTION),
        ("branch --sort=-signature:key", Doubt.PROGRAM_OPTION),
        ("branch --sort signature", Doubt.PROGRAM_OPTION),
        ("commit -e", Doubt.PROGRAM_OPTION),
        ("config a.b c", Doubt.SHELL_STATE),
        ("config", Doubt.SHELL_STATE),
        ("difftool", Doubt.ALIAS),
        ("filter-branch", Doubt.ALIAS),
        ("lfs", Doubt.ALIAS),
        ("z", Doubt.ALIAS),
    ],
)
def test_what_is_asked_about(line: str, doubt: Doubt) -> None:
    """Settings, programs, directories, commands inside, and what may be an alias."""
    assert doubts(line) == {doubt}


def test_a_subcommand_that_is_not_known() -> None:
    """`git $x` may be any of them."""
    assert inside_git((*closed(("git",)), OPEN)).doubts == {Doubt.EXPANSION}
