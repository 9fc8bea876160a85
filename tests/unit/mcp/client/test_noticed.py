"""What a link finds out about its server, and goes on: nothing new is asked of one that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import SERVES_NOTHING, Occasion, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.elicitation import ELICIT, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Link, Receiver, SessionEnded, Transport
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer

AWAY = PeerError(
    "there: nobody listens",
    peer="fake",
    phase=Phase.CONNECT,
    fault=Fault.NOT_CONNECTED,
    fate=Fate.NOT_SENT,
)


class Noticing:
    """A transport whose link can be made to notice something."""

    def __init__(self, inner: Transport, *, at_once: bool = False) -> None:
        self.receivers: list[Receiver] = []
        self._inner = inner
        self._at_once = at_once

    def describe(self) -> str:
        return self._inner.describe()

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        self.receivers.append(receiver)
        async with self._inner.open(receiver) as link:
            if self._at_once:
                receiver.noticed(AWAY)
            yield link


async def reached(transport: Transport, services: Services = SERVES_NOTHING) -> ServerSession:
    return await connect(
        transport,
        peer="fake",
        client=ClientIdentity("test", "1"),
        request_timeout=5,
        services=services,
    )


def legacy() -> LoopServer:
    return LoopServer(ScriptedServer((), revisions=LEGACY, name="fake"))


@pytest.mark.req("S3-17")
async def test_nothing_new_is_sent_and_what_is_under_way_is_answered() -> None:
    """The connection is of no use for anything new, at once; answers still arrive on it."""
    server = legacy().on("slow")
    transport = Noticing(server.transport())
    session = await reached(transport)
    connection = session.connection
    slow = asyncio.create_task(connection.request("slow"))
    asked = await server.hears("slow")
    transport.receivers[-1].noticed(AWAY)
    assert (connection.usable, connection.lingers) == (False, True)
    assert await connection.wait_gone() is AWAY
    with pytest.raises(PeerError, match="nothing was sent: there: nobody listens") as caught:
        await connection.request("ping")
    assert (caught.value.fault, caught.value.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert not slow.done()
    settled = asyncio.create_task(connection.settled(5))
    await server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"ok": 1}})
    assert bytes(await slow) == b'{"ok": 1}'
    await settled
    assert not connection.lingers
    assert server.heard("ping") == []
    await session.close()


async def test_what_is_under_way_is_waited_for_no_longer_than_it_may() -> None:
    """Then it ends as it does with any connection: unknown."""
    server = legacy().on("slow")
    transport = Noticing(server.transport())
    session = await reached(transport)
    slow = asyncio.create_task(session.connection.request("slow"))
    await server.hears("slow")
    transport.receivers[-1].noticed(AWAY)
    await session.connection.settled(0.01)
    await session.close()
    with pytest.raises(PeerError) as caught:
        await slow
    assert caught.value.fate is Fate.UNKNOWN


@pytest.mark.parametrize("revisions", [LEGACY, MODERN])
async def test_before_anything_is_agreed_upon_the_requests_tell(revisions: tuple[str, ...]) -> None:
    """How it is reached is tried out then; nothing is concluded from one of the ways."""
    server = LoopServer(ScriptedServer((), revisions=revisions, name="fake"))
    session = await reached(Noticing(server.transport(), at_once=True))
    assert session.connection.usable
    await session.close()


async def test_a_session_that_is_over_is_opened_anew_once() -> None:
    """However often it is noticed meanwhile, and nobody has to wait for it."""
    server = legacy()
    transport = Noticing(server.transport())
    session = await reached(transport)
    for _ in range(3):
        transport.receivers[-1].noticed(SessionEnded("gone", peer="fake"))
    await server.hears("notifications/initialized", 2)
    await session.connection.request("ping")
    assert len(server.heard("initialize")) == 2
    await session.close()
    transport.receivers[-1].noticed(SessionEnded("gone", peer="fake"))
    assert len(server.heard("initialize")) == 2


async def test_what_is_made_again_while_a_person_is_asked_has_its_own_time() -> None:
    """Its clock stood still when its session ended; in the new one it runs."""
    begun = asyncio.Event()

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    server = legacy().on("slow").on("tools/call")
    transport = Noticing(server.transport())
    session = await reached(transport, Services(elicit=forever))
    connection = session.connection
    call = asyncio.create_task(connection.request("tools/call", {"name": "ask"}))
    slow = asyncio.create_task(connection.request("slow", timeout=0.2))
    asked = await server.hears("slow")
    await server.hears("tools/call")
    params = {"message": "Name?", "requestedSchema": {"type": "object"}}
    await server.say({"jsonrpc": "2.0", "id": 1, "method": ELICIT, "params": params})
    async with asyncio.timeout(10):
        await begun.wait()
        transport.receivers[-1].failed(asked["id"], SessionEnded("gone", peer="fake"))
        await server.hears("slow", 2)
        with pytest.raises(PeerError, match="did not answer slow within"):
            await slow
    assert not call.done()
    await session.close()
    await asyncio.wait((call,))
    assert isinstance(call.exception(), PeerError)
