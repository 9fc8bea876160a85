"""Read: lines of text with their numbers, images, and what is said of everything else."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.files.page import MAX_CHARACTERS, MAX_LINE, Page
from lockgate.builtin.files.read import DEFAULT_LINES, MAX_FILE, MAX_IMAGE, Read
from lockgate.content import Image, Text
from lockgate.decision import Decision
from lockgate.testing.road import Road
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.tool import Tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


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


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def page_of(result: ToolResult) -> list[str]:
    """The numbered lines of a result."""
    assert not result.is_error, result.text
    block = result.content[1]
    assert isinstance(block, Text)
    return block.text.split("\n")


async def test_lines_come_numbered_after_what_is_known_of_the_file(run: Run, work: Path) -> None:
    """The first block is ours, the second the file's: numbers, tabs, lines as they are."""
    (work / "a.txt").write_text("one\n\ttwo  \nthree\n")
    result = await run("Read", path="a.txt")
    head, page = result.content
    assert isinstance(head, Text)
    assert isinstance(page, Text)
    known = stamp((work / "a.txt").read_bytes())
    assert head.text == f"a.txt: all 3 lines; stamp {known}"
    assert page.text == "     1\tone\n     2\t\ttwo  \n     3\tthree"
    assert result.structured["totalLines"] == 3


async def test_offset_and_limit_choose_the_lines(run: Run, work: Path) -> None:
    """What is left out before and after is told, with how to go on."""
    (work / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    result = await run("Read", path="a.txt", offset=3, limit=2)
    assert page_of(result) == ["     3\tline 3", "     4\tline 4"]
    assert "lines 3 to 4 of 10" in result.text
    assert "go on with offset 5" in result.text
    last = await run("Read", path="a.txt", offset=10)
    assert page_of(last) == ["    10\tline 10"]
    assert "go on" not in last.text


async def test_an_offset_beyond_the_end_is_said(run: Run, work: Path) -> None:
    """No line is shown, and how many there are is told; the stamp holds all the same."""
    (work / "a.txt").write_text("one\ntwo")
    result = await run("Read", path="a.txt", offset=9)
    assert not result.is_error
    assert "nothing to show from line 9 on, the file has 2 lines" in result.text
    assert f"stamp {stamp(b'one' + bytes([10]) + b'two')}" in result.text


async def test_an_empty_file_is_said_to_be_empty(run: Run, work: Path) -> None:
    """An empty result could be taken for a failure."""
    (work / "a.txt").touch()
    result = await run("Read", path="a.txt")
    assert result.text == f"a.txt: the file is empty; stamp {stamp(b'')}"


async def test_a_long_file_is_cut_at_its_default(run: Run, work: Path) -> None:
    """Nobody means to be shown a hundred thousand lines."""
    (work / "a.txt").write_text("x\n" * (DEFAULT_LINES + 5))
    result = await run("Read", path="a.txt")
    assert len(page_of(result)) == DEFAULT_LINES
    assert f"lines 1 to {DEFAULT_LINES} of {DEFAULT_LINES + 5}" in result.text


async def test_long_lines_are_cut_and_say_so(run: Run, work: Path) -> None:
    """By how much is told at the line, and that there are such lines in the head."""
    (work / "a.txt").write_text("y" * (MAX_LINE + 7) + "\nshort\n")
    result = await run("Read", path="a.txt")
    first, second = page_of(result)
    assert first == "     1\t" + "y" * MAX_LINE + " [... 7 more characters]"
    assert second == "     2\tshort"
    assert "[1 line is longer than the 2000 characters shown of it]" in result.text


async def test_a_page_is_bounded_as_a_whole(run: Run, work: Path) -> None:
    """Many long lines do not add up to more than a model can take in."""
    (work / "a.txt").write_text(("z" * 1000 + "\n") * 500)
    result = await run("Read", path="a.txt")
    shown = len(page_of(result))
    assert len(result.text) < MAX_CHARACTERS + 500
    assert f"cut at {MAX_CHARACTERS} characters: go on with offset {shown + 1}" in result.text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xef\xbb\xbfa\nb\n", "UTF-8 with a byte order mark"),
        ("\ufeffa\nb\n".encode("utf-16-le"), "UTF-16 LE"),
        ("\ufeffa\nb\n".encode("utf-16-be"), "UTF-16 BE"),
    ],
)
async def test_encodings_with_a_mark_are_read(run: Run, work: Path, data: bytes, said: str) -> None:
    """The mark is no part of the first line, and the encoding is told."""
    (work / "a.txt").write_bytes(data)
    result = await run("Read", path="a.txt")
    assert page_of(result) == ["     1\ta", "     2\tb"]
    assert said in result.text
    assert f"stamp {stamp(data)}" in result.text


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"a\r\nb\r\n", "CRLF line ends"), (b"a\r\nb\n", "mixed line ends")],
)
async def test_line_ends_are_told_and_not_shown(
    run: Run, work: Path, data: bytes, said: str
) -> None:
    """A carriage return before a line feed is the line's end, not its last character."""
    (work / "a.txt").write_bytes(data)
    result = await run("Read", path="a.txt")
    assert page_of(result) == ["     1\ta", "     2\tb"]
    assert said in result.text


