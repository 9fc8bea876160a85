"""Globs that keep files out of a search, whatever they are called."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.builtin.files.exclusion import MAX_EXCLUDED, exclusions
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.files.ripgrep import ALWAYS, WALKING, locate

NAME = (
    st.text(alphabet="ab *?[]{}\\!,#~$()'\"-+@é한\n\t\r\x0b\x1c\xa0\u2028\u3000\ufeff|;:.^\udce9")
    .filter(lambda name: name not in ("", ".", "..") and not name.startswith(".git"))
    .map(lambda name: name[:8])
)
PATH = st.lists(NAME, min_size=1, max_size=2).map("/".join)


def test_exclusions_are_whole_directories_where_nothing_is_seen() -> None:
    """So that a few globs say it; a directory with something to see is gone into."""
    assert exclusions([], []) == ()
    args = exclusions(["a/x", "c"], ["a/y", "b/1", "b/2", "b/d/3", "a b,{!"])
    assert args == ("--glob=!/a/y", "--glob=!/b", r"--glob=!/a[ ]b\,\{\!")


def test_too_many_are_refused() -> None:
    """A search of part of the tree has fewer."""
    many = [f"{number}/y" for number in range(MAX_EXCLUDED + 1)]
    with pytest.raises(FileProblem, match="search a directory below"):
        exclusions([name.replace("y", "x") for name in many], many)


@settings(max_examples=40)
@given(st.dictionaries(PATH, st.booleans(), min_size=1, max_size=6))
def test_ripgrep_finds_nothing_of_what_is_hidden(names: dict[str, bool]) -> None:
    """Whatever characters a name is made of; and all that is seen, but for names that are no text
    or end in a blank that is not ASCII, whose globs may mean their neighbours."""
    with tempfile.TemporaryDirectory() as folder:
        made = {name: hidden for name, hidden in names.items() if _make(Path(folder), name)}
        hidden = [name for name, is_hidden in made.items() if is_hidden]
        seen = [name for name, is_hidden in made.items() if not is_hidden]
        assert _listed(folder, ()) == set(made)
        found = _listed(folder, exclusions(seen, hidden))
    assert not found & set(hidden)
    if all(name.isprintable() or name.isascii() for name in hidden):
        assert found == set(seen)


def _make(folder: Path, name: str) -> bool:
    file = folder / name
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text("foo\n")
    except OSError:  # a file of that name is where a directory should be, or the reverse
        return False
    return True


def _listed(folder: str, args: tuple[str, ...]) -> set[str]:
    done = subprocess.run(
        [locate(os.defpath), *ALWAYS, "--files", "--null", *WALKING, *args],
        cwd=folder,
        env={"LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    return {os.fsdecode(name).removeprefix("./") for name in done.stdout.split(b"\0") if name}
