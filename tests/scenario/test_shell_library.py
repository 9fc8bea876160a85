"""The shell tool as a program uses it: through a gate of its own, and by an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

import lockgate
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.calls.call import Suspended
from lockgate.decision import Decision
from lockgate.errors import LocalError
from lockgate.rules.rule import RuleSet
from lockgate.settings.config import AgentSettings
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, alive, eventually, left_since
from lockgate.testing.model import FakeModel
from lockgate.testing.shell import line_rule
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel


def config(folder: Path) -> lockgate.Config:
    """The tool, two rules, and one root."""
    rules = (line_rule("echo:*"), line_rule("rm:*", Decision.DENY))
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return lockgate.Config(
        builtin=("Bash",),
        roots=(work,),
        project_dir=work,
        rules=RuleSet(rules),
        state_dir=folder / "state",
    )


async def test_a_program_calls_and_explains_it(tmp_path: Path) -> None:
    """Under the configuration's rules, beside tools of its own."""
    before = Belongings.now()
    async with lockgate.open(config(tmp_path), attended=False) as gate:
        assert [tool.name for tool in gate.tools()] == ["Bash"]
        ran = await gate.call("Bash", {"command": "echo x"})
        assert isinstance(ran, ToolResult)
        assert (ran.text, ran.structured) == ("x", {"exitCode": 0, "signal": None})
        refused = await gate.call("Bash", {"command": "echo x >y"})
        assert isinstance(refused, ToolResult)
        assert refused.kind is ErrorKind.NOT_APPROVED
        assert gate.explain("Bash", {"command": "rm x"}).decision is Decision.DENY
        assert gate.explain("Bash", {"command": "echo x"}).decision is Decision.ALLOW
    assert await left_since(before) == ()


async def test_without_roots_every_directory_is_outside(tmp_path: Path) -> None:
    """A configuration made by hand has none unless it says so: a rule for the command is silent."""
    async with lockgate.open(replace(config(tmp_path), roots=()), attended=False) as gate:
        result = await gate.call("Bash", {"command": "echo x"})
    assert not isinstance(result, Suspended)
    assert result.kind is ErrorKind.NOT_APPROVED


async def test_a_read_only_ceiling_shows_no_shell(tmp_path: Path) -> None:
    """Whatever rules allow."""
    below = replace(config(tmp_path), agent=AgentSettings(ceiling=SideEffectLevel.READ_ONLY))
    model = FakeModel()
    async with lockgate.open(below, attended=False) as gate:
        result = await gate.call("Bash", {"command": "echo x"})
        assert isinstance(result, ToolResult)
        assert result.kind is ErrorKind.ABOVE_CEILING
        await gate.agent(model=model).run("go")
    assert model.seen[0].names == ()


async def test_a_name_that_is_taken_is_an_error(tmp_path: Path) -> None:
    """A tool of the program's does not stand in for one of ours, nor the other way round."""

    @lockgate.tool(name="Bash")
    def other(command: str) -> str:
        """Do something else."""
        return command

    with pytest.raises(LocalError, match="Bash"):
        async with lockgate.open(config(tmp_path), tools=[other], attended=False):
            pass


@pytest.mark.req("S3-23")
async def test_closing_the_gate_ends_a_line_that_runs(tmp_path: Path) -> None:
    """With all that it started."""
    before = Belongings.now()
    yes = ScriptedApprover.always(True)
    pid = tmp_path / "work" / "pid"
    lines = [
        ModelReply(calls=(ToolCall("1", "Bash", {"command": "sleep 600 & echo $! >pid; wait"}),))
    ]
    async with lockgate.open(config(tmp_path), approvers=[yes]) as gate:
        turn = asyncio.create_task(gate.agent(model=FakeModel(lines)).run("go"))
        await eventually(lambda: pid.exists() and pid.read_text() != "")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not alive(int(pid.read_text()))
    del turn
    assert await left_since(before) == ()
