"""Commands that start others: followed where all is known, else read for deny rules and asked."""

from __future__ import annotations

import pytest

from lockgate.rules.command.command import Command
from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.plain import read_plain
from lockgate.rules.command.words import OPEN, closed
from lockgate.rules.command.wrappers import inside


def command(line: str) -> Command:
    """The one command that a plain line is."""
    found = read_plain(line)
    assert found is not None
    (words,) = found
    return Command(closed(words))


def started(line: str) -> list[str]:
    """What it starts for certain; `...` for a word that is not known."""
    return [
        " ".join(word.text if word.closed else "..." for word in found.words)
        for found in inside(command(line)).commands
        if found.certain
    ]


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        ("nohup git log", "git log"),
        ("nice git log", "git log"),
        ("nice -n 5 git log", "git log"),
        ("nice -5 -- git log", "git log"),
        ("timeout 5 git log", "git log"),
        ("timeout -k 1s --signal=TERM 1.5m git log", "git log"),
        ("stdbuf -oL -e0 git log", "git log"),
        ("env git log", "git log"),
        ("env -- git log", "git log"),
    ],
)
def test_wrappers_that_are_followed(line: str, inner: str) -> None:
    """Without a doubt: the wrapper only changes how long, how nicely or how buffered."""
    assert started(line) == [inner]
    assert inside(command(line)).doubts == frozenset()


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        ("sudo -u root rm x", "rm x"),
        ("sudo A=1 rm x", "rm x"),
        ("doas -u a rm x", "rm x"),
        ("env -u A B=1 rm x", "rm x"),
        ("env -i rm x", "rm x"),
        ("xargs -n 1 -- rm x", "rm x ..."),
        ("busybox rm x", "rm x"),
        ("chroot / rm x", "rm x"),
        ("flock f rm x", "rm x"),
        ("watch -n 1 rm x", "rm x"),
        ("find . -exec rm '{}' ';'", "rm ..."),
        ("find . -name x -execdir rm x +", "rm x"),
        ("exec -a n rm x", "n rm x"),
        ("command -p rm x", "rm x"),
        ("git bisect run rm x", "rm x"),
        ("/usr/bin/env rm x", "rm x"),
        ("nice -n x rm x", "rm x"),
    ],
)
def test_wrappers_that_are_asked_about(line: str, inner: str) -> None:
    """What they start is seen, and they are a doubt of their own."""
    assert inner in started(line)
    assert Doubt.WRAPPER in inside(command(line)).doubts


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("bash -c 'rm x'", "rm x"),
        ("sh -c 'rm x' a b", "rm x"),
        ("eval rm 'x y'", "rm x y"),
        ("trap 'rm x' EXIT", "rm x"),
        ("bash -lc 'rm x'", "rm x"),
        ("bash --norc -c 'rm x'", "rm x"),
        ("bash -O extglob -c 'rm x'", "rm x"),
        ("git -c alias.z='!rm x' z", "rm x"),
        ("git rebase --exec='rm x' a", "rm x"),
        ("git submodule foreach 'rm x'", "rm x"),
        ("su -c 'rm x'", "rm x"),
        ("env -S 'rm x'", "rm x"),
    ],
)
def test_lines_for_another_shell(line: str, script: str) -> None:
    """An operand that a shell reads once more is handed back as a line."""
    assert script in inside(command(line)).scripts


@pytest.mark.parametrize(
    ("line", "sure"),
    [
        ("bash -c 'a'", True),
        ("sh -c 'a' b", True),
        ("sh -c 'time a'", False),
        ("sh -c \"\\$'a'\"", False),
        ("dash -c 'a'", False),
        ("/bin/bash -c 'a'", False),
        ("bash -ic 'a'", False),
        ("bash a", False),
        ("bash", False),
        ("bash -c", False),
    ],
)
def test_only_the_plain_form_of_a_shell_is_followed(line: str, sure: bool) -> None:
    """Options, paths, other shells, scripts in files and from standard input are asked about."""
    assert (inside(command(line)).doubts == frozenset()) is sure


def test_an_unknown_word_closes_the_short_cut() -> None:
    """`nice $x git` may be anything."""
    words = (*closed(("nice",)), OPEN, *closed(("git",)))
    assert inside(Command(words)).doubts == {Doubt.WRAPPER}
    assert inside(Command((OPEN,))).doubts == {Doubt.EXPANSION}


@pytest.mark.parametrize("option", ["-delete", "-fprint", "-fls", "-fprintf", "-files0-from"])
def test_find_that_writes(option: str) -> None:
    """find deletes and writes by option; looking for files is no doubt."""
    assert inside(command(f"find . {option} x")).doubts == {Doubt.PROGRAM_OPTION}
    assert inside(command("find . -name x -type f")).doubts == frozenset()


@pytest.mark.parametrize(
    "line",
    [
        "rg --pre a x",
        "rg --pr=a x",
        "tar xf a",
        "tar -I a -tf b",
        "sed 1e x",
        "sed -i s/a/b/ x",
        "sort -o a b",
        "man -P a b",
        "less +!a b",
        "vim -c a b",
        "ssh -o ProxyCommand=a b",
        "go vet -vettool=a",
    ],
)
def test_options_that_start_programs(line: str) -> None:
    """An option that turns a reader into a starter or a writer is a doubt."""
    assert inside(command(line)).doubts & {Doubt.PROGRAM_OPTION, Doubt.WRAPPER}


@pytest.mark.parametrize(
    "line", ["rg a", "tar tf a", "sed -n 1,5p x", "sort a", "ls -la", "go test ./..."]
)
def test_options_that_do_not(line: str) -> None:
    """The plain use of the same programs is none."""
    assert inside(command(line)).doubts == frozenset()
