"""The way from a decided path to a file: nothing but what was decided about is opened."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from lockgate.builtin.files import door
from lockgate.builtin.files.directory import Directory
from lockgate.builtin.files.stamp import Moved, NotOpened
from lockgate.calls.paths import resolve_path
from lockgate.tools.context import Environment
from lockgate.tools.subject import ResolvedPath


@pytest.fixture(autouse=True)
def no_descriptor_left() -> Generator[None]:
    """Whatever a test does to a file, no descriptor stays open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a directory, and something secret beside it."""
    root = tmp_path.resolve()
    (root / "project" / "docs").mkdir(parents=True)
    (root / "project" / "docs" / "a.txt").write_bytes(b"public")
    (root / "secret").mkdir()
    (root / "secret" / "a.txt").write_bytes(b"secret")
    return root


def decided(tree: Path, given: str) -> ResolvedPath:
    """`given` as a decision sees it, in the project."""
    project = tree / "project"
    return resolve_path(given, Environment(project, (project,)))


def swap(directory: Path, target: Path) -> None:
    """Put a link to `target` in the place of `directory`."""
    directory.rename(directory.with_name(directory.name + ".old"))
    directory.symlink_to(target)


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def test_what_was_decided_about_is_read(tree: Path) -> None:
    """Through a link that stood at the time of the decision, by its real path."""
    (tree / "project" / "link").symlink_to("docs")
    data, stamp = door.read(decided(tree, "link/a.txt"), limit=100)
    assert data == b"public"
    assert (stamp.size, stamp.links) == (6, 1)
    with door.opened(decided(tree, "docs/a.txt")) as (fd, again):
        assert os.read(fd, 100) == b"public"
        assert again == stamp == door.stamp(decided(tree, "link/a.txt"))


def test_a_link_that_came_in_place_of_a_directory_is_not_followed(tree: Path) -> None:
    """Neither to read, nor to list, nor to write, nor to make: it is an error of its own (B-01)."""
    path, folder = decided(tree, "docs/a.txt"), decided(tree, "docs")
    new, stamp = decided(tree, "docs/new.txt"), door.stamp(decided(tree, "docs/a.txt"))
    swap(tree / "project" / "docs", tree / "secret")
    with pytest.raises(Moved):
        door.read(path, limit=100)
    with pytest.raises(Moved), door.opened(path):
        pass
    with pytest.raises(Moved):
        door.stamp(path)
    with pytest.raises(Moved):
        door.listed(folder, limit=100)
    with pytest.raises(Moved):
        door.entered(folder)
    for make in (False, True):
        with pytest.raises(Moved):
            door.write(new, b"x", over=None, make=make)
        with pytest.raises(Moved):
            door.write(path, b"x", over=stamp, make=make)
    assert names(tree / "secret") == ["a.txt"]
    assert (tree / "secret" / "a.txt").read_bytes() == b"secret"


def test_a_link_that_came_in_place_of_a_file_is_not_followed(tree: Path) -> None:
    """The last name of a path is looked at like the others."""
    path, new = decided(tree, "docs/a.txt"), decided(tree, "docs/new.txt")
    stamp = door.stamp(path)
    (tree / "project" / "docs" / "a.txt").unlink()
    (tree / "project" / "docs" / "a.txt").symlink_to(tree / "secret" / "a.txt")
    (tree / "project" / "docs" / "new.txt").symlink_to(tree / "secret" / "new.txt")
    with pytest.raises(Moved):
        door.read(path, limit=100)
    with pytest.raises(Moved):
        door.write(path, b"x", over=stamp)
    with pytest.raises(NotOpened, match="of that name") as refused:
        door.write(new, b"x", over=None)
    assert refused.value.reason == "exists"
    assert names(tree / "secret") == ["a.txt"]
    assert (tree / "secret" / "a.txt").read_bytes() == b"secret"


def test_a_link_above_the_root_is_not_followed_either(tree: Path) -> None:
    """Every name from the root on is gone down, not only those below a file root."""
    path = decided(tree, "docs/a.txt")
    (tree / "elsewhere" / "docs").mkdir(parents=True)
    (tree / "elsewhere" / "docs" / "a.txt").write_bytes(b"secret")
    swap(tree / "project", tree / "elsewhere")
    with pytest.raises(Moved):
        door.read(path, limit=100)


def test_an_entered_directory_stays_what_it_is(tree: Path) -> None:
    """A descriptor means the directory that was decided about, whatever its name means by now."""
    with door.entered(decided(tree, "docs")) as directory:
        swap(tree / "project" / "docs", tree / "secret")
        assert directory.read("a.txt", limit=100)[0] == b"public"
        directory.replace("b.txt", [b"x"], over=None, token=lambda: "t")
    assert names(tree / "secret") == ["a.txt"]
    assert names(tree / "project" / "docs.old") == ["a.txt", "b.txt"]


def test_in_a_directory_links_are_told_and_not_entered(tree: Path) -> None:
    """A search sees a link as a link."""
    docs = tree / "project" / "docs"
    (docs / "inner").mkdir()
    (docs / "link").symlink_to(tree / "secret")
    os.mkfifo(docs / "pipe")
    entries, more = door.listed(decided(tree, "docs"), limit=10)
    assert {e.name: e.kind for e in entries} == {
        "a.txt": "file",
        "inner": "directory",
        "link": "link",
        "pipe": "other",
    }
    assert not more
    cut, more = door.listed(decided(tree, "docs"), limit=2)
    assert (len(cut), more) == (2, True)
    with door.entered(decided(tree, "docs")) as directory:
        directory.enter("inner").close()
        with pytest.raises(Moved):
            directory.enter("link")
        with pytest.raises(NotOpened, match="not a directory"):
            directory.enter("a.txt")
        for name in ("..", ".", "", "a/b", "a\0"):
            with pytest.raises(ValueError, match="single name"):
                directory.enter(name)


def test_only_regular_files_are_opened(tree: Path) -> None:
    """A pipe would hang, a device would act, a socket talks: none is opened at all."""
    docs = tree / "project" / "docs"
    os.mkfifo(docs / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(docs / "socket"))
        for name in ("pipe", "socket", "."):
            with pytest.raises(NotOpened) as refused:
                door.read(decided(tree, f"docs/{name}"), limit=100)
            assert refused.value.reason == "not_a_file"
    null = ResolvedPath("/dev/null", "/dev/null", "/dev/null", None)
    for attempt in (lambda: door.read(null, limit=1), lambda: door.write(null, b"", over=None)):
        with pytest.raises(NotOpened) as refused:
            attempt()
        assert refused.value.reason in ("not_a_file", "exists", "no_permission")


def test_reading_is_bounded(tree: Path) -> None:
    """A file over the limit is refused, also one that does not say its size."""
    path = decided(tree, "docs/a.txt")
    assert door.read(path, limit=6)[0] == b"public"
    with pytest.raises(NotOpened, match="larger than 5 bytes") as refused:
        door.read(path, limit=5)
    assert refused.value.reason == "too_large"
    sizeless = ResolvedPath("x", "/proc/version", "/proc/version", None)
    assert door.stamp(sizeless) is not None
    with pytest.raises(NotOpened, match="larger than 5 bytes"):
        door.read(sizeless, limit=5)


def test_a_missing_file_has_no_stamp_and_can_not_be_read(tree: Path) -> None:
    """So is one whose directory is missing."""
    for given in ("docs/none", "none/none"):
        assert door.stamp(decided(tree, given)) is None
        with pytest.raises(NotOpened) as refused:
            door.read(decided(tree, given), limit=1)
        assert refused.value.reason == "absent"


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tree: Path) -> None:
    """No second file stays behind, and the stamp that comes back is the new file's."""
    target = tree / "project" / "docs" / "a.txt"
    target.chmod(0o640)
    path = decided(tree, "docs/a.txt")
    written = door.write(path, b"new", over=door.stamp(path))
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", 0o640)
    assert written == door.stamp(path)
    assert names(target.parent) == ["a.txt"]


