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
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    TraceState,
)

from lockgate.app.build import Surroundings
from lockgate.app.build import open as open_gate
from lockgate.app.tracing import TracedLedger
from lockgate.calls.records import DecisionRecord
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.settings.config import Config
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.ledger import MemoryLedger
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.road import Road
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer
from lockgate.testing.steps import Answer, JsonObject, Message
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

TRACE = 0x0AF7651916CD43DD8448EB211C80319C


class SeenSpan(NonRecordingSpan):
    """A span that can be looked at."""

    def __init__(
        self, name: str, kind: SpanKind, attributes: Mapping[str, Any], context: SpanContext
    ) -> None:
        super().__init__(context)
        self.name, self.kind = name, kind
        self.attributes = dict(attributes)
        self.status: StatusCode | Status = StatusCode.UNSET
        self.ends = 0

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        self.attributes.update(attributes)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        del description
        self.status = status

    def end(self, end_time: int | None = None) -> None:
        del end_time
        self.ends += 1


class SeenTracer(NoOpTracer):
    """Keeps its spans. With `failing` every one of them fails to begin.

    Each has the next id within `TRACE`, and `state` as its trace state; without an id none.
    """

    def __init__(
        self, *, failing: bool = False, ids: bool = True, state: TraceState | None = None
    ) -> None:
        self.spans: list[SeenSpan] = []
        self.failing = failing
        self.ids = ids
        self.state = state

    def start_span(
        self, name: str, context: Any = None, kind: SpanKind = SpanKind.INTERNAL,
        attributes: Any = None, *_: Any, **__: Any,
    ) -> Span:  # fmt: skip
        del context
        if self.failing:
            raise RuntimeError("hunter2")
        own = SpanContext(TRACE, len(self.spans) + 1, False, TraceFlags(1), self.state)
        self.spans.append(
            SeenSpan(name, kind, attributes, own if self.ids else INVALID_SPAN_CONTEXT)
        )
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
    assert {span.attributes["gen_ai.tool.type"] for span in tracer.spans} == {"function"}


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


async def served(
    directory: Path, server: LoopServer, tracer: Tracer | None, calls: int = 1
) -> list[Message]:
    """Call the tool of a trusted server through a gate; its requests as they arrived."""
    settings = ServerSettings(
        "s", StdioEndpoint("fake"), annotation_trust=AnnotationTrust.TRUST, request_timeout=5
    )
    config = Config(servers=(settings,), state_dir=directory / "state")
    around = Surroundings(environ={}, cwd=directory, connect=lambda _: server.transport(peer="s"))
    async with open_gate(config, surroundings=around, attended=False, tracer=tracer) as gate:
        for _ in range(calls):
            await gate.call("mcp__s__echo", {"a": 1})
    return server.heard("tools/call")


@pytest.mark.parametrize("revisions", [MODERN, LEGACY], ids=["modern", "legacy"])
async def test_a_server_is_handed_the_context_of_the_calls_span(
    tmp_path: Path, revisions: tuple[str, ...]
) -> None:
    """`traceparent` and `tracestate` of that very span in `params._meta`, beside what the revision
    has there; the span says how the request went (SEP-414, conventions for MCP)."""
    tracer = SeenTracer(state=TraceState([("vendor", "v1"), ("other", "v2")]))
    first, second = await served(
        tmp_path, LoopServer(ScriptedServer(revisions=revisions)), tracer, 2
    )
    for number, request in enumerate((first, second), 1):
        meta = request["params"]["_meta"]
        assert meta.pop("traceparent") == f"00-{TRACE:032x}-{number:016x}-01"
        assert meta.pop("tracestate") == "vendor=v1,other=v2"
        assert ("io.modelcontextprotocol/protocolVersion" in meta) == (revisions == MODERN)
        assert bool(meta) == (revisions == MODERN)
        told = tracer.spans[number - 1].attributes
        assert told["mcp.protocol.version"] == revisions[0]
        assert told["network.transport"] == "pipe"
        assert told["jsonrpc.request.id"] == str(request["id"])


@pytest.mark.parametrize("revisions", [MODERN, LEGACY], ids=["modern", "legacy"])
@pytest.mark.parametrize(
    "tracer",
    [None, SeenTracer(ids=False), NoOpTracer(), SeenTracer(failing=True)],
    ids=["none", "without ids", "no-op", "failing"],
)
async def test_without_a_span_the_request_is_as_it_always_was(
    tmp_path: Path, revisions: tuple[str, ...], tracer: Tracer | None
) -> None:
    """No tracer, or one whose spans belong to no trace: not a key more on the wire."""
    [request] = await served(tmp_path, LoopServer(ScriptedServer(revisions=revisions)), tracer)
    meta = request["params"].pop("_meta", {})
    assert request["params"] == {"name": "echo", "arguments": {"a": 1}}
    assert all(key.startswith("io.modelcontextprotocol/") for key in meta)
    assert bool(meta) == (revisions == MODERN)


async def test_a_span_whose_context_can_not_be_had_harms_no_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What fails in a tracer's span is logged by its kind, and the request goes without."""

    class Failing(NonRecordingSpan):
        def get_span_context(self) -> SpanContext:
            raise RuntimeError("hunter2")

    class FailingTracer(NoOpTracer):
        def start_span(self, *_: Any, **__: Any) -> Span:
            return Failing(INVALID_SPAN_CONTEXT)

    [request] = await served(
        tmp_path, LoopServer(ScriptedServer(revisions=LEGACY)), FailingTracer()
    )
    assert "_meta" not in request["params"]
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


async def test_the_error_of_a_server_is_the_type_of_the_spans_error(tmp_path: Path) -> None:
    """Its JSON-RPC code, as the conventions want it; our own kind stands beside it. A result that
    is an error is `tool_error`."""
    tracer = SeenTracer()
    server = LoopServer(ScriptedServer())
    server.on("tools/call", Answer(error={"code": -32602, "message": "hunter2"}), nth=1)
    failed: JsonObject = {"resultType": "complete", "content": [], "isError": True}
    server.on("tools/call", Answer(result=failed), nth=2)
    await served(tmp_path, server, tracer, 2)
    refused, failed_span = (span.attributes for span in tracer.spans)
    assert refused["error.type"] == refused["rpc.response.status_code"] == "-32602"
    assert refused["lockgate.error.kind"] == failed_span["error.type"] == "tool_error"
    assert "rpc.response.status_code" not in failed_span
    assert "hunter2" not in repr(refused)
