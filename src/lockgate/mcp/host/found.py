"""What several servers list, one list of all: a server that failed is named with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lockgate.errors import PeerError
from lockgate.mcp.client.pages import Listed
from lockgate.mcp.host.status import in_brief

T = TypeVar("T")
S = TypeVar("S")


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


async def from_all(
    servers: Sequence[str],
    ask: Callable[[str], Awaitable[tuple[Listed[S], bool]]],
    named: Callable[[str, S], T],
) -> Found[T]:
    """Ask every server at the same time; `ask` gives what one lists, and whether it has any such
    thing at all. Each is bounded by its own request timeout."""
    answers = await asyncio.gather(*(_one(ask(server)) for server in servers))
    entries: list[T] = []
    failed: dict[str, str] = {}
    without: list[str] = []
    left_out: list[LeftOutEntry] = []
    remarks: list[str] = []
    for server, answer in zip(servers, answers, strict=True):
        if isinstance(answer, PeerError):
            why = str(answer).removeprefix(f"{server} ").removeprefix("is not there: ")
            failed[server] = in_brief(why)
            continue
        listed, offered = answer
        if not offered:
            without.append(server)
        entries += [named(server, entry) for entry in listed.entries]
        left_out += [LeftOutEntry(server, out.tool, out.reason) for out in listed.left_out]
        remarks += [f"{server}: {remark}" for remark in listed.remarks]
    return Found(tuple(entries), failed, tuple(without), tuple(left_out), tuple(remarks))


async def _one(asked: Awaitable[S]) -> S | PeerError:
    try:
        return await asked
    except PeerError as error:
        return error
