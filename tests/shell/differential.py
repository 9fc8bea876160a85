"""Does the real shell start anything that the analysis of a line did not list?

    scripts/shell-differential [--lines 2000] [--seed N]

Lines are made up until as many were let through by a rule that allows every command, which is the
hardest case: all that stands between the line and the shell is what the analysis understood.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lockgate.decision import Decision
from lockgate.rules.command.line import Analysis, analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import judge
from recording_shell import Argv, RecordingShell
from shell_lines import made_line

EVERYTHING = (CommandPattern.parse("*"),)


def runnable(analysis: Analysis) -> bool:
    """Whether none of the commands is named by a path: such a one would be no stub."""
    return all(command.name is not None and "/" not in command.name for command in analysis.certain)


def faults(line: str, analysis: Analysis, shell: RecordingShell) -> list[str]:
    """What the shell did that the analysis of an allowed line does not say."""
    listed = {command.literal for command in analysis.commands}
    recorded = shell.run(line)
    found = [f"{line!r} started {argv!r}" for argv in recorded.commands if argv not in listed]
    found += [f"{line!r} made the file {name!r}" for name in recorded.files]
    return found


def allowed(lines: Iterable[str]) -> Iterator[tuple[str, Analysis]]:
    """Those that a rule for every command lets through, each once."""
    seen: set[str] = set()
    for line in lines:
        if line in seen:
            continue
        seen.add(line)
        analysis = analyse(line)
        if judge(analysis, EVERYTHING).decision is Decision.ALLOW and runnable(analysis):
            yield line, analysis


def made_lines(seed: int) -> Iterator[str]:
    """Lines without an end."""
    choose = random.Random(seed)  # noqa: S311 - repeatable, nothing is kept secret by it
    while True:
        yield made_line(choose)


def compare(lines: Iterable[str], count: int, folder: Path) -> tuple[list[str], list[Argv]]:
    """Run up to `count` of the lines that are let through: faults, and all that was started."""
    shell = RecordingShell(folder)
    found: list[str] = []
    started: list[Argv] = []
    for number, (line, analysis) in enumerate(allowed(lines), 1):
        found += faults(line, analysis, shell)
        started += [command.literal or () for command in analysis.certain]
        if number == count:
            break
    return found, started


def main() -> int:
    """Compare many lines and print what differs. Exit code 1 if anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", type=int, default=2000, help="allowed lines to run")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        found, started = compare(made_lines(seed), options.lines, Path(folder))
    print(f"{options.lines} lines with {len(started)} commands, {len(found)} faults")
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
