"""Sub-agents end to end: from their files, by the command line, on one server process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.events import ChildEvent, Event
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.testing.model import asking
from lockgate.testing.office import PromptedModel, calling, task
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Sleep

READS = {"readOnlyHint": True}
HELPER = """---
name: helper
description: Looks into the database.
tools: [mcp__db__look, mcp__db__drop]
model: scripted:helper.replies
ceiling: read-only
---
You look and tell.
"""


def written(project: Project, *, helper: str = HELPER) -> ServerLedger:
    """A project with a server, a scripted model, and one sub-agent with a script of its own."""
    ledger = project.add(
        "db",
        ScriptedServer(tools=(tool("look", annotations=READS), tool("drop"))),
        annotationTrust="trust",
        pins="off",
    )
    agents = project.root / "agents"
    agents.mkdir()
    (agents / "helper.md").write_text(helper)
    (agents / "helper.replies").write_text(
        json.dumps(
            [
                {"calls": [{"tool": "mcp__db__look"}, {"tool": "mcp__db__drop"}]},
                {"text": "two rows"},
            ]
        )
    )
    (project.root / "main.replies").write_text(
        json.dumps(
            [
                {
                    "calls": [
                        {"tool": "Task", "arguments": {"agent": "helper", "prompt": "count"}},
                        {"tool": "mcp__db__look"},
                    ]
                },
                {"text": "There are two rows."},
            ]
        )
    )
    project.sections["agent"] = {"model": "scripted:main.replies", "agents": ["./agents"]}
    return ledger


@pytest.mark.req("B-04")
@pytest.mark.req("S0-17")
def test_a_run_with_a_sub_agent_from_a_file(project: Project) -> None:
    """Its calls are made on the parent's connection, within its own bounds, and on record as its
    own; `audit show` and the list tell whose they were."""
    ledger = written(project)
    done = project.run("run", "How many rows?")
    assert done.returncode == 0, done.stderr
    assert "There are two rows." in done.stdout
    assert ledger.called == ("look", "look")
    assert len({entry.pid for entry in ledger.entries()}) == 1
    told = project.run("audit", "tail", "--json").stdout
    calls = [json.loads(line)["decision"] for line in told.splitlines()]
    (parent,) = [call for call in calls if call["tool"] == "Task"]
    inner = [call for call in calls if call.get("agent") == "helper"]
    assert {call["tool"]: call["decision"] for call in inner} == {
        "mcp__db__look": "run",
        "mcp__db__drop": "refuse",
    }
    assert {(call["entry"], call["parentCall"]) for call in inner} == {("subagent", parent["call"])}
    assert "mcp__db__look (by helper)" in project.run("audit", "tail").stdout
    shown = project.run("audit", "show", inner[0]["call"]).stdout
    assert "helper" in shown
    assert parent["call"] in shown


@pytest.mark.req("B-13")
def test_a_definition_counts_once_it_is_accepted(project: Project) -> None:
    """What a found project names is shown and accepted with it; a changed one, and one more, are
    asked about again. Nothing is started before."""
    ledger = written(project)
    project.write()
    assert project.run("run", "x", named=False).returncode == 2
    done = project.run("config", "accept", "--yes", named=False)
    for words in ("sub-agent helper with mcp__db__look", "to read only", "You look and tell."):
        assert words in done.stdout
    assert project.run("run", "x", named=False).returncode == 0
    started = len(ledger.entries("start"))
    path = project.root / "agents" / "helper.md"
    path.write_text(HELPER.replace("ceiling: read-only\n", ""))
    refused = project.run("run", "x", named=False)
    assert refused.returncode == 2
    assert "has changed since you accepted it" in refused.stderr
    path.write_text(HELPER)
    assert project.run("check", named=False).returncode == 0
    (path.parent / "more.md").write_text(HELPER.replace("name: helper", "name: more"))
    assert "not accepted" in project.run("run", "x", named=False).stderr
    assert len(ledger.entries("start")) == started


@pytest.mark.req("B-13")
def test_definitions_are_control_files(project: Project) -> None:
    """Writing one, or one more, is asked about whatever rules say."""
    written(project)
    project.sections["builtin"] = ["Write"]
    project.sections["permissions"] = {
        "allow": [{"rule": "Write(./agents/**)", "destructive": True}]
    }
    for name in ("agents/helper.md", "agents/new.md"):
        done = project.run("explain", "Write", f"path={name}", "content=x")
        assert "the configuration that is in force" in done.stdout, done.stderr


def test_what_is_wrong_is_found_without_starting_anything(project: Project) -> None:
    """Faults stop the start, with their place; slips that narrow are told by `check`."""
    helper = HELPER.replace("mcp__db__look", "Raed, mcp__bd__look").replace("drop]", "dropp]")
    written(project, helper=helper.replace("helper.replies", "nothing.replies"))
    told = project.run("check")
    assert told.returncode == 1
    for words in ("Raed", "of a server that is not there", "did you mean db?", "nothing.replies"):
        assert words in told.stdout
    project.run("doctor")
    assert 'its tools name "mcp__db__dropp"' in project.run("check").stdout
    (project.root / "agents" / "helper.md").write_text(HELPER + "\u202e")
    (project.root / "agents" / "twice.md").write_text(HELPER.replace("ceiling", "celing"))
    faults = project.run("check")
    assert faults.returncode == 2
    assert "helper.md:9:1: holds the character U+202E" in faults.stderr
    assert "celing: unknown key\n  did you mean ceiling?" in faults.stderr


def test_task_is_shown_and_explained_as_any_tool(project: Project) -> None:
    """In the list with its declaration; a rule about its arguments decides."""
    written(project)
    project.sections["permissions"] = {"deny": ["Task(agent=helper)"]}
    tools = {found["name"]: found for found in project.json("tools")["tools"]}
    assert tools["Task"]["level"] == "read-only"
    assert "list_agents" in tools
    assert "deny" in project.run("explain", "Task", "agent=helper", "prompt=x").stdout
    assert project.run("call", "Task", "agent=helper", "prompt=x").returncode == 3


def test_a_sub_agent_without_an_agent(project: Project) -> None:
    """`lockgate call Task` works: with the definition's model, or the configuration's."""
    ledger = written(project)
    done = project.run("call", "Task", "agent=helper", "prompt=count")
    assert (done.returncode, done.stdout.strip()) == (0, "two rows"), done.stderr
    assert ledger.called == ("look",)


SLOW = ScriptedServer(
    tools=(tool("look", annotations=READS), tool("slow", annotations=READS), tool("drop")),
    rules=(When("tools/call", tool="slow"),),
)
LOOKER = AgentDefinition("looker", "Looks.", "You look.")
COMMIT = (
    *("-c", "user.name=A", "-c", "user.email=a@example.com"),
    *("commit", "-q", "--allow-empty", "-m", "first light"),
)


def a_config(directory: Path) -> lockgate.Config:
    """A configuration with one server process that hangs on demand."""
    ledger = directory / "ledger"
    server = ScriptedServer(tools=SLOW.tools, rules=SLOW.rules, ledger=ledger)
    settings = ServerSettings(
        "s", server.endpoint(), annotation_trust=AnnotationTrust.TRUST, request_timeout=30
    )
    return lockgate.Config(servers=(settings,), state_dir=directory / "state")


@pytest.mark.req("S3-07")
async def test_a_server_that_is_killed_under_a_child(tmp_path: Path) -> None:
    """The child hears of it as its parent would, and both go on; nothing stays behind."""
    ledger = ServerLedger(tmp_path / "ledger")
    model = PromptedModel({"go": [task("looker", "look")], "look": [asking("mcp__s__slow")]})
    events: list[Event] = []
    async with lockgate.open(a_config(tmp_path), agents=[LOOKER], attended=False) as gate:
        turn = asyncio.create_task(gate.agent(model=model).run("go", sink=events.append))
        called = await ledger.wait_for("call")
        os.kill(called.pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            assert (await turn).answered
    answer = model.seen("look")[1].transcript[-1]
    assert "mcp__s__slow" in str(answer)
    assert any(isinstance(event, ChildEvent) for event in events)


@pytest.mark.req("S3-07")
@pytest.mark.parametrize("how", ["cancelled", "closed", "left"])
async def test_nothing_outlives_its_session(tmp_path: Path, how: str) -> None:
    """A turn that is cancelled, a session that is closed, a gate that is left: the child that runs,
    in the foreground or behind, ends, and its server with the gate."""
    ledger = ServerLedger(tmp_path / "ledger")
    behind: dict[str, Any] = {} if how == "cancelled" else {"background": True}
    scripts = {"go": [task("looker", "look", **behind)], "look": [asking("mcp__s__slow")]}
    before = asyncio.all_tasks()
    async with asyncio.timeout(30):
        async with lockgate.open(a_config(tmp_path), agents=[LOOKER], attended=False) as gate:
            agent = gate.agent(model=PromptedModel(scripts))
            turn = asyncio.create_task(agent.run("go"))
            called = await ledger.wait_for("call")
            if how == "cancelled":
                turn.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await turn
            else:
                assert (await turn).answered
                if how == "closed":
                    await agent.close()
    assert asyncio.all_tasks() == before
    with pytest.raises(ProcessLookupError):
        os.kill(called.pid, 0)


async def test_a_childs_questions_and_calls_are_told_to_the_parents_watcher(tmp_path: Path) -> None:
    """As they happen, under the child's name, also two levels down."""
    model = PromptedModel(
        {
            "go": [task("looker", "one")],
            "one": [task("looker", "two")],
            "two": [calling(("mcp__s__look", {}))],
        }
    )
    events: list[Event] = []
    async with lockgate.open(a_config(tmp_path), agents=[LOOKER], attended=False) as gate:
        assert (await gate.agent(model=model).run("go", sink=events.append)).answered
    depth = [e.event for e in events if isinstance(e, ChildEvent)]
    inner = [e.event for e in depth if isinstance(e, ChildEvent)]
    assert {type(event).__name__ for event in inner} >= {
        "TurnStarted",
        "CallStarted",
        "CallDecided",
        "CallFinished",
        "TurnFinished",
    }


