"""Where the credentials of a server come from, when its operator did not write them down.

A transport asks for the value of one header and says when it was refused; how it is got is not its
business. Calls carry what there is and are never serialised by getting it; whoever is refused at
the same time as others waits for the same new one.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from lockgate.process.hidden import Learned


class Challenge(msgspec.Struct, frozen=True):
    """What a server answered in place of an answer: it wants other credentials."""

    status: int
    """401, or 403 with a scope that is missing."""
    header: str
    """`WWW-Authenticate` as it came (RFC 9110, 11.6.1); empty if there was none."""
    used: str | None
    """The value that was refused; None if none was sent."""
    revision: str | None = None
    """`MCP-Protocol-Version` of the request, where it had one."""
    again: bool = False
    """Whether this message was refused before, and sent once more with these credentials."""

    def __repr__(self) -> str:
        """Without what was sent: it may be good elsewhere, or again; nor what the server says."""
        what = "nothing" if self.used is None else "credentials"
        return f"<Challenge {self.status} of {what}>"


class TokenSource(Protocol):
    """Credentials for one server. A transport that was given one `settle`s it when it closes."""

    @property
    def learned(self) -> Learned:
        """Everything that was got and is not to be shown; also what is got later."""
        ...

    async def authorization(self) -> str | None:
        """The value of `Authorization` for a request that is made now; None: none is sent.

        Quick as a rule: it waits only where what there is has run out and is being renewed. Raises
        `PeerError` (UNAUTHORIZED, NOT_SENT) where that fails for good.
        """
        ...

    async def challenged(self, challenge: Challenge) -> bool:
        """The server refused; whether there is something else to try it with by now.

        Bounded by the caller, and may be cancelled: what others wait for goes on. Raises
        `PeerError` (UNAUTHORIZED, NOT_SENT) that says what a person has to do, where this side
        alone can not get what the server wants.
        """
        ...

    async def settle(self) -> None:
        """Let what is being got for somebody come to its end, for a few seconds; then stop it."""
        ...
