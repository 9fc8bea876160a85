"""Field cases about shell lines, on the level of their analysis: nothing is run here.

What the real shell does with lines that are let through is in tests/shell.
"""

from __future__ import annotations

import pytest

from lockgate.decision import Decided, Decision
from lockgate.rules.command.line import analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import judge

GIT = ("git:*",)
RUNS, ASKS, DENIED = Decision.ALLOW, Decision.ASK, Decision.DENY


def verdict(line: str, allow: tuple[str, ...] = GIT, deny: tuple[str, ...] = ()) -> Decided:
    """What the rules say of a line."""
    return judge(
        analyse(line),
        [CommandPattern.parse(pattern) for pattern in allow],
        [CommandPattern.parse(pattern) for pattern in deny],
    )


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status; touch /tmp/p1", ASKS),
        ("git status && touch /tmp/p2", ASKS),
        ("git status || touch /tmp/p3", ASKS),
        ("git status | tee /tmp/p4", ASKS),
        ("git status & touch /tmp/p5", ASKS),
        ("git log > /tmp/p6", ASKS),
        ("git log >> ~/.bashrc", ASKS),
        ("gitk", ASKS),
        ("git-evil", ASKS),
        ("gitleaks x", ASKS),
        ("git", RUNS),
        (" git status", RUNS),
        ("git\tstatus", RUNS),
        ("git status", RUNS),
    ],
)
def test_pb_159_only_plain_git_commands_run(line: str, expected: Decision) -> None:
    """Of several commands each has to be allowed; a redirection asks; a longer name is another."""
    assert verdict(line).decision is expected


def test_pb_159_a_redirection_asks_by_itself() -> None:
    """Also where every command is allowed."""
    assert [r.code for r in verdict("git log > /tmp/p6").reasons] == ["shell_redirection"]


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status $(touch /tmp/q1)", ASKS),
        ("git status `touch /tmp/q2`", ASKS),
        ("git diff <(touch /tmp/q3)", ASKS),
        ('git log "$(touch /tmp/q4)"', ASKS),
        ("git log '$(touch /tmp/q5)'", RUNS),
        ("git log ${X:-$(touch /tmp/q6)}", ASKS),
        ("git log $((`touch /tmp/q7`))", ASKS),
    ],
)
def test_pb_160_substitutions_ask(line: str, expected: Decision) -> None:
    """All but the one in single quotes, which is text; the command inside is seen each time."""
    assert verdict(line).decision is expected
    if expected is ASKS:
        assert verdict(line, ("*",), ("touch:*",)).decision is DENIED


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line",
    [
        "GIT_SSH_COMMAND='touch /tmp/s1' git fetch ssh://x",
        "GIT_EXTERNAL_DIFF=/tmp/e git diff",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='touch' git status",
        "LD_PRELOAD=/tmp/x.so git status",
        "PATH=/tmp/bin git status",
        "PAGER='touch /tmp/s3' git -p log",
    ],
)
def test_pb_163_assignments_ask(line: str) -> None:
    """None of them runs on the strength of a rule for git, nor of one for everything."""
    for allow in (GIT, ("*",)):
        decided = verdict(line, allow)
        assert decided.decision is ASKS
        assert "shell_assignment" in [reason.code for reason in decided.reasons]


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bash -c 'rm -rf d'", DENIED),
        ("eval 'rm -rf d'", DENIED),
        ("find d -delete", ASKS),
        ("find . -exec rm {} \\;", DENIED),
        ("echo d | xargs rm -rf", DENIED),
        ("git clean -fdx", RUNS),
        ("python3 -c '...'", ASKS),
        ("busybox rm d", DENIED),
        ("perl -e unlink", ASKS),
        ("$SHELL -c", ASKS),
        ("r=rm; $r -rf d", ASKS),
        ("rm$IFS-rf$IFS/d", ASKS),
    ],
)
def test_pb_166_rm_inside_of_others(line: str, expected: Decision) -> None:
    """Denied where it can be read, asked about where it can not; `git clean` is git's own."""
    allow = ("find:*", "xargs:*", "git:*", "bash:*")
    assert verdict(line, allow, ("rm:*",)).decision is expected


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line",
    [
        "git -c alias.z='!touch /tmp/t1' z",
        "AV=commit git --config-env=alias.c=AV c",
        "git -c core.sshCommand='touch /tmp/t2' fetch ssh://x",
        "git grep --open-files-in-pager='touch /tmp/t3' x",
        "git bisect run touch /tmp/t4",
        "git submodule foreach 'touch /tmp/t5'",
        "git rebase -x 'touch /tmp/t6' HEAD~1",
    ],
)
def test_pb_167_git_that_starts_programs_asks(line: str) -> None:
    """Settings, pagers, and subcommands whose operand is a command: asked about, under any rule."""
    for allow in (GIT, ("*",)):
        assert verdict(line, allow).decision is ASKS


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(cd b && rm -rf x)", DENIED),
        ("{ rm -rf x; }", DENIED),
        ("DEBUG=1 rm -rf x", DENIED),
        ("true && rm -rf x", DENIED),
        ("rm  -rf x", DENIED),
        ("if :; then rm -rf x; fi", DENIED),
        ("f(){ rm -rf x; }; f", DENIED),
        ("coproc rm -rf x", DENIED),
        ("rm -r -f x", RUNS),
        ("rm -fr x", RUNS),
        ("rm --recursive --force x", RUNS),
        ("(rm -rf x", DENIED),
        ("rm -rf 'x", DENIED),
        ("ls; if rm", ASKS),
    ],
)
def test_pb_168_groups_and_chains(line: str, expected: Decision) -> None:
    """Denied in any grouping; another order of options is other words; broken lines ask."""
    assert verdict(line, ("*",), ("rm -rf:*",)).decision is expected


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"rm" x', DENIED),
        ("'r'm x", DENIED),
        ("r\\m x", DENIED),
        ("$'\\x72m' x", DENIED),
        ("/bin/rm x", DENIED),
        ("r${z}m x", ASKS),
        ("/bin/r? x", ASKS),
        ("RM x", RUNS),
        ("ｒｍ x", RUNS),
    ],
)
def test_pb_169_quoting_does_not_hide_a_name(line: str, expected: Decision) -> None:
    """Quotes are removed before the rule looks; other letters are other names."""
    assert verdict(line, ("*",), ("rm:*",)).decision is expected


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat .env", RUNS),
        ("cat ./.env", RUNS),
        ("grep '' .env", RUNS),
        ("cat < .env", ASKS),
        ("cat $(ls -a | grep env)", ASKS),
        ("ls; cat .env", RUNS),
        ("cat /proc/self/environ", RUNS),
    ],
)
def test_pb_170_a_rule_for_a_reader_lets_it_read(line: str, expected: Decision) -> None:
    """A rule for `cat` allows what cat reads; names that the line does not say are asked about.

    Whether a deny over a path holds for the words of a command is decided where both kinds of rules
    meet; the analysis hands on each command's words for that.
    """
    assert verdict(line, ("cat:*", "grep:*", "ls:*")).decision is expected
    assert all(command.words for command in analyse(line).commands)
