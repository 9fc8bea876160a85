"""Glob: files by name, the newest first, and nothing that rules withhold."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.files.glob import MAX_SHOWN, GlobFiles
from lockgate.builtin.files.pattern import MAX_ALTERNATIVES, FilePattern
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.files.ripgrep import locate
from lockgate.decision import Decision
from lockgate.tools.result import ErrorKind, ToolResult


class Run(Protocol):
    """Makes a call."""

    async def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


class Direct(Protocol):
    """Runs tools on what their path was resolved to before."""

    def decided(self, path: str) -> AbstractContextManager[Any]: ...


def tree(work: Path, *names: str) -> None:
    """Make files, each newer than the one before."""
    for number, name in enumerate(names):
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("content")
        os.utime(file, (1_000_000 + number, 1_000_000 + number))


def files(result: ToolResult) -> list[str]:
    """The paths that were listed."""
    assert not result.is_error, result.text
    return list(result.structured["files"])


async def test_files_come_newest_first(run: Run, work: Path) -> None:
    """What is worked on is what changed last."""
    tree(work, "a.py", "sub/b.py", "c.txt", "sub/deep/d.py")
    result = await run("Glob", pattern="*.py")
    assert files(result) == ["sub/deep/d.py", "sub/b.py", "a.py"]
    assert result.text.startswith("3 files, the newest first\n")


async def test_files_of_one_moment_come_by_name(run: Run, work: Path) -> None:
    """The order is the same each time."""
    tree(work, "b", "c", "a")
    for name in "abc":
        os.utime(work / name, (1, 1))
    assert files(await run("Glob", pattern="*")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.md", ["a.md", "docs/b.md", "docs/x/c.md"]),
        ("./*.md", ["a.md"]),
        ("docs/*.md", ["docs/b.md"]),
        ("docs/**/*.md", ["docs/b.md", "docs/x/c.md"]),
        ("docs/**", ["docs/b.md", "docs/x/c.md", "docs/x/d.txt"]),
        ("**/x/*", ["docs/x/c.md", "docs/x/d.txt"]),
        ("*.{md,txt}", ["a.md", "docs/b.md", "docs/x/c.md", "docs/x/d.txt"]),
        ("docs/{b,x/c}.md", ["docs/b.md", "docs/x/c.md"]),
        ("[ab].md", ["a.md", "docs/b.md"]),
        ("?.txt", ["docs/x/d.txt"]),
        (".*", [".hidden"]),
        ("docs", []),
        (".//.", [".hidden", "a.md"]),
    ],
)
async def test_patterns_mean_what_is_written(
    run: Run, work: Path, pattern: str, found: list[str]
) -> None:
    """Without a slash at any depth, with one from the searched directory."""
    tree(work, "a.md", "docs/b.md", "docs/x/c.md", "docs/x/d.txt", ".hidden")
    assert sorted(files(await run("Glob", pattern=pattern))) == found


async def test_paths_can_be_given_to_the_next_tool(run: Run, work: Path) -> None:
    """They begin as the directory was named."""
    tree(work, "sub/a.py")
    assert files(await run("Glob", pattern="*.py", path="sub")) == ["sub/a.py"]
    assert files(await run("Glob", pattern="*.py", path=str(work))) == [f"{work}/sub/a.py"]


async def test_what_gitignore_names_is_left_out_unless_asked_for(run: Run, work: Path) -> None:
    """Also outside of a repository; what version control keeps is never listed."""
    tree(work, "a.js", "node_modules/b.js", "x.log", ".git/c.js", ".github/d.js")
    (work / ".gitignore").write_text("node_modules/\n*.log\n")
    assert sorted(files(await run("Glob", pattern="*.js"))) == [".github/d.js", "a.js"]
    every = files(await run("Glob", pattern="*.{js,log}", include_ignored=True))
    assert sorted(every) == [".github/d.js", "a.js", "node_modules/b.js", "x.log"]


async def test_links_and_directories_are_not_listed(run: Run, work: Path, tmp_path: Path) -> None:
    """A link could lead out of what was asked about."""
    outside = tmp_path / "outside"
    tree(outside, "secret.txt")
    tree(work, "a.txt", "dir.txt/b.md")
    (work / "link.txt").symlink_to(outside / "secret.txt")
    (work / "linked").symlink_to(outside)
    assert files(await run("Glob", pattern="*.txt")) == ["a.txt"]


async def test_what_rules_withhold_is_left_out_and_counted(
    run_under: Callable[..., Run], work: Path
) -> None:
    """How many there are does not depend on the pattern: it can not be used to ask for names."""
    tree(work, "a.txt", ".env", "sub/.env")
    run = run_under((Decision.DENY, "Read", "**/.env"))
    result = await run("Glob", pattern="*")
    assert files(result) == ["a.txt"]
    assert "[2 files are left out by permission rules]" in result.text
    for pattern in (".env", "nothing"):
        again = await run("Glob", pattern=pattern)
        assert again.structured == {"files": [], "found": 0, "withheld": 2}


async def test_lockgates_own_state_is_not_listed(run_under: Callable[..., Run], work: Path) -> None:
    """No tool reaches what is barred, wherever it lies."""
    tree(work, "a.txt", "state/db.txt")
    run = run_under(barred=(work / "state",))
    assert files(await run("Glob", pattern="*.txt")) == ["a.txt"]


async def test_the_list_is_bounded(run: Run, work: Path) -> None:
    """What is left out is counted."""
    tree(work, *(f"{number:04}.txt" for number in range(MAX_SHOWN + 5)))
    result = await run("Glob", pattern="*.txt")
    assert len(files(result)) == MAX_SHOWN
    assert f"{MAX_SHOWN + 5} files" in result.text
    assert "[5 older ones are left out" in result.text


async def test_names_are_shown_as_they_are_and_none_as_two_lines(run: Run, work: Path) -> None:
    """A line feed or an escape in a name makes no line of the result."""
    tree(work, "a\nb.txt", "c\x1b[31m.txt", "한글 이름.txt")
    text = (await run("Glob", pattern="*.txt")).text
    assert "a\\nb.txt" in text
    assert "\x1b" not in text
    assert "한글 이름.txt" in text


async def test_a_name_that_is_no_text_is_shown_by_its_bytes(run: Run, work: Path) -> None:
    """Old file systems hold such names."""
    (work / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    assert "\\udce9" in (await run("Glob", pattern="*.txt")).text


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("/etc/*", "as `path`"),
        ("~/x", "as `path`"),
        ("../*", "can not go up"),
        ("a[b", "["),
        ("{a,b", "{ without its }"),
        ("{a,b}" * 10, f"over {MAX_ALTERNATIVES}"),
    ],
)
async def test_bad_patterns_are_refused_with_the_way(run: Run, pattern: str, said: str) -> None:
    """As wrong arguments, before anything is listed."""
    result = await run("Glob", pattern=pattern)
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert said in result.text


async def test_a_directory_that_is_none_is_told(run: Run, work: Path) -> None:
    """With what there is instead."""
    tree(work, "source/a.txt")
    missing = await run("Glob", pattern="*", path="sourc")
    assert missing.text == "sourc: there is no such directory; its directory has source"
    file = await run("Glob", pattern="*", path="source/a.txt")
    assert file.reason == "not_a_directory"


async def test_nothing_found_is_said(run: Run, work: Path) -> None:
    """With what may have hidden it."""
    result = await run("Glob", pattern="*.nothing")
    assert ".gitignore" in result.text
    assert "any depth" not in result.text
    tree(work, "a/b/c.py")
    assert "**/ before it is any depth" in (await run("Glob", pattern="b/*.py")).text


@given(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5))
def test_two_stars_match_any_depth(names: list[str]) -> None:
    """`**/NAME` means the last part, `FIRST/**` everything below, whatever is between."""
    path = "/".join(names)
    assert FilePattern.parse(f"**/{names[-1]}").matches(path, folds_case=False)
    assert FilePattern.parse(names[-1]).matches(path, folds_case=False)
    below = FilePattern.parse(f"{names[0]}/**").matches(path, folds_case=False)
    assert below is (len(names) > 1)


def test_braces_can_be_escaped_and_nested() -> None:
    """As shells have it."""
    assert FilePattern.parse(r"\{a,b\}").matches("{a,b}", folds_case=False)
    nested = FilePattern.parse("{a,{b,c}d}")
    assert [n for n in ("a", "bd", "cd", "b") if nested.matches(n, folds_case=False)] == [
        "a",
        "bd",
        "cd",
    ]
    with pytest.raises(FileProblem):
        FilePattern.parse("{")


@pytest.mark.parametrize("after", ["rm {sub}/a.pem", "rm -r {sub}; ln -s {outside} {sub}"])
async def test_names_found_by_a_way_that_led_elsewhere_are_not_told(
    direct: Direct, work: Path, tmp_path: Path, after: str
) -> None:
    """A link may stand on the way while ripgrep lists: only what is there without one is named."""
    tree(tmp_path / "outside", "a.pem")
    tree(work, "sub/b.txt", "c.pem")
    places = {"sub": f"'{work}/sub'", "outside": f"'{tmp_path}/outside'"}
    script = tmp_path / "rg"
    before = "cp {outside}/a.pem {sub}/".format(**places)
    script.write_text(f"#!/bin/sh\n{before}\n'{locate('')}' \"$@\"\n{after.format(**places)}\n")
    script.chmod(0o755)
    with direct.decided(".") as run:
        result = await run(GlobFiles(str(tmp_path), package="none-of-that-name"), pattern="*.pem")
    assert files(result) == ["c.pem"]
