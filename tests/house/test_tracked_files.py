"""What is committed: no places and words that only the makers know, no file that records hosts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Written in two halves, so that this file does not hold what it refuses.
REGISTRIES = (
    *("pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "npmjs" + ".com"),
    *("yarn" + "pkg.com", "debian" + ".org", "crates" + ".io", "golang" + ".org"),
)
PLACES = ("/wor" + "k/", "farm-" + "studio", "farm-" + "bench", "issues " + "show")
BANNED = re.compile("|".join(map(re.escape, REGISTRIES + PLACES)) + r"|\b[Ii]ssue #?\d")

LOCK_FILES = {"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock"}
RECORDED = ("tests/field/", "tests/data/", "spec/")
"""Folders of documents that others wrote, kept as they came."""


def tracked() -> list[str]:
    """Files that git knows, or would take in; all of them where there is no git."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"NOT CHECKED: git does not know this tree ({done.stderr.strip()})")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def banned_lines(name: str, text: str) -> list[str]:
    """Every line with a banned word, by its place."""
    lines = enumerate(text.splitlines(), 1)
    return [
        f"{name}:{number}: {line.strip()[:80]}" for number, line in lines if BANNED.search(line)
    ]


def test_no_file_speaks_of_where_it_was_made() -> None:
    """Registry hosts, paths of a workplace and numbers of a tracker mean nothing to a reader."""
    found: list[str] = []
    for name in tracked():
        if name.startswith(RECORDED) and not name.endswith(".py"):
            continue
        try:
            text = (ROOT / name).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += banned_lines(name, text)
    assert found == []


def test_no_lock_file_records_addresses() -> None:
    """Versions are pinned in constraints.txt; files that record where things came from are not."""
    assert [name for name in tracked() if Path(name).name in LOCK_FILES] == []


def test_constraints_are_names_and_versions() -> None:
    """Each line of constraints.txt is `name==version`: no address, no hash, no marker."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[\w.!+-]+", line)] == []
    assert len({line.split("==")[0] for line in pins}) == len(pins)


EXCUSE = re.compile(r"#\s*(?:noqa|(?:pyright|type):\s*ignore)(?P<rest>.*)")
REASONED = re.compile(r"(?:: [A-Z0-9, ]+|\[[\w, -]+\])(?:\s*#.*?)? - \S+")


def unexplained(text: str) -> list[int]:
    """Numbers of the lines that switch a check off without naming it and saying why."""
    found = ((number, EXCUSE.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return [number for number, excuse in found if excuse and not REASONED.match(excuse["rest"])]


def test_every_exception_has_its_reason() -> None:
    """A comment that switches a check off names the check, and the reason stands beside it."""
    files = [name for name in tracked() if name.endswith(".py")]
    lines = [f"{n}:{line}" for n in files for line in unexplained((ROOT / n).read_text("utf-8"))]
    assert lines == []


@pytest.mark.parametrize(
    ("line", "fine"),
    [
        ("x = 1  # no" + "qa: S603 - fixed arguments", True),
        ("x = 1  # no" + "qa: S603", False),
        ("x = 1  # no" + "qa", False),
        ("x = 1  # pyright: ig" + "nore[reportX] - untyped package", True),
        ("x = 1  # pyright: ig" + "nore", False),
        ("x = 1  # type: ig" + "nore[misc]", False),
    ],
)
def test_an_exception_without_a_reason_is_seen(line: str, fine: bool) -> None:
    """The check tells an explained exception from a bare one."""
    assert (unexplained(line) == []) is fine


def test_a_planted_word_is_seen() -> None:
    """The ban reports a registry's host, a workplace path and a tracker's number."""
    text = f"see {REGISTRIES[0]}\nfine\n{PLACES[0]}x\nclosed in issue " + "#12\n"
    assert [line.split(":")[1] for line in banned_lines("x", text)] == ["1", "3", "4"]