async def test_a_last_line_without_an_end_is_told(run: Run, work: Path) -> None:
    """Whoever writes the file anew has to know."""
    (work / "a.txt").write_text("a\nb")
    assert "the last line has no end" in (await run("Read", path="a.txt")).text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\x02\x01\x01\x00" + bytes(100), "an ELF program"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "a PDF document"),
        (b"a\nb\xff\n", "not valid UTF-8 at byte 3"),
        ("한글".encode("cp949"), "not valid UTF-8 at byte 0"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"),
        (b"text\x00more", "NUL"),
        (b"\xff\xfea", "not valid UTF-16 LE at byte 2"),
    ],
)
async def test_what_is_no_text_is_refused_with_what_it_is(
    run: Run, work: Path, data: bytes, said: str
) -> None:
    """Guessing would show, and later write, what is not in the file."""
    (work / "a.bin").write_bytes(data)
    result = await run("Read", path="a.bin")
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "not_text")
    assert said in result.text
    assert f"has {len(data)} bytes" in result.text


async def test_a_broken_character_far_in_is_placed(run: Run, work: Path) -> None:
    """The place is right also where pieces were read one after another, in the middle of one."""
    data = b"x" * (1024 * 1024 - 1) + "é".encode() + b"yy" + b"\xff"
    (work / "a.txt").write_bytes(data)
    assert f"at byte {len(data) - 1}." in (await run("Read", path="a.txt")).text


async def test_a_png_is_shown_as_an_image(run: Run, work: Path) -> None:
    """By what it begins with, whatever it is called."""
    (work / "a.dat").write_bytes(PNG)
    result = await run("Read", path="a.dat")
    image = result.content[1]
    assert image == Image(base64.b64encode(PNG).decode(), "image/png")


@pytest.mark.parametrize(
    ("head", "media"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBP", "image/webp"),
    ],
)
async def test_other_images_are_known(run: Run, work: Path, head: bytes, media: str) -> None:
    """The four kinds that models take."""
    (work / "a").write_bytes(head + bytes(20))
    image = (await run("Read", path="a")).content[1]
    assert isinstance(image, Image)
    assert image.mime_type == media


async def test_a_large_image_is_refused_with_its_size(run: Run, work: Path) -> None:
    """A model's service would refuse the whole request."""
    (work / "a.png").write_bytes(PNG + bytes(MAX_IMAGE))
    result = await run("Read", path="a.png")
    assert result.reason == "too_large"
    assert "at most 3750 kB" in result.text


async def test_a_file_over_the_bound_is_refused(run: Run, work: Path) -> None:
    """And Grep is named, which finds the part."""
    with (work / "a.log").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    result = await run("Read", path="a.log")
    assert result.reason == "too_large"
    assert "Grep" in result.text


async def test_a_directory_is_refused_and_glob_named(run: Run, work: Path) -> None:
    """The next call can be the right one."""
    (work / "sub").mkdir()
    result = await run("Read", path="sub")
    assert result.reason == "not_a_file"
    assert "Glob" in result.text


async def test_a_missing_file_is_told_with_the_nearest_names(run: Run, work: Path) -> None:
    """A letter that is wrong costs one call and no search."""
    (work / "README.md").touch()
    (work / "other.txt").touch()
    result = await run("Read", path="Readme.md")
    assert result.reason == "absent"
    assert result.text == "Readme.md: there is no such file; its directory has README.md"
    far = await run("Read", path="no/such/file")
    assert "no directory that could hold it" in far.text


async def test_a_name_that_rules_withhold_is_not_told(
    run_under: Callable[..., Run], work: Path
) -> None:
    """That a denied file is there is itself not said."""
    (work / "secret.key").touch()
    (work / "secrets.txt").touch()
    run = run_under((Decision.DENY, "Read", "*.key"))
    result = await run("Read", path="secret.ke")
    assert "secret.key" not in result.text
    assert "secrets.txt" in result.text


