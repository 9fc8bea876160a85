"""The shell tool by the command line: configured, listed, explained, called, offered to agents."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import pytest

from lockgate.testing.belongings import eventually, members_of
from lockgate.testing.project import Project
from lockgate.testing.terminal import PATIENCE, StartAtTerminal


def allowed(*rules: str, when: str = "any") -> list[dict[str, Any]]:
    """Allow rules for commands."""
    return [{"rule": f"Bash({rule})", "destructive": True, "when": when} for rule in rules]


@pytest.fixture
def shell(project: Project) -> Project:
    """A repository, with the tool and a few rules."""
    subprocess.run(["/usr/bin/git", "init", "-q", str(project.root)], check=True)
    project.sections = {
        "builtin": ["Read", "Grep", "Bash"],
        "permissions": {
            "deny": ["Bash(rm:*)"],
            "allow": [*allowed("git status:*", "cat:*"), *allowed("pwd", when="attended")],
        },
    }
    return project


def test_no_tool_is_there_that_is_not_named(project: Project) -> None:
    """Nothing runs lines in a project whose configuration does not say so."""
    project.sections = {"audit": {"content": False}}
    assert project.json("tools")["tools"] == []
    assert project.run("call", "Bash", "command=true").returncode == 2


def test_the_tools_are_listed_with_what_they_can_do(shell: Project) -> None:
    """Beside those of servers, by the same columns."""
    reader, grep, bash = shell.json("tools")["tools"]
    assert [tool["name"] for tool in (reader, grep, bash)] == ["Read", "Grep", "Bash"]
    assert (bash["level"], bash["destructive"], bash["idempotent"]) == ("mutating", True, False)
    listed = shell.run("tools", "Bash").stdout.splitlines()
    assert listed[1].split() == [
        "Bash",
        "mutating",
        "yes",
        "no",
        "declared",
        *listed[1].split()[5:],
    ]


@pytest.mark.req("B-09")
def test_an_allowed_line_is_run(shell: Project) -> None:
    """Its output is the command's, its failure exit code 1."""
    done = shell.run("call", "Bash", "command=git status --short --untracked-files=no")
    assert (done.returncode, done.stdout) == (0, "It printed nothing.\n")
    failed = shell.run("call", "Bash", "command=cat nowhere", "--json")
    assert failed.returncode == 1
    data = shell.json("call", "Bash", "command=cat nowhere")
    assert (data["kind"], data["reason"]) == ("tool_error", "exit_code")
    assert data["structured"] == {"exitCode": 1, "signal": None}


@pytest.mark.req("S0-09")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("git status; touch made", "nobody is there"),
        ("git status >made", "nobody is there"),
        ("touch made", "nobody is there"),
        ("rm -rf x", "deny"),
        ("git status && rm x", "deny"),
        ("pwd", "nobody is there"),
    ],
)
def test_what_nobody_answers_for_is_refused(shell: Project, line: str, said: str) -> None:
    """Exit code 3, and nothing is run: a rule that answers attended runs alone is none here."""
    done = shell.run("call", "Bash", f"command={line}")
    assert done.returncode == 3
    assert said in done.stderr
    assert not (shell.root / "made").exists()


def test_arguments_that_do_not_fit_are_told(shell: Project) -> None:
    """Exit code 2, before any rule or person is asked."""
    for words in (("command=",), ("command=ls", "timeout=601"), ("comand=ls",)):
        assert shell.run("call", "Bash", *words).returncode == 2, words


@pytest.mark.req("B-05")
def test_explain_prints_every_doubt_and_every_rule(shell: Project) -> None:
    """With where each rule stands; the exit code is 0 whatever the decision."""
    line = "command=X=1 cat a | git log >b"
    done = shell.run("explain", "Bash", line)
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    for said in (
        "it sets a variable",
        "it redirects input or output",
        "no allow rule matches 1 of 2 commands of the line",
        "directory lies in a file root",
        "a command line can overwrite and remove anything",
        "so it refused",
    ):
        assert said in text
    steps = {step["name"]: step for step in shell.json("explain", "Bash", line)["steps"]}
    codes = {reason["code"] for reason in steps["rules"]["reasons"]}
    assert {"shell_assignment", "shell_redirection", "not_allowed"} <= codes
    denied = shell.json("explain", "Bash", "command=ls | xargs rm")["steps"][-1]
    assert denied["decision"] == "deny"
    assert "permissions.deny[0]" in denied["reasons"][0]["source"]
    runs = shell.json("explain", "Bash", "command=git status")
    assert runs["steps"][-1]["decision"] == "allow"
    assert "permissions.allow[0]" in str(runs["steps"][-1]["reasons"])


def test_a_line_runs_in_the_directory_it_names(shell: Project) -> None:
    """From the project's on; outside the roots a rule for the command does not answer."""
    (shell.root / "sub").mkdir()
    (shell.root / "sub" / "file").write_text("inside\n")
    assert shell.run("call", "Bash", "command=cat file", "directory=sub").stdout == "inside\n"
    outside = shell.run("call", "Bash", "command=cat file", "directory=/")
    assert outside.returncode == 3
    assert "outside of the file roots" in outside.stderr


def test_secrets_of_the_host_do_not_reach_a_line(shell: Project) -> None:
    """Nor what a shell or git takes orders from."""
    shell.sections["permissions"]["allow"] += allowed("env")
    host = {"MY_TOKEN": "hush", "BASH_ENV": "/x", "GIT_DIR": "/x", "LD_LIBRARY_PATH": "/x"}
    done = shell.run("call", "Bash", "command=env", env=host)
    assert done.returncode == 0
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert not names & host.keys()
    assert "hush" not in done.stdout


