"""The directory of a line is the one that was decided on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lockgate.builtin.files.stamp import Moved, NotOpened
from lockgate.builtin.shell.place import entered
from lockgate.tools.subject import ResolvedPath


def resolved(path: Path, *, directory: bool = True) -> ResolvedPath:
    """As it is after a decision."""
    return ResolvedPath(str(path), str(path), str(path), None, directory=directory)


def test_the_directory_is_open_within_the_block(tmp_path: Path) -> None:
    """What the path names is that directory, also once another has its name."""
    wanted = tmp_path / "wanted"
    wanted.mkdir()
    number = wanted.stat().st_ino
    with entered(resolved(wanted)) as path:
        wanted.rename(tmp_path / "moved")
        wanted.mkdir()
        assert path.stat().st_ino == number
    with pytest.raises(OSError, match=str(path)):
        path.stat()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_link_in_the_way_is_an_error(tmp_path: Path, depth: int) -> None:
    """Wherever a part of the path became a link after the decision, it is not followed."""
    parts = ["a", "b", "c"]
    tmp_path.joinpath(*parts).mkdir(parents=True)
    swapped = tmp_path.joinpath(*parts[: depth + 1])
    swapped.rename(tmp_path / "elsewhere")
    swapped.symlink_to(tmp_path / "elsewhere")
    wanted = resolved(tmp_path.joinpath(*parts))
    with pytest.raises(Moved), entered(wanted):
        pass


def test_what_can_not_be_entered_is_told_without_its_path(tmp_path: Path) -> None:
    """Missing, no directory, forbidden; and no descriptor stays open."""
    (tmp_path / "file").touch()
    (tmp_path / "closed").mkdir(mode=0o000)
    count = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count, not paths
    cases = {"nowhere": "no such file", "file": "not a directory", "file/x": "not a directory"}
    if os.getuid():
        cases["closed"] = "no permission"
    for name, why in cases.items():
        with (
            pytest.raises(NotOpened, match=why) as told,
            entered(resolved(tmp_path / name, directory=False)),
        ):
            pass
        assert str(tmp_path) not in str(told.value)
    assert len(os.listdir("/proc/self/fd")) == count  # noqa: PTH208 - as above
