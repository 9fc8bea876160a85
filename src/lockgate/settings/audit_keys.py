"""The `audit` section: what is written of a call, and how long it is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lockgate.settings.kinds import Switch, scalar_text
from lockgate.settings.nodes import Node
from lockgate.settings.reading import MISSING, At, Key, Missing, Section

DAY: Final = 86_400.0
MAX_DAYS: Final = 36_500
MIN_BYTES: Final = 4096
MAX_BYTES: Final = 1024**4

_SIZE: Final = re.compile(r"([0-9]{1,13})(KiB|MiB|GiB)?")
_FACTOR: Final[Mapping[str, int]] = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_SIZE_HINT: Final = "write 64MiB, 512KiB or a number of bytes; from 4KiB to 1024GiB"
_AGE: Final = re.compile(r"([0-9]{1,7})(h|d)")
_AGE_HINT: Final = f"write 12h or 90d; over 0 and at most {MAX_DAYS}d"


class Size(msgspec.Struct, frozen=True):
    """A number of bytes, from `64MiB`, `512KiB` or the number itself."""

    words: str = "size"

    def read(self, node: Node, at: At) -> int | Missing:
        """The bytes."""
        found = scalar_text(node, at, wanted="a size", hint=_SIZE_HINT)
        if isinstance(found, Missing):
            return MISSING
        match = _SIZE.fullmatch(found[0])
        size = int(match[1]) * _FACTOR[match[2] or ""] if match else 0
        if not MIN_BYTES <= size <= MAX_BYTES:
            return at.fault(node, f"{found[0][:40]!r} is no usable size", _SIZE_HINT)
        return size

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


class Age(msgspec.Struct, frozen=True):
    """Seconds, from `12h` or `90d`; None from `forever` where that is possible."""

    words: str
    forever: bool

    def read(self, node: Node, at: At) -> float | Missing | None:
        """The seconds."""
        hint = f"{_AGE_HINT}, or forever" if self.forever else _AGE_HINT
        found = scalar_text(node, at, wanted="an age", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        if self.forever and found[0] == "forever":
            return None
        match = _AGE.fullmatch(found[0])
        seconds = int(match[1]) * (DAY if match[2] == "d" else 3600.0) if match else 0.0
        if not 0 < seconds <= MAX_DAYS * DAY:
            return at.fault(node, f"{found[0][:40]!r} is no usable age", hint)
        return seconds

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


AUDIT: Final = Section(
    "audit",
    "The record of every call. It can not be switched off.",
    (
        Key(
            "content",
            Switch(),
            False,
            "false",
            "Whether decisions also hold the values of arguments. Values under names that look"
            " like secrets are masked even then, and long texts are cut.",
        ),
        Key(
            "maxSegmentBytes",
            Size(),
            64 * 1024**2,
            "64MiB",
            "A file of records of this size takes no further record; another one is begun.",
        ),
        Key(
            "maxSegmentAge",
            Age("hours or days", forever=False),
            DAY,
            "1d",
            "So long after its first record, too.",
        ),
        Key(
            "keep",
            Age("hours or days | forever", forever=True),
            90 * DAY,
            "90d",
            "How long after its last record a file may be deleted. One that a process writes is"
            " never deleted.",
        ),
    ),
)
