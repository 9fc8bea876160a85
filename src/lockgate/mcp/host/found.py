"""What several servers list, one list of all: a server that failed is named with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from lockgate.errors import LocalError, PeerError
from lockgate.mcp.client.pages import Listed
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.offerings import Offerings
from lockgate.mcp.host.status import in_brief
from lockgate.mcp.protocol.profile import ServerProfile

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class LeftOutEntry:
    """Something that a server lists and that can not be used."""

    server: str
    entry: str
    """Its name or URI, or its place in the list if it has none. A stranger's words."""
    reason: str


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """Everything that was found; iterating gives the entries."""

    entries: tuple[T, ...] = ()
    """By server in the order of the configuration, of each in the server's own."""
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Servers that could not be asked, or did not answer, each with its reason in brief. What they
    have is not known: an empty list with one in here is not an empty list."""
    without: tuple[str, ...] = ()
    """Servers that say they have nothing of the kind."""
    left_out: tuple[LeftOutEntry, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was odd, one sentence each, with the server's name."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class OfServers:
    """What the servers of a manager offer of some kind, for a program."""

    def __init__(self, manager: Manager | None, *, attended: bool | None = None) -> None:
        """Without a `manager` there is nothing. `attended` says whether a person is there, should a
        server want to ask one; None: that is not known."""
        self._manager = manager
        self._attended = attended

    def _of(self, server: str) -> Offerings:
        """Of one server. Raises `LocalError` for a name that none has."""
        if self._manager is None:
            raise LocalError("no MCP servers are configured")
        return self._manager.offerings(server)

    async def _all(
        self,
        server: str | None,
        capability: str,
        ask: Callable[[Offerings], Awaitable[Listed[S]]],
        kind: Callable[..., T],
    ) -> Found[T]:
        """Ask `server`, or with None all servers at the same time, each bounded by its own request
        timeout; one that does not declare `capability` has none of the things.

        `kind` makes what is returned of one entry: it takes its fields, and the `server` whose it
        is. Raises as `_of` does.
        """
        servers: tuple[str, ...] = () if server is None else (server,)
        if server is None and self._manager is not None:
            servers = tuple(settings.name for settings in self._manager.configured)
        answers = await asyncio.gather(*(_one(self._of(name), ask) for name in servers))
        entries: list[T] = []
        failed: dict[str, str] = {}
        without: list[str] = []
        left_out: list[LeftOutEntry] = []
        remarks: list[str] = []
        for name, answer in zip(servers, answers, strict=True):
            if isinstance(answer, PeerError):
                why = str(answer).removeprefix(f"{name} ").removeprefix("is not there: ")
                failed[name] = in_brief(why)
                continue
            listed, profile = answer
            if not profile.can(capability):
                without.append(name)
            entries += [
                kind(server=name, **msgspec.structs.asdict(each)) for each in listed.entries
            ]
            left_out += [LeftOutEntry(name, out.tool, out.reason) for out in listed.left_out]
            remarks += [f"{name}: {remark}" for remark in listed.remarks]
        return Found(tuple(entries), failed, tuple(without), tuple(left_out), tuple(remarks))


async def _one(
    offerings: Offerings, ask: Callable[[Offerings], Awaitable[Listed[S]]]
) -> tuple[Listed[S], ServerProfile] | PeerError:
    try:
        # Of the session that is asked: it may be lost by the time that it has answered.
        profile = offerings.session.profile
        return await ask(offerings), profile
    except PeerError as error:
        return error
