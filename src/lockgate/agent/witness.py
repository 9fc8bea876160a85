"""A ledger that also tells whoever watches an execution what is written of its calls."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias, TypeVar

from lockgate.calls.records import DecisionRecord, Ledger, OutcomeRecord

OnDecision: TypeAlias = Callable[[DecisionRecord], None]
OnOutcome: TypeAlias = Callable[[OutcomeRecord], None]

_log: Final = logging.getLogger(__name__)


class Witness:
    """A `Ledger` in front of another: what it tells has been written down before.

    So what a person is shown of a decision is the record itself, not a second account of it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._watchers: dict[str, tuple[OnDecision, OnOutcome | None]] = {}

    def decision(self, record: DecisionRecord) -> None:
        """Write the record, then tell. Raises what the ledger raises, and nothing is told then."""
        self._ledger.decision(record)
        watcher = self._watchers.get(record.execution) if self._watchers else None
        if watcher is not None:
            _tell(watcher[0], record)

    def outcome(self, record: OutcomeRecord) -> None:
        """The same for what came of a call."""
        self._ledger.outcome(record)
        watcher = self._watchers.get(record.execution) if self._watchers else None
        if watcher is not None and watcher[1] is not None:
            _tell(watcher[1], record)

    @contextmanager
    def watching(
        self, execution: str, decided: OnDecision, ended: OnOutcome | None = None
    ) -> Generator[None]:
        """Within the block `decided` hears each decision about a call of `execution`, and `ended`
        each outcome.

        One watcher for each execution; the id of an execution is never used twice.
        """
        self._watchers[execution] = decided, ended
        try:
            yield
        finally:
            self._watchers.pop(execution, None)


_Record = TypeVar("_Record", DecisionRecord, OutcomeRecord)


def _tell(watcher: Callable[[_Record], None], record: _Record) -> None:
    try:
        watcher(record)
    except Exception as error:  # noqa: BLE001 - a watcher never harms a call
        _log.warning("a watcher of records failed: %s", type(error).__name__)
