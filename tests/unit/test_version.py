"""The version stands in one place."""

from __future__ import annotations

from importlib.metadata import version

from lockgate.version import VERSION


def test_the_metadata_says_the_same() -> None:
    """What the package says of itself is what the installed one is called."""
    assert version("lockgate") == VERSION
