"""What is told of tools and servers that came and went between two turns of a session (S3-18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from lockgate.tools.tool import Tool

TOLD: Final = 20
"""Names of one kind that a line has room for."""
TELLING: Final = 16
"""Characters of a digest by which a change is noticed; nothing is decided by them."""


class _Seen(msgspec.Struct, forbid_unknown_fields=True):
    """What a kept session notes of its last turn."""

    tools: dict[str, str] = {}
    missing: tuple[str, ...] = ()


class Changes:
    """What the model of one session was shown in its last turn, to tell what differs in the next.

    A turn's tools never change. Names alone are told, which hold nothing but letters, digits and
    dashes: what a server says of a new tool is in the tool's own description.
    """

    def __init__(self, seen: bytes | None = None) -> None:
        """With `seen`, what `news` gave in an earlier process, the session goes on from there;
        otherwise nothing was shown yet, and nothing in the first turn is news."""
        self._shown: Sequence[Tool] | None = None
        self._before: Mapping[str, str] | None = None
        self._missing: frozenset[str] = frozenset()
        self._noted: tuple[Sequence[Tool] | None, frozenset[str]] | None = None
        if seen is not None:
            with suppress(msgspec.DecodeError, ValueError):  # then nothing of it is known
                kept = msgspec.json.decode(seen, type=_Seen)
                self._before, self._missing = kept.tools, frozenset(kept.missing)

    def since(self, shown: Sequence[Tool], missing: Sequence[str]) -> tuple[str, ...]:
        """The lines to be told when a turn begins with these tools `shown` and servers `missing`;
        from now on they are what was shown last."""
        lines: list[str] = []
        if shown is not self._shown:
            before = self._before if self._shown is None else _digests(self._shown)
            self._shown = shown
            lines = [] if before is None else _told(before, _digests(shown))
        back, self._missing = self._missing.difference(missing), frozenset(missing)
        if back:
            lines.append(f"There again, after they were not: {_names(sorted(back))}.")
        return tuple(lines)

    def news(self) -> bytes | None:
        """What was shown last, for `seen`; None if it is what was given the last time."""
        noted = self._shown, self._missing
        if self._noted is not None and self._noted[0] is noted[0] and self._noted[1] == noted[1]:
            return None
        self._noted = noted
        seen = _Seen(dict(_digests(self._shown or ())), tuple(sorted(self._missing)))
        return msgspec.json.encode(seen)


def _told(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    kinds = (
        ("New", [name for name in now if name not in was]),
        ("Gone", [name for name in was if name not in now]),
        ("With another definition", [n for n, d in now.items() if was.get(n, d) != d]),
    )
    told = " ".join(f"{word}: {_names(names)}." for word, names in kinds if names)
    return [f"Your tools have changed since your last turn. {told}"] if told else []


def _digests(tools: Iterable[Tool]) -> Mapping[str, str]:
    return {tool.name: tool.definition.origin.fingerprint.digest[:TELLING] for tool in tools}


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(names[:TOLD]) + more
