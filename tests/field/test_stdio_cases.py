"""Field cases of what comes down a pipe, with real processes and the real client."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import CallResult
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.script import ECHO, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Deaf, Exit, Raw, Send, Shape, Sleep, Step

CALL = "tools/call"
LIST = "tools/list"


@asynccontextmanager
async def client_of(
    server: ScriptedServer, *, timeout: float = 20, file: Path | None = None, **options: Any
) -> AsyncGenerator[ToolClient, None]:
    """The client of a running server; nothing is left of it afterwards."""
    before = Belongings.now()
    options = {"environ": os.environ, "grace": Grace(0.3, 0.3), **options}
    transport = StdioTransport(server.endpoint(file=file), peer="srv", **options)
    session = await connect(
        transport, peer="srv", client=ClientIdentity("test", "1"), request_timeout=timeout
    )
    try:
        yield ToolClient(session)
    finally:
        await session.close()
    assert await left_since(before) == ()


def calls(*steps: Step, **more: Any) -> ScriptedServer:
    """A server that does this about every call."""
    return ScriptedServer(rules=(When(CALL, *steps),), **more)


def text(result: CallResult) -> str:
    """The text of a result of one block."""
    (block,) = result.content
    assert isinstance(block, Text)
    return block.text


@pytest.mark.req("S3-22")
async def test_pb_001_words_on_standard_output(caplog: pytest.LogCaptureFixture) -> None:
    """Banners, empty lines and log lines: skipped, logged with the server's name and cut short;
    every tool is there."""
    server = ScriptedServer(
        opening=(Raw(b"Server version : 1.2\n\n   \n" + b"x" * 5000 + b"\n"),),
        rules=(When(LIST, Raw(b"[MCP] list_tools requested\n"), Answer()),),
        tools=(ECHO, tool("two")),
    )
    with caplog.at_level(logging.DEBUG, logger="lockgate"):
        async with client_of(server) as client:
            listed = await client.list()
    assert [found.name for found in listed.tools] == ["echo", "two"]
    said = [record.getMessage() for record in caplog.records]
    assert any("srv" in line and "Server version : 1.2" in line for line in said)
    assert max(map(len, said)) < 1000
    assert not any(record.exc_info for record in caplog.records)


NOISE = b'{"level":"info","msg":"started"}\n42\nnull\n[]\n"ready"\ntrue\n'


async def test_pb_002_json_that_is_no_message() -> None:
    """Before everything, and in the middle of a call: ignored, the call gets its answer."""
    server = calls(Raw(NOISE), Sleep(0.01), Raw(NOISE), Answer(), opening=(Raw(NOISE),))
    async with client_of(server) as client:
        assert len((await client.list()).tools) == 1
        for number in range(3):
            assert text(await client.call("echo", {"n": number})) == f'{{"n": {number}}}'


SIZES = (65_535, 65_536, 65_537, 132_000, 8_000_000)


async def test_pb_005_lines_of_any_length(tmp_path: Path) -> None:
    """Around what pipes and buffers hold, and far over it: whole, and the next call works."""
    rules = tuple(When(CALL, Answer(frame_size=size), tool=f"size-{size}") for size in SIZES)
    tools = (*(tool(f"size-{size}") for size in SIZES), tool("echo", "d" * 400_000))
    server = ScriptedServer(tools=tools, rules=rules)
    async with client_of(server, file=tmp_path / "script") as client:
        listed = await client.list()
        assert len(listed.tools[-1].description or "") == 400_000
        for size in SIZES:
            whole = text(await client.call(f"size-{size}", {}))
            assert whole == "x" * len(whole)
            assert size - 300 < len(whole) < size
            assert text(await client.call("echo", {})) == "{}"


async def test_pb_005_over_the_limit_is_an_error_of_that_call() -> None:
    """Clear, at once, with the size and the limit; the connection goes on."""
    server = ScriptedServer(
        rules=(When(CALL, Answer(frame_size=300_000), nth=1), When(CALL, Answer(text="fine")))
    )
    async with client_of(server, frame_limit=200_000) as client:
        with pytest.raises(PeerError) as caught:
            await client.call("echo", {})
        assert caught.value.fault is Fault.TOO_LARGE
        assert "300,000 bytes" in str(caught.value)
        assert "200,000" in str(caught.value)
        assert caught.value.fate is Fate.ANSWERED
        assert text(await client.call("echo", {})) == "fine"


MIXED = "한글 text " * 1000


@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(piece=4096, pause=0.001),
        Shape(piece=4097),
        Shape(piece=7),
        Shape(piece=8000, pause=0.3),
    ],
    ids=["whole", "pieces", "inside a character", "tiny", "halves"],
)
async def test_pb_006_pieces_make_no_difference(shape: Shape) -> None:
    """One write, many with pauses, cut inside a character, two halves: the same result."""
    other = Send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}})
    async with client_of(calls(other, Answer(text=MIXED, shape=shape), other)) as client:
        assert text(await client.call("echo", {})) == MIXED


@pytest.mark.parametrize("ended", [True, False])
async def test_pb_008_the_last_answer_without_a_line_end(ended: bool) -> None:
    """Delivered at the exit, or the call fails at once saying the server exited; never a wait."""
    steps: tuple[Step, ...] = (Answer(text="last", shape=Shape(ending=b"")),) if ended else ()
    begun = time.monotonic()
    async with client_of(calls(*steps, Exit(0))) as client:
        if ended:
            assert text(await client.call("echo", {})) == "last"
        else:
            with pytest.raises(PeerError, match=r"the program ended \(exit code 0\)") as caught:
                await client.call("echo", {})
            assert caught.value.fate is Fate.UNKNOWN
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "shape",
    [
        Shape(ending=b"\r\n"),
        Shape(prefix=b"\xef\xbb\xbf"),
        Shape(prefix=b" \r\t", swap=((b'"result":', b'"result":\r '),)),
    ],
    ids=["crlf", "bom", "cr as white space"],
)
async def test_pb_010_line_ends_and_marks(shape: Shape) -> None:
    """CRLF, a byte order mark and a lone CR between tokens: the handshake and calls work."""
    rules = tuple(
        When(method, Answer(shape=shape))
        for method in ("server/discover", "initialize", LIST, CALL)
    )
    async with client_of(ScriptedServer(rules=rules)) as client:
        assert len((await client.list()).tools) == 1
        assert text(await client.call("echo", {"a": 1})) == '{"a": 1}'


async def test_pb_011_bytes_that_are_no_utf_8() -> None:
    """In the handshake and in a result: replaced or refused for that frame alone, never a hang."""
    begun = time.monotonic()
    server = ScriptedServer(
        instructions="a @ b",
        rules=(
            When("server/discover", Answer(shape=Shape(swap=((b"@", b"\x97"),)))),
            When(CALL, Answer(text="@", shape=Shape(swap=((b"@", b"\xb0\xa1"),))), nth=1),
        ),
    )
    async with client_of(server) as client:
        with pytest.raises(PeerError, match=r"srv .* UTF-8 \(at byte \d+\)") as caught:
            await client.call("echo", {})
        assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
        assert text(await client.call("echo", {})) == "{}"
    assert time.monotonic() - begun < 10


async def test_pb_014_a_call_given_up_while_it_is_written() -> None:
    """Its frame is finished or the connection is closed, so that the next call is not lost."""
    server = ScriptedServer(read_rate=16_000_000)
    async with client_of(server) as client:
        first = asyncio.create_task(client.call("echo", {"text": "x" * 2_000_000}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait((first,))
        assert first.cancelled()
        assert text(await client.call("echo", {"n": 1})) == '{"n": 1}'


@pytest.mark.req("S3-21")
async def test_pb_015_a_server_that_stops_reading() -> None:
    """A large call ends at its timeout, so does the next, and meanwhile another server works."""
    deaf = ScriptedServer(rules=(When(LIST, Answer(), Deaf()),))
    async with client_of(deaf, timeout=1) as stuck, client_of(ScriptedServer()) as good:
        await stuck.list()
        begun = time.monotonic()
        first = asyncio.create_task(stuck.call("echo", {"text": "x" * 1_000_000}))
        await asyncio.sleep(0)
        second = asyncio.create_task(stuck.call("echo", {}))
        while not first.done():
            assert text(await good.call("echo", {"n": 1})) == '{"n": 1}'
        await asyncio.wait((first, second))
        assert 0.9 < time.monotonic() - begun < 5
        fates = [task.exception() for task in (first, second)]
        assert [e.fate for e in fates if isinstance(e, PeerError)] == [Fate.UNKNOWN, Fate.NOT_SENT]
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
