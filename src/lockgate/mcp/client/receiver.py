"""Where frames arrive: each is decoded once and handed to whom it concerns."""

from __future__ import annotations

from collections.abc import Callable

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.inbound import Inbound
from lockgate.mcp.client.journal import Journal
from lockgate.mcp.client.pending import PendingRequests
from lockgate.mcp.protocol import jsonrpc
from lockgate.mcp.protocol.jsonrpc import (
    Failure,
    Incoming,
    Invalid,
    Notification,
    RequestId,
    Response,
)
from lockgate.mcp.protocol.salvage import addressee


class FrameReceiver:
    """The `Receiver` of one connection. Never raises, whatever arrives."""

    __slots__ = ("_inbound", "_journal", "_lost", "_noticed", "_pending", "batches")

    def __init__(
        self,
        journal: Journal,
        pending: PendingRequests,
        inbound: Inbound,
        lost: Callable[[PeerError], None],
        noticed: Callable[[PeerError], None],
    ) -> None:
        """`lost` is told once, when the link is gone; `noticed` what is found out before that."""
        self._journal = journal
        self._pending = pending
        self._inbound = inbound
        self._lost = lost
        self._noticed = noticed
        self.batches = False
        """Whether a frame may be an array of messages, by the agreed revision."""

    def frame(self, data: bytes) -> None:
        """One frame. Answers first: they are what most frames are."""
        if self.batches:
            for message in jsonrpc.decode_all(data):
                self._take(message)
            return
        message = jsonrpc.decode(data)
        if isinstance(message, Response):
            self._pending.answered(message)
        else:
            self._take(message)

    def oversized(self, head: bytes, size: int, limit: int) -> None:
        """A frame over the limit: the one who waits for it is told, nobody else."""
        why = f"a frame of {size:,} bytes, over the limit of {_bytes(limit)} for one frame"
        answers, asked = addressee(head)
        if answers is not None:
            self._pending.unreadable(answers, Fault.TOO_LARGE, why)
        elif asked is not None:
            self._inbound.unreadable(asked, why)
        else:
            self._journal.noise("size", f"sent {why}, ignored")

    def failed(self, request: RequestId, error: PeerError) -> None:
        """One request alone failed: whoever waits for it is told."""
        self._pending.failed(request, error)

    def refused(self, request: RequestId, answer: Failure) -> None:
        """An error without the id of its request, which the transport knows."""
        self._pending.refused(Failure(request, answer.code, answer.message, answer.data))

    def noticed(self, error: PeerError) -> None:
        """The server is not there, or knows the session no more; the link goes on."""
        self._noticed(error)

    def closed(self, error: PeerError) -> None:
        """The link is gone."""
        self._lost(error)

    def _take(self, message: Incoming) -> None:
        if isinstance(message, Response):
            self._pending.answered(message)
        elif isinstance(message, Failure):
            self._pending.refused(message)
        elif isinstance(message, Notification):
            self._inbound.notification(message)
        elif isinstance(message, Invalid):
            self._invalid(message)
        else:
            self._inbound.request(message)

    def _invalid(self, message: Invalid) -> None:
        if message.id is not None:
            what, why = Fault.MALFORMED, message.reason
            self._pending.unreadable(message.id, what, why, cut=message.cut)
        elif message.asked is not None:
            self._inbound.unreadable(message.asked, message.reason)
        else:
            what = f"sent something that is {message.reason}, ignored: {message.preview}"
            self._journal.noise("frame", what)


def _bytes(count: int) -> str:
    """A number of bytes as a person says it."""
    mib, rest = divmod(count, 1 << 20)
    return f"{mib} MiB" if mib and not rest else f"{count:,} bytes"
