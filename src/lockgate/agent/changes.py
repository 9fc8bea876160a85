"""What is told of tools and servers that came and went between two turns of a session (S3-18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lockgate.tools.tool import Tool

TOLD: Final = 20
"""Names of one kind that a line has room for."""


class Changes:
    """What the model of one session was shown in its last turn, to tell what differs in the next.

    A turn's tools never change. Names alone are told, which hold nothing but letters, digits and
    dashes: what a server says of a new tool is in the tool's own description.
    """

    def __init__(self) -> None:
        """Nothing was shown yet, so nothing in the first turn is news."""
        self._shown: Sequence[Tool] | None = None
        self._missing: frozenset[str] = frozenset()

    def since(self, shown: Sequence[Tool], missing: Sequence[str]) -> tuple[str, ...]:
        """The lines to be told when a turn begins with these tools `shown` and servers `missing`;
        from now on they are what was shown last."""
        before, self._shown = self._shown, shown
        back, self._missing = self._missing.difference(missing), frozenset(missing)
        if before is None:
            return ()
        lines = [] if before is shown else _told(before, shown)
        if back:
            lines.append(f"There again, after they were not: {_names(sorted(back))}.")
        return tuple(lines)


def _told(before: Sequence[Tool], shown: Sequence[Tool]) -> list[str]:
    was, now = _digests(before), _digests(shown)
    kinds = (
        ("New", [name for name in now if name not in was]),
        ("Gone", [name for name in was if name not in now]),
        ("With another definition", [n for n, d in now.items() if was.get(n, d) != d]),
    )
    told = " ".join(f"{word}: {_names(names)}." for word, names in kinds if names)
    return [f"Your tools have changed since your last turn. {told}"] if told else []


def _digests(tools: Iterable[Tool]) -> Mapping[str, str]:
    return {tool.name: tool.definition.origin.fingerprint.digest for tool in tools}


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(names[:TOLD]) + more
