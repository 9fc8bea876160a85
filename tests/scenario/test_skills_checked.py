"""`lockgate check` on skills: what of a published one is not in force here, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.testing.project import Project

SKILL = "---\nname: tidy\ndescription: Tidies.\n{}---\nTidy up.\n"


@pytest.fixture
def skilled(project: Project) -> Project:
    """A project with one skill."""
    project.sections["agent"] = {"skills": ["./skills"]}
    write(project, "")
    return project


def write(project: Project, front: str, text: str = "") -> None:
    """Give the skill more front matter."""
    path = project.root / "skills" / "tidy" / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SKILL.format(front) + text)


def found(project: Project) -> list[dict[str, Any]]:
    """What `check` finds about skills."""
    return project.json("check")["findings"]


def test_nothing_is_said_of_a_plain_skill(skilled: Project) -> None:
    """The rules and offers that name its tool mean something."""
    skilled.sections["agent"]["offer"] = ["Skill"]
    skilled.sections["permissions"] = {"ask": ["Skill(skill=tidy)"]}
    assert found(skilled) == []


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("license: MIT\nversion: 2\n", "license, version: says nothing here"),
        ("allowed-tools: Read\n", "no call of them is permitted by it"),
        ("allowed-tools: Bash(git:*)\n", "has in brackets permits nothing"),
        ("tools: [Read]\n", "an execution of its own"),
        ("tools: [Read]\n", 'its tools name "Read": Read, which is not among `builtin`'),
        ("tools: [mcp__gone__x]\n", "of a server that is not configured"),
        ("model: sonnet\n", "another program's word"),
    ],
)
def test_what_is_not_in_force_is_a_note(skilled: Project, front: str, said: str) -> None:
    """A published skill loads as it is, and its reader knows what it does not do here."""
    write(skilled, front)
    notes = [f for f in found(skilled) if f["note"]]
    assert any(said in note["text"] for note in notes)
    assert {note["where"] for note in notes} == {"skill tidy"}
    assert skilled.run("check").returncode == 0


def test_commands_that_others_would_run(skilled: Project) -> None:
    """Whoever wrote them meant them to be run."""
    write(skilled, "", "Status: !`git status`\n")
    assert any("are not run" in f["text"] for f in found(skilled))


def test_an_offer_without_the_tool(skilled: Project) -> None:
    """No model would ever see the skills."""
    skilled.sections["agent"]["offer"] = ["Read"]
    assert any("does not name Skill" in f["text"] for f in found(skilled))
    assert skilled.run("check").returncode == 1


def test_the_tool_without_skills(project: Project) -> None:
    """Named, and nothing there for it; `all` is no slip."""
    project.sections["builtin"] = ["Skill"]
    assert "no skills are configured" in found(project)[0]["text"]
    assert project.json("tools")["tools"] == []
    project.sections["builtin"] = "all"
    assert not any("no skills" in f["text"] for f in found(project))


def test_a_rule_about_skills_without_any(project: Project) -> None:
    """It can decide nothing."""
    project.sections["permissions"] = {"deny": ["Skill(skill=tidy)"]}
    assert "there are no skills" in found(project)[0]["text"]


def test_a_parameter_that_the_tool_has_not(skilled: Project) -> None:
    """A rule about it would never match."""
    skilled.sections["permissions"] = {"deny": ["Skill(name=tidy)"]}
    refused = skilled.run("check")
    assert refused.returncode == 2
    assert "arguments, skill" in refused.stderr
