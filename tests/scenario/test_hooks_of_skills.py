"""Hooks that a skill declares: for the calls of its execution and of what that brings about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.errors import ConfigError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.settings.config import AgentSettings
from lockgate.testing.model import FakeModel, answers_in
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, tool
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

SKILL = """\
---
name: careful
description: Works with care.
hooks:
  pre_tool:
    - matcher: look
      hooks:
        - {}
---
Look.
"""


def asks(name: str, **arguments: Any) -> ModelReply:
    """A reply that asks for one call."""
    return ModelReply(calls=(ToolCall(f"call-{name}", name, arguments),))


def look() -> ScriptedTool:
    """A tool that only reads."""
    return ScriptedTool("look", level=SideEffectLevel.READ_ONLY, concurrent=True)


def write(directory: Path, handler: str) -> Path:
    """A configuration with one skill that declares one hook."""
    folder = directory / "skills" / "careful"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.replace("{}", handler))
    file = directory / "lockgate.yaml"
    file.write_text("builtin: [Task]\nagent: {skills: [./skills]}\n")
    return file


async def test_a_hook_refuses_in_the_skill_and_nowhere_else(tmp_path: Path) -> None:
    """The turn that asks for the skill may do what it may not. Its program lies beside it."""
    file = write(tmp_path, "{type: command, command: ./veto, onError: deny}")
    program = tmp_path / "skills" / "careful" / "veto"
    program.write_text("#!/bin/sh\necho 'not with this skill' >&2\nexit 2\n")
    program.chmod(0o755)
    model = FakeModel(
        [asks("Skill", skill="careful"), asks("look"), ModelReply("refused"), asks("look")]
    )
    async with lockgate.open(file, tools=[look()], attended=False) as gate:
        (skill,) = gate.skills
        result = await gate.agent(model=model).run("go")
    assert skill.forks
    inside = answers_in(model.seen[2].transcript)[0].result
    assert (inside.kind, inside.reason) == (ErrorKind.DENIED, "hook")
    assert "not with this skill" in inside.text
    assert [a.result.is_error for a in answers_in(result.transcript)] == [False, False]


def refusing(seen: list[str]) -> Hook:
    """A hook in code that refuses every call, and remembers of which tools."""

    async def run(told: HookInput) -> HookResult:
        seen.append(str(told.tool_name))
        return HookResult(HookDecision.DENY, "no")

    return Hook(HookEvent.PRE_TOOL, run, "guard", "look")


async def test_it_holds_for_what_the_skill_brings_about(tmp_path: Path) -> None:
    """A sub-agent is no way around it; a skill within the skill has both of their hooks."""
    seen: list[str] = []
    skill = SkillDefinition("careful", "Careful.", "Look.", hooks=(refusing(seen),))
    config = lockgate.Config(
        agent=AgentSettings(skills=(skill,)), builtin=("Task",), state_dir=tmp_path / "state"
    )
    model = FakeModel(
        [
            asks("Skill", skill="careful"),
            asks("Task", agent="general", prompt="look for me"),
            asks("look"),
            ModelReply("it was refused"),
            ModelReply("refused"),
            asks("look"),
        ]
    )
    async with lockgate.open(config, tools=[look()], attended=False) as gate:
        result = await gate.agent(model=model).run("go")
    assert seen == ["look"]
    assert answers_in(model.seen[3].transcript)[0].result.kind is ErrorKind.DENIED
    assert not answers_in(result.transcript)[1].result.is_error


@pytest.mark.req("S3-13")
async def test_a_hook_that_is_a_tool_of_a_server(tmp_path: Path) -> None:
    """It calls an MCP tool by itself: nobody is asked, its declaration is the answer."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(tools=(tool("audit"),), ledger=tmp_path / "ledger")
    handler = "{type: mcp_tool, server: s, tool: audit, args: {text: '{{context.tool_name}}'}}"
    file = write(tmp_path, handler)
    end = server.endpoint(file=tmp_path / "script")
    servers = [{"name": "s", "command": end.command, "args": list(end.args)}]
    file.write_text(json.dumps({"mcp": {"servers": servers}, "agent": {"skills": ["./skills"]}}))
    model = FakeModel(
        [asks("Skill", skill="careful"), asks("look"), ModelReply("ok"), asks("look")]
    )
    async with lockgate.open(file, tools=[look()], attended=False) as gate:
        await gate.agent(model=model).run("go")
    assert ledger.called == ("audit",)


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("  session_start: []", "session_start: unknown key"),
        ("  session_start: []", "declare this one in lockgate.yaml"),
        ("  PreToolUse: []", "write pre_tool"),
        ("  pre_tol: []", "did you mean pre_tool?"),
        ("  pre_tool: [{hooks: [{type: comand, command: x}]}]", "command"),
        ("  pre_tool: [{matcher: 'look(', hooks: [{type: command, command: x}]}]", "look("),
        ("  pre_tool: [{hooks: [{type: mcp_tool, server: gone, tool: x}]}]", "gone"),
    ],
)
def test_what_is_wrong_with_a_hook_is_told_at_its_line(
    project: Project, front: str, said: str
) -> None:
    """File and line of the skill, and what to write."""
    folder = project.root / "skills" / "careful"
    folder.mkdir(parents=True)
    text = f"---\nname: careful\ndescription: x\nhooks:\n{front}\n---\nLook.\n"
    (folder / "SKILL.md").write_text(text)
    project.sections["agent"] = {"skills": ["./skills"]}
    refused = project.run("tools")
    assert refused.returncode == 2
    assert f"{folder}/SKILL.md:5" in refused.stderr
    assert said in refused.stderr


def test_an_inline_skill_has_no_hooks(project: Project) -> None:
    """They could not hold for it and for nothing else."""
    file = write(project.root, "{type: command, command: 'true'}")
    skill = file.parent / "skills" / "careful" / "SKILL.md"
    skill.write_text(skill.read_text().replace("hooks:", "context: inline\nhooks:", 1))
    refused = project.run("tools")
    assert refused.returncode == 2
    assert "hooks can not hold for an inline skill" in refused.stderr


@pytest.mark.req("B-13")
def test_its_programs_are_told_before_it_is_accepted(project: Project) -> None:
    """As those of the configuration are."""
    write(project.root, "{type: command, command: ./veto, args: [--strict]}")
    told = project.run("config", "accept", "--yes", named=False).stdout
    assert "It would start" in told
    assert "veto --strict" in told
    assert "before calls of look (pre_tool)" in told


async def test_a_program_that_is_for_sessions_is_no_hook_of_a_skill(tmp_path: Path) -> None:
    """A hook in code is about calls as well."""

    async def run(told: HookInput) -> None:
        del told

    hook = Hook(HookEvent.SESSION_START, run, "greeter")
    skill = SkillDefinition("careful", "Careful.", "Look.", hooks=(hook,))
    config = lockgate.Config(agent=AgentSettings(skills=(skill,)), state_dir=tmp_path / "state")
    with pytest.raises((ConfigError, lockgate.LocalError), match="is of a skill"):
        async with lockgate.open(config, attended=False):
            pass
