"""What a server says of a task, read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.mcp.protocol.jsonrpc import INTERNAL_ERROR
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.profile import LONGEST_MS
from lockgate.mcp.protocol.tasks import MAX_ID, Status, Task, read_task

PLAIN: dict[str, Any] = {"taskId": "t", "status": "working"}


def read(**members: Any) -> Task:
    """A task with these members."""
    return read_task(json.dumps({**PLAIN, **members}).encode())


def test_everything_that_is_said_is_read() -> None:
    """Handle, status, words, and both times in milliseconds."""
    task = read(statusMessage="half", ttlMs=60000, pollIntervalMs=500, createdAt="x", extra=[1])
    assert task == Task("t", Status.WORKING, "half", 60000, 500)


@pytest.mark.parametrize("value", [None, "5", True, 1.5, [], -3])
def test_a_time_that_is_none_counts_as_absent(value: Any) -> None:
    """Whole numbers of milliseconds; what is below zero is zero."""
    task = read(ttlMs=value, pollIntervalMs=value)
    assert (task.ttl_ms, task.poll_ms) == ((0, 0) if value == -3 else (None, None))
    assert read(ttlMs=2.0).ttl_ms == 2
    endless = read(ttlMs=10**400, pollIntervalMs=10**400)
    assert (endless.ttl_ms, endless.poll_ms) == (LONGEST_MS, LONGEST_MS)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"taskId": None}, "without a taskId"),
        ({"taskId": ""}, "without a taskId"),
        ({"taskId": 4}, "without a taskId"),
        ({"taskId": "x" * (MAX_ID + 1)}, "characters"),
        ({"status": "done"}, "not known: 'done'"),
        ({"status": ["working"]}, "not known"),
        ({"status": "input_required"}, "inputRequests that are null"),
        ({"status": "input_required", "inputRequests": {"a": {}}}, "without a method"),
        (
            {"status": "input_required", "inputRequests": {str(n): 1 for n in range(21)}},
            "21 inputs",
        ),
    ],
)
def test_what_can_not_be_told_apart_is_refused(members: dict[str, Any], reason: str) -> None:
    """Whoever follows it has to know which task it is, how it stands and what it asks."""
    with pytest.raises(Unreadable, match=reason):
        read(**members)


@pytest.mark.parametrize("text", [b"[]", b'"task"', b"null", b"{"])
def test_what_is_no_object_is_refused(text: bytes) -> None:
    """It is no task at all."""
    with pytest.raises(Unreadable):
        read_task(text)


def test_only_what_belongs_to_the_status_is_taken() -> None:
    """A result of a task under way is none, and neither is an error of a completed one."""
    held: dict[str, Any] = {
        "result": {"content": []},
        "error": {"code": 1, "message": "x"},
        "inputRequests": {},
    }
    assert read(**held) == Task("t", Status.WORKING)
    done = read(**{**held, "status": "completed"})
    assert (done.error, json.loads(bytes(done.result or b""))) == (None, {"content": []})
    failed = read(**{**held, "status": "failed"})
    assert failed.result is None
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == (1, "x")


@pytest.mark.parametrize("error", [None, "no", {}, {"code": "x", "message": 3}])
def test_an_error_that_says_nothing_is_still_an_error(error: Any) -> None:
    """The task has failed, whatever it says."""
    failed = read(status="failed", error=error).error
    assert failed is not None
    assert (failed.code, failed.message) == (INTERNAL_ERROR, "it does not say what")


def test_careless_json_is_read_by_the_rules() -> None:
    """NaN in a result is null there, as in any other answer; big integers stay exact."""
    text = b'{"taskId":"t","status":"completed","result":{"x":NaN,"n":18446744073709551617}}'
    assert json.loads(bytes(read_task(text).result or b"")) == {"x": None, "n": 2**64 + 1}


def test_a_handle_is_not_shown() -> None:
    """It may be all that somebody needs to get at the task."""
    assert "secret" not in repr(read(taskId="secret"))


def test_what_is_over() -> None:
    """Three of five."""
    over = [status for status in Status if status.over]
    assert over == [Status.COMPLETED, Status.FAILED, Status.CANCELLED]
