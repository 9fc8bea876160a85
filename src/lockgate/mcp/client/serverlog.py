"""What a server says in `notifications/message`, in our log: bounded, visible, without secrets.

Legacy servers send as much as they like until told otherwise; modern ones only if a request asks
for it, which none of ours does (logging is deprecated in 2026-07-28). The logger is this module's,
so that a program can turn it down by name.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final, cast

from lockgate.mcp.client.journal import Journal
from lockgate.showing import looks_secret, masked

logger = logging.getLogger(__name__)

MESSAGE: Final = "notifications/message"
LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
"""Ours for each of theirs (RFC 5424); of any other word INFO."""
BURST: Final = 100
"""Lines of one server that are logged at once."""
RATE: Final = 10.0
"""Lines a second that are logged after that; of the others, how many there were."""

_TEXT: Final = 1000
"""Characters of one text that are looked at; a line shows fewer."""
_MEMBERS: Final = 20
_DEPTH: Final = 3


class ServerLog:
    """Logs the messages of one server."""

    __slots__ = ("_clock", "_journal", "_left_out", "_room", "_seen_at")

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.monotonic) -> None:
        """`journal` knows the server's name and what no line may hold; `clock` gives seconds."""
        self._journal = journal
        self._clock = clock
        self._room = float(BURST)
        self._seen_at = clock()
        self._left_out = 0

    def __call__(self, params: Any) -> None:
        """Log one message; whatever it is, something is said of it."""
        fields = cast("dict[str, Any]", params) if type(params) is dict else {"data": params}
        word = fields.get("level")
        level = LEVELS.get(word, logging.INFO) if isinstance(word, str) else logging.INFO
        if not logger.isEnabledFor(level):
            return
        if not self._has_room():
            self._left_out += 1
            return
        name = fields.get("logger")
        whose = f" ({name[:100]})" if isinstance(name, str) and name else ""
        text = self._journal.cut(f"says{whose}: {_text(fields.get('data'))}")
        missing = f" ({self._left_out} more before this, left out)" if self._left_out else ""
        self._left_out = 0
        logger.log(level, "%s %s%s", self._journal.peer, text, missing)

    def _has_room(self) -> bool:
        now = self._clock()
        self._room = min(float(BURST), self._room + (now - self._seen_at) * RATE)
        self._seen_at = now
        if self._room < 1:
            return False
        self._room -= 1
        return True


def _text(data: Any) -> str:
    """What was said: a text as it is, all else as JSON, in part."""
    if isinstance(data, str):
        return data[:_TEXT]
    return json.dumps(_part(data, _DEPTH), ensure_ascii=False)[:_TEXT]


def _part(value: Any, depth: int) -> Any:
    """The beginning of a value; what stands under a name that usually holds a secret is masked."""
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, dict | list) and not depth:
        return "…"
    if isinstance(value, dict):
        members = islice(cast("dict[str, Any]", value).items(), _MEMBERS)
        return {
            name[:_TEXT]: masked(held) if _hides(name, held) else _part(held, depth - 1)
            for name, held in members
        }
    if isinstance(value, list):
        return [_part(held, depth - 1) for held in cast("list[Any]", value)[:_MEMBERS]]
    return value


def _hides(name: str, held: Any) -> bool:
    return isinstance(held, str) and looks_secret(name[:_TEXT])
