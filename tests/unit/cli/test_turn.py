"""Ctrl+C in a turn: the first ends the turn, the second the program, and both say what they do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from lockgate.agent.agent import Agent
from lockgate.agent.run import RunResult, RunStatus
from lockgate.bridges.voice import Voice
from lockgate.cli.turn import one_turn
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.provider_rules import refusals_of
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel


class Heard:
    """What was said, and waiting for something to be."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._news = asyncio.Condition()
        self.voice = Voice(self._say, self._say)

    def _say(self, text: str) -> None:
        self.lines.append(text)

    async def until(self, mark: str, step: Callable[[], None] = lambda: None) -> None:
        """Press keys, and wait until it was said."""
        step()
        async with asyncio.timeout(10):
            while mark not in "\n".join(self.lines):  # noqa: ASYNC110 - a signal handler says it
                await asyncio.sleep(0)


def pressed() -> None:
    """Ctrl+C."""
    os.kill(os.getpid(), signal.SIGINT)


async def turn(agent: Agent, heard: Heard) -> RunResult | None:
    """A turn; None if the program was left."""
    try:
        return await one_turn(agent, "go", heard.voice, show=True)
    except KeyboardInterrupt:
        return None


async def test_the_second_ctrl_c_leaves_a_call_that_can_not_be_broken_off(tmp_path: Path) -> None:
    """It is said what is waited for, and then what may have happened; the conversation stays one
    that can be gone on with."""
    held = ScriptedTool("held", destructive=False, hold=True)
    heard = Heard()
    before = signal.getsignal(signal.SIGINT)
    async with Workbench(tmp_path, [held], exempt=SideEffectLevel.MUTATING) as bench:
        agent = bench.agent(FakeModel([asking("held")]))
        running = asyncio.create_task(turn(agent, heard))
        await heard.until("held()")
        await held.started.wait()
        await heard.until("can not be broken off and is waited for", pressed)
        assert not running.done()
        await heard.until("was sent, and there is no answer", pressed)
        assert await running is None
        assert refusals_of(agent.transcript) == []
        assert [a.result.kind for a in answers_in(agent.transcript)] == [ErrorKind.OUTCOME_UNKNOWN]
        assert [record.fate for record in bench.ledger.outcomes] == ["unknown"]
    assert signal.getsignal(signal.SIGINT) is before


async def test_the_first_ctrl_c_waits_for_what_it_can_not_break_off(tmp_path: Path) -> None:
    """The result is had and shown, and the next turn knows it."""
    held = ScriptedTool("held", destructive=False, hold=True)
    heard = Heard()
    async with Workbench(tmp_path, [held], exempt=SideEffectLevel.MUTATING) as bench:
        running = asyncio.create_task(turn(bench.agent(FakeModel([asking("held")])), heard))
        await held.started.wait()
        await heard.until("can not be broken off", pressed)
        held.release()
        result = await running
    assert result is not None
    assert result.status is RunStatus.INTERRUPTED
    assert [a.result.text for a in answers_in(result.transcript)] == ["ok"]
    assert "  [1] held -> ran" in "\n".join(heard.lines)