@pytest.mark.req("B-05")
def test_check_tells_rules_that_mean_nothing(shell: Project) -> None:
    """About a tool of ours that is not there, and about what only looks as if it were kept."""
    shell.sections["permissions"]["deny"] += ["Read(**/.env)", "Write(**/*.py)", "my_tool"]
    shell.sections["agent"] = {"offer": ["Bash", "Edit"]}
    done = shell.json("check")
    texts = [finding["text"] for finding in done["findings"]]
    assert len([text for text in texts if "holds for Read alone" in text]) == 1
    others = [text for text in texts if "holds for Read alone" not in text]
    assert others == [
        'the rule "Write(**/*.py)" names Write, which is not among `builtin`',
        'the rule "my_tool" names a local tool, and the command line has none',
        '"Edit" names Edit, which is not among `builtin`',
    ]


def test_check_names_the_command_that_reads_files(shell: Project) -> None:
    """Of several that are allowed, the one that makes the point."""
    shell.sections["permissions"]["deny"] += ["Read(**/.env)"]
    texts = [finding["text"] for finding in shell.json("check")["findings"]]
    (note,) = [text for text in texts if "holds for Read alone" in text]
    assert note == (
        'the rule "Read(**/.env)" holds for Read alone: a command that "Bash(cat:*)" allows reads '
        "and writes whatever its user can"
    )


def test_an_agent_is_offered_the_tools(shell: Project) -> None:
    """Its calls go down the same road."""
    model = shell.root / "model.yaml"
    model.write_text(
        "- calls: [{tool: Bash, arguments: {command: git status --short}}]\n"
        "- calls: [{tool: Bash, arguments: {command: touch made}}]\n"
        "- text: done\n"
    )
    shell.sections["agent"] = {"model": f"scripted:{model}"}
    done = shell.run("run", "go")
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout
    assert not (shell.root / "made").exists()
    records = "".join(path.read_text() for path in shell.state.rglob("*.jsonl"))
    assert '"approver":"rule"' in records
    assert '"reason":"nobody_to_ask"' in records


@pytest.mark.req("B-14")
def test_a_line_that_waits_is_run_by_a_yes_from_elsewhere(shell: Project) -> None:
    """In the directory it was asked about; once."""
    (shell.root / "sub").mkdir()
    shell.sections["approvals"] = {"unattended": ["queue"]}
    put_off = shell.run("call", "Bash", "command=echo x >>made; pwd", "directory=sub")
    assert put_off.returncode == 3
    ticket = put_off.stdout.split()[-1]
    shown = shell.run("approvals", "show", ticket).stdout
    assert "echo x >>made; pwd" in shown
    assert '"directory" is really' in shown
    named, shell.sections["builtin"] = shell.sections["builtin"], ["Read"]
    elsewhere = shell.run("approvals", "answer", ticket, "yes")
    assert elsewhere.returncode == 2
    assert "`builtin` in this configuration does not name it" in elsewhere.stderr
    shell.sections["builtin"] = named
    answered = shell.run("approvals", "answer", ticket, "yes")
    assert (answered.returncode, answered.stdout) == (0, f"{shell.root / 'sub'}\n")
    assert (shell.root / "sub" / "made").read_text() == "x\n"
    assert shell.run("approvals", "answer", ticket, "yes").returncode == 2


def test_a_person_is_shown_the_line_and_why_it_is_asked(
    shell: Project, start: StartAtTerminal
) -> None:
    """All of it, with nothing in it that a terminal obeys; a yes runs it, a no does not."""
    line = "command=touch made; echo \x1b[2Jdone >log; cat log"
    terminal = start("call", "Bash", line)
    shown = terminal.until("answer [no]: ")
    assert "\\x1b[2Jdone" in shown
    assert "\x1b[2J" not in shown
    said = " ".join(shown.split())
    assert "it redirects input or output" in said
    assert "OVERWRITE, REMOVE OR INVALIDATE" in said
    terminal.type("once\n")
    assert "done" in terminal.end()
    assert terminal.process.returncode == 0
    assert (shell.root / "made").exists()

    terminal = start("call", "Bash", "command=touch again; echo")
    terminal.until("answer [no]: ")
    terminal.type("no\n")
    terminal.end()
    assert terminal.process.returncode == 3
    assert not (shell.root / "again").exists()


def test_a_rule_answers_where_a_person_attends(shell: Project, start: StartAtTerminal) -> None:
    """Nobody is asked then."""
    terminal = start("call", "Bash", "command=pwd")
    assert terminal.end().strip() == str(shell.root)
    assert terminal.process.returncode == 0


def test_ctrl_c_ends_the_line(shell: Project, start: StartAtTerminal) -> None:
    """With all that it started, and it is told that it may have taken effect."""
    terminal = start("call", "Bash", "command=echo $$ >pid; sleep 600 | sleep 600")
    terminal.until("answer [no]: ")
    terminal.type("once\n")
    pid = shell.root / "pid"
    asyncio.run(eventually(lambda: pid.exists() and pid.read_text() != "", timeout=PATIENCE))
    leader = int(pid.read_text())
    assert members_of(leader)
    terminal.type("\x03")
    said = terminal.end()
    assert terminal.process.returncode == 130
    assert "may have taken effect" in " ".join(said.split())
    assert members_of(leader) == ()
