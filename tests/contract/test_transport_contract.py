"""Every transport is held against one contract, a made-up one that exists only here included."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from contract_ways import (
    MakeReach,
    over_http,
    over_http_session,
    over_http_session_streams,
    over_http_streams,
    over_memory,
    over_socket,
    over_sse,
    over_stdio,
)
from lockgate.errors import Fault, Phase
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.testing.script import ScriptedServer
from lockgate.testing.sse_server import SseServer
from lockgate.testing.transports import CONTRACT, Check, fails_to_open, hold
from socket_transport import SocketTransport

EXCEPTIONS: Mapping[str, str] = {
    "frames_keep_their_order": "each message goes its own way: what has to follow waits for it",
    "waiting_senders_keep_their_order": "the same: they begin in their order",
    "the_server_may_speak_first": "it is asked first; what it says unasked has tests of its own",
    "whatever_is_no_frame_harms_nothing": "a body is one frame and nothing else",
}
"""What can not be promised over HTTP, and why."""
OF_STREAMS: Mapping[str, str] = {
    "the_bytes_are_not_touched": "a carriage return is the end of a line there",
}
"""The same, of streams of events alone."""


@pytest.mark.req("S3-16")
@pytest.mark.parametrize(
    "make", [over_http, over_http_streams, over_http_session, over_http_session_streams]
)
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_http_keeps_the_contract(check: Check, make: MakeReach, tmp_path: Path) -> None:
    """Each promise over HTTP, in both eras and both forms of answers, but for those that name why
    not."""
    streams = make in (over_http_streams, over_http_session_streams)
    if check.__name__ in EXCEPTIONS or (streams and check.__name__ in OF_STREAMS):
        return
    await hold(check, make(), tmp_path)


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_sse_keeps_the_contract(check: Check, tmp_path: Path) -> None:
    """Each promise over HTTP with SSE; there a server may speak first."""
    if check.__name__ in {*EXCEPTIONS, *OF_STREAMS} - {"the_server_may_speak_first"}:
        return
    await hold(check, over_sse(), tmp_path)


async def test_an_address_without_a_stream_fails_to_open() -> None:
    """Phase CONNECT, fate NOT_SENT, for HTTP with SSE as well."""
    async with SseServer(ScriptedServer()) as server:
        endpoint = server.stream()
    error = await fails_to_open(LegacySseTransport(endpoint, peer="x", environ={}))
    assert (error.phase, error.fault) == (Phase.CONNECT, Fault.NOT_CONNECTED)


def test_what_http_does_not_promise_is_in_the_contract() -> None:
    """No exception outlives the promise that it is from."""
    assert {*EXCEPTIONS, *OF_STREAMS} <= {check.__name__ for check in CONTRACT}


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("make", [over_stdio, over_memory, over_socket])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_every_transport_keeps_the_contract(
    check: Check, make: MakeReach, tmp_path: Path
) -> None:
    """Each promise of `mcp.transport.base`, over each transport; the check's docstring says it."""
    await hold(check, make(), tmp_path)


async def test_a_program_that_is_not_there_fails_to_open() -> None:
    """Phase SPAWN, fate NOT_SENT, nothing left, and no `closed` for what was never open."""
    endpoint = StdioEndpoint("no-such-program-anywhere")
    error = await fails_to_open(StdioTransport(endpoint, peer="x", environ=os.environ))
    assert (error.phase, error.fault) == (Phase.SPAWN, Fault.NOT_STARTED)


async def test_a_socket_without_a_server_fails_to_open() -> None:
    """The same for a transport that connects."""
    transport = SocketTransport(None, LIMIT)
    assert (await fails_to_open(transport)).phase is Phase.CONNECT
