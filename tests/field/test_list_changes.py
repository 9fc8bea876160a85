"""Field cases of lists that change, and of the stream that says so. Real processes and sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockgate.testing.fleet import Fleet
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.http_server import HttpServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Do, Message, Send, Step
from lockgate.testing.tool import ScriptedTool

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
BROKEN = Answer(error={"code": -32603, "message": "broken"})
LIST, CALL = "tools/list", "tools/call"


def _listing(*names: str, **more: Any) -> Answer:
    return Answer(result={"tools": [tool(name) for name in names], **more})


def _lists(ledger: ServerLedger) -> int:
    return [e.facts["method"] for e in ledger.entries("received")].count(LIST)


@pytest.mark.req("S3-18")
async def test_pb_136_a_burst_costs_a_handful_of_lists(tmp_path: Path) -> None:
    """500 announcements at once, by a server that never said it would make any: the last state is
    what is registered, for a few readings."""
    rules = (
        When(CALL, *[Send(CHANGED)] * 500, Answer(), tool="a"),
        When(LIST, _listing("a"), nth=1),
        When(LIST, _listing("a", "b")),
    )
    heard = HeardEvents()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer((tool("a"), tool("b")), rules=rules))
        await fleet.start(listeners=[heard])
        assert not (await fleet.call("mcp__s__a")).is_error
        await heard.changed()
        await heard.until(lambda: heard.methods.count(CHANGED["method"]) == 500)
        assert not (await fleet.call("mcp__s__b")).is_error  # waits for what was announced before
        assert fleet.tools == ("mcp__s__a", "mcp__s__b")
        assert 2 <= _lists(ledger) <= 5


@pytest.mark.req("S3-18")
async def test_pb_136_a_change_between_two_pages_is_read_again(tmp_path: Path) -> None:
    """The second page comes from another state than the first: the list is read once more."""
    rules = (
        When(LIST, _listing("a"), nth=1),
        When(LIST, _listing("a", "old", nextCursor="2"), Send(CHANGED), nth=1),
        When(LIST, _listing("b"), nth=1),
        When(LIST, _listing("a", "new", nextCursor="2"), nth=1),
        When(LIST, _listing("c"), nth=1),
        When(CALL, Send(CHANGED), Answer(), tool="a"),
    )
    heard = HeardEvents()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer((tool("a"), tool("b")), rules=rules))
        await fleet.start(listeners=[heard])
        await fleet.call("mcp__s__a")
        await heard.changed(2)
        assert set(fleet.tools) == {"mcp__s__a", "mcp__s__new", "mcp__s__c"}
        assert _lists(ledger) == 5


@pytest.mark.req("S3-18")
async def test_pb_136_a_failing_refresh_keeps_the_old_tools_and_is_told(tmp_path: Path) -> None:
    """Two failures, then it succeeds; meanwhile what was there is there, and the status says why
    it may be old."""
    rules = (
        When(LIST, _listing("a", "b"), nth=1),
        When(LIST, BROKEN, nth=1),
        When(LIST, BROKEN, nth=1),
        When(LIST, _listing("b", "c"), nth=1),
        When(CALL, Send(CHANGED), Answer(), tool="a"),
    )
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer((tool("a"), tool("b")), rules=rules))
        await fleet.start(listeners=[heard], pause=pauses, chance=lambda: 0.0)
        await fleet.call("mcp__s__a")
        for seconds in (1.0, 2.0):
            assert await pauses.begins() == seconds
            assert fleet.manager is not None
            assert "broken" in (fleet.manager.statuses[0].stale or "")
            assert fleet.tools == ("mcp__s__a", "mcp__s__b")
            await pauses.release()
        await heard.changed()
        assert set(fleet.tools) == {"mcp__s__b", "mcp__s__c"}
        assert fleet.manager is not None
        assert fleet.manager.statuses[0].stale is None


async def test_pb_136_a_change_during_shutdown_does_nothing(tmp_path: Path) -> None:
    """Announced as the server ends, and while its list is being read: nothing is registered after
    closing, and nobody is told."""
    rules = (
        When(LIST, _listing("a"), nth=1),
        When(LIST),
        When(CALL, Send(CHANGED), Answer(), tool="a"),
    )
    server = ScriptedServer((tool("a"),), rules=rules, ending=(Send(CHANGED),))
    heard = HeardEvents()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server)
        await fleet.start(listeners=[heard])
        await fleet.call("mcp__s__a")
        await heard.until(lambda: CHANGED["method"] in heard.methods)
        assert fleet.manager is not None
        await fleet.manager.close()
        told = len(heard.events)
        assert fleet.tools == ()
        assert _lists(ledger) <= 2
    assert len(heard.events) == told
    assert heard.changes == []


@pytest.mark.req("S3-18")
async def test_pb_137_a_refresh_changes_its_own_names_alone(tmp_path: Path) -> None:
    """Servers whose names and tools look alike: one that lists nothing, then what reads like the
    other's, takes nothing away from it, nor from tools of our own."""
    rules = (
        When(LIST, _listing("go", "x"), nth=1),
        When(LIST, _listing(), nth=1),
        When(CALL, Send(CHANGED), Answer(), tool="go"),
    )
    heard = HeardEvents()
    async with Fleet(tmp_path) as fleet:
        fleet.registry.register_all([ScriptedTool("Bash"), ScriptedTool("Read")])
        fleet.add("a", ScriptedServer((tool("go"),), rules=rules, name="a"))
        fleet.add("a-b", ScriptedServer((tool("x"), tool("b__x")), name="a-b"))
        await fleet.start(listeners=[heard])
        others = {name: fleet.registry.snapshot().get(name) for name in fleet.tools}
        others = {name: held for name, held in others.items() if not name.startswith("mcp__a__")}
        assert set(others) == {"Bash", "Read", "mcp__a-b__x", "mcp__a-b__b__x"}
        await fleet.call("mcp__a__go")
        assert (await heard.changed())["removed"] == ["mcp__a__go", "mcp__a__x"]
        assert set(fleet.tools) == set(others)
        assert fleet.manager is not None
        await fleet.manager.reconnect("a", failed_only=False)  # a new process, of the first list
        assert fleet.manager.statuses[0].tools == ("mcp__a__go", "mcp__a__x")
        assert {name: fleet.registry.snapshot().get(name) for name in others} == others


