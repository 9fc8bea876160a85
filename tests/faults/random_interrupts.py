"""Turns that are ended at random moments: does anything hang, stay, or break the conversation?

    scripts/interrupts [--count 1000] [--seed N]

Half of the turns call a server in this loop and are ended after a random number of its steps, half
call a server that is a process and are ended after a random time. A turn is interrupted, cancelled,
or interrupted and then cancelled, as by a second Ctrl+C. After each the same has to hold as in the
suite, which ends a turn at every step (`testing.interrupt_bench`). Exit code 1 if it does not.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.interrupt_bench import InterruptBench, Moment
from lockgate.testing.step_loop import StepLoop

STEPS = 105
"""More than a turn has in this loop, so that some are over before."""
LATER = 0.25
"""The share of interrupts that a cancellation follows."""


def after_seconds(seconds: float) -> Moment:
    """That much later."""

    def arm(action: Callable[[], object]) -> Callable[[], bool]:
        called: list[bool] = []

        def act() -> None:
            called.append(True)
            action()

        timer = asyncio.get_running_loop().call_later(seconds, act)

        def disarm() -> bool:
            timer.cancel()
            return bool(called)

        return disarm

    return arm


async def alone(bench: InterruptBench) -> float:
    """The seconds that a turn takes if it is left alone, with the one that follows it."""
    taken: list[float] = []
    for _ in range(9):
        began = time.monotonic()
        await bench.ended("interrupt", after_seconds(3600))
        taken.append(time.monotonic() - began)
    return statistics.median(taken)


async def ended(
    count: int, seed: int, directory: Path, *, process: bool
) -> tuple[Counter[str], int]:
    """End that many turns; how they were ended, and how many were not as they have to be."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, StepLoop):
        raise TypeError("the loop has to count its steps")
    choose = random.Random(f"{seed} {process}")  # noqa: S311 - repeatable, nothing is kept secret
    counted: Counter[str] = Counter()
    wrong = 0
    before = Belongings.now()
    async with InterruptBench(directory, process=process) as bench:
        seconds = await alone(bench)
        for number in range(count):
            at = choose.random()
            further = choose.random()
            end = "interrupt" if choose.random() < 0.6 else "cancel"
            twice = end == "interrupt" and choose.random() < LATER

            def moment(share: float) -> Moment:
                return after_seconds(share * seconds) if process else loop.after(int(share * STEPS))

            result = await bench.ended(
                "interrupt" if end == "interrupt" else "cancel",
                moment(at),
                moment(min(at + further / 5, 1.2)) if twice else None,
            )
            words = f"{end}, then cancel" if twice else end
            counted[words if result.hit else "over before"] += 1
            for each in result.wrong:
                wrong += 1
                print(f"  {number} ({words} at {at:.4f}): {each}")
    for each in await left_since(before):
        wrong += 1
        print(f"  at the end there are still {each}")
    return counted, wrong


def main() -> int:
    """End turns and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=1_000, help="turns")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    failures = 0
    print(f"seed {options.seed}")
    for process in (False, True):
        began, cpu = time.monotonic(), time.process_time()
        count = options.count - options.count // 2 if process else options.count // 2
        with (
            tempfile.TemporaryDirectory() as directory,
            asyncio.Runner(loop_factory=StepLoop) as runner,
        ):
            counted, wrong = runner.run(
                ended(count, options.seed, Path(directory), process=process)
            )
        failures += wrong
        where = "a process" if process else "this loop"
        told = ", ".join(f"{number} {word}" for word, number in sorted(counted.items()))
        print(
            f"{count} turns with a server in {where}: {told}; {wrong} not as they have to be; "
            f"{time.monotonic() - began:.1f} s, {time.process_time() - cpu:.1f} s of CPU"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
