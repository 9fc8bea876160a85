"""What every transport is: something to open, that carries whole frames both ways.

A transport knows bytes and their peer. It names no protocol revision: what depends on one arrives
as a value in `Outgoing` (its headers, its handling). One contract suite in `lockgate.testing` holds
for all of them.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from lockgate.errors import PeerError, Phase
from lockgate.mcp.protocol.http_fate import SESSION_ENDED
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing, RequestId


class SessionEnded(PeerError):
    """The server knows the session no more that a message was sent in; it did nothing about it.

    A new session has to be opened, by whoever knows how. The link goes on.
    """

    def __init__(self, message: str, *, peer: str) -> None:
        fault, fate = SESSION_ENDED
        super().__init__(message, peer=peer, phase=Phase.REQUEST, fault=fault, fate=fate)


class Receiver(Protocol):
    """Who is told what arrives. Called on the event loop, in order, never re-entrantly."""

    def frame(self, data: bytes) -> None:
        """One frame, without its delimiter. It may be anything; the receiver judges it."""
        ...

    def oversized(self, head: bytes, size: int, limit: int) -> None:
        """A frame of `size` bytes, over the `limit`, was thrown away.

        `head` is its beginning, at most 4 KiB, or its two ends as `framing.Oversized` keeps them.
        """
        ...

    def failed(self, request: RequestId, error: PeerError) -> None:
        """No answer to this request of ours can come any more, and the link goes on.

        For transports on which one exchange can fail alone. A request that is not open, or was
        answered already, is passed over.
        """
        ...

    def refused(self, request: RequestId, answer: Failure) -> None:
        """This request of ours was answered with an error that does not name it.

        For transports that know by other means which request an answer belongs to.
        """
        ...

    def noticed(self, error: PeerError) -> None:
        """Something about the server was found out, and the link goes on.

        For transports whose link does not end with its server. `SessionEnded`: without a request
        that could be told so, its session was found to be over. Any other error: the server is not
        there; answers to what is under way may still come. May be called while something is sent.
        """
        ...

    def closed(self, error: PeerError) -> None:
        """The last call: the link is gone, and why. Made exactly once, also after `Link.close`."""
        ...


class Link(Protocol):
    """An open transport. Any number of tasks may send at once."""

    @property
    def mirrors(self) -> bool:
        """Whether the server gets `Outgoing.headers`: then what it wants mirrored there must be."""
        ...

    async def send(self, message: Outgoing) -> None:
        """Hand over one frame, whole.

        Returns when the frame can no longer be withdrawn, and waits for nothing after that: while
        it waits nothing was sent, so cancelled it has sent nothing. What was begun is written
        whole, or the link is closed. Raises `PeerError` with fate NOT_SENT if the write never
        began, else UNKNOWN.

        A frame that nothing may overtake (`Handling.BEGINS_SESSION`) is waited for until it was
        accepted, where the transport can know that, and a refusal is raised.
        """
        ...

    def abandon(self, request: RequestId) -> bool:
        """Stop caring for a request's answer.

        True if that alone tells the server (its stream is closed); False if the protocol's own
        cancel message has to be sent.
        """
        ...

    def last_words(self) -> str:
        """What the server said lately beside the protocol, such as the end of its standard error.

        For the message of a request that is never answered: bounded, printable, empty if nothing
        was said. `Receiver.closed` has it in its error already.
        """
        ...


class OnlyHandshakes:
    """Marks a transport at whose other end every server wants a handshake: none is probed."""


class Transport(Protocol):
    """How to reach one server. Opened anew for each connection."""

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        """Reach the server; frames go to `receiver` from then on.

        Leaving the context closes everything that opening made and waits for it: no process, task,
        socket or descriptor stays, also when opening fails or is cancelled. Raises `PeerError`
        (phase SPAWN or CONNECT, fate NOT_SENT).
        """
        ...

    def describe(self) -> str:
        """A short name for messages and lists, without secrets: the program, or the origin."""
        ...
