"""Faults at every point of an exchange over HTTP, against the whole road: nothing runs twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate.errors import Fate
from lockgate.mcp.host.settings import Verdict
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import events, page, raw, reset, stall, status, truncated
from lockgate.testing.http_heard import Action
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.tools.result import ErrorKind
from lockgate.traits import IdempotencyBehavior, SideEffectLevel


@dataclass(frozen=True, slots=True)
class Point:
    """One fault, which comes each time, and what is known after it."""

    action: Action
    fate: Fate
    kind: ErrorKind


UNKNOWN, NOT_SENT, ANSWERED = Fate.UNKNOWN, Fate.NOT_SENT, Fate.ANSWERED
DARK = ErrorKind.OUTCOME_UNKNOWN
POINTS: Mapping[str, Point] = {
    "reset before the answer": Point(reset(), UNKNOWN, DARK),
    "end before the answer": Point(raw(b""), UNKNOWN, DARK),
    "end in the head": Point(raw(b"HTTP/1.1 200 OK\r\nx"), UNKNOWN, DARK),
    "end in the body": Point(truncated(b'{"jsonrpc"', of=90), UNKNOWN, DARK),
    "reset in a stream": Point(events("data: {", then="reset"), UNKNOWN, DARK),
    "end of a stream": Point(events(": hello\n\n"), UNKNOWN, DARK),
    "no HTTP": Point(raw(b"what?\r\n\r\n"), UNKNOWN, DARK),
    "stall": Point(stall(), UNKNOWN, DARK),
    "202": Point(status(202), UNKNOWN, DARK),
    "page": Point(page("Sign in"), UNKNOWN, DARK),
    "garbage": Point(status(200, b"\x16", {"content-type": "application/json"}), UNKNOWN, DARK),
    "500": Point(status(500), UNKNOWN, DARK),
    "502": Point(page("Bad Gateway", 502), UNKNOWN, DARK),
    "504": Point(status(504), UNKNOWN, DARK),
    "400": Point(status(400), ANSWERED, ErrorKind.TOOL_ERROR),
    "302": Point(status(302, headers={"location": "/x"}), ANSWERED, ErrorKind.TOOL_ERROR),
    "401": Point(status(401), NOT_SENT, ErrorKind.UNAUTHORIZED),
    "403": Point(status(403), NOT_SENT, ErrorKind.UNAUTHORIZED),
    "429": Point(status(429), NOT_SENT, ErrorKind.RATE_LIMITED),
}
READS = Verdict(level=SideEffectLevel.READ_ONLY)
AGAIN = Verdict(level=SideEffectLevel.MUTATING, idempotent=IdempotencyBehavior.IDEMPOTENT)


@pytest.mark.parametrize("legacy", [False, True], ids=["modern", "legacy"])
@pytest.mark.parametrize("where", POINTS)
@pytest.mark.req("B-03")
async def test_a_call_that_can_not_be_repeated_is_made_once(
    tmp_path: Path, where: str, legacy: bool
) -> None:
    """A MUTATING, NON_IDEMPOTENT tool: one request at most may have reached it, and its fate is
    told as what it is."""
    point = POINTS[where]
    script = ScriptedServer(revisions=LEGACY) if legacy else ScriptedServer()
    async with HttpServer(script, sessions=legacy) as server, Fleet(tmp_path) as fleet:
        fleet.add("far", server.endpoint(), request_timeout=0.5 if where == "stall" else 5)
        assert (await fleet.start()).failed == ()
        server.on(point.action, message="tools/call")
        result = await fleet.call("mcp__far__echo", n=1)
        assert result.kind is point.kind
        assert len(server.told("tools/call")) == 1
        if legacy and where == "stall":
            await server.wait_for(lambda: len(server.told("notifications/cancelled")) == 1)


@pytest.mark.parametrize("verdict", [READS, AGAIN], ids=["read-only", "idempotent"])
@pytest.mark.req("B-03")
async def test_a_call_that_can_be_repeated_is_made_once_more(
    tmp_path: Path, verdict: Verdict
) -> None:
    """The same faults, once: the second try is the answer, and there is no third."""
    for where, point in POINTS.items():
        if point.fate is not UNKNOWN or where == "stall":
            continue
        async with HttpServer(ScriptedServer()) as server, Fleet(tmp_path / where) as fleet:
            fleet.add("far", server.endpoint(), verdicts={"echo": verdict})
            await fleet.start()
            server.on(point.action, message="tools/call", nth=1)
            assert (await fleet.call("mcp__far__echo", n=1)).text == '{"n": 1}'
            assert len(server.told("tools/call")) == 2
