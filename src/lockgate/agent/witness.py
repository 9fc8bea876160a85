"""A ledger that also tells whoever watches an execution what was decided, once it is written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

from lockgate.calls.records import DecisionRecord, Ledger

OnDecision: TypeAlias = Callable[[DecisionRecord], None]

_log: Final = logging.getLogger(__name__)


class Witness:
    """A `Ledger` in front of another: what it tells has been written down before.

    So what a person is shown of a decision is the record itself, not a second account of it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.outcome = ledger.outcome
        """Handed on as it is."""
        self._watchers: dict[str, OnDecision] = {}

    def decision(self, record: DecisionRecord) -> None:
        """Write the record, then tell. Raises what the ledger raises, and nothing is told then."""
        self._ledger.decision(record)
        watcher = self._watchers.get(record.execution) if self._watchers else None
        if watcher is not None:
            try:
                watcher(record)
            except Exception as error:  # noqa: BLE001 - a watcher never harms a call
                _log.warning("a watcher of decisions failed: %s", type(error).__name__)

    @contextmanager
    def watching(self, execution: str, told: OnDecision) -> Generator[None]:
        """Within the block `told` hears each decision about a call of `execution`.

        One watcher for each execution; the id of an execution is never used twice.
        """
        self._watchers[execution] = told
        try:
            yield
        finally:
            self._watchers.pop(execution, None)
