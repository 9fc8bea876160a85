"""Every road by which a call can come ends at the gate; a new one fails here until it is listed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.agent.skills.definition import SkillContext, SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.app.entries import Entry
from lockgate.mcp.host.settings import ServerSettings
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, tool

DROP = "mcp__s__drop"


async def _by_call(gate: lockgate.Gate) -> None:
    await gate.call(DROP)


async def _by_agent(gate: lockgate.Gate) -> None:
    wants = ModelReply(calls=(ToolCall("1", DROP, {}),))
    await gate.agent(model=ScriptedModel([wants, ModelReply("done")])).run("go")


async def _by_sub_agent(gate: lockgate.Gate) -> None:
    wants = ModelReply(calls=(ToolCall("1", DROP, {}),))
    starts = ModelReply(calls=(ToolCall("2", "Task", {"agent": "helper", "prompt": "go"}),))
    model = FakeModel([starts, wants, ModelReply("helped"), ModelReply("done")])
    await gate.agent(model=model).run("go")


async def _by_skill(gate: lockgate.Gate) -> None:
    wants = ModelReply(calls=(ToolCall("1", "Skill", {"skill": "dropping"}),))
    drops = ModelReply(calls=(ToolCall("2", DROP, {}),))
    model = FakeModel([wants, drops, ModelReply("said no"), ModelReply("done")])
    await gate.agent(model=model).run("go")


DROPPING = SkillDefinition("dropping", "Drops.", "Drop it.", context=SkillContext.FORK)

IN_PROCESS: dict[Entry, Callable[[lockgate.Gate], Awaitable[None]]] = {
    Entry.API: _by_call,
    Entry.AGENT: _by_agent,
    Entry.SKILL: _by_skill,
    Entry.SUBAGENT: _by_sub_agent,
}


@pytest.mark.req("S0-17")
@pytest.mark.parametrize("entry", IN_PROCESS)
async def test_each_entry_asks_and_a_no_is_a_no(tmp_path: Path, entry: Entry) -> None:
    """A destructive call by this entry is asked about, with its entry on record, and not sent."""
    scripted = ScriptedServer(tools=(tool("drop"),), ledger=tmp_path / "ledger")
    config = lockgate.Config(
        servers=(ServerSettings("s", scripted.endpoint()),), state_dir=tmp_path / "state"
    ).with_skills([DROPPING])
    approver = ScriptedApprover([lockgate.Answer(False, "test")])
    helper = AgentDefinition("helper", "Helps.", "You help.")
    async with lockgate.open(config, approvers=[approver], agents=[helper]) as gate:
        await IN_PROCESS[entry](gate)
    (question,) = approver.questions
    assert (question.tool, question.destructive) == (DROP, True)
    (segment,) = (tmp_path / "state" / "audit").glob("*.jsonl")
    assert f'"entry":"{entry.value}"' in segment.read_text()
    assert ServerLedger(tmp_path / "ledger").called == ()


@pytest.mark.req("S0-17")
def test_the_command_line_asks(project: Project) -> None:
    """`lockgate call` without anybody there is a no, with its entry on record."""
    ledger = project.add("s", ScriptedServer(tools=(tool("drop"),)))
    assert project.run("call", DROP).returncode == 3
    (segment,) = project.state.rglob("*.jsonl")
    assert f'"entry":"{Entry.CLI.value}"' in segment.read_text()
    assert ledger.called == ()


@pytest.mark.req("S0-17")
def test_answering_a_ticket_is_an_entry_of_its_own(project: Project) -> None:
    """What `lockgate approvals answer` resumes is decided again, and recorded under that entry."""
    ledger = project.add("s", ScriptedServer(tools=(tool("drop"),)))
    project.sections["approvals"] = {"unattended": ["queue"]}
    ticket = project.run("call", DROP).stdout.split()[-1]
    assert ledger.called == ()
    project.sections["permissions"] = {"deny": [DROP]}
    assert project.run("approvals", "answer", ticket, "yes").returncode == 3
    records = "".join(path.read_text() for path in project.state.rglob("*.jsonl"))
    assert f'"entry":"{Entry.CLI.value}"' in records
    assert f'"entry":"{Entry.APPROVALS.value}"' in records
    assert ledger.called == ()


@pytest.mark.req("S0-17")
def test_a_hook_that_is_a_tool_meets_the_gate(project: Project) -> None:
    """Nobody is asked about its call; a rule that denies it is a no, with its entry on record."""
    ledger = project.add("s", ScriptedServer(tools=(tool("drop"), tool("look"))))
    handler = {"type": "mcp_tool", "server": "s", "tool": "drop"}
    project.sections["hooks"] = {"pre_tool": [{"hooks": [handler]}]}
    project.sections["permissions"] = {"deny": [DROP]}
    assert project.run("call", "mcp__s__look").returncode == 3
    (segment,) = project.state.rglob("*.jsonl")
    assert f'"entry":"{Entry.HOOK.value}"' in segment.read_text()
    assert ledger.called == ()


@pytest.mark.req("S0-17")
def test_the_list_of_entries_is_walked_whole() -> None:
    """A new entry has to be added to this file."""
    assert {*IN_PROCESS, Entry.CLI, Entry.APPROVALS, Entry.HOOK} == set(Entry)
