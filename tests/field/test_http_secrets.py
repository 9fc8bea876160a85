"""Cases met in the field: what is logged of servers over HTTP while everything is logged."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer

SECRET = "hunter2-hunter2-hunter2"  # noqa: S105 - what must not be logged
HEADERS = {
    "Authorization": f"Bearer {SECRET}",
    "X-Api-Key": SECRET,
    "X-Odd": f"a {SECRET}",
}


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("older", [False, True], ids=["streamable", "sse"])
async def test_pb_187_no_log_holds_what_headers_hold(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, older: bool
) -> None:
    """Every logger at DEBUG, the HTTP library's too: a call, and one that is refused."""
    caplog.set_level(logging.DEBUG)
    script = ScriptedServer(revisions=LEGACY)
    kind = SseEndpoint if older else HttpEndpoint
    server = SseServer(script) if older else HttpServer(script)
    async with server, Fleet(tmp_path) as fleet:
        fleet.add("far", kind(f"{server.url}?token={SECRET}", HEADERS))
        assert (await fleet.start()).failed == ()
        assert not (await fleet.call("mcp__far__echo", n=1)).is_error
        server.on(status(403, f"who is {SECRET}?"), message="tools/call")
        refused = await fleet.call("mcp__far__echo", n=2)
        assert refused.is_error
        assert SECRET not in refused.text
    heard = server.told("tools/call")
    assert {each.headers["x-odd"] for each in heard} == {f"a {SECRET}"}
    assert SECRET not in caplog.text
