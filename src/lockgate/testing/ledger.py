"""A ledger in memory, for tests that read back what was decided and what became of it."""

from __future__ import annotations

from lockgate.calls.records import DecisionRecord, OutcomeRecord


class MemoryLedger:
    """Keeps every record. Set `failing` to have it refuse, as a full disk does."""

    def __init__(self) -> None:
        self.records: list[DecisionRecord | OutcomeRecord] = []
        """In the order in which they were made."""
        self.failing: OSError | None = None

    def decision(self, record: DecisionRecord) -> None:
        self._keep(record)

    def outcome(self, record: OutcomeRecord) -> None:
        self._keep(record)

    @property
    def decisions(self) -> list[DecisionRecord]:
        """The decision records alone."""
        return [record for record in self.records if isinstance(record, DecisionRecord)]

    @property
    def outcomes(self) -> list[OutcomeRecord]:
        """The outcome records alone."""
        return [record for record in self.records if isinstance(record, OutcomeRecord)]

    def _keep(self, record: DecisionRecord | OutcomeRecord) -> None:
        if self.failing is not None:
            raise self.failing
        self.records.append(record)
