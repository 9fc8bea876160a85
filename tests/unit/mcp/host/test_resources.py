"""Resources and prompts of many servers: named by server, failures named with their reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.errors import Fault, LocalError, PeerError
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.offerings import LARGEST_KEPT
from lockgate.mcp.host.prompts import Prompts
from lockgate.mcp.host.resources import Resources
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer
from lockgate.testing.steps import Answer, Exit
from lockgate.tools.registry import Registry

MakeManager = Callable[..., Manager]

ABLE: dict[str, Any] = {
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
}


def able(name: str, revisions: tuple[str, ...] = MODERN, *, ttl: int | None = None) -> LoopServer:
    """A server with one resource, one template and one prompt, all good for `ttl` milliseconds."""
    server = LoopServer(ScriptedServer((), revisions=revisions, name=name, capabilities=ABLE))
    more: dict[str, Any] = {"resultType": "complete"} | ({} if ttl is None else {"ttlMs": ttl})
    lists: dict[str, tuple[str, Any]] = {
        "resources/list": ("resources", {"uri": "x:1", "name": "one"}),
        "resources/templates/list": ("resourceTemplates", {"uriTemplate": "x:{n}", "name": "t"}),
        "prompts/list": ("prompts", {"name": "p", "arguments": [{"name": "a", "required": True}]}),
    }
    for method, (member, entry) in lists.items():
        server.on(method, Answer(result={member: [entry], **more}))
    contents = [{"uri": "x:1", "text": f"of {name}"}]
    server.on("resources/read", Answer(result={"contents": contents, **more}))
    message = {"role": "user", "content": {"type": "text", "text": "hi"}}
    server.on("prompts/get", Answer(result={"messages": [message], **more}))
    completion = {"values": ["v"], "hasMore": False}
    server.on("completion/complete", Answer(result={"completion": completion, **more}))
    return server


@pytest.mark.req("S3-19")
@pytest.mark.req("S3-10")
async def test_a_server_that_fails_is_named_and_never_silently_missing(
    managed: MakeManager, registry: Registry
) -> None:
    """One that did not start, one that answers with an error, one that has none: all told apart."""
    broken = able("broken").on("resources/list", Answer(error={"code": -32603, "message": "oops"}))
    dead = LoopServer(ScriptedServer((), opening=(Exit(1),), name="dead"))
    servers = {"a": able("a"), "broken": broken, "dead": dead, "none": ScriptedServer((), name="n")}
    manager = managed(servers)
    await manager.start(registry)
    found = await Resources(manager).list()
    assert [(one.server, one.uri, one.name) for one in found] == [("a", "x:1", "one")]
    assert set(found.failed) == {"broken", "dead"}
    assert "oops" in found.failed["broken"]
    assert found.without == ("none",)
    templates = await Resources(manager).templates()
    assert {one.server: one.template for one in templates} == {"a": "x:{n}", "broken": "x:{n}"}
    prompts = await Prompts(manager).list()
    assert [(one.server, one.name, one.required) for one in prompts] == [
        ("a", "p", ("a",)),
        ("broken", "p", ("a",)),
    ]


@pytest.mark.req("S3-19")
async def test_one_server_is_asked_alone(managed: MakeManager, registry: Registry) -> None:
    """The same URI of two servers is two resources; the other one hears nothing."""
    first, second = able("a"), able("b", LEGACY)
    manager = managed({"a": first, "b": second})
    await manager.start(registry)
    resources, prompts = Resources(manager), Prompts(manager)
    for name in ("a", "b"):
        (content,) = (await resources.read(name, "x:1")).contents
        assert content.as_text().endswith(f"of {name}")
    assert [one.server for one in await resources.list("b")] == ["b"]
    assert first.heard("resources/list") == []
    (message,) = (await prompts.get("b", "p", {"a": "1"})).messages
    assert message.content.as_text() == "hi"
    assert (await prompts.complete("b", "p", "a", "v")).values == ("v",)
    assert (await resources.complete("a", "x:{n}", "n")).values == ("v",)
    assert first.heard("prompts/get") == []


async def test_a_name_that_no_server_has_is_a_mistake(
    managed: MakeManager, registry: Registry
) -> None:
    """With the names there are; without any servers nothing is found and nothing can be read."""
    manager = managed({"a": able("a")})
    await manager.start(registry)
    with pytest.raises(LocalError, match="no server is called 'b'; there is a"):
        await Resources(manager).list("b")
    with pytest.raises(LocalError, match="no server is called"):
        await Prompts(manager).get("b", "p")
    assert len(await Resources(None).list()) == 0
    with pytest.raises(LocalError, match="no MCP servers"):
        await Resources(None).read("a", "x:1")


async def test_a_server_that_is_gone_says_so(managed: MakeManager, registry: Registry) -> None:
    """Nothing was sent, and the reason is there."""
    server = able("a")
    manager = managed({"a": server}, reconnect=None, listeners=[heard := HeardEvents()])
    await manager.start(registry)
    server.hang_up()
    await heard.state("failed")
    with pytest.raises(PeerError, match="a is not there") as caught:
        await Resources(manager).read("a", "x:1")
    assert caught.value.fault is Fault.NOT_CONNECTED
    assert set((await Resources(manager).list()).failed) == {"a"}


@pytest.mark.req("S3-19")
async def test_what_a_server_says_is_good_is_not_asked_for_again(
    managed: MakeManager, registry: Registry
) -> None:
    """For its time; prompts that were got are never kept."""
    now = [0.0]
    server = able("a", ttl=60_000)
    manager = managed({"a": server}, clock=lambda: now[0])
    await manager.start(registry)
    resources, prompts = Resources(manager), Prompts(manager)
    methods = ("resources/list", "resources/templates/list", "resources/read", "prompts/list")

    async def all_of_it() -> list[int]:
        await resources.list()
        await resources.templates()
        await resources.read("a", "x:1")
        await prompts.list()
        await prompts.get("a", "p")
        return [len(server.heard(method)) for method in methods]

    assert await all_of_it() == [1, 1, 1, 1]
    assert await all_of_it() == [1, 1, 1, 1]
    await resources.read("a", "x:2")
    assert len(server.heard("resources/read")) == 2
    now[0] = 61.0
    assert await all_of_it() == [2, 2, 3, 2]
    assert len(server.heard("prompts/get")) == 3


@pytest.mark.req("S3-19")
@pytest.mark.parametrize(
    "content",
    [
        {"uri": "x:1", "text": "t" * LARGEST_KEPT},
        {"uri": "x:1", "text": "t", "_meta": {"much": "t" * LARGEST_KEPT}},
        {"much": "t" * LARGEST_KEPT},
    ],
    ids=["text", "beside-it", "malformed"],
)
async def test_what_is_large_is_not_kept(
    managed: MakeManager, registry: Registry, content: dict[str, Any]
) -> None:
    """Wherever it stands: a server does not say how much memory is used for it."""
    read = {"contents": [content], "ttlMs": 60_000, "resultType": "complete"}
    server = able("a").on("resources/read", Answer(result=read))
    manager = managed({"a": server})
    await manager.start(registry)
    for _ in range(2):
        await Resources(manager).read("a", "x:1")
    assert len(server.heard("resources/read")) == 2


@pytest.mark.req("S3-19")
@pytest.mark.parametrize(
    ("method", "params", "again"),
    [
        ("notifications/resources/list_changed", {}, [2, 2, 1, 1]),
        ("notifications/prompts/list_changed", {}, [1, 1, 1, 2]),
        ("notifications/resources/updated", {"uri": "x:1"}, [1, 1, 2, 1]),
        ("notifications/resources/updated", {"uri": "x:1/part"}, [1, 1, 2, 1]),
        ("notifications/resources/updated", {"uri": "x:"}, [1, 1, 2, 1]),
        ("notifications/resources/updated", {}, [1, 1, 2, 1]),
        ("notifications/resources/updated", {"uri": "y:1"}, [1, 1, 1, 1]),
        ("notifications/tools/list_changed", {}, [1, 1, 1, 1]),
    ],
)
async def test_what_is_kept_is_only_as_good_as_the_server_lets_it_be(
    managed: MakeManager, registry: Registry, method: str, params: Any, again: list[int]
) -> None:
    """A notification makes stale what it is about, at once; listeners hear it as they always do."""
    server, heard = able("a", ttl=60_000), HeardEvents()
    manager = managed({"a": server}, listeners=[heard])
    await manager.start(registry)
    methods = ("resources/list", "resources/templates/list", "resources/read", "prompts/list")

    async def all_of_it() -> list[int]:
        await Resources(manager).list()
        await Resources(manager).templates()
        await Resources(manager).read("a", "x:1")
        await Prompts(manager).list()
        return [len(server.heard(one)) for one in methods]

    assert await all_of_it() == [1, 1, 1, 1]
    await server.say({"jsonrpc": "2.0", "method": method, "params": params})
    await heard.until(lambda: method in heard.methods)
    assert await all_of_it() == again


@pytest.mark.req("S3-19")
async def test_a_legacy_servers_word_on_time_means_nothing(
    managed: MakeManager, registry: Registry
) -> None:
    """`ttlMs` is of 2026-07-28; without it each answer is stale at once."""
    server = able("a", LEGACY, ttl=60_000)
    manager = managed({"a": server})
    await manager.start(registry)
    for _ in range(2):
        await Resources(manager).list()
        await Resources(manager).read("a", "x:1")
    assert len(server.heard("resources/list")) == len(server.heard("resources/read")) == 2


@pytest.mark.req("S3-19")
async def test_a_new_connection_keeps_nothing_of_the_old_one(
    managed: MakeManager, registry: Registry
) -> None:
    """It may be another server, and another authorization."""
    server = able("a", ttl=60_000)
    manager = managed({"a": server})
    await manager.start(registry)
    await Resources(manager).read("a", "x:1")
    await manager.reconnect("a", failed_only=False)
    await Resources(manager).read("a", "x:1")
    assert len(server.heard("resources/read")) == 2


@pytest.mark.req("S3-19")
async def test_a_modern_server_is_listened_to_for_all_lists_that_it_announces(
    managed: MakeManager, registry: Registry
) -> None:
    """On one stream; what was kept before it was open again may be old."""
    server = able("a", ttl=60_000).on("subscriptions/listen")
    manager = managed({"a": server})
    await manager.start(registry)
    asked = await server.hears("subscriptions/listen")
    wanted = {"promptsListChanged": True, "resourcesListChanged": True}
    assert asked["params"]["notifications"] == wanted
    await Resources(manager).list()
    meta = {"io.modelcontextprotocol/subscriptionId": asked["id"]}
    method = "notifications/subscriptions/acknowledged"
    params = {"_meta": meta, "notifications": wanted}
    await server.say({"jsonrpc": "2.0", "method": method, "params": params})
    async with asyncio.timeout(5):
        while len(server.heard("resources/list")) < 2:
            await asyncio.sleep(0)
            await Resources(manager).list()
    assert len(server.heard("tools/list")) == 1