async def test_a_denied_file_is_not_read(run_under: Callable[..., Run], work: Path) -> None:
    """Neither by its name nor by that of a link to it."""
    (work / ".env").write_text("TOKEN=1")
    (work / "notes.txt").symlink_to(".env")
    (work / "x").mkdir()
    run = run_under((Decision.DENY, "Read", "**/.env"))
    for name in (".env", "notes.txt", "./x/../.env"):
        result = await run("Read", path=name)
        assert result.kind is ErrorKind.DENIED
        assert "TOKEN" not in result.text


async def test_a_link_that_comes_after_the_decision_is_not_followed(
    direct: Direct, work: Path, tmp_path: Path
) -> None:
    """What is opened is what was decided about: a link that took its place is refused."""
    (tmp_path / "outside").write_text("private")
    (work / "sub").mkdir()
    (work / "sub" / "a.txt").write_text("mine")
    with direct.decided("sub/a.txt") as run:
        (work / "sub" / "a.txt").unlink()
        (work / "sub").rmdir()
        (work / "sub").symlink_to(tmp_path)
        (tmp_path / "a.txt").write_text("private")
        result = await run(Read(), path="sub/a.txt")
    assert result.reason == "moved"
    assert "private" not in result.text


async def test_a_path_that_nobody_decided_about_is_not_touched(direct: Direct, work: Path) -> None:
    """Without a resolved subject, which is a fault of ours, nothing is opened."""
    (work / "a.txt").write_text("mine")
    with direct.undecided() as run:
        result = await run(Read(), path="a.txt")
    assert (result.kind, result.reason) == (ErrorKind.INTERNAL, "unresolved")
    assert "mine" not in result.text


async def test_a_cancelled_read_ends_within_a_slice(
    direct: Direct, work: Path, threads: ThreadPoolExecutor
) -> None:
    """The thread of a call that nobody waits for looks at its flag, and holds no file open."""
    (work / "a.txt").write_bytes(b"some line\n" * 2_000_000)
    before = _descriptors()
    with direct.decided("a.txt") as run:
        task = asyncio.create_task(run(Read(), path="a.txt"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    done = [threads.submit(lambda: None) for _ in range(4)]
    async with asyncio.timeout(5):
        await asyncio.gather(*map(asyncio.wrap_future, done))
    threads.shutdown(wait=True)
    assert _descriptors() <= before


async def test_a_deadline_is_kept_and_told(direct: Direct, work: Path) -> None:
    """The caller's deadline bounds the reading too."""
    (work / "a.txt").write_text("mine")
    with direct.decided("a.txt", late=True) as run:
        result = await run(Read(), path="a.txt")
    assert result.kind is ErrorKind.TIMEOUT


async def test_a_pipe_is_refused_without_waiting(run: Run, work: Path) -> None:
    """Opening one would wait for whoever writes to it."""
    os.mkfifo(work / "pipe")
    result = await run("Read", path="pipe")
    assert result.reason == "not_a_file"


@given(
    st.text(alphabet="ab\r\né한\u2028", max_size=60),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 7),
)
def test_pages_are_what_splitting_at_line_feeds_gives(
    text: str, first: int, limit: int, size: int
) -> None:
    """However the text comes in pieces: same lines, same number of them, same line ends."""
    page = Page(first, limit)
    for at in range(0, len(text), size):
        page.feed(text[at : at + size])
    page.end()
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    assert page.total == len(lines)
    shown = lines[first - 1 : first - 1 + limit]
    expected = [f"{number:>6}\t{line}" for number, line in enumerate(shown, first)]
    assert page.text == "\n".join(expected)
    assert page.ends.crlf == text.count("\r\n")
    assert page.ends.crlf + page.ends.lf == text.count("\n")


def test_the_declaration_names_the_tools_that_go_with_it() -> None:
    """The description teaches which tool to take instead."""
    text = Read().definition.description
    assert "Glob" in text
    assert "Grep" in text
    assert "stamp" in text


async def test_nothing_is_told_of_what_lies_outside_before_it_is_asked_about(
    make_road: Callable[..., Road], tmp_path: Path
) -> None:
    """Whether a file is there, or is a directory, would be told by the words of a refusal."""
    (tmp_path / "there").write_text("x")
    (tmp_path / "round").symlink_to("round")
    road = make_road()
    for name in ("there/.", "there/x", "round", "n" * 300, "not-there/."):
        call = road.call("Read", {"path": f"{tmp_path}/{name}"}, attended=False)
        result = await road.invoke(call)
        assert result.reason == "nobody_to_ask", name
    allowed = await road.invoke(road.call("Read", {"path": f"{tmp_path}/there/."}))
    assert (allowed.kind, allowed.reason) == (ErrorKind.INVALID_ARGUMENTS, "unresolved")
    inside = await road.invoke(road.call("Read", {"path": "n" * 300}, attended=False))
    assert inside.kind is ErrorKind.INVALID_ARGUMENTS
