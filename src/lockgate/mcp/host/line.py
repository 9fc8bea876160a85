"""The way from a server's tools to the server: the connection of now, and what its list says now.

A tool is made from one definition and lives in snapshots for as long as somebody uses them; the
server's connection and list may have been replaced meanwhile. So a tool holds the server's `Line`
and its own `Bond`, and before anything is sent the two are compared: what it was made from has to
be what the server lists on the connection that the call would go out on (B-06, S3-17).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.services import SERVES_NOTHING
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tasks import Following
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.host.catalogue import Catalogue
from lockgate.mcp.host.pause import Pause, pause
from lockgate.mcp.host.ruling import Ruling
from lockgate.tools.result import ErrorKind, ToolResult


@dataclass(frozen=True, slots=True, eq=False)
class Bond:
    """What one registered tool was made from. Compared by identity: as long as neither changes,
    it is the same one from list to list and from connection to connection."""

    digest: str
    """Of the definition's fingerprint."""
    ruling: Ruling

    def holds(self, digest: str, ruling: Ruling) -> bool:
        """Whether a tool that was made now would be the same."""
        return self.digest == digest and self.ruling == ruling


AWAY: Final = frozenset({Fault.NOT_CONNECTED, Fault.CLOSED})
"""What a server fails with that is not there, or was not for a while."""

_NOTHING: Final[Mapping[str, Bond]] = MappingProxyType({})


class Line:
    """One server, as its tools reach it. Written by the host alone."""

    __slots__ = (
        "_ended",
        "_following",
        "_renewed",
        "bonds",
        "catalogue",
        "client",
        "generation",
        "server",
        "serves",
        "session",
    )

    def __init__(
        self, server: str, catalogue: Catalogue | None = None, pause: Pause = pause
    ) -> None:
        """`server` is its configured name; without a `catalogue` its list never changes. `pause` is
        how somebody waits between two looks at a task."""
        self.server = server
        self.client: ToolClient | None = None
        self.session: ServerSession | None = None
        """The newest one whose tools were listed, also after it has ended; None before there was
        one, and for a server that is known from the last time only."""
        self.serves = False
        """Whether the server may ask anything of this side."""
        self.generation = 0
        """How many connections there were; 0 before the first."""
        self.bonds: Mapping[str, Bond] = _NOTHING
        """By original name: what is registered, by the newest list."""
        self.catalogue = catalogue
        self._ended = False
        self._renewed = asyncio.Event()
        self._following = Following(pause, resume=self.after)

    @property
    def revision(self) -> str:
        """The name of the protocol revision that is spoken; empty without a session."""
        return "" if self.session is None else self.session.revision.name

    def connected(self, session: ServerSession) -> None:
        """Calls go out on this session from now on; its list is the one that `bonds` are from."""
        if session is not self.session:
            self.session = session
            self.serves = session.services is not SERVES_NOTHING
            self.client = ToolClient(session, following=self._following)
            self.generation += 1
            self._ended = False
            self._tell()

    def end(self) -> None:
        """There is no session any more, and nobody is bringing one back."""
        self._ended = True
        self._tell()

    async def after(self, lost: ServerSession) -> ServerSession | None:
        """The session that comes after one that was lost: a task of it is asked about there. None
        if none will. Waits for as long as the caller does."""
        while self.session is None or self.session is lost:
            if self._ended:
                return None
            await self._renewed.wait()
        return None if self._ended else self.session

    def _tell(self) -> None:
        self._renewed.set()
        self._renewed = asyncio.Event()

    def doubt(self, error: PeerError, readings: int) -> None:
        """A call that was sent when there were so many `readings` ended with that error.

        If it means that the server was not there, or knows the session no more, while the way to it
        goes on (HTTP), then who is there next may be another one: unless the list was read since,
        nothing is sent before it was.
        """
        if error.fault not in AWAY or self.catalogue is None or self.session is None:
            return
        if self.session.connection.usable and self.catalogue.begun == readings:
            self.catalogue.announce()

    def agrees(self, original: str, bond: Bond) -> bool:
        """Whether a call of that tool may be sent at once."""
        catalogue = self.catalogue
        return self.bonds.get(original) is bond and (catalogue is None or not catalogue.unread)

    async def refusal(
        self, original: str, bond: Bond, *, bound: float, reads_only: bool
    ) -> ToolResult | None:
        """Why a call of that tool may not be sent now; None if it may.

        If the server announced a change, its list is read first, for at most `bound` seconds. One
        that can not be read is no proof that nothing changed: then only what reads is sent.
        """
        catalogue, session = self.catalogue, self.session
        if catalogue is not None and catalogue.unread and session is not None:
            known = False
            try:
                async with asyncio.timeout(bound):
                    known = await catalogue.settled()
            except TimeoutError:
                pass
            # A connection that is gone says so itself, when something is to be sent on it.
            if not known and session.connection.usable:
                failure = catalogue.failure
                if failure is not None and failure.fault in AWAY:
                    text = f"nothing was sent: {failure}"
                    return ToolResult.error(ErrorKind.NOT_CONNECTED, text, reason="away")
                if not reads_only:
                    return self._unread(original, catalogue)
        now = self.bonds.get(original)
        if now is bond:
            return None
        return self._gone(original) if now is None else self._changed(original)

    def _changed(self, original: str) -> ToolResult:
        return self._differs(
            f"{self.server} has changed its tool {original!r:.200} since it was offered, so the "
            "call was made for another definition. Nothing was sent. The new definition is "
            "offered from the next turn on.",
            "changed",
        )

    def _gone(self, original: str) -> ToolResult:
        return self._differs(
            f"{self.server} does not offer its tool {original!r:.200} any more. Nothing was sent. "
            "Go on without it.",
            "gone",
        )

    def _unread(self, original: str, catalogue: Catalogue) -> ToolResult:
        why = "can not be read"
        if catalogue.crowded and catalogue.failure is None:
            why = "was read too often in the last minute to be read again in time"
        return self._differs(
            f"{self.server} announced that its tools have changed, and its list {why}, so it is "
            f"not known what {original!r:.200} does now. Nothing was sent.",
            "list_unread",
        )

    def _differs(self, text: str, reason: str) -> ToolResult:
        return ToolResult.error(ErrorKind.TOOL_CHANGED, text, reason=reason)
