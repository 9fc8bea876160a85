"""Field cases of servers that are lost and come back: real processes and sockets."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.policy.approval import Answer as Given
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, alive
from lockgate.testing.fleet import Fleet
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.http_faults import reset
from lockgate.testing.http_server import HttpServer
from lockgate.testing.pauses import ScriptedPauses
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Close, Do, Kill, Message, Send, Step
from lockgate.tools.result import ErrorKind

CALL, LIST = "tools/call", "tools/list"
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def _rewrite(directory: Path, name: str, server: ScriptedServer, ledger: ServerLedger) -> None:
    """From its next start on the server `name` of a fleet does this."""
    replace(server, ledger=ledger.path).endpoint(file=directory / f"{name}.script")


async def test_pb_020_a_server_that_hangs_up_after_every_third_call(tmp_path: Path) -> None:
    """It closes its output and stays alive, again and again: 30 calls are made, never more than one
    child is there, and nothing gathers."""
    server = ScriptedServer(rules=(When(CALL, Answer(), Close(1), nth=3),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        before = Belongings.now()
        ledger = fleet.add("s", server)
        await fleet.start(listeners=[heard], pause=pauses)
        fds: list[int] = []
        for round in range(1, 11):
            for _ in range(3):
                assert not (await fleet.call("mcp__s__echo")).is_error
            await pauses.begins()
            assert Belongings.now().children == before.children
            await pauses.release()
            await heard.state(*["reconnecting", "ready"] * round)
            assert len(Belongings.now().children - before.children) == 1
            fds.append(Belongings.now().descriptors)
        assert len(set(fds)) == 1
        assert len(ledger.called) == 30
        assert len(ledger.entries("start")) == 11


@pytest.mark.req("S3-17")
@pytest.mark.req("B-06")
async def test_pb_020_one_that_comes_back_different_is_not_called_as_before(
    tmp_path: Path,
) -> None:
    """Killed, and started again from another script: what a turn still holds of the old tools
    answers tool_changed, what is new is asked about as such."""
    first = ScriptedServer((tool("t", "Reads."), tool("u")), rules=(When(CALL, Kill(9), tool="u"),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", first)
        await fleet.start(listeners=[heard], pause=pauses)
        turn = fleet.registry.snapshot()
        _rewrite(tmp_path, "s", ScriptedServer((tool("t", "Deletes."), tool("v"))), ledger)
        assert (await fleet.call("mcp__s__u")).kind is ErrorKind.OUTCOME_UNKNOWN
        meanwhile = await fleet.call("mcp__s__t")
        assert meanwhile.kind is ErrorKind.NOT_CONNECTED
        await pauses.release()
        await heard.state("reconnecting", "ready")
        road = fleet.road
        old = await road.invoker.invoke(road.call("mcp__s__t"), turn)
        gone = await road.invoker.invoke(road.call("mcp__s__u"), turn)
        assert getattr(old, "kind", None) is ErrorKind.TOOL_CHANGED
        assert getattr(gone, "kind", None) is ErrorKind.TOOL_CHANGED
        assert ledger.called == ("u",)
        assert not (await fleet.call("mcp__s__t")).is_error
        assert set(fleet.tools) == {"mcp__s__t", "mcp__s__v"}


@pytest.mark.req("B-06")
async def test_pb_136_a_question_is_open_while_the_tool_changes(tmp_path: Path) -> None:
    """The server announces it while a person thinks: after the yes the list is read, the other
    definition is seen, and nothing is sent."""
    go = tool("go", annotations={"readOnlyHint": True})
    rules = (
        When(LIST, Answer(result={"tools": [tool("t", "Reads."), go]}), nth=1),
        When(LIST, Answer(result={"tools": [tool("t", "Deletes."), go]})),
        When(CALL, Send(CHANGED), Answer(), tool="go"),
    )
    approver = ScriptedApprover([Given(True, "someone")], hold=True)
    async with Fleet(tmp_path, approver=approver) as fleet:
        server = ScriptedServer((tool("t"), go), rules=rules)
        ledger = fleet.add("s", server, annotation_trust=AnnotationTrust.TRUST)
        await fleet.start()
        asked = asyncio.create_task(fleet.call("mcp__s__t"))
        await approver.asked.wait()
        assert not (await fleet.call("mcp__s__go")).is_error
        approver.release()
        assert (await asked).kind is ErrorKind.TOOL_CHANGED
        assert ledger.called == ("go",)
        assert approver.questions[0].tool == "mcp__s__t"


@pytest.mark.req("S0-18")
@pytest.mark.parametrize("trust", list(AnnotationTrust))
@pytest.mark.parametrize("idempotent", [False, True])
async def test_pb_092_a_call_that_may_have_run_is_not_repeated_by_a_reconnect(
    tmp_path: Path, trust: AnnotationTrust, idempotent: bool
) -> None:
    """The server writes the call down and dies before it answers. It comes back, and the ledger has
    one line; only a claim of idempotence that is believed allows another try, and there is no
    connection for that one."""
    writes = tool("t", annotations={"readOnlyHint": False, "idempotentHint": idempotent})
    server = ScriptedServer((writes,), rules=(When(CALL, Kill(9), tool="t"),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server, annotation_trust=trust)
        await fleet.start(listeners=[heard], pause=pauses)
        result = await fleet.call("mcp__s__t")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        assert "do not assume it failed" in result.text
        await pauses.release()
        await heard.state("reconnecting", "ready")
        assert ledger.called == ("t",)


@pytest.mark.req("S3-17")
async def test_pb_022_a_killed_process_is_there_again_for_the_call_after_next(
    tmp_path: Path,
) -> None:
    """One process at a time, and nothing is left of the one that died."""
    server = ScriptedServer((tool("die"), tool("echo")), rules=(When(CALL, Kill(9), tool="die"),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server)
        await fleet.start(listeners=[heard], pause=pauses)
        for round in (1, 2, 3):
            assert (await fleet.call("mcp__s__die")).kind is ErrorKind.OUTCOME_UNKNOWN
            await pauses.release()
            await heard.state(*["reconnecting", "ready"] * round)
            assert not (await fleet.call("mcp__s__echo")).is_error
        pids = [entry.pid for entry in ledger.entries("start")]
        assert len(set(pids)) == 4
        assert [alive(pid) for pid in pids] == [False, False, False, True]


@pytest.mark.req("S3-17")
async def test_pb_020_closing_while_a_process_is_started_again(tmp_path: Path) -> None:
    """The new process answers nothing yet: closing ends it at once, and no orphan is left."""
    first = ScriptedServer((tool("die"),), rules=(When(CALL, Kill(9)),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", first)
        await fleet.start(listeners=[heard], pause=pauses)
        mute = ScriptedServer(rules=(When("server/discover"), When("initialize")))
        _rewrite(tmp_path, "s", mute, ledger)
        await fleet.call("mcp__s__die")
        await pauses.release()
        await ledger.wait_for("start", count=2)
        assert fleet.manager is not None
        async with asyncio.timeout(3):
            await fleet.manager.close()
        assert not any(alive(entry.pid) for entry in ledger.entries("start"))


async def test_pb_036b_one_that_is_closed_while_it_waits_does_not_come_back(
    tmp_path: Path,
) -> None:
    """Its pause before the next try is cut short: no process is started, nothing is registered,
    and nobody is told of anything after."""
    server = ScriptedServer((tool("die"),), rules=(When(CALL, Kill(9)),))
    heard, pauses = HeardEvents(), ScriptedPauses()
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server)
        await fleet.start(listeners=[heard], pause=pauses)
        await fleet.call("mcp__s__die")
        assert await pauses.begins() > 0
        assert fleet.manager is not None
        async with asyncio.timeout(3):
            await fleet.manager.close()
        told = len(heard.events)
        assert fleet.tools == ()
    assert len(ledger.entries("start")) == 1
    assert len(heard.events) == told


@pytest.mark.req("S3-17")
@pytest.mark.req("B-06")
async def test_pb_055_a_session_that_is_gone_is_opened_again_and_compared(tmp_path: Path) -> None:
    """Over HTTP: the server was restarted and answers 404. One new session is opened, the tools are
    listed in it before the call is made there, and what is another tool by now is not called."""
    listing = [tool("t"), tool("u")]

    async def lists(message: Message) -> Step:
        return Answer(result={"tools": list(listing)})

    rules = (When(LIST, Do(lists)),)
    script = ScriptedServer((tool("t"), tool("u")), rules=rules, revisions=LEGACY)
    async with HttpServer(script, sessions=True) as server, Fleet(tmp_path) as fleet:
        fleet.add("s", server.endpoint())
        await fleet.start()
        server.sessions.clear()
        assert (await fleet.call("mcp__s__t", n=1)).text == '{"n": 1}'
        told = [heard.message.get("method") for heard in server.heard]
        assert told.count("initialize") == 2
        anew = told[-told[::-1].index("initialize") - 1 :]
        assert anew.index(LIST) < anew.index(CALL)
        listing[0] = tool("t", "Another.")
        turn = fleet.registry.snapshot()
        server.sessions.clear()
        road = fleet.road
        changed = await road.invoker.invoke(road.call("mcp__s__t"), turn)
        assert getattr(changed, "kind", None) is ErrorKind.TOOL_CHANGED
        assert not (await fleet.call("mcp__s__t", n=2)).is_error
        calls = [heard for heard in server.heard if heard.message.get("method") == CALL]
        assert len(calls) == 4  # two of them were refused for their session


async def test_pb_056_many_calls_find_their_session_gone_and_one_is_opened(
    tmp_path: Path,
) -> None:
    """Ten at once: one new session and a few lists for all of them, and each has its answer."""
    names = [f"t{n}" for n in range(10)]
    script = ScriptedServer(tuple(tool(name) for name in names), revisions=LEGACY)
    async with HttpServer(script, sessions=True) as server, Fleet(tmp_path) as fleet:
        fleet.add("s", server.endpoint())
        await fleet.start()
        server.sessions.clear()
        calls = [fleet.call(f"mcp__s__{name}", name=name) for name in names]
        answers = await asyncio.gather(*calls)
        assert [answer.text for answer in answers] == [f'{{"name": "{name}"}}' for name in names]
        assert len(server.told("initialize")) == 2
        assert len(server.told(LIST)) <= 5


async def test_pb_136_an_older_server_behind_http_announces_on_its_own_stream(
    tmp_path: Path,
) -> None:
    """2025-11-25, basic/transports: unasked, on the stream that a GET opens."""
    listing = [tool("t")]

    async def lists(message: Message) -> Step:
        return Answer(result={"tools": list(listing)})

    script = ScriptedServer(rules=(When(LIST, Do(lists)),), revisions=LEGACY)
    heard = HeardEvents()
    async with (
        HttpServer(script, sessions=True, listening=True) as server,
        Fleet(tmp_path) as fleet,
    ):
        fleet.add("s", server.endpoint())
        await fleet.start(listeners=[heard])
        await server.wait_for(lambda: server.listeners == 1)
        listing.append(tool("u"))
        await server.say(CHANGED)
        assert (await heard.changed())["added"] == ["mcp__s__u"]


@pytest.mark.req("S3-17")
@pytest.mark.parametrize("revisions", [LEGACY, MODERN])
async def test_pb_092_a_server_behind_http_that_was_away_is_compared_first(
    tmp_path: Path, revisions: tuple[str, ...]
) -> None:
    """It resets a call and is another one afterwards: nothing else tells that, so its list is read
    before the next call, which is not sent to what is another tool by now."""
    listing = [tool("t"), tool("u")]

    async def lists(message: Message) -> Step:
        return Answer(result={"resultType": "complete", "tools": list(listing)})

    rules = (When(LIST, Do(lists)),)
    script = ScriptedServer((tool("t"), tool("u")), rules=rules, revisions=revisions)
    async with HttpServer(script) as server, Fleet(tmp_path) as fleet:
        fleet.add("s", server.endpoint())
        await fleet.start()
        server.on(reset(), message=CALL, nth=1)
        turn, road = fleet.registry.snapshot(), fleet.road
        lost = await road.invoker.invoke(road.call("mcp__s__u"), turn)
        assert getattr(lost, "kind", None) is ErrorKind.OUTCOME_UNKNOWN
        listing[0] = tool("t", "Another.")
        changed = await road.invoker.invoke(road.call("mcp__s__t"), turn)
        assert getattr(changed, "kind", None) is ErrorKind.TOOL_CHANGED
        assert not (await fleet.call("mcp__s__t", n=2)).is_error
        assert len(server.told(CALL)) == 2


async def test_pb_022_calls_to_a_server_that_nobody_runs_fail_at_once(tmp_path: Path) -> None:
    """Nobody listens on its port any more: nothing is sent, again and again, and its tools stay."""
    script = ScriptedServer((tool("t"),), revisions=LEGACY)
    async with Fleet(tmp_path) as fleet:
        async with HttpServer(script, sessions=True) as server:
            fleet.add("s", server.endpoint())
            await fleet.start(pause=ScriptedPauses())
            assert not (await fleet.call("mcp__s__t")).is_error
        await fleet.call("mcp__s__t")  # perhaps on a connection that is just being closed
        for _ in range(3):
            down = await fleet.call("mcp__s__t")
            assert down.kind is ErrorKind.NOT_CONNECTED
            assert "nothing was sent" in down.text
        assert fleet.tools == ("mcp__s__t",)
