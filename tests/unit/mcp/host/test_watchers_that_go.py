"""Watchers that come and go while a server is being told of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.watch import ResourceUpdate
from lockgate.mcp.host.watch_keeping import Timing
from lockgate.mcp.host.watching import Watching
from lockgate.mcp.protocol.resources import RESOURCE_UPDATED, SUBSCRIBE, UNSUBSCRIBE
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.steps import Answer, Do, Message
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]


def watchable() -> LoopServer:
    """A legacy server that tells of any resource."""
    able = {"resources": {"subscribe": True}}
    server = LoopServer(ScriptedServer((), revisions=LEGACY, name="s", capabilities=able))
    done = Answer(result={})
    return server.on(SUBSCRIBE, done).on(UNSUBSCRIBE, done)


@pytest.mark.req("S3-19")
async def test_who_begins_to_watch_while_others_are_taken_back_misses_nothing(
    managed: MakeManager, registry: Registry
) -> None:
    """What is watched again before the server was told otherwise is not taken back: between that
    and the next subscription a change would be nobody's."""
    server, go_on = watchable(), asyncio.Event()

    async def slowly(_: Message) -> Answer:
        async with asyncio.timeout(5):
            await go_on.wait()
        return Answer(result={})

    server.on(UNSUBSCRIBE, Do(slowly))
    manager = managed({"s": server})
    await manager.start(registry)
    offerings = manager.offerings("s")
    for watch in [await offerings.watch(f"x:{number}") for number in (1, 2)]:
        watch.close()
    first = await server.hears(UNSUBSCRIBE)
    other = {"x:1": "x:2", "x:2": "x:1"}[first["params"]["uri"]]
    with closing(await offerings.watch(other)) as again:
        go_on.set()
        with closing(await offerings.watch("x:3")):  # after all that was to be told before
            await server.say(
                {"jsonrpc": "2.0", "method": RESOURCE_UPDATED, "params": {"uri": other}}
            )
            async with asyncio.timeout(5):
                assert await anext(again) == ResourceUpdate("s", other)
            assert server.heard(UNSUBSCRIBE) == [first]


@pytest.mark.req("S3-19")
async def test_who_watches_anew_after_somebody_gave_up_missed_nothing(
    managed: MakeManager, registry: Registry
) -> None:
    """A subscription that was answered when nobody wanted it any more is nobody's to miss."""
    server, go_on = watchable(), asyncio.Event()

    async def slowly(_: Message) -> Answer:
        async with asyncio.timeout(5):
            await go_on.wait()
        return Answer(result={})

    server.on(SUBSCRIBE, Do(slowly), nth=1)
    manager = managed({"s": server})
    await manager.start(registry)
    offerings = manager.offerings("s")
    entering = asyncio.create_task(offerings.watch("x:1"))
    await server.hears(SUBSCRIBE)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    go_on.set()
    await server.hears(UNSUBSCRIBE)
    with closing(await offerings.watch("x:1")) as watch:
        assert "0 pending" in repr(watch)


async def test_who_comes_while_the_server_is_closed_is_told_at_once(
    managed: MakeManager, registry: Registry
) -> None:
    """Nobody tells the server any more: the wait ends with the server, and not by its bound."""
    manager = managed({"s": watchable()})
    await manager.start(registry)
    watching = Watching("s", Timing(time.monotonic, ScriptedPauses(), lambda: 0.0))
    entering = asyncio.create_task(watching.watch(manager.offerings("s").session, "x:1"))
    await asyncio.sleep(0)
    watching.end(None)
    async with asyncio.timeout(5):
        with pytest.raises(PeerError, match="was closed before it knew"):
            await entering
