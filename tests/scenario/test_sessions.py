"""A session outlives its process: what was said, what was answered, what nobody knows.

Every command is a process of its own; the model is a script, which goes on where its transcript is.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.app.build import Surroundings
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult

ADD = "mcp__db__add"
ADDS = {"readOnlyHint": False, "destructiveHint": False}


@pytest.fixture
def ledger(project: Project) -> ServerLedger:
    """A server with a tool; nobody is there, so its calls wait."""
    project.sections["approvals"] = {"unattended": ["queue"]}
    server = ScriptedServer(tools=(tool("add", annotations=ADDS),))
    return project.add("db", server, annotationTrust="trust")


def script(project: Project, *replies: dict[str, Any]) -> None:
    """Set the model: a script of these replies."""
    (project.root / "model.yaml").write_text(json.dumps(list(replies)), encoding="utf-8")
    project.sections["agent"] = {"model": "scripted:model.yaml"}


def kept(project: Project) -> list[dict[str, Any]]:
    """The sessions that are listed."""
    found: list[dict[str, Any]] = project.json("sessions", "list")["sessions"]
    return found


def said(project: Project, session: str) -> list[dict[str, Any]]:
    """The transcript of one."""
    shown: list[dict[str, Any]] = project.json("sessions", "show", session)["transcript"]
    return shown


def test_the_last_session_goes_on(project: Project) -> None:
    """`--resume` without an id takes it, words behind it are the prompt; a person is reminded on
    standard error, and the answer alone is on standard output."""
    script(project, {"text": "first"}, {"text": "second"}, {"text": "third"})
    project.run("run", "one")
    done = project.run("run", "--resume", "--", "two")
    assert (done.returncode, done.stdout) == (0, "second\n")
    assert "1 prompt" in done.stderr
    assert "  > one\n  first\n" in done.stderr
    [session] = kept(project)
    assert session["began"] == "one"
    again = project.json("run", "--resume", session["session"][:6], "three")
    assert (again["text"], again["session"]) == ("third", session["session"])
    texts = [message["text"] for message in said(project, session["session"])]
    assert texts == ["one", "first", "two", "second", "three", "third"]


def test_a_conversation_goes_on_too(project: Project) -> None:
    """Each line of the input is a turn of the session that was named."""
    script(project, {"text": "first"}, {"text": "second"}, {"text": "third"})
    project.run("run", "one")
    [session] = kept(project)
    done = project.run("run", "--resume", session["session"][:8], stdin="two\nthree\n")
    assert done.stdout == "second\nthird\n"
    assert kept(project)[0]["messages"] == 6


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--resume",), "no session of this project is kept"),
        (("--resume", "abcdef"), "no session"),
        (("--resume", "a4d19"), 'no session has an id that begins with "a4d19"'),
        (("--resume=a4d19", "go on"), 'no session has an id that begins with "a4d19"'),
        (("--resume", "abcdeg"), 'no session has an id that begins with "abcdeg"'),
        (("--resume", "Which", "is", "older?"), "--resume -- PROMPT"),
        (("--resume=",), 'no session has an id that begins with ""'),
    ],
)
def test_there_is_nothing_to_go_on_with(
    project: Project, ledger: ServerLedger, words: tuple[str, ...], told: str
) -> None:
    """Said before any server is started."""
    script(project)
    done = project.run("run", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert ledger.entries() == ()


def test_a_session_of_another_configuration_is_refused(project: Project) -> None:
    """It says where to go on: rules, servers and approvers were other ones."""
    script(project, {"text": "first"})
    project.run("run", "one")
    [session] = kept(project)
    other = project.root / "other.yaml"
    other.write_text(project.file.read_text())
    done = project.run("-c", str(other), "run", "--resume", session["session"], "x", named=False)
    assert done.returncode == 2
    assert f'"{project.file}" as its configuration' in done.stderr
    last = project.run("-c", str(other), "run", "--resume", named=False)
    assert "no session of this project is kept" in last.stderr


def test_nothing_is_written_down_where_nothing_is_to_be(project: Project) -> None:
    """`sessions.keep: never`: no row, and `--resume` says why there is none."""
    script(project, {"text": "first"})
    project.sections["sessions"] = {"keep": "never"}
    assert project.run("run", "a-word-of-mine").returncode == 0
    assert kept(project) == []
    for words in (("--resume",), ("--resume", "abcdef")):
        assert project.run("run", *words).returncode == 2
    for file in project.state.rglob("*"):
        assert file.is_dir() or b"a-word-of-mine" not in file.read_bytes()


def test_a_session_does_not_go_on_where_nothing_is_to_be_written(project: Project) -> None:
    """One of before the key said so stays as it was, and the error names the key."""
    script(project, {"text": "first"})
    project.run("run", "one")
    [session] = kept(project)
    project.sections["sessions"] = {"keep": "never"}
    for words in (("--resume",), ("--resume", session["session"])):
        done = project.run("run", *words, "--", "a-word-of-mine")
        assert done.returncode == 2
        assert "sessions.keep says never" in done.stderr
    assert kept(project)[0]["messages"] == 2


def test_sessions_are_removed(project: Project) -> None:
    """By the beginning of their ids or all of them; what was said is in no file any more."""
    script(project, {"text": "first"})
    for word in ("one", "two", "a-word-of-mine"):
        project.run("run", word)
    last, *_ = kept(project)
    assert project.run("sessions", "remove", last["session"][:6]).stdout == "Removed: 1.\n"
    for file in project.state.rglob("*"):
        assert file.is_dir() or b"a-word-of-mine" not in file.read_bytes()
    assert project.run("sessions", "remove", last["session"]).returncode == 2
    assert len(project.json("sessions", "remove", "--all")["removed"]) == 2
    assert kept(project) == []
    assert project.run("sessions", "remove").returncode == 2


@contextmanager
def running(project: Project, *words: str) -> Generator[subprocess.Popen[bytes]]:
    """`lockgate`, under way; killed afterwards whatever happens."""
    project.write()
    process = subprocess.Popen(
        [sys.executable, "-m", "lockgate", "-c", str(project.file), *words],
        cwd=project.root,
        env=project.environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=10)


@pytest.mark.req("B-03")
def test_a_process_that_is_killed_leaves_a_session_that_goes_on(project: Project) -> None:
    """SIGKILL in the middle of a call: the reply that asked for it is there, the call reads as
    unknown, and a further call of its tool is asked about in this session."""
    server = ScriptedServer(tools=(tool("add", annotations=ADDS),), rules=(When("tools/call"),))
    received = project.add("db", server, annotationTrust="trust")
    project.sections["permissions"] = {"allow": [{"rule": ADD, "when": "any"}]}
    call = {"calls": [{"tool": ADD, "arguments": {"n": 1}}]}
    script(project, call, {"text": "looked"}, call)
    with running(project, "run", "go") as process:
        asyncio.run(received.wait_for("call", timeout=30))
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0)
        [session] = kept(project)
        held = project.run("run", "--resume", "--", "x")
        assert held.returncode == 2
        assert "open elsewhere" in held.stderr
        assert project.run("sessions", "remove", "--all").returncode == 1
        os.kill(process.pid, signal.SIGKILL)
    done = project.run("run", "--resume", "what now?")
    assert done.stdout == "looked\n"
    *_, answer, prompt, _ = said(project, session["session"])
    assert answer["result"]["kind"] == ErrorKind.OUTCOME_UNKNOWN.value
    assert prompt["text"] == "what now?"


def test_what_was_answered_meanwhile_is_told(project: Project, ledger: ServerLedger) -> None:
    """A call that waits under a ticket: on going on a person is told that it still waits, and once
    it was answered elsewhere the model has its result."""
    call = {"calls": [{"tool": ADD, "arguments": {"n": 1}}]}
    script(project, call, {"text": "it waits"})
    done = project.json("run", "go")
    assert done["status"] == "suspended"
    ticket = done["calls"][0]["result"]["ticket"]
    told = project.run("run", "--resume", stdin="")
    assert f"lockgate -c {project.file} approvals answer {ticket} yes|no" in told.stderr
    assert project.run("approvals", "answer", ticket, "yes").returncode == 0
    again = project.run("run", "--resume", "--", "and?")
    assert again.stdout == "it waits\n"
    assert "still waits" not in again.stderr
    answer = said(project, done["session"])[2]
    assert (answer["said"], answer["result"].get("kind")) == ("tool", None)
    assert ledger.called == ("add",)


# In a program


def around(project: Project) -> Surroundings:
    """This project, and no person's own configuration."""
    return Surroundings(environ=project.environ(), cwd=project.root)


