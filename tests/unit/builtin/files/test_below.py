"""Files below an open directory: through no link, and with nothing left open."""

from __future__ import annotations

from pathlib import Path

from lockgate.builtin.files.below import Below
from lockgate.builtin.files.directory import Directory


def test_files_are_reached_in_any_order(tmp_path: Path) -> None:
    """Whatever of the way before is shared."""
    paths = ["a/b/c", "a/b/d", "a/e", "f", "a/b/c", "g/h"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    with Directory.at(str(tmp_path)) as directory, Below(directory) as below:
        for path in paths:
            assert below.read(path, limit=100) == path.encode()
            assert below.stamp(path) is not None
        assert below.read("a/b/c", limit=2) is None


def test_what_is_no_file_without_a_link_is_not_there(tmp_path: Path) -> None:
    """A link at the end or on the way, a directory, nothing; what comes after is found."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("x")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "l").symlink_to("a/x")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Directory.at(str(tmp_path)) as directory, Below(directory) as below:
        for path in ("b/x", "l", "a", "a/x/y", "a/none", "none/x"):
            assert below.read(path, limit=9) is None
            assert below.stamp(path) is None
            assert below.read("a/x", limit=9) == b"x"
    assert len(list(Path("/proc/self/fd").iterdir())) == before
