"""Many calls over each transport: does anything grow that should not?

    python benchmarks/soak.py [--calls 100000] [--way stdio|http|events|sse]
        [--era legacy|modern] [--smoke]

The whole road of lockgate, records on disk included, in a process of its own for each transport,
some calls at once. What is there after the first fifth is held against the most of all that comes
after: memory may grow by a twentieth, descriptors and tasks not at all. Ends with 1 if something
did. A short run's memory is told and not judged: it is still warming up.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from contenders import governed
from contest import conditions, memory
from echo import ERAS, Era, Server, WayName, build, server_for

WAYS: Mapping[Era, Sequence[WayName]] = {
    "legacy": get_args(WayName),
    "modern": ("stdio", "http", "events"),
}
AT_ONCE = 20
"""Calls in flight."""
LOOKS = 50
"""How often it is looked at what is there."""
GROWTH = 0.05
"""The most that memory may grow after the first fifth, as a share."""
JUDGED = 20_000
"""The calls from which on memory is judged."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What there was at one moment, with no call under way."""

    calls: int
    megabytes: float
    descriptors: int
    tasks: int
    children: int


def look(calls: int) -> Sight:
    """Count what this process has, rubbish collected."""
    gc.collect()
    me = Path("/proc/self")
    children = (me / "task" / str(os.getpid()) / "children").read_text("utf-8").split()
    return Sight(
        calls,
        memory()["MB"],
        len(list((me / "fd").iterdir())),
        len(asyncio.all_tasks()),
        len(children),
    )


async def soak(server: Server, era: Era, calls: int) -> list[Sight]:
    """Make the calls, and look in between."""
    sights: list[Sight] = []
    batches = max(calls // AT_ONCE, LOOKS)
    every = batches // LOOKS
    async with governed([server], era) as call:
        for batch in range(1, batches + 1):
            texts = await asyncio.gather(*(call() for _ in range(AT_ONCE)))
            if texts.count("ok") != AT_ONCE:
                raise SystemExit("a call was not answered as expected")
            if batch % every == 0:
                sights.append(look(batch * AT_ONCE))
    return sights


def judge(sights: Sequence[Sight]) -> tuple[list[str], bool]:
    """What is to be said, and whether all of it is as it should be."""
    at = len(sights) // 5 - 1
    early, late = sights[at], sights[at + 1 :]
    growth = max(sight.megabytes for sight in late) / early.megabytes - 1
    judged = sights[-1].calls >= JUDGED
    fine = growth <= GROWTH or not judged
    word = ("ok  " if fine else "MISS") if judged else "told"
    said = [
        f"  {word} memory {early.megabytes:.1f} MB after {early.calls} calls, "
        f"{growth:+.1%} at most after that, {sights[-1].megabytes:.1f} MB at the end; "
        f"target ≤ {GROWTH:.0%}"
    ]
    for name in ("descriptors", "tasks", "children"):
        counts = {int(getattr(sight, name)) for sight in (early, *late)}
        same = len(counts) == 1
        fine = fine and same
        said.append(f"  {'ok  ' if same else 'MISS'} {name}: {sorted(counts)}, target: one number")
    return said, fine


def main() -> None:
    """Soak each transport and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--way", action="append", choices=get_args(WayName))
    parser.add_argument("--era", choices=ERAS, default="legacy")
    parser.add_argument("--smoke", action="store_true", help="a few calls, to see that it runs")
    parser.add_argument("--of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.of:
        sights = asyncio.run(soak(*json.loads(options.of)))
        print(json.dumps([asdict(sight) for sight in sights]))
        return
    calls = LOOKS * AT_ONCE if options.smoke else options.calls
    ways: Sequence[WayName] = options.way or WAYS[options.era]
    print(f"1 rounds of {calls} calls, {AT_ONCE} at once; {options.era} era")
    print(conditions("lockgate", "msgspec", "aiohttp"), flush=True)
    good = True
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        echo, _ = build(Path(directory))
        for way in ways:
            server = server_for([*echo, "--era", options.era], way, stack)
            asked = json.dumps([server, options.era, calls])
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, __file__, "--of", asked],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            said, fine = judge([Sight(**sight) for sight in json.loads(done.stdout)])
            print(f"\n{way}, {time.perf_counter() - start:.0f} s")
            print(*said, sep="\n", flush=True)
            good = good and fine
    sys.exit(not good)


if __name__ == "__main__":
    main()
