"""How long the command line takes to say something, against an interpreter with the same imports.

    python benchmarks/startup.py [--rounds 15] [--smoke]

The floor of a command is an interpreter that imports, from the standard library alone, whatever the
command imports from it: what is left is ours and our dependencies'. `explain` knows its server's
tools from an earlier start, so none is started.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from contest import conditions, keep_bytecode, ratio, run_in_turns, spread, verdict

ECHO = Path(__file__).with_name("echo_server.py")
TOOL = "mcp__echo__echo"


def commands(folder: Path) -> dict[str, tuple[list[str], float, float]]:
    """By name: arguments, times the floor at most, milliseconds at most on 2 cores.

    `folder` gets a project whose server was started once, and a home without anything of yours.
    """
    os.environ.update(
        HOME=str(folder), XDG_STATE_HOME=f"{folder}/state", XDG_CONFIG_HOME=f"{folder}/c"
    )
    file = folder / "lockgate.yaml"
    server = {"name": "echo", "command": sys.executable, "args": [str(ECHO)]}
    file.write_text(json.dumps({"mcp": {"servers": [server]}}), encoding="utf-8")
    at = ["-c", str(file)]
    listed = [sys.executable, "-m", "lockgate", *at, "tools"]
    subprocess.run(listed, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return {
        "lockgate --help": (["--help"], 3.0, 250.0),
        "lockgate explain": ([*at, "explain", TOOL, "--unattended"], 5.0, 400.0),
    }


def standard_imports(arguments: Sequence[str]) -> list[str]:
    """The modules of the standard library that a command has loaded when it ends."""
    code = (
        "import json, sys\n"
        "from lockgate.cli.main import main\n"
        "main(sys.argv[1:])\n"
        "names = [n for n in sys.modules if n.split('.')[0] in sys.stdlib_module_names]\n"
        "print(json.dumps(sorted(names)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return json.loads(done.stderr.splitlines()[-1])


def floor_program(modules: Sequence[str]) -> str:
    """A program that imports them; names that are no module of their own are left out."""
    return (
        "import importlib\n"
        f"for name in {list(modules)!r}:\n"
        "    try: importlib.import_module(name)\n"
        "    except ImportError: pass"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--smoke", action="store_true", help="one round, to see that it runs")
    options = parser.parse_args()
    rounds = 1 if options.smoke else options.rounds
    keep_bytecode()
    print(f"{rounds} rounds")
    print(conditions("lockgate", "click"))
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), rounds)


def measure(folder: Path, rounds: int) -> None:
    """Run every command against its floor, and print what was found."""
    for name, (arguments, times, milliseconds) in commands(folder).items():
        program = floor_program(standard_imports(arguments))
        contenders = {
            "floor": [sys.executable, "-c", program],
            name: [sys.executable, "-m", "lockgate", *arguments],
        }
        measured = run_in_turns(contenders, rounds)
        for each in contenders:
            wall, cpu = spread(measured, "wall ms", each), spread(measured, "cpu ms", each)
            print(f"  {each:24} wall {wall} ms, cpu {cpu} ms")
        found = ratio(measured, "wall ms", name, "floor")
        print(verdict(f"{name} against its floor", found, times))
        found = ratio(measured, "cpu ms", name, "floor")
        print(f"       the same in CPU, which others who use the cores change less: {found}x")
        share = spread(measured, "wall ms", name).over(milliseconds)
        print(verdict(f"{name} against {milliseconds:.0f} ms", share, 1.0))


if __name__ == "__main__":
    main()
