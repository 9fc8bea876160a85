"""Connections that are kept: when they are used again, and what is known of what was written."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.errors import LocalError
from lockgate.testing.http_faults import raw, status
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.script import ScriptedServer
from lockgate.testing.turns import turns
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure, Stage, Trouble
from lockgate.web.pool import Head, Pool
from lockgate.web.target import read_target


@asynccontextmanager
async def pooled(server: HttpServer, **more: Any) -> AsyncGenerator[tuple[Pool, Head], None]:
    """A pool and how to ask the server; `more` are options of the pool."""
    pool = Pool(**more)
    try:
        yield pool, Head("POST", read_target(server.url), (("X-One", "1"),))
    finally:
        await pool.close()


async def body_of(answer: Answer) -> bytes:
    """All of it."""
    pieces: list[bytes] = []
    while piece := await answer.piece():
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize(("idle", "connections"), [(60.0, 1), (0.0, 3)])
async def test_a_connection_is_used_again_while_it_is_fresh(idle: float, connections: int) -> None:
    """And not once it was idle for longer than it may be."""
    server = HttpServer(ScriptedServer()).on(status(200, "x"))
    async with server, pooled(server, idle=idle) as (pool, head):
        for _ in range(3):
            assert await body_of(await pool.ask(head, (), b"{}")) == b"x"
        assert server.connections == connections
        assert [heard.headers["x-one"] for heard in server.heard] == ["1"] * 3


async def test_an_answer_that_is_not_read_is_no_connection_to_use_again() -> None:
    """Closed before its end, the connection goes with it."""
    server = HttpServer(ScriptedServer()).on(status(200, "x" * 500_000))
    async with server, pooled(server) as (pool, head):
        (await pool.ask(head, (), b"{}")).close()
        assert len(await body_of(await pool.ask(head, (), b"{}"))) == 500_000
        assert server.connections == 2


async def test_a_connection_that_ended_in_between_was_written_nothing() -> None:
    """The peer hangs up after we have the connection, and before the first byte."""
    async with HttpServer(ScriptedServer()) as server, pooled(server) as (pool, head):
        connection = await pool.connect(head)
        await server.wait_for(lambda: server.connections == 1)
        await server.__aexit__(None, None, None)
        await turns(100)
        assert connection.closed
        with pytest.raises(HttpFailure) as caught:
            pool.write(connection, head, (), b"{}")
        assert (caught.value.stage, caught.value.trouble) == (Stage.CONNECTING, Trouble.CLOSED)
        assert server.heard == []


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\rb", "a\0b", "가"])
async def test_what_no_header_can_hold_is_not_written(value: str) -> None:
    """A line end would be another header: refused, and nothing reaches the server."""
    server = HttpServer(ScriptedServer()).on(status(200, "x"))
    async with server, pooled(server) as (pool, head):
        with pytest.raises(LocalError, match="a header holds"):
            await pool.ask(head, (("X-Two", value),), b"{}")
        assert server.heard == []
        assert await body_of(await pool.ask(head, (), b"{}")) == b"x"


async def test_an_early_answer_ends_the_writing_and_the_connection() -> None:
    """A body that nobody reads to its end: the refusal is told, the connection not used again."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        await hold.wait()
        writer.close()

    hold = asyncio.Event()
    listener = await asyncio.start_server(served, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    pool = Pool()
    try:
        head = Head("POST", read_target(f"http://127.0.0.1:{port}/"), ())
        for _ in range(2):
            answer = await pool.ask(head, (), b"x" * 20_000_000)
            assert answer.status == 413
            assert await body_of(answer) == b""
    finally:
        await pool.close()
        hold.set()
        listener.close()


async def test_a_compressed_body_is_undone_and_a_damaged_one_told() -> None:
    """gzip, though it was not asked for; cut short it is no body."""
    packed = gzip.compress(b"hello " * 100_000)

    async def act(exchange: HttpExchange) -> None:
        whole = len(server.heard) == 1
        await exchange.answer(200, packed if whole else packed[:-9], {"content-encoding": "gzip"})

    server = HttpServer(ScriptedServer()).on(act)
    async with server, pooled(server) as (pool, head):
        assert await body_of(await pool.ask(head, (), b"{}")) == b"hello " * 100_000
        with pytest.raises(HttpFailure) as caught:
            await body_of(await pool.ask(head, (), b"{}"))
        assert caught.value.stage is Stage.READING_BODY


async def test_a_body_that_unfolds_without_end_leaves_room_for_others() -> None:
    """A megabyte may stand for a gigabyte: the loop goes on between its pieces."""
    packed = gzip.compress(bytes(20_000_000))

    async def act(exchange: HttpExchange) -> None:
        await exchange.answer(200, packed, {"content-encoding": "gzip"})

    server = HttpServer(ScriptedServer()).on(act)
    async with server, pooled(server) as (pool, head):
        answer = await pool.ask(head, (), b"{}")
        assert answer.compressed
        turns = pieces = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        while await answer.piece():
            pieces += 1
        task.cancel()
        assert pieces > 250
        assert turns >= pieces


async def test_what_comes_before_an_answer_is_passed_over() -> None:
    """100 and 103 announce the answer, and are none."""
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    data = early + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
    server = HttpServer(ScriptedServer()).on(raw(data, stay=True))
    async with server, pooled(server) as (pool, head):
        answer = await pool.ask(head, (), b"{}")
        assert answer.status == 200
        assert await body_of(answer) == b"hi"


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    """As in HTTP/1.0."""
    server = HttpServer(ScriptedServer()).on(raw(b"HTTP/1.0 200 OK\r\n\r\nall of it"))
    async with server, pooled(server) as (pool, head):
        assert await body_of(await pool.ask(head, (), b"{}")) == b"all of it"


async def test_no_more_connections_than_there_may_be() -> None:
    """The others wait; one that gives up was never begun."""
    server = HttpServer(ScriptedServer())
    release = asyncio.Event()

    async def act(exchange: HttpExchange) -> None:
        await release.wait()
        await exchange.answer(200, b"x")

    server.on(act)
    async with server, pooled(server, connections=2) as (pool, head):
        asking = [asyncio.create_task(pool.ask(head, (), b"%d" % n)) for n in range(4)]
        await server.wait_for(lambda: len(server.heard) == 2)
        asking[3].cancel()
        release.set()
        for task in asking[:3]:
            assert await body_of(await task) == b"x"
        assert server.connections == 2
        assert sorted(heard.body for heard in server.heard) == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "no address is known for its name"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "no name server has answered"),
        (OSError("no name server takes this name"), "no address is known for its name"),
    ],
)
@pytest.mark.parametrize("proxy", [None, "http://nowhere.example:3128"])
async def test_a_name_without_an_address_is_told_in_words(
    error: OSError, told: str, proxy: str | None
) -> None:
    """Numbers of the resolver are none of the system's; of a proxy the same is told."""
    lookup = ScriptedLookup()
    lookup.on("nowhere.example", error)
    pool = Pool(lookup=lookup, proxy=None if proxy is None else read_target(proxy))
    try:
        with pytest.raises(HttpFailure, match=told) as caught:
            await pool.ask(Head("POST", read_target("http://nowhere.example/"), ()), (), b"{}")
    finally:
        await pool.close()
    assert (caught.value.stage, caught.value.trouble) == (Stage.CONNECTING, Trouble.UNREACHABLE)
    assert ("through the proxy" in str(caught.value)) is (proxy is not None)