async def test_pb_137_what_reads_like_anothers_name_is_its_own(tmp_path: Path) -> None:
    """`b__x` of `a`, after a refresh, beside `x` of a server called like both: each call reaches
    the server that it names."""
    rules = (
        When(LIST, _listing("go"), nth=1),
        When(LIST, _listing("go", "b__x", "x"), nth=1),
        When(CALL, Send(CHANGED), Answer(text="of a"), tool="go"),
        When(CALL, Answer(text="of a")),
    )
    of_b = (When(CALL, Answer(text="of a-b")),)
    heard = HeardEvents()
    async with Fleet(tmp_path) as fleet:
        fleet.add("a", ScriptedServer((tool("b__x"), tool("x"), tool("go")), rules=rules, name="a"))
        fleet.add("a-b", ScriptedServer((tool("x"),), rules=of_b, name="a-b"))
        await fleet.start(listeners=[heard])
        await fleet.call("mcp__a__go")
        await heard.changed()
        assert (await fleet.call("mcp__a__b__x")).text == "of a"
        assert (await fleet.call("mcp__a__x")).text == "of a"
        assert (await fleet.call("mcp__a-b__x")).text == "of a-b"


LISTEN = "subscriptions/listen"
ID = "io.modelcontextprotocol/subscriptionId"
ANNOUNCES = {"tools": {"listChanged": True}}
GRANTED = {"toolsListChanged": True}
Steps: TypeAlias = tuple[Step, ...]


def _notice(method: str, identity: Any, **params: Any) -> Send:
    about = {"_meta": {ID: identity}, **params}
    return Send({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": about})


@pytest.mark.req("S3-18")
async def test_pb_138_a_stream_that_is_closed_again_and_again_is_opened_again(
    tmp_path: Path,
) -> None:
    """Announced on `subscriptions/listen` alone, over HTTP; the server takes the stream down after
    each change. It is asked for again with growing waits, nothing is missed, and the one that is
    held in the end does not hold up closing."""
    heard, pauses, streams = HeardEvents(), ScriptedPauses(at_least=1.0), list[Message]()

    async def listens(message: Message) -> Steps:
        streams.append(message)
        identity = message["id"]
        granted = _notice("subscriptions/acknowledged", identity, notifications=GRANTED)
        if len(streams) > 2:
            return granted, Do(held)
        end = Answer(result={"resultType": "complete", "_meta": {ID: identity}})
        return granted, _notice("tools/list_changed", identity), end

    async def held(message: Message) -> None:
        await asyncio.Event().wait()

    async def lists(message: Message) -> Steps:
        return (_listing(f"t{len(streams)}", resultType="complete"),)

    rules = (When(LISTEN, Do(listens)), When(LIST, Do(lists)))
    script = ScriptedServer(rules=rules, revisions=MODERN, capabilities=ANNOUNCES)
    async with HttpServer(script, stream=True) as server, Fleet(tmp_path) as fleet:
        fleet.add("s", server.endpoint())
        await fleet.start(listeners=[heard], pause=pauses, chance=lambda: 0.0)
        for seconds in (1.0, 2.0):
            assert await pauses.release() == seconds
        await heard.until(lambda: any("mcp__s__t3" in c["added"] for c in heard.changes))
        assert fleet.tools == ("mcp__s__t3",)
        assert fleet.manager is not None
        async with asyncio.timeout(2):
            await fleet.manager.close()
        assert len(streams) == 3


@pytest.mark.req("S3-18")
async def test_pb_138_older_servers_are_not_asked(tmp_path: Path) -> None:
    """A legacy server has no such method; one that does not announce is not listened to."""
    async with Fleet(tmp_path) as fleet:
        old = fleet.add("old", ScriptedServer(revisions=LEGACY, capabilities=ANNOUNCES))
        mute = fleet.add("mute", ScriptedServer(revisions=MODERN))
        lies = fleet.add("lies", ScriptedServer(revisions=MODERN, capabilities=ANNOUNCES))
        await fleet.start()
        for name in ("old", "mute", "lies"):
            assert not (await fleet.call(f"mcp__{name}__echo")).is_error
        asked = [
            [e.facts["method"] for e in ledger.entries("received")].count(LISTEN)
            for ledger in (old, mute, lies)
        ]
        assert asked == [0, 0, 1]
