"""Answers over HTTP that are too large, and how that is told."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.protocol.jsonrpc import request
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_faults import events
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer
from lockgate.web.decoding import PIECE

LIMIT = 100_000


@asynccontextmanager
async def _failed(server: HttpServer) -> AsyncGenerator[PeerError]:
    """What is told of one call."""
    receiver = RecordingReceiver()
    transport = StreamableHttpTransport(
        server.endpoint(), peer="there", environ={}, frame_limit=LIMIT
    )
    async with transport.open(receiver) as link:
        await link.send(request(1, "tools/call", {"name": "echo", "arguments": {}}))
        yield await receiver.lost(1)


@pytest.mark.parametrize("lines", [1, 4])
async def test_a_stream_that_ends_after_a_message_over_the_limit_says_so(lines: int) -> None:
    """Its id stands behind what was kept of it, so it may have been the answer, or something else:
    the fate is not known, and the size is told."""
    big = "x" * (3 * LIMIT // lines)
    parts = "".join(f'data: "{big}",\n' for _ in range(lines))
    said = f'data: {{"jsonrpc":"2.0","result":[\n{parts}data: 1],"id":@id@}}\n\n'
    async with HttpServer(ScriptedServer()).on(events(said)) as server, _failed(server) as error:
        assert (error.fault, error.fate) == (Fault.TOO_LARGE, Fate.UNKNOWN)
        assert "over the limit of 100,000 for one frame" in str(error)


async def test_a_compressed_body_is_undone_no_further_than_to_the_limit() -> None:
    """A bomb costs no more than an answer that is just too large."""
    packed = gzip.compress(b'"' + bytes(50_000_000))

    async def act(exchange: HttpExchange) -> None:
        fields = {"content-encoding": "gzip", "content-type": "application/json"}
        await exchange.answer(200, packed, fields)

    async with HttpServer(ScriptedServer()).on(act) as server, _failed(server) as error:
        assert error.fault is Fault.TOO_LARGE
        found = re.search(r"answered with ([\d,]+) bytes", str(error))
        assert found is not None
        assert int(found[1].replace(",", "")) <= LIMIT + PIECE
