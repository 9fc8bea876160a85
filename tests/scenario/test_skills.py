"""Skills end to end: published ones, handed out or done apart, within their asker's bounds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.events import ChildEvent, Event
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.agent.skills.definition import SkillContext, SkillDefinition
from lockgate.app.entries import Entry
from lockgate.errors import ConfigError
from lockgate.settings.config import AgentSettings
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, answers_in
from lockgate.testing.project import Project
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

PUBLISHED = """\
---
name: brand-guidelines
description: Applies the brand's colors and typography to any artifact. Use it when brand colors,
  style guidelines or company design standards apply.
license: Complete terms in LICENSE.txt
---

# Brand styling

## Overview

Use the colors of [reference/colors.md](reference/colors.md) for $ARGUMENTS.
Today is !`date`, your home ${HOME}; see @reference/colors.md.
"""
NARROW = """\
---
name: look-around
description: Looks around and reports.
allowed-tools: look, Bash(git log:*)
---
Look at $1.
"""
APART = SkillDefinition("apart", "Works apart.", "Work on $1.", context=SkillContext.FORK)


def asks(tool: str, **arguments: Any) -> ModelReply:
    """A reply that asks for one call."""
    return ModelReply(calls=(ToolCall(f"call-{tool}", tool, arguments),))


def look() -> ScriptedTool:
    """A tool that only reads."""
    return ScriptedTool("look", level=SideEffectLevel.READ_ONLY, concurrent=True)


def drop() -> ScriptedTool:
    """A destructive tool."""
    return ScriptedTool("drop")


def config(directory: Path, *skills: SkillDefinition, **agent: Any) -> lockgate.Config:
    """A configuration without any file."""
    settings = AgentSettings(skills=skills, **agent)
    return lockgate.Config(agent=settings, state_dir=directory / "state")


def records(directory: Path, kind: str = "decision") -> list[dict[str, Any]]:
    """What was written of calls, in order."""
    files = sorted(directory.rglob("audit/*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [line for line in lines if line.get("record") == kind]


def write_skill(directory: Path, text: str, **files: str) -> Path:
    """A skill as it is published, under the name its front matter says."""
    name = text.split("name: ")[1].split("\n")[0]
    folder = directory / name
    for path, content in {"SKILL.md": text, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder


async def test_a_published_skill_is_listed_then_handed_out_then_read(tmp_path: Path) -> None:
    """Progressive disclosure: a description first, the text on demand, a file by Read. Nothing in
    the text is run."""
    skills = tmp_path / "skills"
    colors = {"reference/colors.md": "Orange: #d97757", "LICENSE.txt": "Apache"}
    folder = write_skill(skills, PUBLISHED, **colors)
    (tmp_path / "lockgate.yaml").write_text(
        "builtin: [Read]\nagent: {skills: [./skills]}\n", encoding="utf-8"
    )
    model = FakeModel(
        [
            asks("Skill", skill="brand-guidelines", arguments="the poster"),
            asks("Read", path=str(folder / "reference" / "colors.md")),
            ModelReply("done"),
        ]
    )
    async with lockgate.open(tmp_path / "lockgate.yaml", attended=False) as gate:
        result = await gate.agent(model=model).run("Make a poster")
    (listed,) = [d.description for d in model.seen[0].tools if d.name == "Skill"]
    assert "- brand-guidelines: Applies the brand's colors" in listed
    assert "reference/colors.md" not in listed
    text, file = (answer.result.text for answer in answers_in(result.transcript))
    assert f"its files: {folder}\n" in text
    assert f"- {folder}/reference/colors.md\n" in text
    assert "for the poster.\nToday is !`date`, your home ${HOME}; see @reference/colors.md." in text
    assert "#d97757" in file


@pytest.mark.req("B-04")
@pytest.mark.req("S0-06")
async def test_a_skill_with_tools_has_those_of_its_asker_and_no_other(tmp_path: Path) -> None:
    """`allowed-tools` narrows: neither a tool that the asker has not, nor one it does not name."""
    write_skill(tmp_path / "skills", NARROW)
    (tmp_path / "lockgate.yaml").write_text("agent: {skills: [./skills]}\n")
    model = FakeModel(
        [
            asks("Skill", skill="look-around", arguments="here"),
            asks("drop"),
            ModelReply("It is fine here."),
            ModelReply("done"),
        ]
    )
    tools = [look(), drop()]
    async with lockgate.open(tmp_path / "lockgate.yaml", tools=tools, attended=False) as gate:
        result = await gate.agent(model=model).run("go")
    assert model.seen[0].names == ("Skill", "look", "drop")
    assert model.seen[1].names == ("look",)
    assert answers_in(model.seen[2].transcript)[0].result.kind is ErrorKind.NOT_OFFERED
    assert answers_in(result.transcript)[0].result.text == "It is fine here."


@pytest.mark.req("S0-17")
async def test_calls_of_a_skill_come_by_a_road_of_their_own(tmp_path: Path) -> None:
    """Entry, name and parent call are on record, and the question says whose call it is."""
    model = FakeModel(
        [asks("Skill", skill="apart", arguments="x"), asks("drop"), ModelReply("no"), ModelReply()]
    )
    approver = ScriptedApprover([lockgate.Answer(False, "test")])
    events: list[Event] = []
    async with lockgate.open(config(tmp_path, APART), tools=[drop()], approvers=[approver]) as gate:
        agent = gate.agent(model=model)
        await agent.run("go", sink=events.append)
        session = agent.session_id
    (question,) = approver.questions
    assert (question.tool, question.agent) == ("drop", "apart")
    skill, dropped = records(tmp_path)
    assert (skill["entry"], skill["tool"], skill["session"]) == ("agent", "Skill", session)
    assert "agent" not in skill
    assert (dropped["entry"], dropped["tool"]) == (Entry.SKILL.value, "drop")
    assert (dropped["agent"], dropped["parentCall"]) == ("apart", skill["call"])
    assert (dropped["decision"], dropped["kind"]) == ("refuse", "not_approved")
    inside = [e for e in events if isinstance(e, ChildEvent)]
    assert {(e.agent, e.call_id) for e in inside} == {("apart", skill["call"])}


@pytest.mark.req("S0-05")
@pytest.mark.req("S0-06")
async def test_a_skill_is_under_the_ceiling_of_its_asker(tmp_path: Path) -> None:
    """What its asker may not, it is neither shown nor given."""
    model = FakeModel(
        [asks("Skill", skill="apart"), asks("drop"), ModelReply("refused"), ModelReply("done")]
    )
    settings = config(tmp_path, APART, ceiling=SideEffectLevel.READ_ONLY)
    async with lockgate.open(settings, tools=[look(), drop()], attended=False) as gate:
        await gate.agent(model=model).run("go")
    assert model.seen[1].names == ("Skill", "look")
    refused = answers_in(model.seen[2].transcript)[0].result
    assert refused.kind is ErrorKind.ABOVE_CEILING


async def test_skills_within_skills_end(tmp_path: Path) -> None:
    """One that asks for itself comes to an end, and says so."""
    model = FakeModel([asks("Skill", skill="apart") for _ in range(4)])
    async with lockgate.open(config(tmp_path, APART), attended=False) as gate:
        result = await gate.agent(model=model).run("go")
    (ended,) = answers_in(model.seen[4].transcript)
    assert (ended.result.kind, ended.result.reason) == (ErrorKind.TOOL_ERROR, "too_deep")
    assert result.answered


@pytest.mark.req("B-13")
@pytest.mark.parametrize("path", ["skills/apart/SKILL.md", "skills/new/notes.md", "SKILL.md"])
async def test_writing_where_skills_are_is_asked_about(tmp_path: Path, path: str) -> None:
    """Whatever rules say: a model that could write a skill could write its own instructions."""
    write_skill(tmp_path / "skills", NARROW)
    (tmp_path / "lockgate.yaml").write_text(
        "builtin: [Write]\nagent: {skills: [./skills]}\npermissions:\n"
        "  allow: [{rule: 'Write(./**)', destructive: true, when: any}]\n"
    )
    async with lockgate.open(tmp_path / "lockgate.yaml", attended=False) as gate:
        told = gate.explain("Write", {"path": str(tmp_path / path), "content": "x"})
        free = gate.explain("Write", {"path": str(tmp_path / "notes.md"), "content": "x"})
    assert re.search(r"path is (the configuration that is in force|instructions that)", str(told))
    assert "path is" not in str(free)


class TestAcceptance:
    """A project's skills are used once the person has accepted each (B-13)."""

    @pytest.fixture
    def skilled(self, project: Project) -> Project:
        """A project with one skill, and a configuration that was accepted."""
        write_skill(project.root / "skills", NARROW)
        project.sections["agent"] = {"skills": ["./skills"]}
        return project

    @pytest.mark.req("B-13")
    def test_each_content_once_and_again_after_a_change(self, skilled: Project) -> None:
        """The file, and one more skill, ask again; what lies beside does not."""
        refused = skilled.run("tools", named=False)
        assert (refused.returncode, "not accepted yet" in refused.stderr) == (2, True)
        assert skilled.run("config", "accept", "--yes", named=False).returncode == 0
        assert skilled.run("tools", named=False).returncode == 0
        write_skill(skilled.root / "skills", NARROW, **{"notes.md": "beside it"})
        assert skilled.run("tools", named=False).returncode == 0
        write_skill(skilled.root / "skills", NARROW + "\nAnd drop everything.\n")
        refused = skilled.run("tools", named=False)
        assert refused.returncode == 2
        assert "skills: has changed since you accepted it" in refused.stderr
        assert "have its 3 lines followed" in refused.stderr
        accepted = skilled.json("config", "accept", "--yes", named=False)
        (definitions,) = accepted["definitions"]
        (file,) = definitions["files"]
        assert file["file"] == str(skilled.root / "skills" / "look-around" / "SKILL.md")
        assert skilled.run("tools", named=False).returncode == 0

    @pytest.mark.req("B-13")
    def test_one_more_skill_is_asked_about_alone(self, skilled: Project) -> None:
        """What was accepted is not asked about once more."""
        skilled.run("config", "accept", "--yes", named=False)
        write_skill(skilled.root / "skills", PUBLISHED)
        refused = skilled.run("tools", named=False)
        assert refused.returncode == 2
        assert "the skill brand-guidelines" in refused.stderr
        assert "look-around" not in refused.stderr

    @pytest.mark.req("B-13")
    def test_who_names_the_file_has_read_it(self, skilled: Project) -> None:
        """As for the configuration itself."""
        assert skilled.run("tools").returncode == 0

    @pytest.mark.req("S0-14")
    def test_a_bad_skill_stops_the_start(self, skilled: Project) -> None:
        """With file, line and what to write."""
        write_skill(skilled.root / "skills", NARROW.replace("allowed-tools", "alowed-tools"))
        refused = skilled.run("tools")
        assert refused.returncode == 2
        assert "SKILL.md:4:15: alowed-tools: unknown key" in refused.stderr
        assert "did you mean allowed-tools?" in refused.stderr

    def test_a_path_that_leads_nowhere(self, skilled: Project) -> None:
        """Told where it is written."""
        skilled.sections["agent"] = {"skills": ["./skils"]}
        refused = skilled.run("tools")
        assert refused.returncode == 2
        assert "lockgate.yaml:1" in refused.stderr
        assert "no such file or directory" in refused.stderr


