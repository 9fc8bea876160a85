"""How deep a sub-agent is is known also of a call that waited for its answer."""

from __future__ import annotations

from pathlib import Path

import lockgate
from lockgate.agent.model import ToolAnswer
from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Later, Question, Scope
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.settings.config import AgentSettings
from lockgate.testing.office import PromptedModel, task

HELPER = lockgate.AgentDefinition("helper", "Helps.", "Help.")


class PutsOffTheThird:
    """Says yes, but of the third question that it is answered later."""

    name = "late"
    scopes = frozenset({Scope.ONCE})

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, question: Question) -> Answer | Later:
        self.asked += 1
        return Later() if self.asked == 3 else Answer(True, "late")


async def test_a_yes_does_not_make_more_room_below(tmp_path: Path) -> None:
    """A `Task` of the second level that is answered later brings about the third, and that none."""
    script = tmp_path / "script.yaml"
    wants = "{tool: Task, arguments: {agent: helper, prompt: more}}"
    script.write_text(f"- calls: [{wants}]\n- text: the bottom\n")
    config = lockgate.Config(
        agent=AgentSettings(model=f"scripted:{script}", agents=(HELPER,)),
        rules=RuleSet((parse_rule("Task", Decision.ASK),)),
        state_dir=tmp_path / "state",
    )
    down = {"go": "first", "first": "second", "second": "third"}
    model = PromptedModel({prompt: [task("helper", below)] for prompt, below in down.items()})
    late = PutsOffTheThird()
    async with lockgate.open(config, approvers=[late], attended=True) as gate:
        await gate.agent(model=model).run("go")
        told = model.seen("first")[1].transcript[-1]
        assert isinstance(told, ToolAnswer)
        done = await gate.resume(told.result.text.partition("ticket ")[2][:24], True)
        assert isinstance(done, lockgate.ToolResult)
    assert (done.text, late.asked) == ("the bottom", 4)
