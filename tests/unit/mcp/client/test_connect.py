"""Agreeing on a revision: the table of `protocol.negotiation`, on the wire (B-08)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer, Do, Exit, Message, Raw, Step

CLIENT = ClientIdentity("test", "1")

DISCOVERED: Mapping[str, Any] = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "3"}},
    "instructions": "Be kind.",
    "ttlMs": 0,
    "cacheScope": "private",
}


def _server(*rules: When) -> LoopServer:
    """A legacy server, but for the rules."""
    return LoopServer(ScriptedServer((), rules=rules, revisions=LEGACY, name="fake"))


async def _connect(
    server: LoopServer,
    *,
    patience: float = 5.0,
    timeout: float = 5.0,
    eras: dict[str, Era] | None = None,
) -> ServerSession:
    return await connect(
        server.transport(),
        peer=server.name,
        client=CLIENT,
        request_timeout=timeout,
        probe_patience=patience,
        eras=eras,
    )


def _initialized(version: Any) -> Answer:
    info = {"name": "old", "version": "2"}
    return Answer(
        result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    )


def _refusal(code: int, message: str = "no", **data: Any) -> Answer:
    more = {"data": data} if data else {}
    return Answer(error={"code": code, "message": message, **more})


def _methods(server: LoopServer) -> list[str]:
    return [message["method"] for message in server.received if "method" in message]


@pytest.mark.req("B-08")
async def test_a_modern_server_is_spoken_to_without_a_handshake() -> None:
    """server/discover is answered: no initialize, and every request carries its `_meta`."""
    server = _server(When("server/discover", Answer(result=DISCOVERED)))
    session = await _connect(server)
    assert (session.revision.name, session.revision.era) == ("2026-07-28", Era.MODERN)
    assert (session.profile.name, session.profile.instructions) == ("modern", "Be kind.")
    await session.connection.request("ping")
    await session.close()
    assert _methods(server) == ["server/discover", "ping"]
    for message in server.received:
        meta = message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientInfo"] == {"name": "test", "version": "1"}
        tasks: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
        assert meta["io.modelcontextprotocol/clientCapabilities"] == tasks


@pytest.mark.req("B-08")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_legacy_server_is_initialized_in_the_same_process(version: str) -> None:
    """PB-041, PB-043: any refusal of the probe, then initialize; an older version is used."""
    server = _server(When("initialize", _initialized(version)))
    session = await _connect(server)
    assert session.revision.name == version
    assert (session.profile.name, session.profile.version) == ("old", "2")
    await session.connection.request("ping")
    await session.close()
    assert _methods(server) == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "ping",
    ]
    assert server.connections == 1
    assert "params" not in server.heard("ping")[0]


@pytest.mark.parametrize(
    "steps",
    [
        (_refusal(-32601),),
        (_refusal(-32602, "Invalid request parameters"),),
        (_refusal(-32000, "Not initialized"),),
        (Answer(result={"tools": []}),),
        (Raw(b"<html>not found</html>\n"),),
        (Raw(b'{"jsonrpc":"2.0","id":1,"result":"nonsense"}\n'),),
        (Answer(id=(None,), error={"code": -32600, "message": "bad"}),),
        (),
    ],
)
async def test_whatever_is_no_modern_answer_means_legacy(steps: tuple[Step, ...]) -> None:
    """PB-043: each connects quickly, the silent ones after the short patience."""
    server = _server(When("server/discover", *steps))
    async with asyncio.timeout(8):
        session = await _connect(server, patience=0.05)
    assert session.revision.name == "2025-11-25"
    await session.close()
    # A legacy server may break over a notification that comes before it is initialized.
    assert not server.heard("notifications/cancelled")


async def test_a_server_that_exits_on_the_probe_is_started_again() -> None:
    """PB-043: at once, and then initialized without a probe."""
    server = _server(When("server/discover", Exit()))
    session = await _connect(server)
    await session.close()
    assert server.connections == 2
    assert _methods(server) == ["server/discover", "initialize", "notifications/initialized"]


async def test_a_modern_server_that_starts_slowly_is_still_found() -> None:
    """It answers the probe when initialize is on its way, and then refuses that one."""
    hold = asyncio.Event()

    async def late(message: Message) -> None:
        await hold.wait()

    async def release(message: Message) -> None:
        hold.set()
        await asyncio.sleep(0)

    server = _server(
        When("server/discover", Do(late), Answer(result=DISCOVERED)),
        When("initialize", Do(release), _refusal(-32601, "Method not found")),
    )
    session = await _connect(server, patience=0.02)
    assert session.revision.name == "2026-07-28"
    assert session.profile.name == "modern"
    await session.close()


async def test_a_list_of_versions_in_a_refusal_is_used_for_one_retry() -> None:
    """PB-041: -32602 with data.supported while initializing."""
    supported = ["2025-03-26", "2024-01-01"]
    server = _server(
        When("initialize", _refusal(-32602, "Unsupported", supported=supported), nth=1),
        When("initialize", _initialized("2025-03-26"), nth=1),
        When("initialize"),
    )
    session = await _connect(server)
    await session.close()
    tries = [message["params"]["protocolVersion"] for message in server.heard("initialize")]
    assert tries == ["2025-11-25", "2025-03-26"]
    assert session.revision.name == "2025-03-26"


FAILURES: list[tuple[When, Fault, str]] = [
    (When("initialize", _initialized("2099-01-01")), Fault.UNSUPPORTED, "version 2099-01-01"),
    (
        When("initialize", Answer(result={"capabilities": {}})),
        Fault.UNSUPPORTED,
        "without a protocol version",
    ),
    (When("initialize", _initialized("2026-07-28")), Fault.UNSUPPORTED, "has no initialize"),
    (When("initialize", _refusal(-32603, "broken")), Fault.UNSUPPORTED, r"broken \(-32603\)"),
    (
        When("initialize", Raw(b'{"jsonrpc":"2.0","id":2,"result":[1]}\n')),
        Fault.MALFORMED,
        "an array where",
    ),
    (When("initialize"), Fault.TIMEOUT, r"within 0\.05 s \(timeout\)"),
    (
        When("server/discover", _refusal(-32022, supported=["2031-01-01"])),
        Fault.UNSUPPORTED,
        "version 2031-01-01",
    ),
    (
        When("initialize", _refusal(-32022, supported=["2025-06-18"], requested="x")),
        Fault.UNSUPPORTED,
        r"refuses every version that it lists \(2025-06-18\)",
    ),
]


@pytest.mark.parametrize(("rule", "fault", "text"), FAILURES)
async def test_no_agreement_is_a_clear_error(rule: When, fault: Fault, text: str) -> None:
    """PB-041: the server's name, what it said, and nothing left open."""
    server = _server(rule)
    with pytest.raises(PeerError, match=text) as caught:
        await _connect(server, timeout=0.05)
    error = caught.value
    assert (error.phase, error.fault, error.fate) == (Phase.NEGOTIATE, fault, Fate.NOT_SENT)
    assert str(error).startswith("fake ")
    assert not server.heard("notifications/cancelled")
    assert not _left()


