"""How the stream of an SSE server begins: its head, and the event that says where messages go.

Whatever stands in the way is an error with fate NOT_SENT, since no message was on its way yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.mcp.protocol.framing import Oversized
from lockgate.mcp.protocol.http_fate import by_status
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing, Response, decode
from lockgate.mcp.protocol.sse import Arrived, EventStream
from lockgate.mcp.transport.http_wire import EVENTS, JSON, HttpWire
from lockgate.mcp.transport.http_words import summary
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure
from lockgate.web.target import LocationError, Target, read_target

LOOK: Final = 3.0
"""Seconds that finding out what else is at an address may take."""
LONGEST: Final = 4096
"""Bytes of the event that names where messages go."""
_PING: Final = Outgoing(b'{"jsonrpc":"2.0","id":0,"method":"ping"}', id=0, method="ping")
_OTHER: Final = "it seems to speak Streamable HTTP: set the transport of this server to"
_BY_KIND: Final = (Fault.MALFORMED, Fate.ANSWERED)


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream that has said where messages go."""

    answer: Answer
    place: bytes
    """As the server wrote it."""
    target: Target
    """The same, resolved; of the same origin as the stream."""
    rest: Sequence[Arrived]
    """What came along behind it."""

    def endpoint_of(self, stream: SseEndpoint) -> HttpEndpoint:
        """Where messages are posted, with the headers of `stream`."""
        headers = dict(stream.headers)
        if (authorization := stream.target.authorization) is not None:
            headers["Authorization"] = authorization
        return replace(stream, url=self.target.address, headers=headers)


async def open_stream(wire: HttpWire, stream: EventStream, patience: float) -> Opened:
    """Ask for the stream and read its beginning, in at most `patience` seconds.

    Raises `PeerError` (CONNECT, NOT_SENT).
    """
    clock = asyncio.timeout(patience)
    try:
        async with clock:
            return await _opened(wire, stream)
    except TimeoutError:
        if not clock.expired():
            raise
        what = f"did not say within {patience:g} s where messages go"
        what += " (timeout); is it an SSE server?"
        error = wire.error((Fault.TIMEOUT, Fate.NOT_SENT), what)
    except HttpFailure as failure:
        error = wire.broken(failure)
    except PeerError as failed:
        error = failed
    raise PeerError(
        str(error),
        peer=error.peer,
        phase=Phase.CONNECT,
        fault=error.fault,
        fate=Fate.NOT_SENT,
        retry_after=error.retry_after,
    ) from None


async def _opened(wire: HttpWire, stream: EventStream) -> Opened:
    answer = await wire.get(None)
    try:
        if answer.status != 200 or answer.media_type != EVENTS:
            raise await _no_stream(wire, answer)
        while piece := await answer.piece():
            events = stream.feed(piece)
            for at, event in enumerate(events):
                if isinstance(event, Oversized) or event.type != "endpoint":
                    what = "sent a message before it said where messages go"
                    raise wire.error(_BY_KIND, f"{what}: it is no SSE server of 2024-11-05")
                target = _resolved(wire, read_target(answer.address), event.data)
                return Opened(answer, event.data, target, events[at + 1 :])
        raise wire.error(_BY_KIND, "ended its stream without saying where messages go")
    except BaseException:
        answer.close()
        raise


def _resolved(wire: HttpWire, base: Target, place: bytes) -> Target:
    """The address that the server named (RFC 3986, 5.2), if messages may go there."""
    try:
        text = place.decode()
        if not text.strip() or len(place) > LONGEST:
            raise LocationError("it is empty, or too long")
        target = base.joined(text)
        if target.userinfo is not None:
            raise LocationError("the address holds a user name")
    except (LocationError, UnicodeDecodeError) as error:
        why = error if isinstance(error, LocationError) else "it is not UTF-8"
        what = f"named a place for messages that can not be used: {why}"
        raise wire.error(_BY_KIND, what) from None
    if target.origin != wire.target.origin:
        what = f"wants messages sent to another origin, {target.origin}: nothing was sent there"
        raise wire.error(_BY_KIND, what)
    return target


async def _no_stream(wire: HttpWire, answer: Answer) -> PeerError:
    """The error for an answer that is no stream, with what is there instead."""
    told = summary(answer.media_type, await wire.beginning(answer))
    if answer.status in (200, 400, 404, 405, 406) and await _takes_messages(wire):
        what = f"answered {answer.status} with {told}, and takes messages itself; {_OTHER}"
        return wire.error(by_status(answer.status), f"{what} streamable-http")
    if answer.status == 200:
        return wire.error(_BY_KIND, f"answered with {told} where a stream has to be")
    return wire.refused(answer.status, told, answer)


async def _takes_messages(wire: HttpWire) -> bool:
    """Whether a POST to the address itself is answered as MCP does. Asks for nothing."""
    try:
        async with asyncio.timeout(LOOK):
            answer = await wire.answered(await wire.send(_PING, None), _PING, None)
            kind = answer.media_type
            if kind == EVENTS:
                answer.close()
                return answer.status == 200
            data = await wire.beginning(answer)
    except (TimeoutError, HttpFailure, PeerError):
        return False
    return kind == JSON and isinstance(decode(data), Failure | Response)
