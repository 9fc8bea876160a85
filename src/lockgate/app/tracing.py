"""Calls as OpenTelemetry spans, for a program that hands its tracer to `lockgate.open`.

Names follow the conventions of OpenTelemetry for GenAI and MCP (semantic-conventions-genai): a
call that goes to a server is the client span `tools/call NAME`, any other, and one that is not
made, the internal span `execute_tool NAME`. What only a gate knows stands under `lockgate.`. No
argument and no text of a result is in a span. A request to a server carries the context of its span
(W3C Trace Context in `_meta`, SEP-414), and no baggage: that may hold anything.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from lockgate.calls.records import DecisionRecord, Ledger, OutcomeRecord
from lockgate.errors import Fate
from lockgate.mcp.client.tools import Carry
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind

_log: Final = logging.getLogger("lockgate.app")
_W3C: Final = TraceContextTextMapPropagator()
"""Keeps nothing. Not the program's own propagators: the protocol has room for these keys alone."""


@dataclass(slots=True)
class _Begun:
    """A span whose call has no outcome yet."""

    span: Span
    code: int | None = None
    """With which the server refused the last request."""


class TracedLedger:
    """A `Ledger` in front of another: a span begins when the decision has been written, and ends
    with the outcome. What fails in the tracer is logged and harms no call.

    It is the `CallTracing` of the servers' tools too.
    """

    def __init__(self, ledger: Ledger, tracer: Tracer) -> None:
        self._ledger = ledger
        self._tracer = tracer
        self._open: dict[tuple[str, str], _Begun] = {}

    def decision(self, record: DecisionRecord) -> None:
        """Write the record, then begin its span; the span of a call that is not made ends here.

        Raises what the ledger raises, and there is no span then.
        """
        self._ledger.decision(record)
        try:
            self._began(record)
        except Exception as error:  # noqa: BLE001 - a tracer never harms a call
            _log.warning("a span could not be begun: %s", type(error).__name__)

    def outcome(self, record: OutcomeRecord) -> None:
        """Write the record and end its span, whether it could be written or not."""
        try:
            self._ledger.outcome(record)
        finally:
            begun = self._open.pop((record.execution, record.call), None)
            if begun is not None:
                try:
                    _ended(begun, record)
                except Exception as error:  # noqa: BLE001 - a tracer never harms a call
                    _log.warning("a span could not be ended: %s", type(error).__name__)

    def close(self) -> None:
        """End the spans of calls that have no outcome: nobody knows theirs. Idempotent."""
        while self._open:
            _, begun = self._open.popitem()
            try:
                _failed(begun.span, ErrorKind.OUTCOME_UNKNOWN.value, Fate.UNKNOWN.value)
                begun.span.end()
            except Exception as error:  # noqa: BLE001 - the others are ended
                _log.warning("a span could not be ended: %s", type(error).__name__)

    def carrier(self, context: ToolContext, revision: str, network: str) -> Carry | None:
        """What the requests of a call carry: the context of its span; see `CallTracing`."""
        begun = self._open.get((context.execution.id, context.call_id))
        if begun is None:
            return None

        def carry(request: int) -> Mapping[str, str] | None:
            carried: dict[str, str] = {}
            begun.code = None
            try:
                if begun.span.get_span_context().is_valid:
                    _W3C.inject(carried, set_span_in_context(begun.span))
                begun.span.set_attributes(
                    {
                        "mcp.protocol.version": revision,
                        "network.transport": network,
                        "jsonrpc.request.id": str(request),
                    }
                )
            except Exception as error:  # noqa: BLE001 - a tracer never harms a call
                _log.warning("a span could not be handed on: %s", type(error).__name__)
            return carried or None

        return carry

    def refused(self, context: ToolContext, code: int) -> None:
        """Note the code with which a server refused the call's last request."""
        begun = self._open.get((context.execution.id, context.call_id))
        if begun is not None:
            begun.code = code

    def _began(self, record: DecisionRecord) -> None:
        runs = record.decision == "run"
        sent = runs and record.server is not None
        attributes: dict[str, str | bool] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": record.tool,
            "gen_ai.tool.call.id": record.call,
            "lockgate.decision": record.decision,
            "lockgate.execution.id": record.execution,
        }
        if sent:
            attributes["mcp.method.name"] = "tools/call"
        else:
            attributes["gen_ai.tool.type"] = "function"
        for name, value in (
            ("gen_ai.conversation.id", record.session),
            ("lockgate.server", record.server),
            ("lockgate.level", record.level),
            ("lockgate.destructive", record.destructive),
            ("lockgate.approver", record.approver),
            ("lockgate.reason", record.reasons[0].code if record.reasons else None),
        ):
            if value is not None:
                attributes[name] = value
        span = self._tracer.start_span(
            f"{'tools/call' if sent else 'execute_tool'} {record.tool}",
            kind=SpanKind.CLIENT if sent else SpanKind.INTERNAL,
            attributes=attributes,
        )
        if runs:
            self._open[(record.execution, record.call)] = _Begun(span)
            return
        if record.decision == "refuse":
            _failed(span, record.kind or ErrorKind.INTERNAL.value, Fate.NOT_SENT.value)
        span.end()


def _ended(begun: _Begun, record: OutcomeRecord) -> None:
    span = begun.span
    span.set_attribute("lockgate.attempts", record.attempts)
    if record.is_error:
        kind = record.kind or record.reason or ErrorKind.TOOL_ERROR.value
        _failed(span, kind, record.fate, begun.code)
    else:
        span.set_attribute("lockgate.fate", record.fate)
    span.end()


def _failed(span: Span, kind: str, fate: str, code: int | None = None) -> None:
    """`code` is the server's own, which the conventions want in the place of the kind."""
    if code is not None:
        span.set_attribute("rpc.response.status_code", str(code))
    span.set_attribute("error.type", kind if code is None else str(code))
    span.set_attribute("lockgate.error.kind", kind)
    span.set_attribute("lockgate.fate", fate)
    span.set_status(StatusCode.ERROR, kind)
