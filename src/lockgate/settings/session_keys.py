"""The `sessions` section: whether what was said in a session is kept, how long, and how much."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from lockgate.settings.audit_keys import DAY, Age, Size
from lockgate.settings.kinds import scalar_text
from lockgate.settings.nodes import Node
from lockgate.settings.reading import MISSING, At, Key, Missing, Section

MAX_COUNT: Final = 100_000
NEVER: Final = 0.0
"""The age of sessions that are not kept at all."""

_COUNT: Final = re.compile(r"[1-9][0-9]{0,5}")
_COUNT_HINT: Final = f"write a number from 1 to {MAX_COUNT}"
_AGE: Final = Age("hours or days | forever | never", forever=True)


class KeptAge(msgspec.Struct, frozen=True):
    """An `Age` that may also be `never`, which is 0."""

    words: str = _AGE.words

    def read(self, node: Node, at: At) -> float | Missing | None:
        """The seconds."""
        found = scalar_text(node, at, wanted="an age, forever or never")
        if isinstance(found, Missing):
            return MISSING
        return NEVER if found[0] == "never" else _AGE.read(node, at)

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


class Count(msgspec.Struct, frozen=True):
    """A number of things, at least one."""

    words: str = "number"

    def read(self, node: Node, at: At) -> int | Missing:
        """The number."""
        found = scalar_text(node, at, wanted="a number", hint=_COUNT_HINT)
        if isinstance(found, Missing):
            return MISSING
        if not _COUNT.fullmatch(found[0]) or int(found[0]) > MAX_COUNT:
            return at.fault(node, f"{found[0][:40]!r} is no usable number", _COUNT_HINT)
        return int(found[0])

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


SESSIONS: Final = Section(
    "sessions",
    "What was said in the sessions of agents, kept for `lockgate run --resume`: prompts, replies,"
    " calls with their arguments and results, in plain text in your own state directory.",
    (
        Key(
            "keep",
            KeptAge(),
            30 * DAY,
            "30d",
            "How long after it was last used a session is kept. `never`: nothing is written down.",
        ),
        Key(
            "maxCount",
            Count(),
            200,
            "200",
            "So many are kept; the one that was longest not used is removed first.",
        ),
        Key(
            "maxBytes",
            Size(),
            256 * 1024**2,
            "256MiB",
            "So much is kept of all together, and of one. Looked at when a session begins; one that"
            " has reached it takes no further prompt.",
        ),
    ),
)
