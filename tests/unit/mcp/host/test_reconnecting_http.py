"""A server at an address that is not there any more: found out, left alone, and brought back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import SseEndpoint
from lockgate.mcp.host.reconnect import Circuit, ReconnectPolicy
from lockgate.mcp.host.status import ServerState, ServerStatus
from lockgate.testing.fleet import Fleet
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.http_faults import events, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Do, Message, Send, Step
from lockgate.tools.result import ErrorKind

T = "mcp__far__t"
WAYS = ("modern", "legacy", "sse")


def serving(way: str, script: ScriptedServer) -> HttpServer:
    """A server on that way."""
    if way == "sse":
        return SseServer(script)
    return HttpServer(script, sessions=way == "legacy")


def scripted(way: str, *rules: When) -> ScriptedServer:
    """With two tools."""
    revisions = MODERN if way == "modern" else LEGACY
    return ScriptedServer((tool("t"), tool("u")), rules=rules, revisions=revisions)


class Held:
    """A fleet of one server at an address, and what is needed to wait for it."""

    def __init__(self, fleet: Fleet, server: HttpServer) -> None:
        self.fleet = fleet
        self.server = server
        self.pauses = ScriptedPauses()
        self.heard = HeardEvents()

    @property
    def status(self) -> ServerStatus:
        assert self.fleet.manager is not None
        (found,) = self.fleet.manager.statuses
        return found

    async def start(self, **options: Any) -> None:
        options = {"pause": self.pauses, "chance": lambda: 0.0, **options}
        report = await self.fleet.start(listeners=[self.heard], **options)
        assert report.failed == ()


@asynccontextmanager
async def held(
    way: str, directory: Path, *rules: When, **settings: Any
) -> AsyncGenerator[Held, None]:
    async with serving(way, scripted(way, *rules)) as server, Fleet(directory) as fleet:
        endpoint = SseEndpoint(f"{server.origin}/sse") if way == "sse" else server.endpoint()
        fleet.add("far", endpoint, **settings)
        yield Held(fleet, server)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.req("S3-17")
async def test_a_server_that_is_gone_is_said_to_be_and_comes_back_by_itself(
    way: str, tmp_path: Path
) -> None:
    """The first call finds it out; those after it fail at once, and nothing tries to connect for
    them. It is tried by the policy, its tools are listed, and the same tool works again."""
    async with held(way, tmp_path) as far:
        await far.start()
        lists = len(far.server.told("tools/list"))
        await far.server.vanish()
        assert (await far.fleet.call(T)).kind in (
            ErrorKind.NOT_CONNECTED,
            ErrorKind.OUTCOME_UNKNOWN,  # written to what was just being closed
        )
        first = await far.fleet.call(T)
        assert first.kind is ErrorKind.NOT_CONNECTED
        assert await far.pauses.begins() == pytest.approx(0.5, abs=0.3)
        assert (far.status.state, far.status.tries) == (ServerState.RECONNECTING, 1)
        assert far.status.circuit is Circuit.CLOSED
        assert far.fleet.manager is not None
        assert list(far.fleet.manager.failed) == ["far"]
        connections = far.server.connections
        await far.server.reappear()
        down = await far.fleet.call(T)
        assert down.kind is ErrorKind.NOT_CONNECTED
        assert "nothing was sent" in down.text
        assert far.server.connections == connections
        await far.pauses.release()
        await far.heard.state("reconnecting", "ready")
        assert (far.status.generation, far.status.tries) == (2, 0)
        assert len(far.server.told("tools/list")) == lists + 1
        assert (await far.fleet.call(T, n=1)).text == '{"n": 1}'


@pytest.mark.req("S3-17")
async def test_a_modern_stream_that_can_not_be_opened_again_tells_it(tmp_path: Path) -> None:
    """The one on which a server announces its changes: it ends with the server, is asked for again,
    and nobody takes that."""

    async def listens(message: Message) -> Step:
        subscription = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        granted = {"notifications": {"toolsListChanged": True}, "_meta": subscription}
        method = "notifications/subscriptions/acknowledged"
        return Send({"jsonrpc": "2.0", "method": method, "params": granted})

    rule = When("subscriptions/listen", Do(listens))
    script = ScriptedServer(
        (tool("t"),), rules=(rule,), revisions=MODERN, capabilities={"tools": {"listChanged": True}}
    )
    async with HttpServer(script, stream=True) as server, Fleet(tmp_path) as fleet:
        far = Held(fleet, server)
        fleet.add("far", server.endpoint())
        await far.start()
        await server.vanish()
        while far.status.state is ServerState.READY:
            await far.pauses.release()  # before it is asked for again
        assert far.status.state is ServerState.RECONNECTING
        assert "connection refused" in (far.status.reason or "")


@pytest.mark.req("S3-17")
async def test_its_tools_are_compared_before_the_first_call(tmp_path: Path) -> None:
    """Who answers at that address is another one: what was offered of the one before is not sent
    to it."""
    listing = [tool("t"), tool("u")]

    async def lists(message: Message) -> Step:
        return Answer(result={"resultType": "complete", "tools": list(listing)})

    async with held("modern", tmp_path, When("tools/list", Do(lists))) as far:
        await far.start()
        turn, road = far.fleet.registry.snapshot(), far.fleet.road
        await far.server.vanish()
        await far.fleet.call(T)
        await far.fleet.call(T)
        await far.pauses.begins()
        listing[0] = tool("t", "Another.")
        await far.server.reappear()
        await far.pauses.release()
        await far.heard.state("reconnecting", "ready")
        changed = await road.invoker.invoke(road.call(T), turn)
        assert getattr(changed, "kind", None) is ErrorKind.TOOL_CHANGED
        assert far.server.told("tools/call") == []
        assert not (await far.fleet.call(T)).is_error


@pytest.mark.req("S3-17")
async def test_one_that_stays_away_opens_the_circuit(tmp_path: Path) -> None:
    """Its tries grow apart like those of a program; calls do not wait for any of them."""
    async with held("modern", tmp_path) as far:
        await far.start(reconnect=ReconnectPolicy(opens_after=3))
        await far.server.vanish()
        await far.fleet.call(T)
        await far.fleet.call(T)
        for seconds in (0.5, 1.0, 60.0):
            assert await far.pauses.release() == pytest.approx(seconds, abs=0.3)
        assert await far.pauses.begins() == pytest.approx(120.0, abs=1.0)
        assert far.status.circuit is Circuit.OPEN
        assert (await far.fleet.call(T)).kind is ErrorKind.NOT_CONNECTED
        assert far.fleet.manager is not None
        (still,) = await far.fleet.manager.reconnect()
        assert still.state is ServerState.RECONNECTING
        await far.server.reappear()
        (there,) = await far.fleet.manager.reconnect()  # of what has failed: it has
        assert (there.state, there.circuit) == (ServerState.READY, Circuit.CLOSED)
        assert not (await far.fleet.call(T)).is_error


@pytest.mark.req("S3-17")
async def test_a_gateway_with_nobody_behind_it_is_found_out(tmp_path: Path) -> None:
    """Three times 503 in a row; what it wants to be left alone for is waited for. Until then each
    of them may have been heard, from then on nothing is sent."""
    async with held("modern", tmp_path) as far:
        await far.start()
        busy = status(503, headers={"retry-after": "9"})
        far.server.on(busy, message="tools/call")
        for _ in range(3):
            assert (await far.fleet.call(T)).kind is ErrorKind.OUTCOME_UNKNOWN
        assert await far.pauses.begins() == pytest.approx(9.0, abs=1.0)
        assert "503" in (far.status.reason or "")
        calls = len(far.server.told("tools/call"))
        assert (await far.fleet.call(T)).kind is ErrorKind.NOT_CONNECTED
        assert len(far.server.told("tools/call")) == calls


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.req("B-03")
async def test_what_is_under_way_is_answered_all_the_same(way: str, tmp_path: Path) -> None:
    """A server that takes no more connections may be busy with those it has: they go on, beside
    the next try, and are closed once they are done."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(message: Message) -> Step:
        begun.set()
        await go_on.wait()
        return Answer(text="done")

    async with held(way, tmp_path, When("tools/call", Do(slow), tool="u")) as far:
        await far.start()
        under_way = asyncio.create_task(far.fleet.call("mcp__far__u"))
        await begun.wait()
        far.server.on(status(502), message="tools/call")
        for _ in range(3):
            await far.fleet.call(T)
        await far.pauses.begins()
        far.server.on(status(502), message="nothing")
        assert far.status.state is ServerState.RECONNECTING
        assert not under_way.done()
        await far.pauses.release()
        await far.heard.state("reconnecting", "ready")
        assert not under_way.done()
        go_on.set()
        assert (await under_way).text == "done"


