"""The lines of a turn: numbered by call, cut, made visible, and as wide as there is room."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.events import (
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    Event,
    ModelText,
)
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord, ReasonRecord
from lockgate.cli.display import Display
from lockgate.content import Text
from lockgate.showing import visible, width_of
from lockgate.tools.result import ErrorKind, ToolResult


def shown(*events: Event, columns: int | None = None) -> list[str]:
    """The lines that these events are told in."""
    said: list[str] = []
    display = Display(said.append, lambda: columns)
    for event in events:
        display(event)
    return "\n".join(said).split("\n") if said else []


def ok(text: str) -> ToolResult:
    """A result that is this text."""
    return ToolResult((Text(text),))


def decision(call: str = "c", what: Any = "run", **changes: Any) -> CallDecided:
    """A decision about that call of `t`."""
    reasons = (ReasonRecord("r", "because"),)
    record = DecisionRecord(call, 0.0, "agent", "e", "t", what, reasons, "d", **changes)
    return CallDecided(record)


def test_equal_calls_are_told_apart() -> None:
    """By the number of the call, on each of its lines, in whatever order they come."""
    assert shown(
        CallStarted("a", "t", {"n": 1}),
        CallStarted("b", "t", {"n": 1}),
        decision("b"),
        decision("a", "refuse", approver="terminal", approved=False),
        CallFinished("b", "t", ok("fine")),
        CallFinished("z", "t", ToolResult.error(ErrorKind.SKIPPED, "not run")),
        CallFinished("a", "t", Suspended("ticket-1", "t", 0.0)),
        ModelText("goes to standard output"),
    ) == [
        "* [1] t(n=1)",
        "* [2] t(n=1)",
        "  [2] runs: because",
        "  [1] refused (no by terminal): because",
        "  [2] t -> fine",
        "  [3] t -> skipped: not run",
        "  [1] waiting for an answer, ticket ticket-1",
    ]


def test_secrets_are_masked_at_any_depth() -> None:
    """As in a question; here they can not be revealed."""
    arguments = {"token": "abc", "headers": [{"Authorization": "Bearer x", "n": None}], "s": "a\nb"}
    assert shown(CallStarted("a", "t", arguments)) == [
        "* [1] t(token=[masked, 3 characters], headers=[{Authorization: [masked, 8 characters], "
        'n: null}], s="a\\nb")'
    ]


def test_what_is_long_is_cut_and_counted() -> None:
    """Names, values, all of them together, and results; off a terminal a line stays one."""
    many = {f"k{n}": "v " * 90 for n in range(50)}
    (started,) = shown(CallStarted("a", "t" * 300, many))
    assert f"{'t' * 200} ... (300 characters)(k0=" in started
    assert len(started) < 1_500
    (finished,) = shown(CallFinished("a", "t", ok("x y " * 1_000)))
    assert finished.endswith(" ... (4000 characters)")
    assert len(finished) < 300


STRANGE = st.text(max_size=300) | st.text(st.sampled_from("\n\r\x1b\u202e한\u0301 x"), max_size=300)


@given(STRANGE, st.dictionaries(STRANGE, STRANGE, max_size=3), st.integers(24, 120))
def test_nothing_of_a_stranger_begins_a_line(
    text: str, arguments: dict[str, str], columns: int
) -> None:
    """Each line begins with a number of ours or the room for it, and fits the terminal."""
    lines = shown(
        CallStarted("a", text, arguments),
        CallFinished("a", text, ok(text)),
        columns=columns,
    )
    for line in lines:
        assert line.startswith(("* [1] ", "  [1] ", " " * 6)) or not line.strip()
        assert width_of(line) <= columns
        assert visible(line) == line


@pytest.mark.parametrize(
    ("what", "level", "told"),
    [
        ("run", "mutating", True),
        ("run", None, True),
        ("run", "read-only", False),
        ("refuse", "mutating", False),
    ],
)
def test_what_was_broken_off_is_told(what: str, level: str | None, told: bool) -> None:
    """A call that was sent, may have changed something, and has no result."""
    said: list[str] = []
    display = Display(said.append, lambda: None)
    display(decision("a", what, level=level))
    display(decision("b", "run", level="mutating"))
    display(CallFinished("b", "t", ok("fine")))
    said.clear()
    display.broken_off()
    assert [line[:16] for line in said] == (["  [1] t was sent"] if told else [])


def test_progress_is_a_line_for_each_further_tenth() -> None:
    """A server may report thousands of times: what is new to a person is told."""
    events = [CallProgress("a", "t", n, 1000) for n in range(1001)]
    lines = shown(CallStarted("a", "t", {}), *events)
    assert lines[1:3] == ["  [1] t: 0 of 1000", "  [1] t: 100 of 1000"]
    assert len(lines) == 1 + 11
    back = [CallProgress("a", "t", n, 10) for n in (5, 4, 5, 6)]
    assert shown(*back) == ["  [1] t: 5 of 10", "  [1] t: 6 of 10"]


def test_progress_without_a_total_is_told_less_and_less_often() -> None:
    """At the 1st, 2nd, 4th, 8th notice; odd totals count as none."""
    for total in (None, 0, -1, 1):
        lines = shown(*(CallProgress("a", "t", n + 2, total) for n in range(1000)))
        assert len(lines) == 10
    assert shown(CallProgress("a", "t", 1.5))[0] == "  [1] t: 1.5"
    assert shown(CallProgress("a", "t", 1e308, 1e308))[0] == "  [1] t: 1e+308 of 1e+308"


def test_words_of_progress_are_made_visible_and_cut() -> None:
    """They are a stranger's."""
    (line,) = shown(CallProgress("a", "t", 1, 2, "\x1b[2J\n\u202e" + "x" * 1000))
    assert line.isprintable()
    assert len(line) < 300
    assert "\\x1b[2J\\n\\u202e" in line
