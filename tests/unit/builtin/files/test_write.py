"""Write: whole files, atomically, with what was there kept in mind."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.builtin.files.write import MAX_REPLACED, Write
from lockgate.decision import Decision
from lockgate.testing.road import Road
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
    def undecided(self) -> AbstractContextManager[RunTool]: ...


def stamp(data: bytes) -> str:
    """The stamp of a content."""
    return hashlib.sha256(data).hexdigest()[:16]


async def test_a_new_file_is_made(run: Run, work: Path) -> None:
    """As it was given, in UTF-8; the result has its stamp."""
    result = await run("Write", path="a.txt", content="한글\nab")
    assert not result.is_error, result.text
    data = (work / "a.txt").read_bytes()
    assert data == "한글\nab".encode()
    assert result.text == f"a.txt: created; now {len(data)} bytes; stamp {stamp(data)}"
    assert result.structured["outcome"] == "created"


async def test_a_file_is_replaced_and_its_permissions_are_kept(run: Run, work: Path) -> None:
    """A script stays one that can be run."""
    file = work / "run.sh"
    file.write_text("old\n")
    file.chmod(0o750)
    result = await run("Write", path="run.sh", content="new\n")
    assert "replaced, it held 4 bytes" in result.text
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new\n", 0o750)


async def test_the_same_content_again_changes_nothing(run: Run, work: Path) -> None:
    """Not even the time of the file, and a stamp of before does no harm: it is idempotent."""
    (work / "a.txt").write_text("old")
    arguments = {"path": "a.txt", "content": "new", "stamp": stamp(b"old")}
    assert (await run("Write", **arguments)).structured["outcome"] == "replaced"
    before = (work / "a.txt").stat()
    again = await run("Write", **arguments)
    assert again.structured["outcome"] == "unchanged"
    after = (work / "a.txt").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


async def test_a_stamp_that_is_not_the_files_stops_it(run: Run, work: Path) -> None:
    """What somebody wrote meanwhile is not lost."""
    (work / "a.txt").write_text("theirs")
    result = await run("Write", path="a.txt", content="mine", stamp=stamp(b"read before"))
    assert result.reason == "changed"
    assert "Read it again" in result.text
    assert (work / "a.txt").read_text() == "theirs"


async def test_a_stamp_of_a_file_that_is_gone_stops_it(run: Run, work: Path) -> None:
    """It was removed by someone, and is not brought back unasked."""
    result = await run("Write", path="a.txt", content="mine", stamp=stamp(b"read before"))
    assert result.reason == "absent"
    assert not (work / "a.txt").exists()


async def test_a_missing_directory_is_made_only_if_asked_for(run: Run, work: Path) -> None:
    """A mistyped directory is an error that names the way."""
    result = await run("Write", path="x/y/a.txt", content="a")
    assert result.reason == "no_directory"
    assert "create_directories" in result.text
    assert not (work / "x").exists()
    made = await run("Write", path="x/y/a.txt", content="a", create_directories=True)
    assert not made.is_error, made.text
    assert (work / "x" / "y" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(
    ("before", "content", "after", "said"),
    [
        (b"\xef\xbb\xbfold\n", "new\n", b"\xef\xbb\xbfnew\n", "a byte order mark, as it was"),
        (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n", "a byte order mark"),
        (
            "\ufeffold".encode("utf-16-le"),
            "new",
            "\ufeffnew".encode("utf-16-le"),
            "UTF-16 LE, as it was",
        ),
        (
            "\ufeffold".encode("utf-16-be"),
            "new",
            "\ufeffnew".encode("utf-16-be"),
            "UTF-16 BE, as it was",
        ),
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n", "CRLF line ends, as it had"),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n", ""),
        (b"a\r\nb\r\n", "c\r\nd\n", b"c\r\nd\n", ""),
        (b"\x00\xff binary", "text\n", b"text\n", "what it held was no text"),
    ],
)
async def test_how_a_file_was_written_is_kept(
    run: Run, work: Path, before: bytes, content: str, after: bytes, said: str
) -> None:
    """Encoding, mark, and line ends where all were the same; what was done is told."""
    (work / "a.txt").write_bytes(before)
    result = await run("Write", path="a.txt", content=content)
    assert (work / "a.txt").read_bytes() == after
    assert said in result.text
    again = await run("Write", path="a.txt", content=content)
    assert again.structured["outcome"] == "unchanged"


async def test_a_link_stays_and_its_file_is_written(run: Run, work: Path) -> None:
    """The result says which file that is."""
    (work / "real.txt").write_text("old")
    (work / "link.txt").symlink_to("real.txt")
    result = await run("Write", path="link.txt", content="new")
    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "new"
    assert f"the file is {work / 'real.txt'}" in result.text


async def test_another_name_of_the_file_is_told(run: Run, work: Path) -> None:
    """Replacing a file parts it from the names it shared."""
    (work / "a.txt").write_text("old")
    (work / "b.txt").hardlink_to(work / "a.txt")
    result = await run("Write", path="a.txt", content="new")
    assert "1 other name of it keep" in result.text
    assert (work / "b.txt").read_text() == "old"


async def test_half_a_character_is_refused(direct: Direct, work: Path) -> None:
    """JSON can hold what no file can."""
    with direct.decided("a.txt") as run:
        result = await run(Write(), path="a.txt", content="a\ud800")
    assert (result.kind, result.reason) == (ErrorKind.INVALID_ARGUMENTS, "not_text")
    assert not (work / "a.txt").exists()


async def test_a_directory_and_a_huge_file_are_not_replaced(run: Run, work: Path) -> None:
    """Each says why."""
    (work / "sub").mkdir()
    assert (await run("Write", path="sub", content="a")).reason == "not_a_file"
    with (work / "a.bin").open("wb") as file:
        file.truncate(MAX_REPLACED + 1)
    assert (await run("Write", path="a.bin", content="a")).reason == "too_large"


async def test_a_read_only_file_is_not_replaced(run: Run, work: Path) -> None:
    """Whoever took the permission away meant it."""
    (work / "a.txt").write_text("old")
    (work / "a.txt").chmod(0o444)
    result = await run("Write", path="a.txt", content="new")
    assert result.reason == "read_only"
    assert (work / "a.txt").read_text() == "old"


async def test_a_denied_path_is_not_written(run_under: Callable[..., Run], work: Path) -> None:
    """Rules are held against the real path."""
    (work / "a.lock").write_text("old")
    (work / "b.txt").symlink_to("a.lock")
    run = run_under((Decision.DENY, "Write", "*.lock"))
    result = await run("Write", path="b.txt", content="new")
    assert result.kind is ErrorKind.DENIED
    assert (work / "a.lock").read_text() == "old"


async def test_what_came_after_the_decision_is_not_written(
    direct: Direct, work: Path, tmp_path: Path
) -> None:
    """A link in the place of a directory or of the file itself leads nowhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("theirs")
    (work / "sub").mkdir()
    with direct.decided("sub/a.txt") as run:
        (work / "sub").rmdir()
        (work / "sub").symlink_to(elsewhere)
        assert (await run(Write(), path="sub/a.txt", content="x")).reason == "moved"
    with direct.decided("b.txt") as run:
        (work / "b.txt").symlink_to(elsewhere / "a.txt")
        assert (await run(Write(), path="b.txt", content="x")).reason == "moved"
    assert (elsewhere / "a.txt").read_text() == "theirs"
    with direct.undecided() as run:
        assert (await run(Write(), path="c.txt", content="x")).reason == "unresolved"
    assert not (work / "c.txt").exists()


