"""Tables and counts as they are printed."""

from __future__ import annotations

import click
import pytest

from lockgate.cli.seconds import SECONDS
from lockgate.cli.table import counted, styled


@pytest.mark.parametrize(
    ("environ", "bold"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
        ({}, False),
    ],
)
def test_the_head_is_bold_only_where_the_terminal_can_and_may(
    environ: dict[str, str], bold: bool
) -> None:
    """TERM and NO_COLOR say so; a file or a pipe never gets an escape."""
    assert styled(environ, terminal=True) is bold
    assert not styled(environ, terminal=False)


def test_one_is_one() -> None:
    """`1 tool`, not `1 tools`."""
    assert [counted(n, "tool") for n in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "0", "-1", "1e999", "x", ""])
def test_seconds_are_over_0_and_finite(text: str) -> None:
    """With any other number no call ends when it should."""
    with pytest.raises(click.BadParameter, match="no number of seconds over 0"):
        SECONDS.convert(text, None, None)
    assert SECONDS.convert("0.5", None, None) == 0.5