@pytest.mark.parametrize("way", WAYS)
async def test_closing_does_not_wait_for_what_is_under_way(way: str, tmp_path: Path) -> None:
    """Also on a connection that is kept for that alone: it ends, unknown, and nothing is left."""
    begun = asyncio.Event()

    async def hangs(message: Message) -> None:
        begun.set()

    async with held(way, tmp_path, When("tools/call", Do(hangs), tool="u")) as far:
        await far.start()
        under_way = asyncio.create_task(far.fleet.call("mcp__far__u"))
        await begun.wait()
        far.server.on(status(502), message="tools/call")
        for _ in range(3):
            await far.fleet.call(T)
        await far.pauses.begins()
        assert far.fleet.manager is not None
        async with asyncio.timeout(5):
            await far.fleet.manager.close()
        assert (await under_way).kind is ErrorKind.OUTCOME_UNKNOWN


@pytest.mark.req("S3-17")
async def test_a_session_that_is_over_is_opened_anew_and_its_tools_are_compared(
    tmp_path: Path,
) -> None:
    """Found out by who listens: no call is needed for it, and the next one has the newest list."""
    listing = [tool("t")]

    async def lists(message: Message) -> Step:
        return Answer(result={"tools": list(listing)})

    script = scripted("legacy", When("tools/list", Do(lists)))
    async with (
        HttpServer(script, sessions=True, listening=True) as server,
        Fleet(tmp_path) as fleet,
    ):
        far = Held(fleet, server)
        server.on(events("retry: 1\n: hello\n\n"), method="GET", nth=1)
        server.on(status(404), method="GET", nth=2)
        fleet.add("far", server.endpoint())
        await far.start()
        listing.append(tool("v"))
        assert (await far.heard.changed())["added"] == ["mcp__far__v"]
        assert len(server.told("initialize")) == 2
        assert len(server.told("tools/list")) == 2
        assert (far.status.state, far.status.generation) == (ServerState.READY, 1)
        assert (await fleet.call(T, n=1)).text == '{"n": 1}'


async def test_without_a_policy_it_stays_away_until_it_is_asked_for(tmp_path: Path) -> None:
    """It has failed then."""
    async with held("legacy", tmp_path) as far:
        await far.start(reconnect=None)
        await far.server.vanish()
        await far.fleet.call(T)
        await far.fleet.call(T)
        await far.heard.state("failed")
        await far.server.reappear()
        assert (await far.fleet.call(T)).kind is ErrorKind.NOT_CONNECTED
        assert far.fleet.manager is not None
        (there,) = await far.fleet.manager.reconnect()
        assert there.state is ServerState.READY
        assert not (await far.fleet.call(T)).is_error
