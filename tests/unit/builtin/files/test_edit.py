"""Edit: one piece for another, and every other byte kept."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.files.edit import MAX_REPLACEMENTS, Edit
from lockgate.builtin.files.edits import places_of, replace
from lockgate.builtin.files.hunks import MAX_LINES, diff
from lockgate.builtin.files.text import Unified, decode, encode
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


def stamp(data: bytes) -> str:
    """The stamp of a content."""
    return hashlib.sha256(data).hexdigest()[:16]


def written(work: Path, data: bytes) -> str:
    """Write the file; its stamp."""
    (work / "a.txt").write_bytes(data)
    return stamp(data)


async def test_a_piece_is_replaced_and_the_change_shown(run: Run, work: Path) -> None:
    """With a diff, and the stamp for the next edit."""
    known = written(work, b"a\nb\nc\nd\ne\nf\ng\n")
    result = await run("Edit", path="a.txt", old="d", new="D\nD", stamp=known)
    assert not result.is_error, result.text
    data = (work / "a.txt").read_bytes()
    assert data == b"a\nb\nc\nD\nD\ne\nf\ng\n"
    head, shown = result.content
    assert isinstance(head, Text)
    assert isinstance(shown, Text)
    assert head.text == f"a.txt: 1 replacement; stamp {stamp(data)}"
    assert shown.text == "@@ -1,7 +1,8 @@\n a\n b\n c\n-d\n+D\n+D\n e\n f\n g"
    again = await run("Edit", path="a.txt", old="D\nD", new="", stamp=stamp(data))
    assert not again.is_error, again.text
    assert (work / "a.txt").read_bytes() == b"a\nb\nc\n\ne\nf\ng\n"


async def test_the_stamp_has_to_be_the_files(run: Run, work: Path) -> None:
    """A file that was changed meanwhile is not touched, and its stamp not told."""
    known = written(work, b"one\n")
    now = written(work, b"one two\n")
    result = await run("Edit", path="a.txt", old="one", new="1", stamp=known)
    assert result.reason == "changed"
    assert "Read it again" in result.text
    assert now not in result.text
    assert (work / "a.txt").read_bytes() == b"one two\n"


async def test_a_stamp_is_required(run: Run, work: Path) -> None:
    """By the schema, so before anyone is asked."""
    written(work, b"one\n")
    result = await run("Edit", path="a.txt", old="one", new="1")
    assert result.kind is ErrorKind.INVALID_ARGUMENTS


async def test_a_piece_that_is_there_twice_is_not_replaced(run: Run, work: Path) -> None:
    """How often and where is told; `replace_all` replaces them all."""
    known = written(work, b"x = 1\ny\nx = 1\n")
    result = await run("Edit", path="a.txt", old="x = 1", new="z", stamp=known)
    assert result.reason == "ambiguous"
    assert "2 times, at lines 1, 3" in result.text
    both = await run("Edit", path="a.txt", old="x = 1", new="z", stamp=known, replace_all=True)
    assert both.structured["replacements"] == 2
    assert (work / "a.txt").read_bytes() == b"z\ny\nz\n"


async def test_pieces_that_overlap_are_ambiguous(run: Run, work: Path) -> None:
    """`aa` is in `aaa` at two places, and either could be meant."""
    known = written(work, b"aaa\n")
    result = await run("Edit", path="a.txt", old="aa", new="b", stamp=known)
    assert result.reason == "ambiguous"


async def test_many_places_are_told_in_part(run: Run, work: Path) -> None:
    """The error is bounded, however often the piece is there."""
    known = written(work, b"x\n" * 5000)
    result = await run("Edit", path="a.txt", old="x", new="y", stamp=known)
    assert "more than 10 times" in result.text
    assert len(result.text) < 400


async def test_replacements_are_bounded(run: Run, work: Path) -> None:
    """So many that nobody can have meant them are not made, nor listed."""
    known = written(work, b"x" * (MAX_REPLACEMENTS + 1))
    arguments = {"path": "a.txt", "old": "x", "new": "y", "stamp": known}
    assert (await run("Edit", **arguments, replace_all=True)).reason == "too_many"
    known = written(work, b"x" * MAX_REPLACEMENTS)
    result = await run("Edit", **{**arguments, "stamp": known}, replace_all=True)
    assert result.structured["replacements"] == MAX_REPLACEMENTS
    assert len(result.text) < 2000


async def test_a_large_file_is_not_compared_line_by_line(run: Run, work: Path) -> None:
    """The hints for a piece that is not there cost no more than a moment."""
    known = written(work, b"some line of it\n" * 300_000)
    async with asyncio.timeout(10):
        result = await run("Edit", path="a.txt", old="some  line", new="y", stamp=known)
    assert result.reason == "not_found"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "A\nB\nB", b"A\r\nB\r\nB\r\nc\r\n"),
        (b"a\r\nb\r\nc", "c", "c\nd", b"a\r\nb\r\nc\r\nd"),
        (b"a\nb\r\nc\n", "a\nb\nc", "A\nB\nC", b"A\nB\r\nC\n"),
        (b"a\nb\r\nc\n", "b", "x\ny", b"a\nx\r\ny\r\nc\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
        (b"a\nb\n", "a\r\nb", "c", b"c\n"),
        (b"a\r\n\r\nb\r\n", "\n\n", "\n", b"a\r\nb\r\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("\ufeffa\r\nb".encode("utf-16-le"), "a\n", "한\n", "\ufeff한\r\nb".encode("utf-16-le")),
        ("\ufeffa".encode("utf-16-be"), "a", "b", "\ufeffb".encode("utf-16-be")),
        (b"a\rb\n", "a\rb", "c", b"c\n"),
    ],
)
async def test_line_ends_encoding_and_mark_are_the_files_own(
    run: Run, work: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    """A plain line feed stands for whatever ends a line there."""
    known = written(work, before)
    result = await run("Edit", path="a.txt", old=old, new=new, stamp=known)
    assert not result.is_error, result.text
    assert (work / "a.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("data", "old", "said"),
    [
        (
            b"def f():\n\treturn 1\n",
            "def f():\n    return 1",
            "other blanks or indentation, begin at line 1",
        ),
        (
            b"def f():\n    return 1\n",
            "     1\tdef f():\n     2\t    return 1",
            "line numbers of Read",
        ),
        (b"alpha beta gamma\nother\n", "alpha beta gamme", "line 1"),
        (b"new text\n", "old thing", "`new` is, at line 1"),
        (b"0123456789\n", "qwertyuiop", "No line is much like"),
    ],
)
async def test_a_piece_that_is_not_there_is_told_without_showing_the_file(
    run: Run, work: Path, data: bytes, old: str, said: str
) -> None:
    """What may be wrong with it, by line numbers alone."""
    known = written(work, data)
    result = await run("Edit", path="a.txt", old=old, new="new text", stamp=known)
    assert result.reason == "not_found"
    assert said in result.text
    for line in data.decode().split("\n"):
        if len(line) > 10:
            assert line not in result.text


async def test_an_edit_of_nothing_is_refused(run: Run, work: Path) -> None:
    """The same piece, also where only its line ends differ."""
    known = written(work, b"a\nb\n")
    for new in ("a\nb", "a\r\nb"):
        result = await run("Edit", path="a.txt", old="a\nb", new=new, stamp=known)
        assert (result.kind, result.reason) == (ErrorKind.INVALID_ARGUMENTS, "same")


async def test_what_is_no_text_is_not_edited(run: Run, work: Path) -> None:
    """Writing it back would change what nobody meant to change."""
    known = written(work, b"a\xff\n")
    result = await run("Edit", path="a.txt", old="a", new="b", stamp=known)
    assert result.reason == "not_text"


async def test_a_missing_file_names_what_makes_one(run: Run) -> None:
    """Edit makes no files."""
    result = await run("Edit", path="a.txt", old="a", new="b", stamp="0" * 16)
    assert result.reason == "absent"
    assert "Write" in result.text


async def test_permissions_are_kept_and_links_stay(run: Run, work: Path) -> None:
    """What is written is the file, not its name."""
    known = written(work, b"one\n")
    (work / "a.txt").chmod(0o755)
    (work / "b.txt").symlink_to("a.txt")
    result = await run("Edit", path="b.txt", old="one", new="two", stamp=known)
    assert f"the file is {work / 'a.txt'}" in result.text
    assert (work / "b.txt").is_symlink()
    assert (work / "a.txt").read_bytes() == b"two\n"
    assert (work / "a.txt").stat().st_mode & 0o777 == 0o755


async def test_a_file_that_may_not_be_read_is_not_edited(
    run_under: Callable[..., Run], work: Path
) -> None:
    """An edit tells whether a guess is in the file, so a deny of Read holds for it."""
    known = written(work, b"secret\n")
    run = run_under((Decision.DENY, "Read", "a.txt"))
    result = await run("Edit", path="a.txt", old="secret", new="x", stamp=known)
    assert result.kind is ErrorKind.DENIED


async def test_what_came_after_the_decision_is_not_edited(
    direct: Direct, work: Path, tmp_path: Path
) -> None:
    """A link in the place of the file leads nowhere."""
    known = written(work, b"one\n")
    (tmp_path / "theirs").write_bytes(b"one\n")
    with direct.decided("a.txt") as run:
        (work / "a.txt").unlink()
        (work / "a.txt").symlink_to(tmp_path / "theirs")
        result = await run(Edit(), path="a.txt", old="one", new="two", stamp=known)
    assert result.reason == "moved"
    assert (tmp_path / "theirs").read_bytes() == b"one\n"


PIECES = st.text(alphabet="ab\r\né", min_size=1, max_size=6)


@given(st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "é"]), max_size=30), PIECES, PIECES)
def test_all_other_bytes_are_kept(parts: list[str], old: str, new: str) -> None:
    """Each piece is replaced in its place, and what is around them is as it was, byte for byte."""
    raw = "".join(parts)
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    file = Unified(raw)
    places = list(places_of(old, file.text, overlapping=False))
    after = replace(file, old, new, places)
    if "\r" not in new:  # a lone one may come to stand before a line feed
        assert after.replace("\r\n", "\n") == file.text.replace(old, new).replace("\r\n", "\n")
    kept = [raw[a:b] for a, b in _gaps(file, old, places)]
    at = 0
    for piece in kept:
        at = after.index(piece, at) + len(piece)
    assert after.startswith(kept[0])
    assert after.endswith(kept[-1])


def _gaps(file: Unified, old: str, places: list[int]) -> list[tuple[int, int]]:
    ends = [0, *(file.place(at + len(old)) for at in places)]
    starts = [*(file.place(at) for at in places), len(file.raw)]
    return list(zip(ends, starts, strict=True))


@given(st.text(alphabet="ab\r\né한", max_size=30), st.sampled_from(["utf-8", "utf-16-le"]))
def test_reading_and_writing_a_text_is_the_same_bytes(text: str, codec: str) -> None:
    """In every encoding that is known, with its mark."""
    mark = b"" if codec == "utf-8" else b"\xff\xfe"
    data = mark + text.encode(codec)
    decoded = decode(data)
    assert (decoded.text, encode(decoded.text, decoded.encoding)) == (text, data)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12), st.integers(0, 11))
def test_a_diff_says_what_changed(lines: list[str], at: int) -> None:
    """Taking its removed lines for its added ones gives the new text."""
    lines = [f"{line}{number}" for number, line in enumerate(lines)]
    old = lines[min(at, len(lines) - 1)]
    before = "\n".join(lines) + "\n"
    after = before.replace(old, "X\nY")
    shown = diff(before, after, [before.index(old)], old, "X\nY").split("\n")
    head = re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", shown[0])
    assert head is not None
    first, count, _, grown = map(int, head.groups())
    taken = [line[1:] for line in shown[1:] if line[0] in " -"]
    put = [line[1:] for line in shown[1:] if line[0] in " +"]
    assert before.split("\n")[first - 1 : first - 1 + count] == taken
    assert after.split("\n")[first - 1 : first - 1 + grown] == put


def test_changes_of_one_line_are_one_change() -> None:
    """The line is shown once, as it was and as it is."""
    before, after = "a\nx x x\nb\n", "a\ny\nz y\nz y\nz\nb\n"
    shown = diff(before, after, [2, 4, 6], "x", "y\nz")
    assert shown == "@@ -1,3 +1,6 @@\n a\n-x x x\n+y\n+z y\n+z y\n+z\n b"


def test_a_diff_is_bounded() -> None:
    """By the number of changes and of lines; what is left out is counted."""
    before = "x\n" * 100
    after = before.replace("x", "y")
    shown = diff(before, after, list(range(0, 200, 2)), "x", "y")
    assert shown.count("\n") <= MAX_LINES
    assert "more changes]" in shown
    long = "x\n" * 1000
    cut = diff(f"a\n{long}b\n", "a\nb\n", [2], long, "")
    assert cut.count("\n") <= MAX_LINES + 1
    assert "more lines of this change" in cut
