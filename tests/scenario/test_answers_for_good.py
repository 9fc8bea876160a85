"""Answers that hold for good: given at a terminal or from the queue, kept outside of the project,
held to the definition they were given for, listed, and taken back.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, tool
from lockgate.testing.terminal import StartAtTerminal

DROP = "mcp__db__drop"
PROMPT = "answer [no]: "
SERVER = ScriptedServer(tools=(tool("drop"), tool("look")))
CHANGED = ScriptedServer(tools=(tool("drop", "Drops all tables."), tool("look", "Looks away.")))


@pytest.fixture
def ledger(project: Project) -> ServerLedger:
    """A server with two tools, of which nothing is believed."""
    return project.add("db", SERVER)


def change(project: Project, server: ScriptedServer) -> None:
    """Have the same program list other definitions."""
    ledger = project.root / "db.ledger"
    replace(server, ledger=ledger).endpoint(file=project.root / "db.script")


def answers_file(project: Project) -> Path:
    """Where they are kept."""
    [found] = project.state.glob("lockgate/*/answers.yaml")
    return found


def asked(start: StartAtTerminal, answer: str, *words: str) -> tuple[str, str, int | None]:
    """Make a call that is asked about and answer it: the question, what followed, the exit code."""
    terminal = start("call", *words)
    question = terminal.until(PROMPT)
    terminal.type(f"{answer}\n")
    return question, terminal.end(), terminal.process.returncode


def unasked(start: StartAtTerminal, *words: str) -> int | None:
    """Make a call that nobody has to be asked about."""
    terminal = start("call", *words)
    assert PROMPT not in terminal.end()
    return terminal.process.returncode


@pytest.mark.req("S0-08")
def test_always_is_a_rule_for_this_call_in_attended_runs(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """It is read before it is written; then the same call runs, another is asked about, and where
    nobody attends it answers nothing. Taken back, the same call is asked about again."""
    rule = f'{DROP}(table="t")'
    question, after, code = asked(start, "always", DROP, "table=t")
    assert f"| {rule}\n" in question
    assert max(map(len, question.splitlines())) <= 80
    said = " ".join(after.split())
    assert f"kept for attended runs in {answers_file(project)}" in said
    assert "lockgate grants list" in said
    assert code == 0
    assert not answers_file(project).is_relative_to(project.root / "lockgate.yaml")

    assert unasked(start, DROP, "table=t") == 0
    assert asked(start, "no", DROP, "table=u")[2] == 3
    assert asked(start, "no", DROP, "table=t", "force=true")[2] == 3
    assert project.run("call", DROP, "table=t").returncode == 3
    assert ledger.called == ("drop", "drop")

    [kept] = project.json("grants", "list")["answers"]
    assert (kept["rule"], kept["destructive"]) == (rule, True)
    assert kept["file"] == str(answers_file(project))
    listed = project.run("grants", "list").stdout
    assert f"| {rule}\n" in listed
    assert listed.startswith(f"Answered for good, in {answers_file(project)}:\n{kept['grant']}  ")
    assert f"line {kept['line']}: yes in attended runs to this call" in listed
    assert project.json("grants", "revoke", kept["grant"])["revoked"] == [kept["grant"]]
    assert asked(start, "no", DROP, "table=t")[2] == 3


@pytest.mark.req("B-06")
def test_a_rule_says_nothing_of_a_changed_tool(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """Another description is another definition: it is asked about, and answered anew."""
    asked(start, "always", DROP, "table=t")
    change(project, CHANGED)
    assert asked(start, "always", DROP, "table=t")[2] == 0
    assert unasked(start, DROP, "table=t") == 0
    assert len(project.json("grants", "list")["answers"]) == 1
    change(project, SERVER)
    assert asked(start, "no", DROP, "table=t")[2] == 3
    assert len(ledger.called) == 3


@pytest.mark.req("B-06")
def test_a_word_on_a_tool_counts_from_the_next_start_on(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """`read-only`: the call is made; later the tool is read-only by verdict, also with nobody
    there, until its definition changes or the word is taken back."""
    look = "mcp__db__look"
    question, after, code = asked(start, "read-only", look)
    assert "  read-only   make this call; from the next start on it counts" in question
    assert "it counts from the next start on" in " ".join(after.split())
    assert code == 0
    assert project.run("call", look).returncode == 0
    assert "verdict" in project.run("tools", look).stdout
    change(project, CHANGED)
    assert project.run("call", look).returncode == 3
    change(project, SERVER)
    assert project.run("call", look).returncode == 0
    [kept] = project.json("grants", "list")["answers"]
    assert (kept["server"], kept["tool"], kept["verdict"]) == ("db", "look", "read-only")
    assert '"look" of server db only reads' in project.run("grants", "list").stdout
    assert project.run("grants", "revoke", "--all").returncode == 0
    assert project.run("call", look).returncode == 3
    assert ledger.called == ("look",) * 3


def test_an_additive_tool_is_asked_about_as_one_that_can_not_destroy(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """The next question says so, and no longer offers that word."""
    assert asked(start, "additive", DROP)[2] == 0
    question = asked(start, "no", DROP)[0]
    assert "without overwriting or removing" in question
    assert "  additive" not in question
    assert "  read-only" in question
    assert ledger.called == ("drop",)


def test_pb_157_an_answer_that_can_not_be_kept_counts_for_this_call(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """A file that can not be written to: told on the terminal, the call made, nothing half done."""
    asked(start, "always", DROP, "table=t")
    file = answers_file(project)
    before = file.read_bytes()
    file.chmod(0o444)
    _, after, code = asked(start, "always", DROP, "table=u")
    said = " ".join(after.split())
    assert "NOT KEPT, it counts for this call only:" in said
    assert "is read-only" in said
    assert code == 0
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.glob("*answers*")] == [file.name]
    assert asked(start, "no", DROP, "table=u")[2] == 3
    assert len(ledger.called) == 2


def test_pb_157_a_damaged_file_of_answers_starts_nothing(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """It may hold what was refused: told, with its place, and left as it is."""
    asked(start, "always", DROP, "table=t")
    file = answers_file(project)
    file.write_text(file.read_text().replace("exact: true", "exact: ["))
    before = file.read_bytes()
    for words in (("call", DROP, "table=t"), ("grants", "list"), ("grants", "revoke", "--all")):
        done = project.run(*words)
        assert done.returncode == 2
        assert "answers.yaml" in done.stderr
    assert file.read_bytes() == before
    assert len(ledger.called) == 1


def test_no_secret_gets_into_the_file(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """A call with one is not offered a rule, and the word for it is a no."""
    for words in (("password=hunter2",), ("note=curl -H 'Authorization: Bearer hunter2hunter2'",)):
        question, after, code = asked(start, "always", DROP, *words)
        assert "always" not in question
        assert "is none of the answers" in after
        assert code == 3
    assert list(project.state.glob("lockgate/*/answers.yaml")) == []
    assert ledger.called == ()


def waiting(project: Project, start: StartAtTerminal, *words: str) -> str:
    """The ticket of a call that was put off while somebody attended."""
    project.sections["approvals"] = {"attended": ["queue"], "unattended": ["queue"]}
    start("call", *words).end()
    [ticket] = project.json("approvals", "list")["tickets"]
    return str(ticket["ticket"])


@pytest.mark.req("B-14")
def test_always_can_be_answered_from_elsewhere(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """The rule is shown with the question; the answer makes the call and keeps the rule."""
    ticket = waiting(project, start, DROP, "table=t")
    rule = f'{DROP}(table="t")'
    shown = project.run("approvals", "show", ticket).stdout
    assert "--scope always" in shown
    assert shown.endswith(f"| {rule}\n")
    data: Any = project.json("approvals", "show", ticket)["question"]
    assert (data["always"], data["resolved"]) == (rule, {})
    assert rule not in json.dumps(project.json("approvals", "list"))
    done = project.run("approvals", "answer", ticket, "yes", "--scope", "always", "--json")
    assert done.returncode == 0
    assert "kept for attended runs" in done.stderr
    assert json.loads(done.stdout)["kept"] is True
    assert unasked(start, DROP, "table=t") == 0
    answers_file(project).chmod(0o444)
    other = waiting(project, start, DROP, "table=u")
    told = project.json("approvals", "answer", other, "yes", "--scope", "always")
    assert (told["kept"], told["result"]["isError"]) == (False, False)
    assert ledger.called == ("drop",) * 3


def test_always_is_refused_where_no_rule_would_answer(
    project: Project, start: StartAtTerminal, ledger: ServerLedger
) -> None:
    """For an unattended call, for a no, and over an ask rule: told, and the ticket stays open."""
    project.sections["approvals"] = {"unattended": ["queue"]}
    unattended = project.run("call", DROP, "table=t").stdout.split()[-1]
    for words in (("yes",), ("no",)):
        done = project.run("approvals", "answer", unattended, *words, "--scope", "always")
        assert done.returncode != 0
    assert "unattended run" in project.run(
        "approvals", "answer", unattended, "yes", "-s", "always"
    ).stderr  # fmt: skip
    assert project.run("approvals", "answer", unattended, "no").returncode == 0
    project.sections["permissions"] = {"ask": [DROP]}
    ticket = waiting(project, start, DROP, "table=t")
    done = project.run("approvals", "answer", ticket, "yes", "--scope", "always")
    assert "no rule would answer this call" in done.stderr
    assert len(project.json("approvals", "list")["tickets"]) == 1
    assert ledger.called == ()
