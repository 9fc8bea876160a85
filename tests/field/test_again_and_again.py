"""Field cases of what grows: the same server, reached and left hundreds of times."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.http_server import HttpServer
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.tools.registry import Registry

Reach: TypeAlias = Callable[[], Transport]
Stand: TypeAlias = Callable[[], AbstractAsyncContextManager[Reach]]


@asynccontextmanager
async def stateless() -> AsyncGenerator[Reach, None]:
    """Streamable HTTP, the newest revision."""
    async with HttpServer(ScriptedServer(revisions=MODERN)) as server:
        endpoint = server.endpoint()
        yield lambda: StreamableHttpTransport(endpoint, peer="s", environ={})


@asynccontextmanager
async def stateful() -> AsyncGenerator[Reach, None]:
    """Streamable HTTP with a session each time, a stream of its own, and answers as streams."""
    script = ScriptedServer(revisions=LEGACY)
    async with HttpServer(script, sessions=True, listening=True, stream=True) as server:
        endpoint = server.endpoint()
        yield lambda: StreamableHttpTransport(endpoint, peer="s", environ={})
        assert server.sessions == []  # each was given back


@asynccontextmanager
async def older() -> AsyncGenerator[Reach, None]:
    """HTTP with SSE."""
    async with SseServer(ScriptedServer(revisions=LEGACY)) as server:
        endpoint = server.stream()
        yield lambda: LegacySseTransport(endpoint, peer="s", environ={})


@asynccontextmanager
async def in_memory() -> AsyncGenerator[Reach, None]:
    """In this loop."""
    server = LoopServer(ScriptedServer())
    yield server.transport


@asynccontextmanager
async def process() -> AsyncGenerator[Reach, None]:
    """As a child, a new one each time."""
    endpoint = ScriptedServer().endpoint()
    grace = Grace(0.3, 0.3)
    yield lambda: StdioTransport(endpoint, peer="s", environ=os.environ, grace=grace)


async def once(reach: Reach) -> None:
    """Start, list, close."""
    settings = ServerSettings("s", StdioEndpoint("unused"), request_timeout=20)
    manager = Manager([settings], connect=lambda _: reach())
    registry = Registry()
    report = await manager.start(registry)
    assert report.failed == ()
    assert [tool.name for tool in registry.snapshot().tools] == ["mcp__s__echo"]
    await manager.close()


def ours() -> Counter[str]:
    """Objects of lockgate that are alive, by their class; those of the tests' servers left out."""
    gc.collect()
    kinds: Counter[type[object]] = Counter(map(type, gc.get_objects()))
    return Counter(
        {
            f"{module}.{kind.__qualname__}": count
            for kind, count in kinds.items()
            if (module := str(kind.__module__)).startswith("lockgate.")
            and not module.startswith("lockgate.testing")
        }
    )


@pytest.mark.req("S3-06")
@pytest.mark.parametrize(
    ("stand", "rounds"),
    [(stateless, 300), (stateful, 300), (older, 300), (in_memory, 300), (process, 100)],
)
async def test_pb_097_a_server_reached_again_and_again(stand: Stand, rounds: int) -> None:
    """After a fifth of the rounds nothing grows: objects, tasks, threads, descriptors, children."""
    async with stand() as reach:
        for _ in range(rounds // 5):
            await once(reach)
        before, alive, threads = Belongings.now(), ours(), threading.active_count()
        for _ in range(rounds - rounds // 5):
            await once(reach)
        await asyncio.sleep(0)
        assert await left_since(before) == ()
        assert threading.active_count() <= threads
        grown = ours() - alive
        assert {name: count for name, count in grown.items() if count > 1} == {}