def calls(name: str) -> FakeModel:
    """A model that wants one call, and then is done."""
    return FakeModel([ModelReply("", (ToolCall("1", name, {}),)), ModelReply("done")])


async def test_a_program_goes_on_with_a_session(project: Project) -> None:
    """With what was answered for it: the grant holds under the session's id, and in no other."""
    yes = ScriptedApprover([Answer(True, "person", Scope.SESSION)])
    add = ScriptedTool("add", destructive=False)
    ids: list[str] = []
    for session in (None, "the first", None):
        async with lockgate.open(
            lockgate.Config(), tools=[add], approvers=[yes], surroundings=around(project)
        ) as gate:
            agent = gate.agent(model=calls("add"), session=ids[0] if session else None)
            ids.append(agent.session_id)
            result = await agent.run("go")
            assert agent.resumed is (session is not None)
            assert len(gate.sessions.list()) == len(set(ids))
            answer = result.calls[0].result
            assert isinstance(answer, ToolResult)
            assert answer.is_error is (len(set(ids)) == 2)
    assert len(yes.questions) == 2
    assert len(add.runs) == 2


async def test_a_programs_sessions_are_looked_at_and_removed(project: Project) -> None:
    """Bound to the name of the gate; one that is open stays."""
    async with lockgate.open(
        lockgate.Config(), name="worker:eu", surroundings=around(project)
    ) as gate:
        assert gate.id == "agent:worker:eu"
        with pytest.raises(LocalError, match="no session of this project"):
            gate.last_session()
        agent = gate.agent(model=FakeModel([ModelReply("one")]))
        await agent.run("go")
        [info] = gate.sessions.list()
        assert (info.id, info.began, info.messages) == (agent.session_id, "go", 2)
        assert gate.last_session() == info.id
        assert gate.sessions.transcript(info.id) == (UserMessage("go"), ModelReply("one"))
        assert gate.sessions.remove(info.id) == frozenset()
        with pytest.raises(LocalError, match="open elsewhere"):
            gate.agent(model=FakeModel(), session=info.id)
    async with lockgate.open(lockgate.Config(), surroundings=around(project)) as gate:
        with pytest.raises(LocalError, match=r"by agent:worker:eu, and this is agent:main"):
            gate.agent(model=FakeModel(), session=info.id)
        assert gate.sessions.remove(info.id) == {info.id}
        assert gate.sessions.list() == ()
        with pytest.raises(LocalError, match="no session"):
            gate.sessions.transcript(info.id)


