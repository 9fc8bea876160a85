"""Spans of calls: what is in them, and that nothing that fails in a tracer fails a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    NonRecordingSpan,
    NoOpTracer,
    Span,
    SpanKind,
    Status,
    StatusCode,
)

from lockgate.app.build import open as open_gate
from lockgate.app.tracing import TracedLedger
from lockgate.calls.records import DecisionRecord
from lockgate.settings.config import Config
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.ledger import MemoryLedger
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel


class SeenSpan(NonRecordingSpan):
    """A span that can be looked at."""

    def __init__(self, name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> None:
        super().__init__(INVALID_SPAN_CONTEXT)
        self.name, self.kind = name, kind
        self.attributes = dict(attributes)
        self.status: StatusCode | Status = StatusCode.UNSET
        self.ends = 0

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        del description
        self.status = status

    def end(self, end_time: int | None = None) -> None:
        del end_time
        self.ends += 1


class SeenTracer(NoOpTracer):
    """Keeps its spans. With `failing` every one of them fails to begin."""

    def __init__(self, *, failing: bool = False) -> None:
        self.spans: list[SeenSpan] = []
        self.failing = failing

    def start_span(
        self, name: str, context: Any = None, kind: SpanKind = SpanKind.INTERNAL,
        attributes: Any = None, *_: Any, **__: Any,
    ) -> Span:  # fmt: skip
        del context
        if self.failing:
            raise RuntimeError("hunter2")
        self.spans.append(SeenSpan(name, kind, attributes))
        return self.spans[-1]


@pytest.fixture
def traced(tmp_path: Path) -> Callable[..., tuple[Road, SeenTracer]]:
    """`traced(tools, failing=False)`: a road whose ledger tells a tracer."""

    def make(tools: list[ScriptedTool], *, failing: bool = False) -> tuple[Road, SeenTracer]:
        tracer = SeenTracer(failing=failing)
        ledger = TracedLedger(MemoryLedger(), tracer)
        return Road(tmp_path, tools, ledger=ledger), tracer

    return make


def reading(name: str, server: str | None = None, *replies: Any) -> ScriptedTool:
    """A tool that needs no answer."""
    level = SideEffectLevel.READ_ONLY
    return ScriptedTool(name, server=server, level=level, destructive=False, replies=replies)


async def test_a_call_to_a_server_is_a_client_span(
    traced: Callable[..., tuple[Road, SeenTracer]],
) -> None:
    """`tools/call NAME`, with the names of the conventions and what the gate knows."""
    road, tracer = traced([reading("log", "git")])
    with road:
        await road.invoke(road.call("mcp__git__log", {"token": "hunter2"}, id="c1"))
    [span] = tracer.spans
    assert (span.name, span.kind, span.ends) == ("tools/call mcp__git__log", SpanKind.CLIENT, 1)
    assert span.status is StatusCode.UNSET
    assert span.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "mcp__git__log",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.conversation.id": "session",
        "mcp.method.name": "tools/call",
        "lockgate.decision": "run",
        "lockgate.execution.id": "execution",
        "lockgate.server": "git",
        "lockgate.level": "read-only",
        "lockgate.destructive": False,
        "lockgate.reason": span.attributes["lockgate.reason"],
        "lockgate.attempts": 1,
        "lockgate.fate": "answered",
    }


async def test_a_local_call_and_one_that_is_not_made_are_internal(
    traced: Callable[..., tuple[Road, SeenTracer]],
) -> None:
    """`execute_tool NAME`; a refusal is an error whose type is its kind, and nothing was sent."""
    failing = reading("fail", None, ToolResult.error(ErrorKind.TOOL_ERROR, "no"))
    road, tracer = traced([reading("count"), failing, ScriptedTool("drop", server="db")])
    with road:
        await road.invoke(road.call("count"))
        await road.invoke(road.call("fail"))
        await road.invoke(road.call("mcp__db__drop", attended=False))
    count, fail, drop = tracer.spans
    assert (count.name, count.kind) == ("execute_tool count", SpanKind.INTERNAL)
    assert (fail.status, fail.attributes["error.type"]) == (StatusCode.ERROR, "tool_error")
    assert (drop.name, drop.kind, drop.ends) == (
        "execute_tool mcp__db__drop",
        SpanKind.INTERNAL,
        1,
    )
    assert drop.status is StatusCode.ERROR
    assert (drop.attributes["error.type"], drop.attributes["lockgate.fate"]) == (
        "not_approved",
        "not_sent",
    )
    assert "mcp.method.name" not in drop.attributes


async def test_a_tracer_that_fails_harms_no_call(
    traced: Callable[..., tuple[Road, SeenTracer]], caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged by the kind of its error alone."""
    road, _ = traced([reading("count")], failing=True)
    with road:
        assert (await road.invoke(road.call("count"))).text == "ok"
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


async def test_an_open_gate_takes_a_tracer(tmp_path: Path) -> None:
    """`lockgate.open(tracer=...)`; every span has ended when it is closed."""
    tracer = SeenTracer()
    tools = [ScriptedTool("add"), reading("count")]
    yes = ScriptedApprover.always(True)
    config = Config(state_dir=tmp_path / "state")
    async with open_gate(config, tools=tools, approvers=[yes], tracer=tracer) as gate:
        await gate.call("count")
        await gate.call("add")
    assert [span.name for span in tracer.spans] == ["execute_tool count", "execute_tool add"]
    assert [span.ends for span in tracer.spans] == [1, 1]
    assert tracer.spans[1].attributes["lockgate.approver"] == "scripted"


def test_what_has_no_outcome_ends_as_unknown() -> None:
    """Closing ends the spans that are still open, and says that nobody knows."""
    tracer = SeenTracer()
    ledger = TracedLedger(MemoryLedger(), tracer)
    ledger.decision(DecisionRecord("c", 0.0, "test", "e", "t", "run", (), "d"))
    ledger.close()
    ledger.close()
    [span] = tracer.spans
    assert (span.ends, span.attributes["error.type"]) == (1, "outcome_unknown")
