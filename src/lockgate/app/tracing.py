"""Calls as OpenTelemetry spans, for a program that hands its tracer to `lockgate.open`.

Names follow the conventions of OpenTelemetry for GenAI and MCP (semantic-conventions-genai): a
call that goes to a server is the client span `tools/call NAME`, any other, and one that is not
made, the internal span `execute_tool NAME`. What only a gate knows stands under `lockgate.`. No
argument and no text of a result is in a span. A server is not told of the trace.
"""

from __future__ import annotations

import logging
from typing import Final

from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

from lockgate.calls.records import DecisionRecord, Ledger, OutcomeRecord
from lockgate.errors import Fate
from lockgate.tools.result import ErrorKind

_log: Final = logging.getLogger("lockgate.app")


class TracedLedger:
    """A `Ledger` in front of another: a span begins when the decision has been written, and ends
    with the outcome. What fails in the tracer is logged and harms no call."""

    def __init__(self, ledger: Ledger, tracer: Tracer) -> None:
        self._ledger = ledger
        self._tracer = tracer
        self._open: dict[tuple[str, str], Span] = {}

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
            span = self._open.pop((record.execution, record.call), None)
            if span is not None:
                try:
                    _ended(span, record)
                except Exception as error:  # noqa: BLE001 - a tracer never harms a call
                    _log.warning("a span could not be ended: %s", type(error).__name__)

    def close(self) -> None:
        """End the spans of calls that have no outcome: nobody knows theirs. Idempotent."""
        while self._open:
            _, span = self._open.popitem()
            try:
                _failed(span, ErrorKind.OUTCOME_UNKNOWN.value, Fate.UNKNOWN.value)
                span.end()
            except Exception as error:  # noqa: BLE001 - the others are ended
                _log.warning("a span could not be ended: %s", type(error).__name__)

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
            self._open[(record.execution, record.call)] = span
            return
        if record.decision == "refuse":
            _failed(span, record.kind or ErrorKind.INTERNAL.value, Fate.NOT_SENT.value)
        span.end()


def _ended(span: Span, record: OutcomeRecord) -> None:
    span.set_attribute("lockgate.attempts", record.attempts)
    if record.is_error:
        _failed(span, record.kind or record.reason or ErrorKind.TOOL_ERROR.value, record.fate)
    else:
        span.set_attribute("lockgate.fate", record.fate)
    span.end()


def _failed(span: Span, kind: str, fate: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_attribute("lockgate.fate", fate)
    span.set_status(StatusCode.ERROR, kind)
