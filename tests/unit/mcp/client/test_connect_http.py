"""Agreeing on a revision with servers over HTTP, old, new and odd."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.http_client import connected, echo, with_sessions
from lockgate.testing.http_faults import page, redirect, stall, status
from lockgate.testing.http_heard import Action, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer

ODD: Mapping[str, Action] = {
    "method not found": status(
        200, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    ),
    "the same as 404": status(
        404, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    ),
    "invalid params": status(
        200, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}
    ),
    "missing session": status(
        400, {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no"}}
    ),
    "400 page": page("Bad Request", 400),
    "404": status(404),
    "405": status(405),
    "406": status(406, "not acceptable"),
    "500": status(500, "oops"),
    "501": status(501),
    "page": page(),
    "202": status(202),
    "silence": stall(),
}


@pytest.mark.parametrize("how", ODD)
@pytest.mark.req("S3-02")
async def test_pb_043_whatever_an_old_server_says_to_the_probe_it_is_initialized(how: str) -> None:
    """Refused in any way that no modern server has: `initialize` on the same link."""
    async with with_sessions() as server:
        server.on(ODD[how], message="server/discover")
        async with connected(server, None) as session:
            assert session.revision.name == LEGACY[0]
            assert await echo(session, a=1) == '{"a": 1}'
        assert len(server.told("initialize")) == 1


async def test_a_list_of_versions_in_a_refusal_is_used() -> None:
    """400 with the versions that are supported keeps it modern, or says which legacy one."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": {"supported": ["2025-06-18"]},
        },
    }
    async with with_sessions() as server:
        server.on(status(400, body), message="server/discover")
        async with connected(server, None) as session:
            assert session.revision.name == "2025-06-18"


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_a_modern_refusal_is_not_taken_for_an_old_server(code: int) -> None:
    """An error that only modern servers have ends it, with its words."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": "header mismatch"}}
    async with HttpServer(ScriptedServer()) as server:
        server.on(status(400, body), message="server/discover")
        with pytest.raises(PeerError, match="header mismatch"):
            async with connected(server, None):
                pass
        assert server.told("initialize") == []


async def test_a_modern_server_that_is_slow_at_first_is_found_to_be_modern() -> None:
    """It answers no probe in time and refuses to be initialized: it is probed once more."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "no version"}}
    async with HttpServer(ScriptedServer()) as server:
        server.on(stall(), message="server/discover", nth=1)
        server.on(status(400, body), message="initialize")
        async with connected(server, None) as session:
            assert session.revision.modern
        assert len(server.told("server/discover")) == 2


@pytest.mark.parametrize(
    ("code", "fault"),
    [(401, Fault.UNAUTHORIZED), (403, Fault.UNAUTHORIZED), (429, Fault.RATE_LIMITED)],
)
@pytest.mark.parametrize("era", [None, Era.LEGACY])
async def test_who_is_not_let_in_does_not_try_another_revision(
    code: int, fault: Fault, era: Era | None
) -> None:
    """One request, whatever is remembered of the server; its own fault and fate."""
    async with HttpServer(ScriptedServer()) as server:
        server.on(status(code, headers={"retry-after": "9"}))
        with pytest.raises(PeerError) as caught:
            async with connected(server, era):
                pass
        assert (caught.value.fault, caught.value.fate) == (fault, Fate.NOT_SENT)
        assert caught.value.retry_after == (9 if code == 429 else None)
        assert len(server.heard) == 1


@pytest.mark.parametrize("how", ["404", "405", "500", "501", "400 page", "elsewhere"])
@pytest.mark.parametrize("era", [None, Era.LEGACY])
async def test_a_status_says_nothing_of_revisions(how: str, era: Era | None) -> None:
    """Whoever refuses everything is told as one that refuses, not as one of another revision."""
    async with HttpServer(ScriptedServer()) as server:
        server.on(redirect(302, "http://127.0.0.1:1/") if how == "elsewhere" else ODD[how])
        with pytest.raises(PeerError) as caught:
            async with connected(server, era):
                pass
    assert (caught.value.fault, caught.value.fate) == (Fault.REFUSED, Fate.NOT_SENT)


async def test_a_server_that_is_not_there_is_said_to_be() -> None:
    """Refused: once, with the address and the system's words."""
    async with HttpServer(ScriptedServer()) as server:
        pass
    with pytest.raises(PeerError, match="connection refused") as caught:
        async with connected(server, None):
            pass
    assert caught.value.fault is Fault.NOT_CONNECTED


async def test_a_remembered_era_that_does_not_hold_any_more_is_found_out_anew() -> None:
    """A server that became modern refuses to be initialized: it is probed after all."""
    server = HttpServer(ScriptedServer(revisions=("2026-07-28",)))
    async with server, connected(server, Era.LEGACY) as session:
        assert session.revision.modern


async def test_a_new_session_in_another_revision_is_not_used() -> None:
    """What was agreed upon holds for all frames: the calls are told, and nothing is mixed."""
    other = {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "serverInfo": {"name": "x", "version": "2"},
    }
    async with with_sessions() as server, connected(server) as session:
        server.sessions.clear()

        async def answer(exchange: HttpExchange) -> None:
            body = {"jsonrpc": "2.0", "id": exchange.heard.message["id"], "result": other}
            await status(200, body)(exchange)

        server.on(answer, message="initialize")
        with pytest.raises(PeerError, match="came back with protocol version '2025-03-26'"):
            await echo(session)


async def test_a_session_listens_before_it_asks_anything() -> None:
    """What a server says on a stream that nobody has asked for yet is lost, its questions too."""
    async with with_sessions(listening=True) as server, connected(server):
        assert [heard.method for heard in server.heard][-1] == "GET"


async def test_a_server_that_keeps_its_stream_to_itself_is_used_all_the_same() -> None:
    """Some send nothing of it before there is something to say: that is waited for a moment."""
    async with with_sessions(listening=True) as server:
        server.on(stall(), method="GET")
        async with connected(server) as session:
            assert await echo(session, a=1) == '{"a": 1}'


async def test_a_session_can_end_as_often_as_it_likes() -> None:
    """Each time one new one."""
    async with with_sessions() as server, connected(server) as session:
        for number in range(1, 5):
            server.sessions.clear()
            assert await echo(session, n=number) == f'{{"n": {number}}}'
            assert server.sessions == [f"session-{number + 1}"]
        assert len(server.told("initialize")) == 5
