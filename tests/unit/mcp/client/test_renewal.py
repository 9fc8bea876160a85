"""A new session in place of one that ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.client.renewal import Renewal
from lockgate.mcp.protocol.eras import LATEST_LEGACY
from lockgate.mcp.protocol.jsonrpc import Failure, Handling, Outgoing
from lockgate.mcp.protocol.outgoing import ClientIdentity, Dialect
from lockgate.process.hidden import Hidden

FINE = Raw(b'{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x"}}')


class Speaker:
    """Answers when it is let to, with what it is told."""

    peer = "there"
    hidden = Hidden(("the-value-of-a-header",))

    def __init__(self, answer: Answer | PeerError = FINE) -> None:
        self.answer = answer
        self.asked = asyncio.Event()
        self.let = asyncio.Event()
        self.initialized = 0
        self.told: list[Outgoing] = []
        self.renewed: list[Callable[[], None]] = []

    async def initialize_again(self, dialect: Dialect) -> Answer:
        self.initialized += 1
        self.asked.set()
        await self.let.wait()
        if isinstance(self.answer, PeerError):
            raise self.answer
        return self.answer

    async def tell(self, message: Outgoing) -> None:
        self.told.append(message)


def renewal(speaker: Speaker) -> Renewal:
    """Of a session in the latest legacy revision."""
    return Renewal(speaker, Dialect(LATEST_LEGACY, ClientIdentity("t", "1")))


async def test_all_who_find_out_together_share_one_session() -> None:
    """One initialize and what begins it; who comes late finds it open."""
    speaker = Speaker()
    renewing = renewal(speaker)
    waiting = [asyncio.create_task(renewing.after(0)) for _ in range(10)]
    await speaker.asked.wait()
    speaker.let.set()
    await asyncio.gather(*waiting)
    await renewing.after(0)
    assert (speaker.initialized, renewing.generation) == (1, 1)
    assert [message.handling for message in speaker.told] == [Handling.BEGINS_SESSION]
    await renewing.after(1)
    assert (speaker.initialized, renewing.generation) == (2, 2)


async def test_a_caller_that_is_cancelled_leaves_the_others_their_session() -> None:
    """The first one, too."""
    speaker = Speaker()
    renewing = renewal(speaker)
    first = asyncio.create_task(renewing.after(0))
    await speaker.asked.wait()
    second = asyncio.create_task(renewing.after(0))
    first.cancel()
    await asyncio.wait((first,))
    assert first.cancelled()
    speaker.let.set()
    await second
    assert speaker.initialized == 1


@pytest.mark.parametrize(
    ("answer", "why", "fault"),
    [
        (Failure(1, -32603, "full"), "full", Fault.REFUSED),
        (Failure(1, -1, "it was the-value-of-a-header"), "it was [***]", Fault.REFUSED),
        (Raw(b"[]"), "an array", Fault.MALFORMED),
        (Raw(b'{"protocolVersion":"2099-01-01"}'), "2099-01-01", Fault.UNSUPPORTED),
        (Raw(b"{}"), "None", Fault.UNSUPPORTED),
        (
            PeerError(
                "no way",
                peer="there",
                phase=Phase.CONNECT,
                fault=Fault.NOT_CONNECTED,
                fate=Fate.NOT_SENT,
            ),
            "no way",
            Fault.NOT_CONNECTED,
        ),
    ],
)
async def test_what_stands_in_the_way_is_told_to_all(
    answer: Answer | PeerError, why: str, fault: Fault
) -> None:
    """Each gets an error of its own: nothing was sent. The next one tries again."""
    speaker = Speaker(answer)
    renewing = renewal(speaker)
    speaker.let.set()
    waiting = [asyncio.create_task(renewing.after(0)) for _ in range(3)]
    await asyncio.wait(waiting)
    errors = [task.exception() for task in waiting]
    for error in errors:
        assert isinstance(error, PeerError)
        assert why in str(error)
        assert str(error).count("no new one can be opened") == 1
        assert (error.fault, error.fate) == (fault, Fate.NOT_SENT)
    assert speaker.initialized == 1
    assert speaker.told == []
    speaker.answer = FINE
    await renewing.after(0)
    assert speaker.initialized == 2


async def test_the_end_of_the_connection_ends_it() -> None:
    """Whoever waits is told so, and nothing is left."""
    speaker = Speaker()
    renewing = renewal(speaker)
    waiting = asyncio.create_task(renewing.after(0))
    await speaker.asked.wait()
    await renewing.ended()
    with pytest.raises(PeerError, match="the connection was closed"):
        await waiting