async def test_two_skills_of_one_name_are_refused(tmp_path: Path) -> None:
    """A program's does not take the place of the configuration's."""
    again = SkillDefinition("apart", "Another one.", "Do it.")
    with pytest.raises(ConfigError, match="'apart' stands twice"):
        async with lockgate.open(config(tmp_path, APART), skills=[again], attended=False):
            pass


async def test_without_skills_there_is_no_tool(tmp_path: Path) -> None:
    """Nothing is shown that can do nothing."""
    async with lockgate.open(config(tmp_path), attended=False) as gate:
        assert [tool.name for tool in gate.tools()] == []
        assert list(gate.skills) == []


def test_a_deny_rule_holds_for_one_skill(project: Project) -> None:
    """Rules speak of a skill by its name."""
    write_skill(project.root / "skills", NARROW)
    project.sections["agent"] = {"skills": ["./skills"]}
    project.sections["permissions"] = {"deny": ["Skill(skill=look-around)"]}
    assert project.run("call", "Skill", "skill=look-around").returncode == 3


async def test_a_person_asks_for_a_skill_in_their_session(tmp_path: Path) -> None:
    """By the road of a model's call: the execution has the session's grants, model and watcher."""
    private = SkillDefinition("mine", "Mine.", "Do $1.", by_model=False)
    model = FakeModel([asks("look"), ModelReply("looked")])
    events: list[Event] = []
    async with lockgate.open(
        config(tmp_path, APART, private), tools=[look()], attended=False
    ) as gate:
        agent = gate.agent(model=model)
        text = await agent.call("Skill", {"skill": "mine", "arguments": "x"}, entry="cli")
        done = await agent.call(
            "Skill", {"skill": "apart", "arguments": "x"}, entry="cli", sink=events.append
        )
        assert agent.transcript == ()
        session = agent.session_id
    assert isinstance(text, lockgate.ToolResult)
    assert text.text.endswith("Do x.")
    assert isinstance(done, lockgate.ToolResult)
    assert done.text == "looked"
    first, second, inside = records(tmp_path)
    assert (first["entry"], second["entry"], inside["entry"]) == ("cli", "cli", "skill")
    assert (first["session"], inside["parentCall"]) == (session, second["call"])
    assert any(isinstance(event, ChildEvent) for event in events)