async def test_a_server_that_ends_while_initializing_says_why() -> None:
    """The reason of the link's end is in the message."""
    server = _server(When("initialize", Exit()))
    with pytest.raises(PeerError, match=r"ended before it answered initialize.*the server ended"):
        await _connect(server)
    assert not _left()


async def test_what_was_found_is_remembered_and_tried_again_when_it_fails() -> None:
    """The era is kept by the caller: a legacy server is not probed twice, unless that fails."""
    eras: dict[str, Era] = {}
    server = _server()
    await (await _connect(server, eras=eras)).close()
    assert eras == {"fake": Era.LEGACY}
    await (await _connect(server, eras=eras)).close()
    assert _methods(server).count("server/discover") == 1
    server.on("initialize", _refusal(-32601)).on("server/discover", Answer(result=DISCOVERED))
    session = await _connect(server, eras=eras)
    assert session.revision.modern
    assert eras == {"fake": Era.MODERN}
    await session.close()
    assert not _left()


async def test_two_that_find_out_together_both_go_on() -> None:
    """What is remembered is one mapping for all; it may be forgotten by either of them."""
    eras = {"fake": Era.LEGACY}
    old = _server(
        When("initialize", _refusal(-32601)), When("server/discover", Answer(result=DISCOVERED))
    )
    sessions = await asyncio.gather(*(_connect(old, eras=eras) for _ in range(2)))
    assert [session.revision.modern for session in sessions] == [True, True]
    assert eras == {"fake": Era.MODERN}
    for session in sessions:
        await session.close()


@pytest.mark.parametrize("method", ["server/discover", "initialize"])
async def test_cancelled_while_it_is_made_nothing_is_left(method: str) -> None:
    """S3-07: cancellation passes, the link is closed, no cancel signal is sent."""
    server = _server(When(method))
    connecting = asyncio.create_task(_connect(server))
    await server.hears(method)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert not _left()
    assert not server.heard("notifications/cancelled")


def _left() -> list[str]:
    """Our tasks that still run."""
    return [t.get_name() for t in asyncio.all_tasks() if t.get_name().startswith("lockgate")]
