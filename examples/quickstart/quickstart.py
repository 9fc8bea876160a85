"""One agent turn behind the gate, against a real MCP server, in a scratch git repository.

Nothing of yours is read or changed: the repository, the configuration and the record are made in a
temporary directory, which is removed at the end (`--keep` leaves it).
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path

import lockgate
from lockgate.agent.events import CallDecided, CallFinished, CallStarted, Event, ModelText
from lockgate.agent.run import MadeCall
from lockgate.app.models import check_model
from lockgate.calls.records import DecisionRecord
from lockgate.showing import quoted, visible

HERE = Path(__file__).parent
WIDTH = 80
PROMPT = "Commit the notes I wrote on Monday, and leave nothing staged."

SCRIPTED = """\
The model is scripted: it reads its replies from a file, so no key is needed.
To use another script: --script FILE. For a live model, such as one of
Anthropic's, install the library for it and give its key in the environment:

  .venv/bin/pip install -e '.[models]'
  ANTHROPIC_API_KEY=... scripts/run --model anthropic:claude-sonnet-4-6
"""
LIVE = "The model is {name}: what it does is up to it.\n"
BANNER = """\
The server is the real mcp-server-git from PyPI, a child process of this one.
Its configuration (lockgate.yaml) is looser than the defaults in two places:

  annotationTrust: trust      what the server claims of its tools is believed
                              (default: ignore, so that each might destroy)
  exemptAtOrBelow: mutating   a call that changes something is not asked about,
                              unless it can destroy (default: read-only)"""


def main() -> int:
    """Run the quickstart. 0: the turn ended with an answer, whatever was refused on the way."""
    options = _options()
    missing = _missing()
    if missing:
        print(missing, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _as_interrupt)
    scratch = Path(tempfile.mkdtemp(prefix="lockgate-quickstart-")).resolve()
    try:
        if options.model:
            check_model(options.model, os.environ, thoroughly=True)  # before anything is started
        _prepare(scratch)
        return asyncio.run(_show(scratch, options))
    except lockgate.LockgateError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)


def _as_interrupt(number: int, frame: object) -> None:
    """Ended from outside, the quickstart cleans up as it does after Ctrl+C."""
    signal.raise_signal(signal.SIGINT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--script", type=Path, metavar="FILE", help="replies of your own")
    which.add_argument("--model", metavar="PROVIDER:MODEL", help="a live model")
    parser.add_argument("--keep", action="store_true", help="leave the scratch directory")
    return parser.parse_args()


def _missing() -> str | None:
    if shutil.which("git") is None:
        return "error: git is not installed, or not in PATH; install it and run this again"
    if importlib.util.find_spec("mcp_server_git") is None:
        return f"error: mcp-server-git is missing: {sys.executable} -m pip install mcp-server-git"
    return None


# ------------------------------------------------------------------ the scratch directory


def _prepare(scratch: Path) -> None:
    """A configuration, a script, and a repository with two commits and a new file."""
    for name in ("lockgate.yaml", "replies.yaml"):
        shutil.copy(HERE / name, scratch)
    os.environ["LOCKGATE_QUICKSTART_PYTHON"] = sys.executable
    os.environ["XDG_CONFIG_HOME"] = str(scratch / "config")  # not the person's own settings
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")  # nor their records and answers
    notes = scratch / "notes"
    notes.mkdir()
    _git(notes, "init", "--quiet", "--initial-branch=main")
    _git(notes, "config", "user.name", "Quickstart")
    _git(notes, "config", "user.email", "quickstart@example.invalid")
    for name, text in (("friday.md", "Water the plants.\n"), ("sunday.md", "Call home.\n")):
        (notes / name).write_text(text)
        _git(notes, "add", name)
        _git(notes, "commit", "--quiet", "--message", f"Add {name}")
    (notes / "monday.md").write_text("Try lockgate.\n")


def _git(repository: Path, *arguments: str) -> None:
    """git, without anybody's configuration, in a repository and nowhere else."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=repository, env=environment, check=True)


# ------------------------------------------------------------------ the turn


