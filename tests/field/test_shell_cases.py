"""Field cases about shell lines, as whole calls under the rules that they name.

Somebody is there and refuses everything, so a line that is let through runs by its rule alone. What
stands in the place of the shell does nothing and is recorded, so no file is ever touched. What the
real shell does with lines that are let through is in tests/shell.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate.builtin.shell.bash import PATH, Shell
from lockgate.decision import Decision
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.shell import ShellRoad
from lockgate.tools.result import ErrorKind

GIT = ("git:*",)
RUNS, ASKS, DENIED = Decision.ALLOW, Decision.ASK, Decision.DENY


@dataclass(frozen=True)
class Came:
    """What became of one line."""

    decision: Decision
    codes: tuple[str, ...]
    """Why it was asked about."""


class Trial:
    """Makes calls in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = folder / "lines"
        self._lines.touch()
        program = folder / "shell"
        program.write_text(f"#!/bin/bash -p\nprintf '%s\\0' \"$4\" >>{self._lines}\n")
        program.chmod(0o755)
        self._shell = Shell(str(program), PATH)

    async def line(
        self,
        line: str,
        allow: tuple[str, ...] = GIT,
        deny: tuple[str, ...] = (),
        rules: tuple[Rule, ...] = (),
    ) -> Came:
        """A call of the line: attended first, then not. `rules` are for other tools."""
        nobody = ScriptedApprover.always(False)
        with ShellRoad(
            self._folder,
            allow=allow,
            deny=deny,
            rules=rules,
            attended=[nobody],
            shell=self._shell,
        ) as road:
            result = await road.line(line)
            unattended = await road.line(line, attended=False)
        ran = self._lines.read_text().split("\0")[:-1]
        self._lines.write_text("")
        codes = tuple(reason.code for q in nobody.questions for reason in q.reasons)
        if result.kind is ErrorKind.DENIED:
            assert (ran, codes, unattended.kind) == ([], (), ErrorKind.DENIED)
            return Came(DENIED, ())
        if result.kind is ErrorKind.NOT_APPROVED:
            assert (ran, unattended.reason) == ([], "nobody_to_ask")
            return Came(ASKS, codes)
        assert (result.is_error, ran, codes) == (False, [line, line], ())
        return Came(RUNS, ())


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A trial of lines, each on a road of its own."""
    return Trial(tmp_path)


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
async def test_pb_159_only_plain_git_commands_run(
    trial: Trial, line: str, expected: Decision
) -> None:
    """Of several commands each has to be allowed; a redirection asks; a longer name is another."""
    assert (await trial.line(line)).decision is expected


async def test_pb_159_a_redirection_asks_by_itself(trial: Trial) -> None:
    """Also where every command is allowed."""
    codes = (await trial.line("git log > /tmp/p6")).codes
    assert codes == ("destructive", "not_exempt", "shell_redirection")


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
async def test_pb_160_substitutions_ask(trial: Trial, line: str, expected: Decision) -> None:
    """All but the one in single quotes, which is text; the command inside is seen each time."""
    assert (await trial.line(line)).decision is expected
    if expected is ASKS:
        assert (await trial.line(line, ("*",), ("touch:*",))).decision is DENIED


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
async def test_pb_163_assignments_ask(trial: Trial, line: str) -> None:
    """None of them runs on the strength of a rule for git, nor of one for everything."""
    for allow in (GIT, ("*",)):
        came = await trial.line(line, allow)
        assert came.decision is ASKS
        assert "shell_assignment" in came.codes


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
async def test_pb_166_rm_inside_of_others(trial: Trial, line: str, expected: Decision) -> None:
    """Denied where it can be read, asked about where it can not; `git clean` is git's own."""
    allow = ("find:*", "xargs:*", "git:*", "bash:*")
    assert (await trial.line(line, allow, ("rm:*",))).decision is expected


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
async def test_pb_167_git_that_starts_programs_asks(trial: Trial, line: str) -> None:
    """Settings, pagers, and subcommands whose operand is a command: asked about, under any rule."""
    for allow in (GIT, ("*",)):
        assert (await trial.line(line, allow)).decision is ASKS


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
async def test_pb_168_groups_and_chains(trial: Trial, line: str, expected: Decision) -> None:
    """Denied in any grouping; another order of options is other words; broken lines ask.

    A rule for every command answers for none, so under it the other words are asked about too.
    """
    allow, deny = ("rm:*", "ls:*"), ("rm -rf:*",)
    assert (await trial.line(line, allow, deny)).decision is expected
    under_all = (await trial.line(line, ("*",), deny)).decision
    assert under_all is (DENIED if expected is DENIED else ASKS)


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
async def test_pb_169_quoting_does_not_hide_a_name(
    trial: Trial, line: str, expected: Decision
) -> None:
    """Quotes are removed before the rule looks; other letters are other names."""
    assert (await trial.line(line, ("RM:*", "ｒｍ:*"), ("rm:*",))).decision is expected


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
async def test_pb_170_a_rule_for_a_reader_lets_it_read(
    trial: Trial, line: str, expected: Decision
) -> None:
    """A rule for `cat` allows what cat reads; names that the line does not say are asked about.

    Rules of other tools do not hold for a line: `deny: [Read(.env)]` keeps Read from the file and
    says nothing of `cat .env`. docs/shell.md says so beside its rules.
    """
    read = parse_rule("Read(**/.env)", DENIED, places=Places("/project", "/home/me"))
    came = await trial.line(line, ("cat:*", "grep:*", "ls:*"), rules=(read,))
    assert came.decision is expected
