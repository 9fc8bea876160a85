"""The file of notes: what was added comes back, and no note passes for another."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.builtin.files.blocking import Stop, Stopped
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.notes import file
from lockgate.showing import visible_lines

NOW = 1_800_000_000.0
TIME = "2027-01-15T08:00:00Z"

TEXTS = st.text(min_size=1, max_size=200) | st.sampled_from(
    [
        f"- {TIME} not a note of its own",
        f"a\n- {TIME} nor this",
        f"a\n\n  - {TIME} nor this\n",
        "\x1b[31mred\r\nnext\u202e",
        "한글 메모\n둘째 줄",
        "\ud800",
        file.HEAD,
    ]
)


def add(path: Path, text: str, **options: object) -> file.Note:
    """Add a note."""
    return file.append(path, text, now=NOW, stop=Stop(), **options)  # pyright: ignore[reportArgumentType] - only `write`


@given(st.lists(TEXTS.filter(file.harmless), max_size=8))
def test_what_was_added_comes_back(texts: list[str]) -> None:
    """Each note as it was, in order, with what a terminal obeys as escapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.md"
        added = [add(path, text) for text in texts]
        assert file.read(path) == tuple(added)
        assert [note.text for note in added] == [file.harmless(text) for text in texts]
        kept = path.read_text("utf-8") if texts else ""
        assert visible_lines(kept) == kept


@given(TEXTS)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    """What was made visible once is not changed again."""
    once = file.harmless(text)
    assert file.harmless(once) == once


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """As all of lockgate's state; a person can read it."""
    path = tmp_path / "state" / "notes.md"
    add(path, "one\ntwo")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text() == f"{file.HEAD}- {TIME} one\n  two\n"


def test_what_a_person_writes_stays(tmp_path: Path) -> None:
    """Also where their editor ends no last line; a note of theirs is read as the others."""
    path = tmp_path / "notes.md"
    add(path, "one")
    with path.open("a") as other:
        other.write(f"\n- {TIME} mine\n  and \x1bmore")
    add(path, "two")
    assert [note.text for note in file.read(path)] == ["one", "mine\nand \\x1bmore", "two"]


@pytest.mark.parametrize("content", ["#!/bin/sh\n", "# Notes", "\n", "- 2027-01-15T08:00:00Z x\n"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    """Whatever a configuration names, nothing is added to what is not a file of notes."""
    path = tmp_path / "profile"
    path.write_text(content)
    with pytest.raises(FileProblem, match="left alone"):
        add(path, "x")
    with pytest.raises(FileProblem, match="left alone"):
        file.read(path)
    assert path.read_text() == content


def test_a_link_or_a_pipe_leads_nowhere(tmp_path: Path) -> None:
    """Neither is followed or waited for."""
    target = tmp_path / "target.md"
    add(target, "x")
    link, pipe = tmp_path / "link.md", tmp_path / "pipe.md"
    link.symlink_to(target)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path):
        with pytest.raises(FileProblem):
            add(path, "y")
    assert len(file.read(target)) == 1


@pytest.mark.parametrize("room", [0, 1, 10])
def test_a_full_disk_keeps_no_part_of_a_note(tmp_path: Path, room: int) -> None:
    """However much still fitted, it is taken back; with space the next note is added."""
    path = tmp_path / "notes.md"
    add(path, "one")

    def write(descriptor: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(descriptor, data[:room])

    before = path.read_bytes()
    with pytest.raises(FileProblem, match=r"No space left|only a part"):
        add(path, "two", write=write)
    assert path.read_bytes() == before
    add(path, "three")
    assert [note.text for note in file.read(path)] == ["one", "three"]


def test_a_full_file_takes_no_more(tmp_path: Path) -> None:
    """It is a person who shortens it."""
    path = tmp_path / "notes.md"
    add(path, "one")
    with path.open("a") as other:
        other.write("x" * (file.MAX_FILE - path.stat().st_size - 10))
    before = path.stat().st_size
    with pytest.raises(FileProblem, match="the notes are full"):
        add(path, "two")
    assert path.stat().st_size == before


def test_a_file_that_grew_elsewhere_is_not_read(tmp_path: Path) -> None:
    """Reading is bounded too."""
    path = tmp_path / "notes.md"
    path.write_text(file.HEAD + "x" * file.MAX_FILE)
    with pytest.raises(FileProblem, match="not read"):
        file.read(path)


def test_who_is_told_to_stop_does_not_wait_for_the_lock(tmp_path: Path) -> None:
    """Another process may hold the file; a call that is given up adds nothing."""
    path = tmp_path / "notes.md"
    add(path, "one")
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        stop = Stop()
        stop.set()
        with pytest.raises(Stopped):
            file.append(path, "two", now=NOW, stop=stop)
    assert len(file.read(path)) == 1


_MANY = """
import sys
from pathlib import Path
from lockgate.builtin.files.blocking import Stop
from lockgate.builtin.notes import file
for number in range(50):
    file.append(Path(sys.argv[1]), f"{sys.argv[2]} {number}\\nsecond line", now=0.0, stop=Stop())
"""


def test_several_processes_add_at_once(tmp_path: Path) -> None:
    """Every note of each is there, whole, in its order."""
    path = tmp_path / "notes.md"
    others = [subprocess.Popen([sys.executable, "-c", _MANY, str(path), name]) for name in "ab"]
    assert [other.wait(60) for other in others] == [0, 0]
    notes = [note.text for note in file.read(path)]
    for name in "ab":
        mine = [text for text in notes if text.startswith(name)]
        assert mine == [f"{name} {number}\nsecond line" for number in range(50)]
    assert len(notes) == 100
