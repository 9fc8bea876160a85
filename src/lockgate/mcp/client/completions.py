"""Addresses that a legacy server says later are over, by the ids that it gave them.

2025-11-25, client/elicitation: what is said of an id that is not known, or was said before, is
ignored. The ids are a stranger's, so only the newest are kept.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

MAX_OPEN: Final = 100
"""Ids that are kept."""


class Completions:
    """What one server has said to be over."""

    def __init__(self) -> None:
        self._over: dict[str, asyncio.Event] = {}

    def of(self, id: str) -> asyncio.Event:
        """Set once the server says that what has this id is over."""
        event = self._over.get(id)
        if event is None:
            while len(self._over) >= MAX_OPEN:
                del self._over[next(iter(self._over))]
            event = self._over[id] = asyncio.Event()
        return event

    def completed(self, params: Any) -> None:
        """The server says so: decoded params, however odd."""
        fields = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        id = fields.get("elicitationId")
        event = self._over.get(id) if isinstance(id, str) else None
        if event is not None:
            event.set()
