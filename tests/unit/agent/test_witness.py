"""The ledger that tells who watches."""

from __future__ import annotations

import pytest

from lockgate.agent.witness import Witness
from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.testing.ledger import MemoryLedger


def _decision(execution: str) -> DecisionRecord:
    return DecisionRecord("call", 0.0, "agent", execution, "tool", "run", (), "digest")


def test_a_decision_is_written_before_it_is_told() -> None:
    """What a person is shown is the record."""
    ledger = MemoryLedger()
    witness = Witness(ledger)
    seen: list[tuple[DecisionRecord, int]] = []
    with witness.watching("mine", lambda record: seen.append((record, len(ledger.records)))):
        witness.decision(_decision("mine"))
        witness.decision(_decision("other"))
    witness.decision(_decision("mine"))
    assert seen == [(_decision("mine"), 1)]
    assert len(ledger.decisions) == 3


def test_what_could_not_be_written_is_not_told() -> None:
    """The ledger's failure passes on, for a call without a record is not made (B-02)."""
    ledger = MemoryLedger()
    ledger.failing = OSError("disk full")
    witness = Witness(ledger)
    seen: list[DecisionRecord] = []
    with (
        witness.watching("mine", seen.append),
        pytest.raises(OSError, match="disk full"),
    ):
        witness.decision(_decision("mine"))
    assert seen == []


def test_a_failing_watcher_harms_no_call() -> None:
    """The record stands, nothing is raised."""
    ledger = MemoryLedger()
    witness = Witness(ledger)

    def fail(record: DecisionRecord) -> None:
        raise ValueError("broken")

    with witness.watching("mine", fail):
        witness.decision(_decision("mine"))
    assert len(ledger.decisions) == 1


def test_outcomes_pass_through() -> None:
    """They are written and nobody else is told."""
    ledger = MemoryLedger()
    record = OutcomeRecord("call", 0.0, False, "answered", 0.1, 1)
    Witness(ledger).outcome(record)
    assert ledger.outcomes == [record]
