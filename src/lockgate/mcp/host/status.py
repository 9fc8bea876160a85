"""How every server is doing, and what came of starting them all."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from lockgate.errors import Fault
from lockgate.mcp.host.reconnect import Circuit
from lockgate.showing import visible

BRIEF = 400
"""Characters of a reason in brief."""


class ServerState(enum.Enum):
    """Where a server is."""

    CONNECTING = "connecting"
    """Being spawned, agreed with and listed; also before that."""
    READY = "ready"
    """Connected; its tools are registered."""
    RECONNECTING = "reconnecting"
    """It was lost, and comes back by itself as soon as it can. Its tools stay registered and answer
    not_connected meanwhile."""
    FAILED = "failed"
    """It did not start, or was lost and is not brought back. Tools of a lost one stay and answer
    not_connected."""
    CLOSED = "closed"
    """Closed by us, in good order."""
    LAST_SEEN = "last-seen"
    """Not started: the tools that it had when it was last there are registered, and answer
    not_connected."""

    @property
    def has_tools(self) -> bool:
        """Whether what it lists, or listed, is registered."""
        return self in (ServerState.READY, ServerState.RECONNECTING, ServerState.LAST_SEEN)

    @property
    def is_missing(self) -> bool:
        """Whether the server should be there, and is not."""
        return self is ServerState.FAILED or self is ServerState.RECONNECTING


class LeftOutTool(msgspec.Struct, frozen=True):
    """A tool of a server that is not registered."""

    tool: str
    """Its original name, or its place in the list if it has none."""
    reason: str


class ServerStatus(msgspec.Struct, frozen=True):
    """One server at one moment."""

    name: str
    state: ServerState
    required: bool
    transport: str
    """A short name of what it is reached by, without secrets."""
    reason: str | None = None
    """Why it failed, with the end of its standard error where that may help: several lines, in
    which no configured secret is. None otherwise."""
    fault: Fault | None = None
    """What kind of failure that is."""
    seconds: float = 0.0
    """From the start until it was ready, or had failed; until now while it is connecting."""
    seconds_to_connect: float | None = None
    """Of that, spawning and agreeing; the rest is reading its list of tools."""
    revision: str | None = None
    """The protocol revision that is spoken."""
    era: str | None = None
    """`legacy` or `modern`."""
    server: str | None = None
    """How it names itself, with its version."""
    tools: tuple[str, ...] = ()
    """Registered names, in the server's order."""
    left_out: tuple[LeftOutTool, ...] = ()
    changed: tuple[str, ...] = ()
    """Tools that are not what was pinned, each with the fields in which it differs; those that are
    left out for it among them."""
    remarks: tuple[str, ...] = ()
    """What is odd about the server, its list or what is configured for it; one sentence each."""
    seen: float | None = None
    """Of one that is LAST_SEEN: when that was, in seconds since 1970."""
    generation: int = 0
    """How many connections it was used on; 0 before the first. Each new one raises it (S3-17)."""
    tries: int = 0
    """Connections in a row that failed or did not last; 0 while it is there."""
    next_try: float | None = None
    """Seconds until it is tried again; None if no try is waited for."""
    circuit: Circuit = Circuit.CLOSED
    """OPEN: it failed so often that it is left alone for a while; HALF_OPEN: it has one try."""
    stale: str | None = None
    """Why its list of tools could not be read again; the last good one counts. None if it could."""

    @property
    def change(self) -> str | None:
        """One sentence about tools that are not what was pinned; None if all are."""
        if not self.changed:
            return None
        told = visible("; ".join(self.changed))
        told = told if len(told) <= BRIEF else f"{told[:BRIEF]} ..."
        what = f"MCP server {self.name}: tools changed since they were pinned: {told}"
        return f"{what}. To see how: lockgate pins diff {self.name}"

    @property
    def brief(self) -> str | None:
        """The reason on one line that fits into a sentence; None if there is none."""
        return None if self.reason is None else in_brief(self.reason)


class StartReport(msgspec.Struct, frozen=True):
    """What came of starting every configured server (S3-10, B-07)."""

    servers: tuple[ServerStatus, ...]
    """In the order of the configuration."""
    unreachable: tuple[str, ...] = ()
    """One sentence for each required server that did not start."""
    missing: tuple[str, ...] = ()
    """One sentence for each expected tool that a server which did start has not got."""

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the servers that did not start."""
        return tuple(s.name for s in self.servers if not s.state.has_tools)

    @property
    def errors(self) -> Mapping[str, str]:
        """By name of each server that did not start: why, in brief."""
        return {s.name: s.brief or s.state.value for s in self.servers if not s.state.has_tools}


def in_brief(reason: str) -> str:
    """What happened and the last that was said, on one line of at most `BRIEF` characters."""
    first, *others = reason.strip().split("\n")
    words = visible(f"{first} {'… ' if len(others) > 1 else ''}{others[-1]}" if others else first)
    if len(words) <= BRIEF:
        return words
    head = words[: BRIEF // 2 - 1]
    return f"{head} … {words[len(words) - (BRIEF - len(head) - 3) :]}"
