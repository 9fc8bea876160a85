"""The guard against the same failing call, made again and again."""

from __future__ import annotations

from lockgate.agent.model import ToolCall
from lockgate.agent.stall import StallGuard
from lockgate.tools.result import ErrorKind, ToolResult

OK = ToolResult.of("done")
FAILED = ToolResult.error(ErrorKind.TOOL_ERROR, "no")
REFUSED = ToolResult.error(ErrorKind.NOT_APPROVED, "no", reason="said_no")


def _call(name: str = "t", **arguments: object) -> ToolCall:
    return ToolCall("id", name, arguments)


def test_the_same_failing_call_stalls_at_the_limit() -> None:
    """The third failure of one call names its tool."""
    guard = StallGuard(3)
    assert [guard.observe([(_call(a=1), FAILED)]) for _ in range(3)] == [None, None, "t"]


def test_other_arguments_are_another_call() -> None:
    """A model that tries something else is not stalled, and the order of keys is no difference."""
    guard = StallGuard(2)
    assert guard.observe([(_call(a=1, b=2), FAILED)]) is None
    assert guard.observe([(_call(a=2, b=2), FAILED)]) is None
    assert guard.observe([(_call(b=2, a=1), FAILED)]) == "t"


def test_a_repeat_within_one_reply_counts_once() -> None:
    """The model had not seen the failure when it asked twice."""
    guard = StallGuard(2)
    assert guard.observe([(_call(), FAILED), (_call(), FAILED)]) is None
    assert guard.observe([(_call(), FAILED)]) == "t"


def test_a_success_forgets_failures_that_it_may_have_mended() -> None:
    """Test, edit, test again is work."""
    guard = StallGuard(2)
    for _ in range(5):
        assert guard.observe([(_call("test"), FAILED)]) is None
        assert guard.observe([(_call("edit"), OK)]) is None


def test_a_success_does_not_forget_refusals() -> None:
    """A person is not asked the same thing for ever because a read in between went well."""
    guard = StallGuard(2)
    assert guard.observe([(_call("reset"), REFUSED)]) is None
    assert guard.observe([(_call("log"), OK)]) is None
    assert guard.observe([(_call("reset"), REFUSED)]) == "reset"