async def _show(scratch: Path, options: argparse.Namespace) -> int:
    _heading("lockgate quickstart: one agent turn behind the gate")
    print(LIVE.format(name=options.model) if options.model else SCRIPTED)
    print(BANNER, flush=True)
    _heading("Starting the server")
    async with lockgate.open(scratch / "lockgate.yaml") as gate:
        print("mcp-server-git is ready.")
        _heading("Tools, what is believed of them, and what a call would meet now")
        _tools(gate)
        _heading("The turn")
        _block("you", PROMPT)
        model = f"scripted:{options.script.resolve()}" if options.script else options.model
        result = await gate.agent(model=model).run(PROMPT, sink=_Watcher())
        _heading("What was decided, and why")
        for call in result.calls:
            _summary(call)
        _heading("The answer")
        print(textwrap.fill(visible(str(result)), WIDTH))
        _heading("The record")
        _record(gate, keep=options.keep)
    return 0 if result.answered else 1


def _tools(gate: lockgate.Gate) -> None:
    words = {0: "runs", 1: "asked about", 2: "refused"}
    rows = [("TOOL", "LEVEL", "DESTROYS", "REPEATABLE", "SOURCE", "NOW")]
    for tool in gate.tools():
        origin = tool.definition.origin
        changes = not tool.is_read_only
        rows.append(
            (
                tool.name,
                tool.side_effect_level.value,
                _word(tool.is_destructive) if changes else "-",
                _word(tool.is_idempotent) if changes else "-",
                origin.ruling,
                words[gate.explain(tool.name).decision],
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


class _Watcher:
    """Shows what happens, as it happens. The model's last words are the answer: they come later."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, event: Event) -> None:
        match event:
            case ModelText(text):
                self._said = text
            case CallStarted(_, tool, arguments):
                if self._said:
                    _block("model", self._said)
                    self._said = ""
                _block("call", f"{tool} {_arguments(arguments)}")
            case CallDecided(record):
                _block("decided", _decision(record))
            case CallFinished(_, _, lockgate.ToolResult() as result):
                lines = result.text.strip().splitlines()
                _block("refused" if result.kind in _REFUSED else "result", *lines[:3])
                if len(lines) > 3:
                    print(f"{'':9}(and {len(lines) - 3} more lines)", flush=True)
            case _:
                pass


_REFUSED = (lockgate.ErrorKind.NOT_APPROVED, lockgate.ErrorKind.DENIED)


def _decision(record: DecisionRecord) -> str:
    because = "; ".join(reason.text for reason in record.reasons)
    if record.approver is not None and record.approved:
        because += f"; {record.approver} said yes"
    return f"{record.decision}: {because}"


def _summary(call: MadeCall) -> None:
    record = call.decision
    if record is None:
        return
    verdict = record.level or "unknown"
    if record.level == "mutating":
        verdict += ", destructive" if record.destructive else ", not destructive"
    print(f"{call.tool:<24}{verdict} (by {record.ruling})")
    print(textwrap.indent(textwrap.fill(visible(_decision(record)), WIDTH - 4), " " * 4))


def _record(gate: lockgate.Gate, *, keep: bool) -> None:
    state = gate.config.state_dir
    for path in sorted(state.rglob("audit/*.jsonl")) if state else ():
        lines = path.read_text().splitlines()
        print(f"{len(lines)} lines: each decision before anything was sent, each outcome after it.")
        print(path)
    if keep:
        print("It stays, with the scratch directory.")
    else:
        print("It goes with the scratch directory now; --keep leaves both.")


# ------------------------------------------------------------------ words on a terminal


def _arguments(arguments: Mapping[str, object]) -> str:
    return ", ".join(
        f"{key}={quoted(value) if isinstance(value, str) else value}"
        for key, value in arguments.items()
    )


def _word(value: bool) -> str:
    return "yes" if value else "no"


def _heading(text: str) -> None:
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(f"\n\x1b[1m{text}\x1b[0m" if bold else f"\n{text}")
    print("-" * len(text), flush=True)


def _block(label: str, *lines: str) -> None:
    """A label and what belongs to it, within the width; a stranger's control characters shown."""
    for line in lines or ("",):
        for part in textwrap.wrap(visible(line), WIDTH - 9) or [""]:
            print(f"{label:<9}{part}".rstrip(), flush=True)
            label = ""


if __name__ == "__main__":
    raise SystemExit(main())
