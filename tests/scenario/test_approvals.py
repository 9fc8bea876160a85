"""A call waits in one process, a person answers in another: it runs once, and only after a yes.

Every command is a process of its own, and the server's ledger is the proof of what arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Exit

DROP = "mcp__db__drop"
ADDS = {"readOnlyHint": False, "destructiveHint": False}
NOTHING: dict[str, list[str]] = {"tickets": [], "unknowns": [], "damaged": []}


@pytest.fixture
def ledger(project: Project) -> ServerLedger:
    """A server with a tool that destroys and one that adds; nobody is there, so calls queue."""
    project.sections["approvals"] = {"unattended": ["queue"]}
    tools = (tool("drop"), tool("add", annotations=ADDS))
    return project.add("db", ScriptedServer(tools=tools), annotationTrust="trust")


def ask(project: Project, name: str = DROP, *words: str) -> str:
    """The ticket of a call that waits."""
    done = project.run("call", name, *(words or ("table=t",)))
    assert done.returncode == 3
    return done.stdout.split()[-1]


async def ask_in_a_session(project: Project, name: str, **arguments: str) -> str:
    """The ticket of a call that a program made, whose calls belong together."""
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with lockgate.open(project.write(), attended=False, surroundings=around) as gate:
        suspended = await gate.call(name, arguments)
    assert isinstance(suspended, lockgate.Suspended)
    return suspended.ticket


def waiting(project: Project) -> list[str]:
    """The tickets that are listed."""
    return [found["ticket"] for found in project.json("approvals", "list")["tickets"]]


def answering(project: Project, ticket: str) -> subprocess.Popen[str]:
    """A process that answers yes, under way."""
    project.write()
    command = [sys.executable, "-m", "lockgate", "-c", str(project.file)]
    return subprocess.Popen(
        [*command, "approvals", "answer", ticket, "yes"],
        cwd=project.root,
        env=project.environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


@pytest.mark.req("B-14")
def test_a_yes_runs_the_call_once_and_not_before(project: Project, ledger: ServerLedger) -> None:
    """Asked in one process, shown in others, answered in yet another, which prints the result."""
    ticket = ask(project)
    assert waiting(project) == [ticket]
    assert "OVERWRITE" in project.run("approvals", "show", ticket).stdout
    assert ledger.called == ()
    done = project.run("approvals", "answer", ticket, "yes")
    assert (done.returncode, done.stdout) == (0, '{"table": "t"}\n')
    assert ledger.called == ("drop",)
    again = project.run("approvals", "answer", ticket, "yes")
    assert again.returncode == 2
    assert "answered before: yes, by queue" in again.stderr
    assert ledger.called == ("drop",)
    assert waiting(project) == []


@pytest.mark.req("B-14")
def test_of_two_processes_that_answer_at_once_one_wins(
    project: Project, ledger: ServerLedger
) -> None:
    """Exactly one answer counts; the other is told so, and the call arrives once."""
    ticket = ask(project)
    both = [answering(project, ticket) for _ in range(2)]
    said = [process.communicate(timeout=50) for process in both]
    assert sorted(process.returncode for process in both) == [0, 2]
    assert sum("answered before: yes" in err for _, err in said) == 1
    assert ledger.called == ("drop",)


@pytest.mark.req("S0-09")
def test_a_no_starts_nothing(project: Project, ledger: ServerLedger) -> None:
    """The call never arrives, the server is not even started again, and the note is kept."""
    ticket = ask(project)
    started = len(ledger.entries("start"))
    done = project.run("approvals", "answer", ticket, "no", "--note", "not on a Friday")
    assert (done.returncode, done.stdout) == (0, "Answered no. The call is not made.\n")
    assert len(ledger.entries("start")) == started
    assert ledger.called == ()
    late = project.run("approvals", "answer", ticket, "yes")
    assert (late.returncode, ledger.called) == (2, ())


def test_what_is_shown_hides_secrets_and_obeys_no_escape(
    project: Project, ledger: ServerLedger
) -> None:
    """Masked unless revealed, control characters visible, in the text and for programs."""
    ticket = ask(
        project, DROP, "--input-json", '{"api_key": "hunter2", "t": "a\\u001b[2J\\u202eb"}'
    )
    shown = project.run("approvals", "show", ticket).stdout
    assert "hunter2" not in shown + project.run("approvals", "show", ticket, "--json").stdout
    assert "hunter2" not in project.run("approvals", "list", "--json").stdout
    assert "\\x1b[2J\\u202e" in shown
    revealed = project.run("approvals", "show", ticket, "--reveal").stdout
    assert "hunter2" in revealed
    data = project.json("approvals", "show", ticket, "--reveal")["question"]
    assert data["arguments"]["api_key"] == "hunter2"


def test_the_ticket_stays_open_where_the_call_can_not_be_made(
    project: Project, ledger: ServerLedger
) -> None:
    """A yes is not used up by a server that is down, or is not configured any more."""
    ticket = ask(project)
    good = dict(project.servers[0])
    project.servers[0]["command"] = "/no/such/program"
    done = project.run("approvals", "answer", ticket, "yes")
    assert done.returncode == 5
    assert "stays open" in done.stderr
    project.servers[0] = {**good, "name": "other"}
    done = project.run("approvals", "answer", ticket, "yes")
    assert done.returncode == 2
    assert "not in this configuration" in done.stderr
    project.servers[0] = good
    assert project.run("approvals", "answer", ticket, "yes").returncode == 0
    assert ledger.called == ("drop",)


def test_too_late_is_a_no(project: Project, ledger: ServerLedger) -> None:
    """After `ticketLifetime` a yes runs nothing and says so."""
    project.sections["approvals"]["ticketLifetime"] = "1ms"
    ticket = ask(project)
    assert waiting(project) == []
    done = project.run("approvals", "answer", ticket, "yes")
    assert done.returncode == 3
    assert "no answer came in time" in done.stderr
    assert ledger.called == ()


@pytest.mark.req("B-14")
def test_the_rules_of_today_hold(project: Project, ledger: ServerLedger) -> None:
    """A deny rule that was written while the call waited wins over the yes."""
    ticket = ask(project)
    project.sections["permissions"] = {"deny": [DROP]}
    done = project.run("approvals", "answer", ticket, "yes", "--json")
    assert done.returncode == 3
    assert '"kind": "denied"' in done.stdout
    assert ledger.called == ()


@pytest.mark.req("B-14")
def test_an_answer_does_not_reach_further_than_its_question(
    project: Project, ledger: ServerLedger
) -> None:
    """Where more is asked by now than was answered, the call waits again, under a new ticket."""
    ticket = ask(project)
    project.sections["permissions"] = {"ask": [DROP]}
    done = project.run("approvals", "answer", ticket, "yes")
    assert done.returncode == 3
    assert "waiting again" in done.stderr
    [again] = waiting(project)
    assert again != ticket
    assert ledger.called == ()
    assert project.run("approvals", "answer", again, "yes").returncode == 0
    assert ledger.called == ("drop",)


def test_a_call_whose_process_was_killed_is_listed(project: Project) -> None:
    """Killed between sending and answer, the call stands open, and its ticket is used up."""
    project.sections["approvals"] = {"unattended": ["queue"]}
    hangs = ScriptedServer(tools=(tool("pay"),), rules=(When("tools/call"),))
    paid = project.add("bank", hangs)
    ticket = ask(project, "mcp__bank__pay", "cents=1")
    process = answering(project, ticket)
    asyncio.run(paid.wait_for("call", timeout=30))
    process.kill()
    process.communicate(timeout=30)
    [unknown] = project.json("approvals", "list")["unknowns"]
    assert (unknown["tool"], unknown["ended"]) == ("mcp__bank__pay", False)
    assert project.run("approvals", "answer", ticket, "yes").returncode == 2
    assert paid.called == ("pay",)
    assert project.run("approvals", "answer", unknown["unknown"], "settled").returncode == 0
    assert project.json("approvals", "list") == NOTHING


def test_an_answer_for_the_session_is_listed_and_taken_back(
    project: Project, ledger: ServerLedger
) -> None:
    """It stands in the list with its fingerprint until it is revoked; a single call has no session
    that could remember it."""
    single = ask(project, "mcp__db__add")
    done = project.run("approvals", "answer", single, "yes", "--scope", "session")
    assert (done.returncode, waiting(project), ledger.called) == (2, [single], ())
    ticket = asyncio.run(ask_in_a_session(project, "mcp__db__add"))
    assert project.run("approvals", "answer", ticket, "yes", "--scope", "session").returncode == 0
    [grant] = project.json("grants", "list")["grants"]
    assert (grant["tool"], grant["answer"], grant["exactCall"]) == ("mcp__db__add", "yes", None)
    assert len(grant["fingerprint"]) == 64
    assert grant["grant"] in project.run("grants", "list").stdout
    assert project.run("grants", "revoke", "nothing").returncode == 2
    assert project.json("grants", "revoke", grant["grant"])["revoked"] == [grant["grant"]]
    assert project.json("grants", "list") == {"grants": [], "answers": []}


def test_an_unknown_is_listed_and_settled(project: Project, ledger: ServerLedger) -> None:
    """A call whose server died in it stands open until a person has looked."""
    del ledger
    dies = ScriptedServer(tools=(tool("pay"),), rules=(When("tools/call", Exit(1)),))
    paid = project.add("bank", dies)
    ticket = ask(project, "mcp__bank__pay", "cents=1")
    done = project.run("approvals", "answer", ticket, "yes")
    assert done.returncode == 1
    assert "is unknown" in done.stderr
    assert paid.called == ("pay",)
    [unknown] = project.json("approvals", "list")["unknowns"]
    assert (unknown["tool"], unknown["ended"]) == ("mcp__bank__pay", True)
    id = unknown["unknown"]
    assert id in project.run("approvals", "list").stdout
    assert project.run("approvals", "answer", id, "yes").returncode == 2
    assert project.run("approvals", "answer", id, "settled").returncode == 0
    assert project.json("approvals", "list")["unknowns"] == []
    assert project.run("approvals", "answer", id, "settled").returncode == 2


def test_mistakes_in_answering_change_nothing(project: Project, ledger: ServerLedger) -> None:
    """Invented tickets and words that do not go together are usage errors; the ticket waits on."""
    ticket = ask(project)
    for words in (("nothing", "yes"), (ticket, "settled"), (ticket, "maybe"), ("u-0", "settled")):
        assert project.run("approvals", "answer", *words).returncode == 2
    assert waiting(project) == [ticket]
    assert ledger.called == ()


def test_a_damaged_ticket_is_named_beside_the_others(
    project: Project, ledger: ServerLedger
) -> None:
    """The list is whole but for it, says what to do, and ends with 1; it can not be answered, and
    what it waited for is not called. The others can be answered as ever."""
    bad, good = ask(project), ask(project, DROP, "table=u")
    database = next(project.state.rglob("state.db"))
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE tickets SET body = substr(body, 1, 99) WHERE id = ?", (bad,))
    listed = project.run("approvals", "list")
    assert (listed.returncode, bad in listed.stdout, good in listed.stdout) == (1, False, True)
    assert f"The ticket {bad} can not be read" in listed.stderr
    call = project.run("audit", "show", listed.stderr.split()[-1])
    assert (call.returncode, bad in call.stdout) == (0, True)
    done = project.run("approvals", "list", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert [found["ticket"] for found in told["tickets"]] == [good]
    assert [found["ticket"] for found in told["damaged"]] == [bad]
    for words in (("answer", bad, "yes"), ("answer", bad, "no"), ("show", bad)):
        refused = project.run("approvals", *words)
        assert refused.returncode == 2, words
        assert f"the ticket {bad} in the state database can not be read" in refused.stderr
    assert ledger.called == ()
    assert project.run("approvals", "answer", good, "yes").returncode == 0
    alone = project.run("approvals", "list")
    assert (alone.returncode, alone.stdout) == (1, "")
    assert "Nothing waits" not in alone.stderr


def test_nothing_is_made_where_nothing_is(project: Project) -> None:
    """Looking at a project without state makes none."""
    assert project.json("approvals", "list", named=False) == NOTHING
    assert project.json("grants", "list", named=False) == {"grants": [], "answers": []}
    assert project.run("approvals", "show", "x", named=False).returncode == 2
    assert not project.state.exists()


def approver(directory: Path, answer: str) -> dict[str, Any]:
    """A program that answers so, as a configuration names it."""
    script = directory / "approve.py"
    script.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.read()\nprint({answer!r})\n")
    script.chmod(0o755)
    return {"command": ["./approve.py"]}


@pytest.mark.parametrize(
    ("answer", "code", "called"),
    [
        ('{"decision": "allow"}', 0, ("drop",)),
        ('{"decision": "deny", "note": "no"}', 3, ()),
        ('{"decision": "pass"}', 3, ()),
        ("yes", 3, ()),
    ],
)
def test_a_program_answers_unattended(
    project: Project, ledger: ServerLedger, answer: str, code: int, called: tuple[str, ...]
) -> None:
    """The operator's program is asked, in the project's directory; only its yes is a yes."""
    project.sections["approvals"]["unattended"] = [approver(project.root, answer)]
    assert project.run("call", DROP, "table=t").returncode == code
    assert ledger.called == called


def test_a_program_may_leave_it_to_the_queue(project: Project, ledger: ServerLedger) -> None:
    """What the program passes on waits for a person."""
    program = approver(project.root, '{"decision": "pass"}')
    project.sections["approvals"]["unattended"] = [program, "queue"]
    ticket = ask(project)
    assert waiting(project) == [ticket]
    assert ledger.called == ()


def test_check_finds_a_program_that_is_not_there(project: Project, ledger: ServerLedger) -> None:
    """An approver that can not be started means no, so it is told before the first question."""
    del ledger
    project.sections["approvals"]["unattended"] = [{"command": ["./nothing"]}]
    done = project.run("check")
    assert done.returncode == 1
    assert "approvals.unattended" in done.stdout + done.stderr
