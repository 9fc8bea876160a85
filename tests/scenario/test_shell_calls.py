"""Whole calls of the shell tool: the line is read, judged by rules, asked about, and run."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, eventually
from lockgate.testing.shell import ShellRoad, line_rule
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind

STATUS = ("git status:*",)


def no() -> ScriptedApprover:
    """Somebody who is there and refuses everything."""
    return ScriptedApprover.always(False)


def codes(approver: ScriptedApprover) -> set[str]:
    """Why the last question was asked."""
    return {reason.code for reason in approver.questions[-1].reasons}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The folder of a road, where lines work in a repository with one new file."""
    subprocess.run(["/usr/bin/git", "init", "-q", str(tmp_path / "work")], check=True)
    (tmp_path / "work" / "new").touch()
    return tmp_path


@pytest.mark.req("S0-08")
@pytest.mark.req("B-09")
async def test_an_allowed_line_runs_unasked(repository: Path) -> None:
    """The rule answers, is on record as the approver, and the line is what ran."""
    approver = no()
    with ShellRoad(repository, allow=STATUS, attended=[approver]) as road:
        result = await road.line("git status -s")
        assert result.text == "?? new"
        decision = road.ledger.decisions[-1]
        assert (decision.decision, decision.approver, decision.approved) == ("run", "rule", True)
        assert [reason.text for reason in decision.reasons] == [
            "the allow rule Bash(git status:*) matches"
        ]
    assert approver.questions == []


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("git status; touch made", "destructive"),
        ("git status && touch made", "destructive"),
        ("git status || touch made", "destructive"),
        ("git status | tee made", "destructive"),
        ("git status\ntouch made", "destructive"),
        ("git status $(touch made)", "shell_expansion"),
        ("git status `touch made`", "shell_expansion"),
        ("git status <(touch made)", "shell_expansion"),
        ("git status >made", "shell_redirection"),
        ("git status <<X\n$(touch made)\nX", "shell_redirection"),
        ("GIT_PAGER='touch made' git status", "shell_assignment"),
        ("git status & touch made", "shell_background"),
        ("git -c alias.status='!touch made' status", "shell_program_option"),
        ("cd / && git status", "shell_directory"),
        ("git status 'unfinished", "shell_unplaced"),
        ("git status ))", "shell_unplaced"),
        ("git status\u00a0touch", "shell_characters"),
        ("gitk", "destructive"),
        ("git statusx", "destructive"),
    ],
)
async def test_what_the_rule_does_not_say_is_asked_about(
    tmp_path: Path, line: str, code: str
) -> None:
    """Of several commands each has to be allowed, and no doubt is answered by a rule; a no is a
    no; with nobody there it is one too, and nothing has run."""
    approver = no()
    with ShellRoad(tmp_path, allow=STATUS, attended=[approver]) as road:
        refused = await road.line(line)
        assert (refused.kind, refused.reason) == (ErrorKind.NOT_APPROVED, "said_no")
        assert code in codes(approver)
        unattended = await road.line(line, attended=False)
        assert (unattended.kind, unattended.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")
        assert list(road.work.iterdir()) == []
        assert road.ledger.outcomes == []


@pytest.mark.req("S0-09")
async def test_the_whole_line_is_in_the_question(tmp_path: Path) -> None:
    """With the directory it would run in, as it really is."""
    approver = no()
    with ShellRoad(tmp_path, attended=[approver]) as road:
        (road.work / "real").mkdir()
        (road.work / "link").symlink_to("real")
        await road.line("rm -rf x", directory="link")
        (question,) = approver.questions
        assert question.arguments == {"command": "rm -rf x", "directory": "link"}
        assert question.resolved == {"directory": str(road.work / "real")}


@pytest.mark.req("S0-08")
async def test_a_rule_without_destructive_answers_nothing(tmp_path: Path) -> None:
    """Nor does one for every command; both are told to whoever asks why."""
    rules = [line_rule("git status:*", destructive=False), line_rule("*")]
    with ShellRoad(tmp_path, rules=rules) as road:
        result = await road.line("git status")
        assert (result.kind, result.reason) == (ErrorKind.NOT_APPROVED, "nobody_to_ask")
        call = road.call("Bash", {"command": "git status"})
        explained = str(road.invoker.explain(call, road.snapshot))
        assert "Bash(git status:*) answers for no destructive call" in explained
        assert "Bash(*) answers for no destructive call" in explained


@pytest.mark.req("S0-09")
async def test_a_rule_answers_where_it_says(tmp_path: Path) -> None:
    """By default only where a person attends."""
    rules = [line_rule("echo:*", when="attended"), line_rule("pwd", when="unattended")]
    with ShellRoad(tmp_path, rules=rules) as road:
        assert not (await road.line("echo x")).is_error
        assert (await road.line("echo x", attended=False)).kind is ErrorKind.NOT_APPROVED
        assert not (await road.line("pwd", attended=False)).is_error
        assert (await road.line("pwd")).kind is ErrorKind.NOT_APPROVED


@pytest.mark.req("B-09")
@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        "/bin/rm x",
        "'r'm x",
        "ls; rm x",
        "ls $(rm x)",
        "ls `rm x`",
        "(cd a && rm x)",
        "bash -c 'rm x'",
        "eval rm x",
        "env rm x",
        "sudo -u root rm x",
        "find . -exec rm {} ;",
        "ls | xargs rm",
        "f() { rm x; }; f",
        "cat <<X\n$(rm x)\nX",
        "X=$(rm x) ls",
        "time rm x",
        "git bisect run rm x",
        "(rm x",
    ],
)
async def test_a_deny_finds_the_command_wherever_it_hides(tmp_path: Path, line: str) -> None:
    """Nobody is asked, whoever is there and whatever else is allowed."""
    approver = ScriptedApprover.always(True)
    allow = ("ls:*", "git:*", "env:*", "bash:*", "find:*")
    with ShellRoad(tmp_path, allow=allow, deny=("rm:*",), attended=[approver]) as road:
        assert (await road.line(line)).kind is ErrorKind.DENIED
    assert approver.questions == []


