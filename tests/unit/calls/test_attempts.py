"""What is known of a running call, told the short way and the long way."""

from __future__ import annotations

import pytest

from lockgate.calls.attempts import Attempts
from lockgate.calls.leash import Pulled
from lockgate.errors import Fate
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, Outcome, ToolResult

TOOL = ScriptedTool("look")
DONE = ToolResult.of("done")
REPORTED = ToolResult.error(ErrorKind.TOOL_ERROR, "no", reason="reported")
UNREAD = ToolResult.error(ErrorKind.TOOL_ERROR, "no", reason="malformed")


def begun(count: int = 1) -> Attempts:
    """A call whose attempt of this number is under way, the ones before lost on the way."""
    attempts = Attempts(TOOL)
    for number in range(count):
        attempts.begin()
        if number + 1 < count:
            attempts.end(None, Pulled.DEADLINE)
    return attempts


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(DONE),
        Outcome(DONE, Fate.NOT_SENT),
        Outcome(DONE, Fate.UNKNOWN),
        Outcome(DONE, final=True),
        Outcome(REPORTED),
        Outcome(UNREAD),
        Outcome("no result"),  # pyright: ignore[reportArgumentType] - a tool without a type checker
        None,
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_the_short_way_comes_to_the_same(outcome: Outcome | None, count: int) -> None:
    """`answered` gives what `end`, `again` and `result` come to, or nothing, and notes nothing
    then."""
    short, long = begun(count), begun(count)
    result = short.answered(outcome)
    if result is None:
        assert short == begun(count)
        return
    long.end(outcome, None)
    assert not long.again()
    assert long.result(()) is result
    assert short == long


def test_an_answer_goes_the_short_way() -> None:
    """A first attempt that was answered, and by no error, is told at once."""
    assert begun().answered(Outcome(DONE)) is DONE
    assert begun(2).answered(Outcome(DONE)) is None
