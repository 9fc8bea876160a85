"""Watching resources: in both eras, over lost connections, with servers that refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.errors import Fault, LocalError, PeerError
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.resources import Resources
from lockgate.mcp.host.watch import MAX_PENDING, ResourceUpdate, Watch
from lockgate.mcp.host.watching import MAX_WATCHED
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When
from lockgate.testing.steps import Answer, Do, Message, Send
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]

ABLE: dict[str, Any] = {"resources": {"subscribe": True}}
LISTEN, SUBSCRIBE, UNSUBSCRIBE = (
    "subscriptions/listen",
    "resources/subscribe",
    "resources/unsubscribe",
)
UPDATED = "notifications/resources/updated"
ID = "io.modelcontextprotocol/subscriptionId"


def acknowledged(message: Message, uris: list[str]) -> Send:
    """What a modern server says first on a stream."""
    params = {"_meta": {ID: message["id"]}, "notifications": {"resourceSubscriptions": uris}}
    method = "notifications/subscriptions/acknowledged"
    return Send({"jsonrpc": "2.0", "method": method, "params": params})


def wanted_of(message: Message) -> list[str]:
    """The resources that a stream is to tell of."""
    return message["params"]["notifications"].get("resourceSubscriptions", [])


def watchable(revisions: tuple[str, ...], *, refuses: tuple[str, ...] = ()) -> LoopServer:
    """A server that tells of any resource, but for those that it refuses."""
    script = ScriptedServer((), revisions=revisions, name="s", capabilities=ABLE)
    server = LoopServer(script).on(UNSUBSCRIBE, Answer(result={}))

    async def listened(message: Message) -> Send:
        return acknowledged(message, [u for u in wanted_of(message) if u not in refuses])

    async def subscribed(message: Message) -> Answer:
        if message["params"]["uri"] in refuses:
            return Answer(error={"code": -32602, "message": "not that one"})
        return Answer(result={})

    return server.on(LISTEN, Do(listened)).on(SUBSCRIBE, Do(subscribed))


async def update(server: LoopServer, uri: str) -> None:
    """Say that a resource changed."""
    await server.say({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}})


async def next_of(watch: Watch) -> ResourceUpdate:
    """The next update, in bounded time."""
    async with asyncio.timeout(5):
        return await anext(watch)


@pytest.fixture(params=[LEGACY, MODERN], ids=["legacy", "modern"])
def revisions(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Each era."""
    return request.param


