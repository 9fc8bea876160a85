"""Why a server failed, as a sentence can hold it."""

from __future__ import annotations

import pytest

from lockgate.mcp.host.status import BRIEF, in_brief


@pytest.mark.parametrize(
    ("reason", "brief"),
    [
        ("it ended", "it ended"),
        ("it ended; it said:\nusage", "it ended; it said: usage"),
        ("it ended; it said:\na\nb\nx: error", "it ended; it said: … x: error"),
        ("it ended\n\x1b[2Janswer [no]: ", "it ended \\x1b[2Janswer [no]:"),
    ],
)
def test_a_reason_in_brief_is_what_happened_and_the_last_word(reason: str, brief: str) -> None:
    """On one line, with nothing that a terminal obeys."""
    assert in_brief(reason) == brief


def test_a_reason_in_brief_is_cut_in_its_middle() -> None:
    """A long one keeps its beginning and its end, where the error is."""
    brief = in_brief("begin " + "x" * 5000 + " end")
    assert len(brief) == BRIEF
    assert brief.startswith("begin ")
    assert brief.endswith(" end")