def test_a_new_file_is_made_only_where_there_is_none(tree: Path) -> None:
    """Who believed that there was no file does not replace one."""
    path = decided(tree, "docs/new.txt")
    written = door.write(path, b"new", over=None)
    assert written == door.stamp(path)
    assert written.links == 1
    with pytest.raises(NotOpened) as refused:
        door.write(path, b"again", over=None)
    assert refused.value.reason == "exists"
    assert names(tree / "project" / "docs") == ["a.txt", "new.txt"]
    assert (tree / "project" / "docs" / "new.txt").read_bytes() == b"new"


def test_missing_directories_are_made_when_asked_for(tree: Path) -> None:
    """And otherwise the write is refused."""
    path = decided(tree, "x/y/new.txt")
    with pytest.raises(NotOpened) as refused:
        door.write(path, b"new", over=None)
    assert refused.value.reason == "absent"
    door.write(path, b"new", over=None, make=True)
    assert (tree / "project" / "x" / "y" / "new.txt").read_bytes() == b"new"


def test_a_file_that_changed_meanwhile_is_not_replaced(tree: Path) -> None:
    """By content, by being another file of that name, or by being gone."""
    target = tree / "project" / "docs" / "a.txt"
    path = decided(tree, "docs/a.txt")
    stamp = door.stamp(path)
    target.write_bytes(b"other!")
    with pytest.raises(NotOpened) as refused:
        door.write(path, b"new", over=stamp)
    assert refused.value.reason == "changed"
    stamp = door.stamp(path)
    target.unlink()
    with pytest.raises(NotOpened) as refused:
        door.write(path, b"new", over=stamp)
    assert refused.value.reason == "absent"
    assert names(target.parent) == []


