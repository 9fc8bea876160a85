"""A person asks for a skill by `/name` in `lockgate run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing.project import Project

GREET = "---\nname: greet\ndescription: Greets.\n---\nGreet $1.\n"
APART = "---\nname: apart\ndescription: Works.\ncontext: fork\n---\nWork on $1.\n"
MINE = "---\nname: mine\ndescription: Mine.\ndisable-model-invocation: true\n---\nDo $1.\n"
THEIRS = "---\nname: theirs\ndescription: Theirs.\nuser-invocable: false\n---\nDo $1.\n"


@pytest.fixture
def skilled(project: Project) -> Project:
    """A project with four skills and a model that says what it is told to."""
    for text in (GREET, APART, MINE, THEIRS):
        path = project.root / "skills" / text.split("name: ")[1].split("\n")[0] / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    replies = [{"text": f"reply {n}"} for n in range(5)]
    (project.root / "model.yaml").write_text(json.dumps(replies))
    project.sections["agent"] = {"model": "scripted:model.yaml", "skills": ["./skills"]}
    return project


def records(state: Path) -> list[dict[str, Any]]:
    """The decisions that were written down, in order."""
    lines = [
        json.loads(line)
        for file in state.rglob("audit/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    return [line for line in lines if line.get("record") == "decision"]


@pytest.mark.req("S0-17")
def test_a_prompt_that_asks_for_a_skill(skilled: Project) -> None:
    """The call is on record with the road it came by, and its text is the turn's prompt."""
    done = skilled.run("run", "/greet", "Ada")
    assert (done.returncode, done.stdout) == (0, "reply 0\n")
    (record,) = records(skilled.state)
    assert (record["entry"], record["tool"], record["decision"]) == ("cli", "Skill", "run")


def test_a_skill_that_is_done_apart_answers_first(skilled: Project) -> None:
    """Then the model is told its answer, and has the last word."""
    done = skilled.run("run", "/apart x")
    assert (done.returncode, done.stdout) == (0, "reply 0\n")
    assert "Skill -> ran: reply 0" in done.stderr


def test_lines_of_a_conversation(skilled: Project) -> None:
    """A skill kept from models, a slip, a path, a skill that is not for people, and a space."""
    lines = ["/mine x", "/minne x", "/etc/x is full", "/theirs x", " /greet is a word"]
    done = skilled.run("run", stdin="\n".join(lines) + "\n")
    assert done.returncode == 0
    assert done.stdout == "reply 0\nreply 1\nreply 2\n"
    assert "/minne means nothing here: did you mean /mine?" in done.stderr
    listed = "/help, /reconnect, /reload, /apart, /greet, /mine."
    assert f"/theirs means nothing here: there are {listed}" in done.stderr
    assert [record["tool"] for record in records(skilled.state)] == ["Skill"]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("/gret Ada", "did you mean /greet?"),
        ("/reload", "is a line of a conversation"),
        ("/zzzzzz", "there are /apart, /greet, /mine."),
    ],
)
def test_a_prompt_with_a_slip_in_it(skilled: Project, prompt: str, told: str) -> None:
    """No model is sent it, as in a conversation, and it is an error of usage."""
    done = skilled.run("run", prompt)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize("prompt", ["/etc/x is full", " /etc is full"])
def test_a_prompt_that_only_begins_with_a_slash(skilled: Project, prompt: str) -> None:
    """A path is no word, and a space before it makes it a prompt."""
    assert skilled.run("run", prompt).stdout == "reply 0\n"
    assert records(skilled.state) == []


def test_help_lists_what_a_line_can_be(skilled: Project) -> None:
    """Skills for people among it, and how to leave; no model is asked."""
    done = skilled.run("run", stdin="/help\n")
    assert (done.returncode, done.stdout) == (0, "")
    words = [line.split()[0] for line in done.stderr.splitlines() if line.startswith("  ")]
    assert words == ["/help", "/reconnect", "/reload", "/apart", "/greet", "/mine", "Ctrl+D"]


def test_a_rule_holds_for_people_too(skilled: Project) -> None:
    """What a deny rule refuses is said, with the exit code of a refusal, and no model is asked."""
    skilled.sections["permissions"] = {"deny": ["Skill(skill=greet)"]}
    done = skilled.run("run", "/greet Ada")
    assert (done.returncode, done.stdout) == (3, "")
    assert "Skill" in done.stderr
    (record,) = records(skilled.state)
    assert record["kind"] == "denied"
