"""What is written of every call: a decision before anything is sent, an outcome after (B-02)."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from lockgate.decision import Reason

ReasonRecord: TypeAlias = Reason
"""A reason is written down as it is."""


class DecisionRecord(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename="camel",
    tag_field="record",
    tag="decision",
    omit_defaults=True,
):
    """What was decided about one call, and why. Holds no argument values unless the operator has
    turned that on. What is None is not written."""

    call: str
    time: float
    """Unix time, seconds."""
    entry: str
    execution: str
    tool: str
    """As registered; as the caller wrote it when no such tool is."""
    decision: Literal["run", "refuse", "suspend"]
    reasons: tuple[ReasonRecord, ...]
    arguments_digest: str
    session: str | None = None
    principal: str | None = None
    parent_call: str | None = None
    server: str | None = None
    fingerprint: str | None = None
    level: str | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    ruling: str | None = None
    approver: str | None = None
    approved: bool | None = None
    scope: str | None = None
    kind: str | None = None
    """The error kind, when refused."""
    reason: str | None = None
    ticket: str | None = None
    arguments: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """As `calls.redaction.redacted` leaves them; only with `audit.content`."""
    agent: str | msgspec.UnsetType = msgspec.UNSET
    """The sub-agent, skill or hook whose call it is; absent for others."""

    def __repr__(self) -> str:
        return f"<DecisionRecord {self.decision} {self.tool} {self.call}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """What `rich` shows: as `repr`, never the arguments."""
        return [("decision", self.decision), ("tool", self.tool), ("call", self.call)]


class OutcomeRecord(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename="camel",
    tag_field="record",
    tag="outcome",
    omit_defaults=True,
):
    """What came of a call whose decision was `run`. What is None is not written."""

    call: str
    time: float
    is_error: bool
    fate: str
    duration: float
    """Seconds from the decision record to the result."""
    attempts: int
    kind: str | None = None
    reason: str | None = None
    execution: str = ""
    """Of the decision it belongs to: a call id is unique within its execution."""
    hooks: tuple[ReasonRecord, ...] | msgspec.UnsetType = msgspec.UNSET
    """What hooks did afterwards to what the model is shown; absent where they did nothing."""


class AskedRecord(
    msgspec.Struct, frozen=True, gc=False, rename="camel", tag_field="record", tag="asked"
):
    """What a server asked this side for, and what it was told. Holds nothing that was asked or
    answered: neither words nor values."""

    time: float
    """Unix time of the answer, seconds."""
    server: str
    mode: Literal["form", "address", "sampling"]
    action: Literal["accept", "decline", "cancel", "refuse", "withdrawn", "failed"]
    """What a person did; `refuse` without them; `withdrawn` when the question was over before its
    answer."""
    reason: str | None = None
    """A code: `secret`, `too_many`, `expired`, `limit`, ..."""
    tool: str | None = None
    """Its original name; None where it can not be told in which call the server asks."""
    call: str | None = None
    host: str | None = None
    """Of an address that was to be opened."""
    model: str | None = None
    """That completed something."""
    tokens: int | None = None
    """That it used."""


class Questions(Protocol):
    """Where records of what servers ask go."""

    def asked(self, record: AskedRecord) -> None:
        """Returns when the record has left the process. Raises OSError if it can not be written;
        the server is then told nothing."""
        ...


class Ledger(Protocol):
    """Where records go. Both calls return only when the record has left the process."""

    def decision(self, record: DecisionRecord) -> None:
        """Raises OSError if it can not be written; a MUTATING call is then refused."""
        ...

    def outcome(self, record: OutcomeRecord) -> None:
        """Raises OSError if it can not be written."""
        ...
