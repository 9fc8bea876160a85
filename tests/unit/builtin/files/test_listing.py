"""What a call may see below a directory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockgate.builtin.files.blocking import Stop, Stopped
from lockgate.builtin.files.listing import View, parted
from lockgate.rules.path import PathPattern
from lockgate.tools.subject import ResolvedPath, Subjects

ROOT = ResolvedPath(".", "/home/a", "/home/a", "/home/a", directory=True)


def view(*withheld: str, barred: tuple[str, ...] = (), folds: bool = False) -> View:
    """A view of `/home/a`."""
    patterns = tuple(PathPattern.parse(text, base="/home/a", home=None) for text in withheld)
    return View(replace(ROOT, folds_case=folds), Subjects({}, patterns), barred)


def test_what_rules_withhold_is_hidden_by_its_real_path() -> None:
    """Whatever lies below a withheld directory too."""
    seen, hidden = parted([b"./x", b".env", b"keys/a/b", b"z/.env"], view(".env", "./keys"), Stop())
    assert (seen, hidden) == (["x"], [".env", "keys/a/b", "z/.env"])


def test_what_is_barred_is_hidden_whole() -> None:
    """With all below it, and no name that only begins alike."""
    partial = view(barred=("/home/a/state",))
    assert parted([b"state/db", b"state", b"state2/x"], partial, Stop())[0] == ["state2/x"]
    assert partial.partial
    assert not view(barred=("/home/b/state", "/home/a2")).partial


def test_case_is_that_of_the_file_system() -> None:
    """Where `State` is `state`, it is barred as well."""
    folds = view(barred=("/home/a/state",), folds=True)
    assert not folds.shows("State/db")
    assert folds.partial
    assert view(barred=("/home/a/state",)).shows("State/db")


def test_sorting_names_out_stops_when_told_to() -> None:
    """A large tree is not gone through for nobody."""
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        parted([b"x"], view(), stop)
