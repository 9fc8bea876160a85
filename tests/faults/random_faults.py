"""Many faults at random places: is any call lost, left hanging, or run twice?

    scripts/faults [--count 10000] [--seed N]
    scripts/faults --case 'sse/reset in the body/add/0.2500/0'

A point, the place in it, a way, a kind of tool and the size of the request are drawn for each case,
and now and then another fault for its second try. Those of one fault are held against
`fault_table`, all others against the rules alone. A case is repeated by the line that it is printed
as. Exit code 1 if anything is not as it has to be.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fault_cases import PATIENT, Finding, impatient, make
from fault_points import PIPE, WIRE
from fault_stands import KINDS, WAYS, Case
from fault_table import ROWS

SIZES = (0, 0, 0, 3_000, 90_000, 400_000)
"""Characters of an argument; the largest are written in more than one piece."""
IN_ONE_PIECE = frozenset(
    {"reset in the tail", "reset after the answer", "garbage behind the answer"}
)
"""Points at which an answer has to be small: what comes behind it overtakes a large one, or not."""
TWO = 0.15
"""The share of cases whose second try meets another fault."""
SELDOM = 0.25
"""How often a point is drawn at which only the time ends a call, next to others."""
TOGETHER = {"quick": 40, "slow": 12, "slow stdio": 10}
"""Cases under way at once: where time-outs are short, few enough that nothing else comes late."""


def drawn(seed: int) -> Iterator[Case]:
    """Cases without an end."""
    choose = random.Random(seed)  # noqa: S311 - repeatable, nothing is kept secret by it
    points = {way: [point for of, point in ROWS if of == way] for way in WAYS}
    weights = {
        way: [SELDOM if _slow(Case(way, (point,), "add")) else 1.0 for point in points[way]]
        for way in WAYS
    }
    while True:
        way = choose.choice(WAYS)
        [point] = choose.choices(points[way], weights[way])
        row = ROWS[way, point]
        hits: tuple[str, ...] = (point,)
        [other] = choose.choices(points[way], weights[way])
        share, place = choose.random(), round(choose.random(), 4)
        if share < TWO and _on_request(point) and _on_request(other):
            hits = (point, other)
        elif row.once[0] is None or (row.once[1] is not None and choose.random() < 0.5):
            hits = (point, point)
        size = choose.choice(SIZES)
        if point == "killed in the request":
            size = 1_000_000
        elif set(hits) & IN_ONE_PIECE:
            size = min(size, 3_000)
        yield Case(way, hits, choose.choice(KINDS), place, size)


def _on_request(point: str) -> bool:
    """Whether it hits one request after the other."""
    return point in WIRE or point in PIPE


def _slow(case: Case) -> bool:
    return impatient(case) < PATIENT


def batches(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """What goes on at once."""
    kinds: dict[str, list[Case]] = {name: [] for name in TOGETHER}
    for case in cases:
        name = "quick" if not _slow(case) else "slow stdio" if case.way == "stdio" else "slow"
        kinds[name].append(case)
    for name, of in kinds.items():
        for first in range(0, len(of), TOGETHER[name]):
            yield of[first : first + TOGETHER[name]]


def run(cases: Sequence[Case]) -> list[Finding]:
    """Make one batch, in a directory and an event loop of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(make(cases, Path(folder)))


def main() -> int:
    """Draw cases, make them, print what is wrong and a summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="cases to make")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    parser.add_argument("--case", type=Case.parse, help="make this one alone")
    options = parser.parse_args()
    logging.getLogger("lockgate").setLevel(logging.ERROR)  # servers come and go here
    if options.case is not None:
        findings = run([options.case])
        print(*findings, sep="\n")
        return int(any(finding.faults for finding in findings))
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    draw = drawn(seed)
    cases = [next(draw) for _ in range(options.count)]
    ways: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    wrong = 0
    begun = time.monotonic()
    for batch in batches(cases):
        for finding in run(batch):
            ways[finding.case.way] += 1
            kinds[finding.cell.kind] += 1
            if finding.faults:
                wrong += 1
                print(finding, flush=True)
    seconds = time.monotonic() - begun
    print(f"{options.count} cases in {seconds:.0f} s, {wrong} not as they have to be")
    print("ways:", ", ".join(f"{name} {count}" for name, count in sorted(ways.items())))
    print("ends:", ", ".join(f"{name} {count}" for name, count in kinds.most_common()))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