@pytest.mark.req("B-09")
async def test_a_deny_that_only_may_match_asks(tmp_path: Path) -> None:
    """A name that is not known before it runs may be the one."""
    approver = no()
    with ShellRoad(tmp_path, allow=("*",), deny=("rm:*",), attended=[approver]) as road:
        await road.line("r=rm; $r x")
    assert {"deny_rule_may_match", "shell_expansion", "shell_assignment"} <= codes(approver)


@pytest.mark.req("B-09")
async def test_an_ask_rule_asks_over_an_allow_rule(tmp_path: Path) -> None:
    """Whichever is more exact."""
    approver = no()
    ask, allow = ("git:*",), ("git status",)
    with ShellRoad(tmp_path, allow=allow, ask=ask, attended=[approver]) as road:
        assert (await road.line("git status")).kind is ErrorKind.NOT_APPROVED
    assert "ask_rule" in codes(approver)


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("echo x >.git/config", ".git/config"),
        ("echo x >>lockgate.yaml", "lockgate.yaml"),
        (": >|sub/../.mcp.json", ".mcp.json"),
        ("ls; (echo x 2>&1 &>'.git/hooks/pre-commit')", ".git/hooks/pre-commit"),
        ("bash -c 'echo x >.git/config'", ".git/config"),
        ("echo x >link", ".git/config"),
    ],
)
async def test_a_redirection_onto_a_control_file_asks(
    tmp_path: Path, line: str, target: str
) -> None:
    """By that reason, over every rule, and the question names the file as it really is."""
    approver = no()
    allow = ("echo:*", "ls:*", "bash:*", ":")
    with ShellRoad(tmp_path, allow=allow, attended=[approver]) as road:
        (road.work / ".git").mkdir()
        (road.work / "sub").mkdir()
        (road.work / "link").symlink_to(".git/config")
        assert (await road.line(line)).kind is ErrorKind.NOT_APPROVED
        assert (await road.line(line, attended=False)).reason == "nobody_to_ask"
        assert list((road.work / ".git").iterdir()) == []
        assert approver.questions[0].resolved["redirection"] == str(road.work / target)
    assert {"shell_redirection", "control_file"} <= codes(approver)


