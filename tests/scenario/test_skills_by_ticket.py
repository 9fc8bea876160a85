"""Who asks for a skill is known also of a call that waited for its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.bridges.queue import QueueApprover
from lockgate.decision import Decision
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.settings.config import AgentSettings
from lockgate.testing.model import FakeModel
from lockgate.testing.office import PromptedModel, task

MINE = lockgate.SkillDefinition("mine", "Mine.", "The text for people.", by_model=False)
THEIRS = lockgate.SkillDefinition("theirs", "Theirs.", "The text for models.", by_person=False)
HELPER = lockgate.AgentDefinition("helper", "Helps.", "Help.")


def config(directory: Path) -> lockgate.Config:
    """Every call of `Skill` is asked about, and the queue is what answers."""
    rule = parse_rule("Skill", Decision.ASK)
    agent = AgentSettings(skills=(MINE, THEIRS), agents=(HELPER,))
    return lockgate.Config(agent=agent, rules=RuleSet((rule,)), state_dir=directory / "state")


def opened(directory: Path) -> Any:
    """A gate on that configuration."""
    return lockgate.open(config(directory), approvers=[QueueApprover()], attended=True)


def wants(skill: str) -> ModelReply:
    """A reply that asks for a skill."""
    return ModelReply(calls=(ToolCall("call-1", "Skill", {"skill": skill}),))


@pytest.mark.parametrize(("skill", "given"), [("mine", False), ("theirs", True)])
async def test_a_yes_does_not_make_a_model_s_call_a_person_s(
    tmp_path: Path, skill: str, given: bool
) -> None:
    """What no model may ask for is no skill to it, also when its question was answered with yes in
    another process, whose result its next turn is told."""
    async with opened(tmp_path) as gate:
        result = await gate.agent(model=FakeModel([wants(skill)])).run("go")
    (waiting,) = result.waiting
    async with opened(tmp_path) as gate:
        done = await gate.resume(waiting.ticket, True)
    assert ("The text for" in done.text) is given
    assert given or done.reason == "no_such_skill"


async def test_nor_that_of_a_sub_agent(tmp_path: Path) -> None:
    """Whose model asked for it."""
    model = PromptedModel({"go": [task("helper", "help")], "help": [wants("mine")]})
    async with opened(tmp_path) as gate:
        result = await gate.agent(model=model).run("go")
        text = result.calls[0].result.text
        ticket = text.partition("- Skill, ticket ")[2].split()[0]
        done = await gate.resume(ticket, True)
    assert done.reason == "no_such_skill"


@pytest.mark.parametrize(("skill", "given"), [("mine", True), ("theirs", False)])
async def test_a_person_s_call_stays_one(tmp_path: Path, skill: str, given: bool) -> None:
    """Of a program, and of a person between two turns."""
    async with opened(tmp_path) as gate:
        called = await gate.call("Skill", {"skill": skill})
        agent = gate.agent(model=FakeModel())
        between = await agent.call("Skill", {"skill": skill, "arguments": "x"}, entry="cli")
    for waiting in (called, between):
        assert isinstance(waiting, lockgate.Suspended)
        async with opened(tmp_path) as gate:
            done = await gate.resume(waiting.ticket, True)
        assert ("The text for" in done.text) is given


async def test_a_model_does_not_join_the_question_of_a_person(tmp_path: Path) -> None:
    """An equal call in the same session: what comes of the person's is not handed to the model."""
    async with opened(tmp_path) as gate:
        agent = gate.agent(model=FakeModel([wants("mine")]))
        between = await agent.call("Skill", {"skill": "mine"}, entry="cli")
        (waiting,) = (await agent.run("go")).waiting
    assert waiting.ticket != between.ticket
