"""Whoever is told how far a call is must not harm it."""

from __future__ import annotations

import logging
from typing import Final

from lockgate.tools.context import ProgressSink

_log: Final = logging.getLogger("lockgate.tools")


def guarded(sink: ProgressSink) -> ProgressSink:
    """`sink`, but a failure of it is logged by its type and goes no further."""

    def told(progress: float, total: float | None, message: str | None) -> None:
        try:
            sink(progress, total, message)
        except Exception as error:  # noqa: BLE001 - whoever watches a call must not break it
            _log.warning("a progress sink failed: %s", type(error).__name__)

    return told