@pytest.mark.req("B-13")
async def test_what_is_only_read_is_no_control_file(tmp_path: Path) -> None:
    """Nor one of another directory; the redirection is asked about for itself."""
    approver = no()
    with ShellRoad(tmp_path, attended=[approver]) as road:
        for line in ("cat <lockgate.yaml", "echo x >git/config", "echo x >$X/.git/config"):
            await road.line(line)
            assert "shell_redirection" in codes(approver)
            assert "control_file" not in codes(approver)


@pytest.mark.req("B-13")
async def test_no_redirection_reaches_the_state_of_lockgate(tmp_path: Path) -> None:
    """By whatever path, and not even with a yes."""
    approver = ScriptedApprover.always(True)
    with ShellRoad(tmp_path, attended=[approver]) as road:
        (road.work / "link").symlink_to("../state")
        for target in ("../state/new", str(tmp_path / "state" / "state.db"), "link/new"):
            assert (await road.line(f"echo x >{target}")).kind is ErrorKind.DENIED, target
        assert not (tmp_path / "state" / "new").exists()
    assert approver.questions == []


@pytest.mark.req("B-01")
async def test_a_target_that_changed_while_it_was_asked_about(tmp_path: Path) -> None:
    """A yes for one file is none for where a link leads now."""
    (tmp_path / "work" / "out").mkdir(parents=True)
    swapping = Swapping(tmp_path / "work" / "out", tmp_path)
    with ShellRoad(tmp_path, attended=[swapping]) as road:
        result = await road.line("echo x >out/made")
        assert result.kind is ErrorKind.TOOL_CHANGED
        assert not (tmp_path / "made").exists()


@pytest.mark.req("B-09")
async def test_a_directory_outside_the_roots_is_asked_about(tmp_path: Path) -> None:
    """A rule for the command does not say where; a link there is where it leads."""
    approver = no()
    outside = tmp_path / "outside"
    outside.mkdir()
    with ShellRoad(tmp_path, allow=("pwd",), attended=[approver]) as road:
        (road.work / "link").symlink_to(outside)
        (road.work / "in").mkdir()
        for directory in ("..", "/", str(outside), "link", "in/../.."):
            refused = await road.line("pwd", directory=directory)
            assert refused.kind is ErrorKind.NOT_APPROVED, directory
            assert "outside_roots" in codes(approver)
        assert (await road.line("pwd", directory="in")).text == str(road.work / "in")


async def test_no_line_starts_in_the_state_of_lockgate(tmp_path: Path) -> None:
    """Not even with a yes."""
    approver = ScriptedApprover.always(True)
    with ShellRoad(tmp_path, attended=[approver]) as road:
        place = road.environment
        assert place.barred
        refused = await road.line("pwd", directory=str(place.barred[0]))
    assert refused.kind is ErrorKind.DENIED
    assert approver.questions == []


class Swapping:
    """Says yes, and puts a link in the place of the directory that was asked about."""

    name = "swapping"
    scopes = frozenset({Scope.ONCE})

    def __init__(self, directory: Path, elsewhere: Path) -> None:
        self._directory = directory
        self._elsewhere = elsewhere

    async def __call__(self, question: Question) -> Answer:
        self._directory.rmdir()
        self._directory.symlink_to(self._elsewhere)
        return Answer(True, self.name)