def test_a_file_that_nobody_may_write_to_is_not_replaced(tree: Path) -> None:
    """Giving another file its name would get around its permissions."""
    target = tree / "project" / "docs" / "a.txt"
    target.chmod(0o444)
    path = decided(tree, "docs/a.txt")
    with pytest.raises(NotOpened) as refused:
        door.write(path, b"new", over=door.stamp(path))
    assert refused.value.reason == "read_only"
    assert target.read_bytes() == b"public"


def test_a_write_that_fails_leaves_everything_as_it_was(tree: Path) -> None:
    """The unfinished file goes, the old content stays."""
    path = decided(tree, "docs/a.txt")
    stamp = door.stamp(path)

    def broken() -> Generator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    with door.entered(decided(tree, "docs")) as directory, pytest.raises(RuntimeError):
        directory.replace("a.txt", broken(), over=stamp, token=lambda: "t")
    assert door.read(path, limit=100)[0] == b"public"
    assert names(tree / "project" / "docs") == ["a.txt"]


def test_other_names_of_a_replaced_file_are_told_and_keep_the_old_content(tree: Path) -> None:
    """A file with two names is parted: the stamp says so before anything is written."""
    docs = tree / "project" / "docs"
    os.link(docs / "a.txt", tree / "secret" / "second")
    path = decided(tree, "docs/a.txt")
    stamp = door.stamp(path)
    assert stamp is not None
    assert stamp.links == 2
    door.write(path, b"new", over=stamp)
    assert (tree / "secret" / "second").read_bytes() == b"public"


def test_what_was_not_resolved_or_is_barred_is_not_opened(tree: Path) -> None:
    """The door does not rely on somebody else having refused it."""
    real = str(tree / "secret" / "a.txt")
    for path in (
        ResolvedPath("x", "", "", None, problem="it is a loop of links"),
        ResolvedPath("x", real, real, None, barred=True),
        ResolvedPath("x", "a.txt", "a.txt", None),
    ):
        with pytest.raises(NotOpened):
            door.read(path, limit=100)


def test_a_closed_directory_opens_nothing(tree: Path) -> None:
    """Closing twice is harmless, and a closed one is not the working directory."""
    directory = Directory.at(str(tree / "secret"))
    directory.close()
    directory.close()
    with pytest.raises(NotOpened):
        directory.read("a.txt", limit=100)
