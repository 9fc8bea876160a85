"""Does the real shell start anything that the analysis of a line did not list?

    scripts/shell-differential [--lines 2000] [--seed N]

Lines are made up until as many were let through by a rule that allows every command, which is the
hardest case: all that stands between the line and the shell is what the analysis understood. Then
the same once more by calls of the tool, under rules that allow each stub by its name.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lockgate.decision import Decision
from lockgate.rules.command.line import Analysis, analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import judge
from recording_shell import Argv, Recorded, RecordingShell
from shell_lines import made_line
from tool_shell import ToolShell

EVERYTHING = (CommandPattern.parse("*"),)


def runnable(analysis: Analysis) -> bool:
    """Whether none of the commands is named by a path: such a one would be no stub."""
    return all(command.name is not None and "/" not in command.name for command in analysis.certain)


def differences(line: str, analysis: Analysis, recorded: Recorded) -> list[str]:
    """What happened that the analysis of a line does not say."""
    listed = {command.literal for command in analysis.commands}
    found = [f"{line!r} started {argv!r}" for argv in recorded.commands if argv not in listed]
    found += [f"{line!r} made the file {name!r}" for name in recorded.files]
    return found


def faults(line: str, analysis: Analysis, shell: RecordingShell) -> list[str]:
    """What the shell did that the analysis of an allowed line does not say."""
    return differences(line, analysis, shell.run(line))


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


async def compare_tool(
    lines: Iterable[str], count: int, folder: Path
) -> tuple[list[str], int, int]:
    """Make calls of the tool until `count` lines were let through: faults, commands, refused.

    What is not let through must have done nothing at all.
    """
    found: list[str] = []
    started = ran = refused = 0
    with ToolShell(folder) as shell:
        for line in lines:
            analysis = analyse(line)
            if not runnable(analysis):
                continue
            through, recorded = await shell.run(line)
            if through:
                ran += 1
                started += len(recorded.commands)
                found += differences(line, analysis, recorded)
            else:
                refused += 1
                found += differences(line, Analysis((), frozenset()), recorded)
            if ran == count:
                break
    return found, started, refused


def main() -> int:
    """Compare many lines and print what differs. Exit code 1 if anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lines", type=int, default=2000, help="allowed lines to run, each way")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        found, started = compare(made_lines(seed), options.lines, Path(folder))
    print(f"{options.lines} lines with {len(started)} commands, {len(found)} faults")
    with tempfile.TemporaryDirectory() as folder:
        calls = compare_tool(made_lines(seed + 1), options.lines, Path(folder))
        more, count, refused = asyncio.run(calls)
    print(
        f"{options.lines} calls of the tool with {count} commands, {refused} refused, "
        f"{len(more)} faults"
    )
    print(*found, *more, sep="\n")
    return 1 if found or more else 0


if __name__ == "__main__":
    sys.exit(main())