@pytest.mark.req("B-01")
async def test_a_directory_that_changed_while_it_was_asked_about(tmp_path: Path) -> None:
    """The yes does not count: the line would run somewhere else."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    swapping = Swapping(tmp_path / "work" / "sub", elsewhere)
    with ShellRoad(tmp_path, attended=[swapping]) as road:
        (road.work / "sub").mkdir()
        result = await road.line("touch made", directory="sub")
        assert result.kind is ErrorKind.TOOL_CHANGED
        assert list(elsewhere.iterdir()) == []


@pytest.mark.req("S0-08")
async def test_an_answer_for_the_session_is_for_exactly_this_line(tmp_path: Path) -> None:
    """The very same call runs unasked; another line, and the same one elsewhere, are asked."""
    approver = ScriptedApprover([Answer(True, "scripted", Scope.SESSION)])
    with ShellRoad(tmp_path, attended=[approver]) as road:
        (road.work / "sub").mkdir()
        assert (await road.line("echo a; echo b")).text == "a\nb"
        assert (await road.line("echo a; echo b")).text == "a\nb"
        assert len(approver.questions) == 1
        for line in ("echo a; echo c", "echo a;  echo b", "echo a"):
            assert (await road.line(line)).kind is ErrorKind.NOT_APPROVED
        moved = await road.line("echo a; echo b", directory="sub")
        assert moved.kind is ErrorKind.NOT_APPROVED
        longer = await road.line("echo a; echo b", timeout=600)
        assert longer.kind is ErrorKind.NOT_APPROVED
    assert len(approver.questions) == 6


@pytest.mark.req("B-05")
async def test_explain_names_every_doubt_and_every_rule(tmp_path: Path) -> None:
    """Also what a rule lacks: which commands of the line none allows."""
    with ShellRoad(tmp_path, allow=("ls:*",), ask=("git:*",), attended=[no()]) as road:
        call = road.call("Bash", {"command": "ls >x; X=1 git status $(cat y) &"})
        explained = road.invoker.explain(call, road.snapshot)
        assert explained.decision is Decision.ASK
        rules = next(step for step in explained.steps if step.name == "rules")
        assert {reason.code for reason in rules.reasons} == {
            "ask_rule",
            "shell_redirection",
            "shell_assignment",
            "shell_expansion",
            "shell_background",
            "not_allowed",
        }
        assert "no allow rule matches 2 of 3 commands of the line" in str(explained)


@pytest.mark.req("B-05")
async def test_a_reason_says_which_command_by_its_place(tmp_path: Path) -> None:
    """With no word of the line, as it goes into records; and where no rule answers at all."""
    line = "git log; rm hidden-name | cat"
    with ShellRoad(tmp_path, allow=("git:*",), deny=("rm:*",)) as road:
        call = road.call("Bash", {"command": line})
        explained = road.invoker.explain(call, road.snapshot)
        assert "the deny rule Bash(rm:*) matches (command 2 of 3)" in str(explained)
        assert "hidden-name" not in str(explained)
        other = road.call("Bash", {"command": "git log | cat"}, attended=False)
        told = str(road.invoker.explain(other, road.snapshot))
        assert "no allow rule matches" in told


@pytest.mark.req("B-03")
async def test_after_an_interrupted_line_no_rule_answers(tmp_path: Path) -> None:
    """Nobody knows what it has done: the next line is asked about, until somebody has looked."""
    approver = ScriptedApprover([Answer(True, "scripted")])
    token = InterruptToken()
    with ShellRoad(tmp_path, allow=("sleep:*", "echo:*"), attended=[approver]) as road:
        call = road.call("Bash", {"command": "sleep 600"}, interrupt=token)
        before = Belongings.now().children
        running = asyncio.create_task(road.invoke(call))
        await eventually(lambda: bool(Belongings.now().children - before))
        token.interrupt()
        result = await running
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        unattended = await road.line("echo x", attended=False)
        assert unattended.kind is ErrorKind.NOT_APPROVED
        assert approver.questions == []
        assert (await road.line("echo x")).text == "x"
        assert "open_unknown" in codes(approver)
        assert (await road.line("echo y")).text == "y"
    assert len(approver.questions) == 1


@pytest.mark.req("B-03")
async def test_a_line_that_ran_out_of_time_has_ended(tmp_path: Path) -> None:
    """Its end was seen, so it is answered: told as `timeout`, and rules go on to answer."""
    with ShellRoad(tmp_path, allow=("sleep:*", "echo:*")) as road:
        result = await road.line("sleep 600", timeout=0.1)
        assert (result.kind, result.reason) == (ErrorKind.TIMEOUT, "time_limit")
        assert road.ledger.outcomes[-1].fate == "answered"
        assert (await road.line("echo x", attended=False)).text == "x"