async def test_a_ticket_that_a_program_answers_is_told_to_its_session(project: Project) -> None:
    """The agent's next turn begins with the result in the call's place."""
    add = ScriptedTool("add", replies=["42"])
    later = ScriptedApprover([lockgate.Later()])
    async with lockgate.open(
        lockgate.Config(), tools=[add], approvers=[later], surroundings=around(project)
    ) as gate:
        agent = gate.agent(model=calls("add"))
        suspended = (await agent.run("go")).waiting[0]
        assert [call.ticket for call in agent.waiting] == [suspended.ticket]
        await gate.resume(suspended.ticket, True)
        assert agent.waiting == ()
        result = await agent.run("and?")
    answer = result.transcript[2]
    assert isinstance(answer, ToolAnswer)
    assert answer.result.text == "42"


def test_a_sync_gate_goes_on_with_a_session(project: Project) -> None:
    """As `lockgate.open`."""
    with lockgate.open_sync(lockgate.Config(), surroundings=around(project)) as gate:
        agent = gate.agent(model=FakeModel([ModelReply("one")]))
        agent.run("go")
        assert len(agent.transcript) == 2
        agent.close()
        again = gate.agent(model=FakeModel([ModelReply("two")]), session=agent.session_id)
        again.run("on")
        [info] = gate.sessions.list()
        assert gate.sessions.find(info.id[:8]).messages == 4
        assert len(gate.sessions.transcript(info.id)) == 4
        again.close()
        assert gate.sessions.remove(info.id) == {info.id}


@pytest.mark.parametrize("name", ["", "a b", "a:", ":b", "a:b:c", "../x", 5])
async def test_a_name_is_one(project: Project, name: Any) -> None:
    """Before anything is opened."""
    with pytest.raises(LocalError, match=r"agent's id|name must be"):
        async with lockgate.open(lockgate.Config(), name=name, surroundings=around(project)):
            pass
    assert not project.state.exists()
