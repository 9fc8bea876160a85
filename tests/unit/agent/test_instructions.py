"""What a model is told before it is asked anything."""

from __future__ import annotations

import pytest

from lockgate.agent.instructions import BASE, instructions


def test_nothing_missing_leaves_the_base_alone() -> None:
    """A base text without more is exactly that."""
    assert instructions(BASE) == BASE


@pytest.mark.req("B-07")
def test_missing_servers_are_named_in_one_line() -> None:
    """One line, however many servers are missing."""
    lines = instructions("Be brief.", ("files", "git")).splitlines()
    assert lines[0] == "Be brief."
    assert lines[1:] == ["Not available now, because their servers are not there: files, git."]


def test_a_notice_is_one_line() -> None:
    """Whatever it holds, it can not pretend to be several."""
    assert instructions("", (), ("one\n\ntwo",)) == "one two"
