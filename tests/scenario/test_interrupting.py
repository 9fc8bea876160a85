"""A turn that is ended at every moment there is, in both ways: interrupted, and cancelled."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.interrupt_bench import End, InterruptBench
from lockgate.testing.step_loop import StepLoop

MOST = 2_000
"""Steps that a turn has at most."""


async def everywhere(directory: Path, end: End) -> tuple[int, list[str]]:
    """End a turn after every number of steps until it is over before; how many there were, and
    what was wrong."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, StepLoop)
    found: list[str] = []
    steps = 0
    before = Belongings.now()
    async with InterruptBench(directory) as bench:
        for steps in range(MOST):
            ended = await bench.ended(end, loop.after(steps))
            found += [f"step {steps}: {each}" for each in ended.wrong]
            if not ended.hit:
                break
        else:
            found.append("the turn has no end")
    found += await left_since(before)
    return steps, found


@pytest.mark.parametrize("end", ["interrupt", "cancel"])
@pytest.mark.req("B-02")
def test_a_turn_can_be_ended_at_every_await(tmp_path: Path, end: End) -> None:
    """A reply that streams, calls that run together and in lanes, a question, a call that can not
    be broken off, a server: after each moment a provider takes the transcript, nothing runs,
    every call that was sent has both its records, and the next turn works. Hooks run at each."""
    with asyncio.Runner(loop_factory=StepLoop) as runner:
        steps, found = runner.run(everywhere(tmp_path, end))
    assert found == []
    assert steps > 90


def test_turns_can_be_ended_at_random_moments() -> None:
    """A few of those that `scripts/interrupts` ends, half with a server that is a process."""
    script = Path(__file__).parents[1] / "faults/random_interrupts.py"
    command = [sys.executable, str(script), "--count", "40", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 not as they have to be") == 2
