"""What a scripted server wrote down: proof that a call arrived, or that it never did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOOK = 0.005
"""Seconds between two looks at the file, which another process writes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened in a server."""

    event: str
    """`start`, `call`, `received` (any other message), `reply`, `garbage`, `spawned`, `signal`,
    `eof`."""
    server: str
    pid: int
    facts: Mapping[str, Any]
    """Of a call `id`, `tool`, `arguments`; of a message `method`, `params`; of a reply `message`;
    of garbage its `size`; of a spawned process its pid as `grandchild`."""


class ServerLedger:
    """The file that a `ScriptedServer` was given as `ledger`; several servers may share one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self, event: str | None = None) -> tuple[Entry, ...]:
        """What has happened until now, in order; only one kind of it if `event` is given."""
        if not self.path.exists():
            return ()
        found: list[Entry] = []
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")  # the last may be under way
        for line in whole.splitlines():
            facts: dict[str, Any] = json.loads(line)
            entry = Entry(facts.pop("event"), facts.pop("server"), facts.pop("pid"), facts)
            if event in (None, entry.event):
                found.append(entry)
        return tuple(found)

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the tools that were called, in order."""
        return tuple(entry.facts["tool"] for entry in self.entries("call"))

    async def wait_for(self, event: str, *, count: int = 1, timeout: float = 10) -> Entry:
        """Wait until something has happened `count` times; that entry. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while len(found := self.entries(event)) < count:  # noqa: ASYNC110 - files do not tell
                await asyncio.sleep(LOOK)
        return found[count - 1]
