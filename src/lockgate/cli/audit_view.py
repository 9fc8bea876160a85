"""How a call of the audit log is shown: as a row, in full, and as data."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lockgate.calls.records import AskedRecord
from lockgate.showing import quoted, visible
from lockgate.stores.audit_reader import AuditedCall

HEAD = ("CALL", "TIME", "TOOL", "DECISION", "WHY", "OUTCOME")


def row(call: AuditedCall, *, running: bool = False) -> tuple[str, ...]:
    """The cells under `HEAD`; `running`: a call without an outcome may still have one."""
    decided = call.decision
    return (
        decided.call,
        _local(decided.time).strftime("%Y-%m-%d %H:%M:%S"),
        _tool(call),
        decided.decision,
        decided.approver or (decided.reasons[0].code if decided.reasons else ""),
        "running" if running and _is_open(call) else _outcome(call),
    )


def line(call: AuditedCall) -> str:
    """One line of a log that is followed."""
    cells = [visible(cell) for cell in row(call, running=True)]
    name, when, tool, decision, why, outcome = cells
    return f"{when}  {decision:<8}  {outcome:<24}  {tool}  ({why})  {name}"


def details(call: AuditedCall, asked: Sequence[AskedRecord] = ()) -> Iterator[tuple[str, str]]:
    """Everything the two records say, and what the server `asked` meanwhile: names and values, one
    line each."""
    decided = call.decision
    yield "call", decided.call
    yield "decided", _local(decided.time).isoformat(timespec="milliseconds")
    yield "tool", f"{decided.tool}{f' (server {decided.server})' if decided.server else ''}"
    yield "may", _may(call)
    yield "decision", decided.decision
    for reason in decided.reasons:
        source = f" [{reason.source}]" if reason.source else ""
        yield "because", f"{reason.code}: {reason.text}{source}"
    if decided.approver is not None:
        answer = "yes" if decided.approved else "no"
        yield "answer", f"{answer}, by {decided.approver}, for: {decided.scope}"
    if decided.ticket is not None:
        yield "ticket", decided.ticket
    for question in asked:
        yield "asked", _question(question)
    yield "outcome", _outcome(call)
    if call.outcome is not None:
        attempts = call.outcome.attempts
        yield "took", f"{call.outcome.duration:.3f} s, {attempts} attempt{'s'[: attempts != 1]}"
        for reason in call.outcome.hooks or ():
            yield "then", f"{reason.code}: {reason.text}"
    elif _is_open(call):
        yield "", "The process ended in the middle of the call, or is still at it."
    yield "fate", call.fate
    yield "arguments", f"digest {decided.arguments_digest or 'none'}"
    if isinstance(decided.arguments, dict):
        for name, value in decided.arguments.items():
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            yield f"  {name}", quoted(text) if isinstance(value, str) else text
    yield "execution", f"{decided.execution} (by {decided.entry})"
    if isinstance(decided.agent, str):
        yield "agent", decided.agent
    for label, text in (
        ("session", decided.session),
        ("principal", decided.principal),
        ("inside call", decided.parent_call),
        ("definition", decided.fingerprint),
    ):
        if text is not None:
            yield label, text
    yield "record", call.segment.name


def data(
    call: AuditedCall, *, running: bool = False, asked: Sequence[AskedRecord] | None = None
) -> dict[str, Any]:
    """The two records, what they come to, and what the server asked, where that was looked up."""
    still = running and _is_open(call)
    questions = {} if asked is None else {"asked": [msgspec.to_builtins(each) for each in asked]}
    return {
        "call": call.decision.call,
        "kind": None if still else call.kind,
        "fate": None if still else call.fate,
        "decision": msgspec.to_builtins(call.decision),
        "outcome": None if call.outcome is None else msgspec.to_builtins(call.outcome),
        "segment": call.segment.name,
        **questions,
    }


def _tool(call: AuditedCall) -> str:
    """The tool, and the sub-agent, skill or hook whose call it is."""
    tool, agent = call.decision.tool, call.decision.agent
    return f"{tool} (by {agent})" if isinstance(agent, str) else tool


def _is_open(call: AuditedCall) -> bool:
    return call.outcome is None and call.decision.decision == "run"


def _outcome(call: AuditedCall) -> str:
    """In a word or two: `done, 12 ms`, an error kind, or `waits` under a ticket."""
    if call.decision.decision == "suspend":
        return "waits"
    if call.outcome is None:
        kind, reason = call.kind, call.decision.reason
    else:
        kind, reason = call.kind, call.outcome.reason
        if kind is None and not call.outcome.is_error:
            return f"done, {call.outcome.duration * 1000:.0f} ms"
    words = kind or reason or "failed"
    return f"{words} ({reason})" if kind and reason and reason != kind else words


def _question(record: AskedRecord) -> str:
    """One question of the server's: in which way, and what came of it."""
    about = f" at {record.host}" if record.host else f" of {record.model}" if record.model else ""
    why = f" ({record.reason})" if record.reason else ""
    return f"{record.mode}{about}, by {record.server}: {record.action}{why}"


def _may(call: AuditedCall) -> str:
    decided = call.decision
    if decided.level is None:
        return "no such tool"
    words = [decided.level]
    if decided.destructive:
        words.append("destructive")
    if decided.idempotent:
        words.append("idempotent")
    return f"{', '.join(words)} ({decided.ruling})"


def _local(time: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(time, datetime.UTC).astimezone()