async def test_a_cancelled_write_leaves_the_old_file_or_the_new(direct: Direct, work: Path) -> None:
    """Never a part of it, and nothing beside it, wherever the cancellation falls."""
    old, new = "old\n" * 100_000, "new\n" * 100_000
    for turns in range(6):
        (work / "a.txt").write_text(old)
        with direct.decided("a.txt") as run:
            task = asyncio.create_task(run(Write(), path="a.txt", content=new))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert (work / "a.txt").read_text() in (old, new)
            await run(Write(), path="b.txt", content="x")  # behind what still runs, or beside it


async def test_writers_take_turns(road: Road, work: Path) -> None:
    """Calls of both tools hold one lane: of two that start from one content, one fails."""
    (work / "a.txt").write_text("one\n")
    known = stamp(b"one\n")
    calls = [
        road.call("Edit", {"path": "a.txt", "old": "one", "new": "two", "stamp": known}),
        road.call("Write", {"path": "a.txt", "content": "three\n", "stamp": known}),
    ]
    results = await asyncio.gather(*map(road.invoke, calls))
    assert sorted(result.is_error for result in results) == [False, True]
    assert [result.reason for result in results if result.is_error] == ["changed"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.binary(max_size=40), st.text(max_size=40))
async def test_writing_twice_is_writing_once(
    direct: Direct, work: Path, before: bytes, content: str
) -> None:
    """Whatever was there, and whatever is written: the second time changes nothing."""
    (work / "a").write_bytes(before)
    with direct.decided("a") as run:
        first = await run(Write(), path="a", content=content)
        assert not first.is_error
        data = (work / "a").read_bytes()
        second = await run(Write(), path="a", content=content)
    assert second.structured["outcome"] == "unchanged"
    assert first.structured["stamp"] == second.structured["stamp"] == stamp(data)
    assert (work / "a").read_bytes() == data


@pytest.mark.parametrize("decision", [Decision.DENY, Decision.ASK])
async def test_nothing_is_told_of_a_file_that_rules_keep_from_being_read(
    run_under: Callable[..., Run], work: Path, decision: Decision
) -> None:
    """Neither a right nor a wrong guess, by content or by stamp, gets another answer; no size."""
    secret = work / "a.env"
    run = run_under((decision, "Read", "**/*.env"))
    secret.write_text("token=1")
    told = set[tuple[str, object]]()
    for guess in ("token=1", "token=2"):
        secret.write_text("token=1")
        result = await run("Write", path="a.env", content="ab", stamp=stamp(guess.encode()))
        assert (result.is_error, result.reason) == (True, "withheld")
        told.add((result.text, None))
    assert len(told) == 1
    assert secret.read_text() == "token=1"
    right = await run("Write", path="a.env", content="token=1")
    secret.write_bytes(b"much longer than it was\r\n" * 9)
    wrong = await run("Write", path="a.env", content="token=1")
    secret.unlink()
    absent = await run("Write", path="a.env", content="token=1")
    assert right.text == wrong.text == absent.text
    assert right.structured == wrong.structured == absent.structured
    assert right.structured["outcome"] == "written"
    assert secret.read_bytes() == b"token=1"
    (work / "b.txt").write_text("x")
    other = await run("Write", path="b.txt", content="x", stamp=stamp(b"x"))
    assert other.structured["outcome"] == "unchanged"