@pytest.mark.req("S3-19")
@pytest.mark.req("B-08")
async def test_a_change_of_a_watched_resource_is_told(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """To whoever watches it, and once however often it was said before they looked."""
    before, server = Belongings.now(), watchable(revisions)
    manager = managed({"s": server})
    await manager.start(registry)
    resources = Resources(manager)
    async with resources.watch("s", "x:1") as one, resources.watch("s", "x:2") as two:
        for uri in ("x:1", "x:1", "x:3", "x:2"):
            await update(server, uri)
        assert await next_of(one) == ResourceUpdate("s", "x:1")
        assert await next_of(two) == ResourceUpdate("s", "x:2")
        await update(server, "x:1")
        assert await next_of(one) == ResourceUpdate("s", "x:1")
    await manager.close()
    assert not await left_since(before)


@pytest.mark.req("S3-19")
async def test_a_part_of_what_is_watched_is_told_under_its_own_name(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """An update may name a resource below the one that was subscribed to."""
    server = watchable(revisions)
    manager = managed({"s": server})
    await manager.start(registry)
    async with Resources(manager).watch("s", "x://dir/") as watch:
        await update(server, "x://directory/a")
        await update(server, "x://dir/a")
        assert await next_of(watch) == ResourceUpdate("s", "x://dir/a")


@pytest.mark.req("S3-19")
async def test_a_legacy_server_is_told_of_each_and_told_when_nobody_watches(
    managed: MakeManager, registry: Registry
) -> None:
    """Two watchers of one resource are one subscription; the last one takes it back."""
    server = watchable(LEGACY)
    manager = managed({"s": server})
    await manager.start(registry)
    resources = Resources(manager)
    async with resources.watch("s", "x:1") as one:
        async with resources.watch("s", "x:1") as two:
            await update(server, "x:1")
            assert await next_of(one) == await next_of(two)
        await update(server, "x:1")
        assert await next_of(one) == ResourceUpdate("s", "x:1")
        assert server.heard(UNSUBSCRIBE) == []
    await server.hears(UNSUBSCRIBE)
    assert len(server.heard(SUBSCRIBE)) == 1


@pytest.mark.req("S3-19")
async def test_a_modern_server_has_one_stream_that_names_them_all(
    managed: MakeManager, registry: Registry
) -> None:
    """A new one is open before the old one is let go; without anybody there is none."""
    server = watchable(MODERN)
    manager = managed({"s": server})
    await manager.start(registry)
    resources = Resources(manager)
    async with resources.watch("s", "x:1"):
        async with resources.watch("s", "x:2") as two:
            first, second = server.heard(LISTEN)
            assert (wanted_of(first), wanted_of(second)) == (["x:1"], ["x:1", "x:2"])
            gone = await server.hears("notifications/cancelled")
            assert gone["params"]["requestId"] == first["id"]
            await update(server, "x:2")
            assert await next_of(two) == ResourceUpdate("s", "x:2")
        third = await server.hears(LISTEN, 3)
        assert wanted_of(third) == ["x:1"]
    await server.hears("notifications/cancelled", 3)
    assert len(server.heard(LISTEN)) == 3


@pytest.mark.req("S3-19")
async def test_a_resource_that_is_refused_takes_no_other_with_it(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """Whoever wants it gets the error; the others go on being told."""
    server = watchable(revisions, refuses=("x:no",))
    manager = managed({"s": server})
    await manager.start(registry)
    resources = Resources(manager)
    async with resources.watch("s", "x:1") as watch:
        with pytest.raises(PeerError, match=r"not that one|does not tell"):
            async with resources.watch("s", "x:no"):
                pass
        await update(server, "x:1")
        assert await next_of(watch) == ResourceUpdate("s", "x:1")


@pytest.mark.parametrize("capabilities", [{}, {"resources": {}}, {"resources": {"subscribe": 1}}])
async def test_a_server_that_does_not_tell_of_changes_is_not_asked(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...], capabilities: Any
) -> None:
    """What is not declared is not there."""
    script = ScriptedServer((), revisions=revisions, name="s", capabilities=capabilities)
    server = LoopServer(script)
    manager = managed({"s": server})
    await manager.start(registry)
    with pytest.raises(PeerError, match="does not tell when a resource changes") as caught:
        async with Resources(manager).watch("s", "x:1"):
            pass
    assert caught.value.fault is Fault.UNSUPPORTED
    assert server.heard(SUBSCRIBE) == server.heard(LISTEN) == []


async def test_a_modern_server_without_such_a_method_does_not_tell(
    managed: MakeManager, registry: Registry
) -> None:
    """Whatever it declares; it is asked once."""
    server = watchable(MODERN)
    server.on(LISTEN, Answer(error={"code": -32601, "message": "Method not found"}))
    manager = managed({"s": server})
    await manager.start(registry)
    with pytest.raises(PeerError, match="Method not found"):
        async with Resources(manager).watch("s", "x:1"):
            pass
    assert len(server.heard(LISTEN)) == 1


async def test_a_server_that_does_not_answer_is_not_waited_for_without_end(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """Bounded by its request timeout."""
    server = watchable(revisions).on(LISTEN).on(SUBSCRIBE)
    manager = managed({"s": server}, {"s": {"request_timeout": 0.1}})
    await manager.start(registry)
    with pytest.raises(PeerError):
        async with Resources(manager).watch("s", "x:1"):
            pass


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-17")
async def test_what_is_watched_is_told_again_on_a_new_connection(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """And what changed in between may have been missed, which is said."""
    server = watchable(revisions)
    manager = managed({"s": server}, pause=ScriptedPauses(at_least=1000))
    await manager.start(registry)
    async with Resources(manager).watch("s", "x:1") as watch:
        server.hang_up()
        assert await next_of(watch) == ResourceUpdate("s", "x:1", missed=True)
        await update(server, "x:1")
        assert await next_of(watch) == ResourceUpdate("s", "x:1")
    assert server.connections == 2


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("end", ["answer", "cancelled"])
async def test_a_stream_that_ended_is_opened_again_and_that_is_said(
    managed: MakeManager, registry: Registry, end: str
) -> None:
    """A server may take its streams down at any time."""
    server = watchable(MODERN)
    manager = managed({"s": server}, pause=ScriptedPauses(at_least=1000))
    await manager.start(registry)
    async with Resources(manager).watch("s", "x:1") as watch:
        asked = server.heard(LISTEN)[0]["id"]
        if end == "answer":
            await server.say({"jsonrpc": "2.0", "id": asked, "result": {"resultType": "complete"}})
        else:
            params = {"requestId": asked}
            method = "notifications/cancelled"
            await server.say({"jsonrpc": "2.0", "method": method, "params": params})
        assert await next_of(watch) == ResourceUpdate("s", "x:1", missed=True)
        await update(server, "x:1")
        assert await next_of(watch) == ResourceUpdate("s", "x:1")


@pytest.mark.req("S3-19")
async def test_a_stream_that_does_not_come_back_ends_the_watch(
    managed: MakeManager, registry: Registry
) -> None:
    """With an error, and never in silence: the watcher would believe in what is old."""
    server = watchable(MODERN)
    manager = managed({"s": server}, pause=ScriptedPauses(at_least=1000))
    await manager.start(registry)
    async with Resources(manager).watch("s", "x:1") as watch:
        asked = server.heard(LISTEN)[0]["id"]
        server.on(LISTEN, Answer(error={"code": -32601, "message": "Method not found"}))
        await server.say({"jsonrpc": "2.0", "id": asked, "result": {"resultType": "complete"}})
        with pytest.raises(PeerError, match="does not tell of resources any more"):
            await next_of(watch)


async def test_a_watch_ends_with_its_servers(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """In good order where they are closed here; with the reason where one does not come back."""
    server = watchable(revisions)
    manager = managed({"s": server})
    await manager.start(registry)
    async with Resources(manager).watch("s", "x:1") as watch:
        await manager.close()
        async with asyncio.timeout(5):
            assert [one async for one in watch] == []
    lost = watchable(revisions)
    manager = managed({"s": lost}, reconnect=None)
    await manager.start(Registry())
    async with Resources(manager).watch("s", "x:1") as watch:
        lost.hang_up()
        with pytest.raises(PeerError, match="s is not there"):
            await next_of(watch)


async def test_a_watcher_that_is_cancelled_while_it_waits_leaves_nothing(
    managed: MakeManager, registry: Registry, revisions: tuple[str, ...]
) -> None:
    """Nobody watches then, and nothing goes on when its server is closed."""
    before, server = Belongings.now(), watchable(revisions)
    manager = managed({"s": server})
    await manager.start(registry)
    server.on(LISTEN, nth=1).on(SUBSCRIBE, nth=1)
    entering = asyncio.create_task(Resources(manager).watch("s", "x:1").__aenter__())
    await server.hears(LISTEN if revisions == MODERN else SUBSCRIBE)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert manager.offerings("s").watching.uris == ()
    await manager.close()
    assert not await left_since(before)


async def test_too_many_are_refused_and_too_much_news_is_one_update(
    managed: MakeManager, registry: Registry
) -> None:
    """Bounded in number, and in what waits for a watcher that does not look."""
    server = watchable(LEGACY)
    manager = managed({"s": server})
    await manager.start(registry)
    offerings = manager.offerings("s")
    watches = [await offerings.watch(f"x:{number}") for number in range(MAX_WATCHED)]
    with pytest.raises(LocalError, match="200 resources of s are watched already"):
        await offerings.watch("x:more")
    watch = watches[0]
    for number in range(MAX_PENDING + 5):
        watch.tell(f"x:0/{number}")
    found = [await next_of(watch) for _ in range(MAX_PENDING + 1)]
    assert found[-1] == ResourceUpdate("s", "x:0", missed=True)
    for one in watches:
        one.close()


@pytest.mark.req("S3-19")
async def test_nonsense_in_an_update_is_nobodys(managed: MakeManager, registry: Registry) -> None:
    """No URI, a wrong type, no params: nothing is told, nothing breaks."""
    server = watchable(LEGACY)
    manager = managed({"s": server})
    await manager.start(registry)
    async with Resources(manager).watch("s", "x:1") as watch:
        nonsense: list[Any] = [{}, {"uri": 5}, [], None]
        for params in nonsense:
            await server.say({"jsonrpc": "2.0", "method": UPDATED, "params": params})
        await update(server, "x:1")
        assert await next_of(watch) == ResourceUpdate("s", "x:1")


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-17")
async def test_a_session_that_was_forgotten_is_told_anew(
    managed: MakeManager, registry: Registry
) -> None:
    """The connection goes on, and the server holds nothing of before: told again, and said so."""
    read = Answer(result={"contents": [{"uri": "x:1", "text": "t"}]})
    rules = (When(SUBSCRIBE, Answer(result={})), When("resources/read", read))
    script = ScriptedServer((), rules=rules, revisions=LEGACY, capabilities=ABLE)
    async with HttpServer(script, sessions=True, listening=True) as http:
        transport = StreamableHttpTransport(http.endpoint(), peer="s", environ={}, pause=0.01)
        manager = managed({"s": transport})
        await manager.start(registry)
        resources = Resources(manager)
        async with resources.watch("s", "x:1") as watch:
            assert len(http.told(SUBSCRIBE)) == 1
            http.sessions.clear()
            await resources.read("s", "x:1")
            assert await next_of(watch) == ResourceUpdate("s", "x:1", missed=True)
            assert len(http.told(SUBSCRIBE)) == 2
        await manager.close()
