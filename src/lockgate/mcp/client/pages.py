"""A whole list of one server, page by page, with one set of guards for all that can be listed.

A page that fails is an error, never a silently short list (PB-141). A cursor is sent back byte for
byte; an empty one is followed once, and one that comes a second time ends the list with a remark
(PB-140). A list without an end is an error, one that is too long is cut with a remark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.asking import final
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import METHOD_NOT_FOUND, Outgoing, RequestId, Unreadable
from lockgate.mcp.protocol.pages import LeftOut, Page

T = TypeVar("T")

MAX_PAGES: Final = 1000
"""Pages of one list that are read; a server that has more is taken for one that never ends."""

MOST_TIMEOUTS: Final = 10
"""How many request timeouts a whole list may take; each page may take one."""

ReadPage: TypeAlias = Callable[[Raw, int], Page[T]]
"""Reads one page, given how many entries there is still room for."""
MakePage: TypeAlias = Callable[[RequestId, "str | None"], Outgoing]
"""Makes the request of a page from its id and the cursor of the page before."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What is listed."""

    method: str
    what: str
    """In words, in the plural: `tools`."""
    read: ReadPage[T]
    most: int
    """Entries that are looked at; each costs a stranger nothing and this side something."""


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """Everything that a server lists of one kind, each once."""

    entries: tuple[T, ...] = ()
    """In the server's order."""
    left_out: tuple[LeftOut, ...] = ()
    """What can not be used, and why."""
    remarks: tuple[str, ...] = ()
    """What was odd about the list, one sentence each."""
    ttl: float | None = None
    """Seconds for which the list is good, by the page that is so for the shortest time (2026-07-28,
    Caching); None if its server says nothing."""


async def all_pages(
    session: ServerSession, kind: Kind[T], make: MakePage | None = None
) -> tuple[list[Page[T]], list[str]]:
    """Every page of a list, and what was odd about how it goes on. Raises `PeerError`.

    `make` makes the requests, by default by the method alone.
    """
    make = make or _plain(session, kind.method)
    pages: list[Page[T]] = []
    room = kind.most
    seen: set[str] = set()
    cursor: str | None = None
    remarks: list[str] = []
    while True:
        page = await _page(session, kind, make, cursor, len(pages) + 1, room)
        pages.append(page)
        room -= len(page.entries) + len(page.left_out)
        cursor = page.next_cursor
        if page.beyond or (not room and cursor is not None):
            remarks.append(
                f"lists more than {kind.most} {kind.what}: the first {kind.most} are used, and the "
                "others are not looked at"
            )
            break
        if cursor is None:
            break
        if cursor in seen:
            remarks.append(f"{kind.method} gave the same cursor twice: the list ends there")
            break
        if len(pages) == MAX_PAGES:
            what = f"does not end its list of {kind.what} in {MAX_PAGES} pages"
            raise malformed(session, what)
        seen.add(cursor)
    return pages, remarks


async def whole_list(
    session: ServerSession, kind: Kind[T], capability: str, name: Callable[[T], str]
) -> Listed[T]:
    """Everything of one kind, of a name the first. None, and nothing is asked, where the server
    does not declare the capability; none either where it knows no such method (PB-047). Bounded by
    `MOST_TIMEOUTS` request timeouts.

    Raises `PeerError`.
    """
    if not session.profile.can(capability):
        return Listed()
    bound = MOST_TIMEOUTS * session.connection.request_timeout
    try:
        async with asyncio.timeout(bound):
            pages, remarks = await all_pages(session, kind)
    except TimeoutError:
        text = f"{session.name} does not end its list of {kind.what} within {bound:g} s"
        raise PeerError(
            text,
            peer=session.name,
            phase=Phase.REQUEST,
            fault=Fault.TIMEOUT,
            fate=Fate.UNKNOWN,
        ) from None
    except PeerError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return Listed(remarks=(f"it declares {capability}, and knows no {kind.method}",))
    first: dict[str, T] = {}
    repeated: dict[str, None] = {}
    left_out: list[LeftOut] = []
    for number, page in enumerate(pages, 1):
        remarks.extend(page.remarks)
        for entry in page.entries:
            if first.setdefault(name(entry), entry) is not entry:
                repeated[name(entry)] = None
        for out in page.left_out:
            where = f"{out.tool} of page {number}" if number > 1 else out.tool
            left_out.append(LeftOut(where, out.reason))
    if repeated:
        remarks.append(f"listed more than once, the first counts: {told(repeated)}")
    return Listed(
        tuple(first.values()),
        tuple(dict.fromkeys(left_out)),
        tuple(dict.fromkeys(remarks)),
        shortest(pages),
    )


def shortest(pages: Sequence[Page[T]]) -> float | None:
    """Seconds for which a list is good; see `Listed.ttl`."""
    ttls = [page.ttl_ms for page in pages if page.ttl_ms is not None]
    return min(ttls) / 1000 if ttls else None


def told(names: Iterable[str]) -> str:
    """A few names in a sentence, and how many more there are."""
    listed = tuple(names)
    some = ", ".join(repr(name[:60]) for name in listed[:5])
    return f"{some} and {len(listed) - 5} more" if len(listed) > 5 else some


def malformed(session: ServerSession, what: str) -> PeerError:
    """The server answered with what can not be used; `what` goes on from its name."""
    name = session.name
    return PeerError(
        session.connection.hidden.hide(f"{name} {what}"),
        peer=name,
        phase=Phase.REQUEST,
        fault=Fault.MALFORMED,
        fate=Fate.ANSWERED,
    )


def _plain(session: ServerSession, method: str) -> MakePage:
    dialect = session.connection.dialect

    def make(id: RequestId, cursor: str | None) -> Outgoing:
        return dialect.request(id, method, None if cursor is None else {"cursor": cursor})

    return make


async def _page(
    session: ServerSession,
    kind: Kind[T],
    make: MakePage,
    cursor: str | None,
    number: int,
    room: int,
) -> Page[T]:
    raw = final(session, await session.connection.ask(lambda id: make(id, cursor)))
    try:
        return kind.read(raw, room)
    except Unreadable as problem:
        what = f"its list of {kind.what}"
        what = f"page {number} of {what}" if number > 1 else what
        raise malformed(session, f"sent {what} as {problem.reason}") from None
