"""What `import lockgate` costs, against the imports it can not do without.

    python benchmarks/import_time.py [--rounds 15] [--smoke]

Each import runs in an interpreter of its own. The floor is `import asyncio, msgspec`; the last two
lines are lockgate with everything that `open` needs, and the official SDK.
"""

from __future__ import annotations

import argparse
import sys

from contest import conditions, ratio, run_in_turns, spread, verdict

FLOOR = "import asyncio, msgspec"
PROGRAMS = {
    "pass": "pass",
    FLOOR: FLOOR,
    "import lockgate": "import lockgate",
    "lockgate.open": "import lockgate; lockgate.open",
    "import mcp": "import mcp",
}
TELL_MEMORY = "import sys; sys.stdout.write(open('/proc/self/status').read())"
MEGABYTES = 35
"""The most that `import lockgate` may take."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--smoke", action="store_true", help="one round, to see that it runs")
    options = parser.parse_args()
    rounds = 1 if options.smoke else options.rounds
    commands = {
        name: [sys.executable, "-I", "-c", f"{code}\n{TELL_MEMORY}"]
        for name, code in PROGRAMS.items()
    }
    measured = run_in_turns(commands, rounds)
    print(f"{rounds} rounds")
    print(conditions("lockgate", "msgspec", "mcp"))
    for name in PROGRAMS:
        wall, memory = spread(measured, "wall ms", name), spread(measured, "MB", name)
        times = ratio(measured, "wall ms", name, FLOOR)
        print(f"  {name:24} {wall} ms, {times}x the floor, {memory} MB")
    found = ratio(measured, "wall ms", "import lockgate", FLOOR)
    print(verdict("import lockgate against the floor", found, 1.5))
    memory = spread(measured, "MB", "import lockgate").over(MEGABYTES)
    print(verdict(f"its memory against {MEGABYTES} MB", memory, 1.0))


if __name__ == "__main__":
    main()
