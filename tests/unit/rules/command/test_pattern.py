"""Patterns of commands: how they are read, what they allow, what they catch."""

from __future__ import annotations

import pytest

from lockgate.rules.command.command import Command
from lockgate.rules.command.line import analyse
from lockgate.rules.command.pattern import CommandPattern, CommandPatternError
from lockgate.rules.command.words import OPEN, Word, closed
from lockgate.rules.matcher import Match


def command(line: str) -> Command:
    """The first command of a line."""
    return analyse(line).commands[0]


@pytest.mark.parametrize(
    ("text", "words", "more"),
    [
        ("*", (), True),
        ("git:*", ("git",), True),
        ("git *", ("git",), True),
        ("git status:*", ("git", "status"), True),
        ("git status *", ("git", "status"), True),
        ("npm run build", ("npm", "run", "build"), False),
        ('echo "a b":*', ("echo", "a b"), True),
        ("/opt/x/git:*", ("/opt/x/git",), True),
    ],
)
def test_reading(text: str, words: tuple[str, ...], more: bool) -> None:
    """Words as the shell reads them, and whether others may follow."""
    found = CommandPattern.parse(text, "here")
    assert (found.text, found.words, found.more, found.source) == (text, words, more, "here")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " git",
        "git ",
        ":*",
        " *",
        "git :*",
        "git  *",
        "git*",
        "git* x",
        "gi*t:*",
        "git * status",
        "**",
        "git;ls",
        "git && ls:*",
        "$x:*",
        "A=1 git:*",
        "git > x",
        "'git",
        "git\nls",
        "git\n",
        "#:*",
    ],
)
def test_patterns_that_mean_nothing_clear(text: str) -> None:
    """A pattern that could be misread is an error that says what to write."""
    with pytest.raises(CommandPatternError) as caught:
        CommandPattern.parse(text)
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("text", ["time:*", "time git:*", "if:*", "! git", "for:*"])
def test_keywords_are_named_as_such(text: str) -> None:
    """They are no commands; quoted they would be."""
    with pytest.raises(CommandPatternError, match="keyword of the shell"):
        CommandPattern.parse(text)
    assert CommandPattern.parse("'time':*").words == ("time",)


@pytest.mark.parametrize(
    ("text", "line", "allowed"),
    [
        ("git:*", "git", True),
        ("git:*", "git status -s", True),
        ("git *", "git", True),
        ("git:*", "gitk", False),
        ("git:*", "git-evil", False),
        ("git:*", "/opt/evil/git", False),
        ("git:*", "./git", False),
        ("git:*", "Git", False),
        ("git status:*", "git status -s", True),
        ("git status:*", "git", False),
        ("git status:*", "git statusx", False),
        ("git status:*", "git -P status", False),
        ("npm run build", "npm run build", True),
        ("npm run build", "npm 'run' build", True),
        ("npm run build", "npm run build x", False),
        ("npm run build", "npm run", False),
        ("/opt/x/git:*", "/opt/x/git log", True),
        ("/opt/x/git:*", "git log", False),
        ("*", "anything at all", True),
        ("git:*", "git $x", True),
        ("git:*", "g$x", False),
        ("git status:*", "git $x", False),
    ],
)
def test_what_an_allow_means(text: str, line: str, allowed: bool) -> None:
    """A prefix of literal words; the name is the word itself, not the end of a path."""
    assert CommandPattern.parse(text).allows(command(line)) is allowed


@pytest.mark.parametrize(
    ("text", "line", "match"),
    [
        ("rm:*", "rm -rf x", Match.YES),
        ("rm:*", "/bin/rm x", Match.YES),
        ("rm:*", "../rm x", Match.YES),
        ("rm:*", "rmdir x", Match.NO),
        ("rm:*", "RM x", Match.NO),
        ("rm:*", "r$x", Match.MAYBE),
        ("rm:*", "ls$x", Match.MAYBE),
        ("rm:*", "rm $x", Match.YES),
        ("rm -rf:*", "rm -r$x y", Match.MAYBE),
        ("rm -rf:*", "rm -f$x y", Match.NO),
        ("rm -rf:*", "rm -r -f x", Match.NO),
        ("rm -rf:*", "rm", Match.NO),
        ("/bin/rm:*", "/bin/rm x", Match.YES),
        ("/bin/rm:*", "rm x", Match.MAYBE),
        ("/bin/rm:*", "/usr/bin/rm x", Match.MAYBE),
        ("/bin/rm:*", "ls", Match.NO),
        ("a b", "a b", Match.YES),
        ("a b", "a b c", Match.NO),
        ("a b", "a b $x", Match.MAYBE),
        ("*", "ls", Match.YES),
    ],
)
def test_what_a_deny_catches(text: str, line: str, match: Match) -> None:
    """The base name too, and what an expansion may become."""
    assert CommandPattern.parse(text).catches(command(line)) is match


def test_a_possible_command_is_caught_at_most_perhaps() -> None:
    """A reading that need not be right denies nothing by itself."""
    pattern = CommandPattern.parse("rm:*")
    assert pattern.catches(Command(closed(("rm",)), certain=False)) is Match.MAYBE
    assert pattern.catches(Command((OPEN, Word("x")), certain=False)) is Match.MAYBE