def servers_below(pid: int) -> set[int]:
    """The child processes of a process."""
    found: set[int] = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                with open(f"/proc/{entry.name}/stat", encoding="utf-8") as file:  # noqa: PTH123 - many, and at once
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                found.add(int(entry.name))
    return found


@pytest.mark.req("B-04")
async def test_children_use_the_servers_that_are_there(tmp_path: Path) -> None:
    """A real server, three children at once and one below: one process, from the start to the
    last call, and none after."""
    repository = str(tmp_path / "repository")
    for words in (("init", "-q", repository), ("-C", repository, *COMMIT)):
        subprocess.run(("git", *words), check=True, timeout=20)  # noqa: ASYNC221 - before anything runs
    end = StdioEndpoint(str(Path(sys.executable).with_name("mcp-server-git")))
    trusted = AnnotationTrust.TRUST
    settings = ServerSettings("git", end, annotation_trust=trusted, request_timeout=30)
    log = calling(("mcp__git__git_log", {"repo_path": repository}))
    each = [("Task", {"agent": "looker", "prompt": prompt}) for prompt in ("a", "b", "c")]
    model = PromptedModel(
        {"go": [calling(*each)], "a": [log], "b": [log], "c": [task("looker", "d")], "d": [log]}
    )
    before, seen = servers_below(os.getpid()), list[set[int]]()

    def look(event: Event) -> None:
        seen.append(servers_below(os.getpid()) - before)

    config = lockgate.Config(servers=(settings,), state_dir=tmp_path / "state")
    async with lockgate.open(config, agents=[LOOKER], attended=False) as gate:
        result = await gate.agent(model=model).run("go", sink=look)
    assert result.answered
    logs = [str(model.seen(prompt)[1].transcript[-1]) for prompt in ("a", "b", "d")]
    assert all("first light" in told for told in logs)
    assert len(seen) > 20
    assert {len(processes) for processes in seen} == {1}
    assert servers_below(os.getpid()) == before


def test_one_in_the_background_that_a_run_leaves_is_told_of(project: Project) -> None:
    """A run of one prompt is a session: what works in its background ends with it, and a person is
    told that there is no answer, whether it had begun or not."""
    written(project)
    project.servers.clear()
    slow = When("tools/call", Sleep(600), Answer(), tool="look")
    project.add(
        "db",
        ScriptedServer(tools=(tool("look", annotations=READS), tool("drop")), rules=(slow,)),
        annotationTrust="trust",
        pins="off",
    )
    start = {"agent": "helper", "prompt": "count", "background": True}
    (project.root / "main.replies").write_text(
        json.dumps([{"calls": [{"tool": "Task", "arguments": start}]}, {"text": "Begun."}])
    )
    done = project.run("run", "How many rows?")
    assert done.returncode == 0
    assert "the sub-agent helper-1 ended with its session, with no answer" in done.stderr
    assert "LocalError" not in done.stderr
