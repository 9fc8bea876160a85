"""Calls that a server takes as a task: followed to their end, made once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.resources import ResourceClient
from lockgate.mcp.client.services import Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer, Exit
from lockgate.testing.task_bench import task_bench, text_of
from lockgate.testing.task_book import CAPABLE, HANDLE, completed, working


async def test_a_task_is_looked_at_until_it_is_over() -> None:
    """At the interval that the server wants, told in its words, by its handle; made once."""
    async with task_bench(working("half"), working("nearly"), completed("built")) as at:
        assert text_of(await at.call()) == "built"
        assert (at.book.begun, at.book.looks, at.book.cancelled) == (1, 3, 0)
        assert at.pauses.seconds == [0.2, 0.2, 0.2]
        assert at.heard == [(0.0, None), (0.2, "half"), (0.4, "nearly")]
        assert set(at.book.names) == {HANDLE}


async def test_what_is_declared_goes_with_every_request() -> None:
    """The extension stands in the capabilities of each request, or the server must not answer with
    a task."""
    async with task_bench() as at:
        await at.call()
        for message in at.server.received:
            meta = message["params"]["_meta"]
            declared = meta["io.modelcontextprotocol/clientCapabilities"]["extensions"]
            assert declared == {"io.modelcontextprotocol/tasks": {}}


@pytest.mark.parametrize(
    ("poll", "waits"),
    [
        (0, [0.2, 0.2]),
        (3000, [3.0, 3.0]),
        (10_000_000, [60.0, 60.0]),
        ("soon", [1.0, 1.5]),
        (None, [1.0, 1.5]),
    ],
)
async def test_the_interval_is_bounded_both_ways(poll: Any, waits: list[float]) -> None:
    """A server can neither have itself asked without pause nor keep its result for a day; one that
    does not say is asked ever more rarely."""
    async with task_bench(working(), completed(), created={"pollIntervalMs": poll}) as at:
        await at.call()
        assert at.pauses.seconds == waits


async def test_intervals_that_nobody_says_grow_to_ten_seconds() -> None:
    """So that a long task costs few requests."""
    stages = [working() for _ in range(12)]
    async with task_bench(*stages, completed(), created={"pollIntervalMs": None}) as at:
        await at.call()
        assert at.pauses.seconds[-1] == 10.0


async def test_an_error_of_the_tool_is_a_result() -> None:
    """`completed` with `isError` is a result like any other."""
    broken = {"content": [{"type": "text", "text": "no"}], "isError": True}
    async with task_bench({"status": "completed", "result": broken}) as at:
        result = await at.call()
        assert (result.is_error, text_of(result)) == (True, "no")


async def test_a_task_that_failed_is_the_error_of_the_call() -> None:
    """With the peer's code, words and data; the server answered."""
    error = {"code": -32050, "message": "rate limit", "data": {"x": 1}}
    async with task_bench({"status": "failed", "error": error}) as at:
        failed = await at.fails()
        assert (failed.fault, failed.fate, failed.code) == (Fault.REFUSED, Fate.ANSWERED, -32050)
        assert "rate limit" in str(failed)
        assert failed.data == {"x": 1}


async def test_a_task_that_the_server_cancels_says_why() -> None:
    """It answered, and did not complete."""
    async with task_bench({"status": "cancelled", "statusMessage": "no room"}) as at:
        failed = await at.fails()
        assert (failed.fault, failed.fate) == (Fault.REFUSED, Fate.ANSWERED)
        assert "cancelled it: no room" in str(failed)
        assert at.book.cancelled == 0


@pytest.mark.parametrize(
    "created",
    [{"status": "completed"}, {"status": "failed", "error": {"code": -32603, "message": "no"}}],
)
async def test_a_handle_may_say_at_once_that_it_is_over(created: dict[str, Any]) -> None:
    """Then nothing is waited for; a result that is not with it is fetched."""
    async with task_bench(completed("quick"), created=created) as at:
        if created["status"] == "failed":
            assert (await at.fails()).code == -32603
        else:
            assert text_of(await at.call()) == "quick"
        assert at.pauses.seconds == []


@pytest.mark.req("B-03")
@pytest.mark.parametrize("code", [-32602, -32601, -32021])
async def test_a_task_that_is_not_known_any_more_has_an_unknown_fate(code: int) -> None:
    """It may have done anything; nothing is asked again, and the call is not made again."""
    gone = {"error": {"code": code, "message": "Task not found"}}
    async with task_bench(working(), gone) as at:
        failed = await at.fails()
        assert (failed.fate, failed.code) == (Fate.UNKNOWN, code)
        assert "Task not found" in str(failed)
        assert (at.book.begun, at.book.looks) == (1, 2)


async def test_a_look_that_fails_is_tried_again() -> None:
    """An error of the moment, an answer that can not be read, another task: five in a row."""
    odd = {"status": "finished"}
    other = working(taskId="another")
    broken = {"error": {"code": -32603, "message": "oops"}}
    async with task_bench(broken, odd, other, broken, completed("there")) as at:
        assert text_of(await at.call()) == "there"
    async with task_bench(broken) as at:
        failed = await at.fails()
        assert failed.fate is Fate.UNKNOWN
        assert at.book.looks == 5
        await at.server.hears("tasks/cancel")  # nobody looks any more


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"taskId": ""}, "without a taskId"),
        ({"taskId": 7}, "without a taskId"),
        ({"taskId": "x" * 5000}, "5,000 characters"),
        ({"status": "paused"}, "not known: 'paused'"),
    ],
)
async def test_a_handle_that_can_not_be_asked_about(odd: dict[str, Any], told: str) -> None:
    """The call was taken, and nobody will ever know more."""
    async with task_bench(created=odd) as at:
        failed = await at.fails()
        assert (failed.fault, failed.fate) == (Fault.MALFORMED, Fate.UNKNOWN)
        assert told in str(failed)


@pytest.mark.parametrize(
    ("how", "fault"),
    [({"within": 3.0}, Fault.TIMEOUT), ({"at_most": 3.0}, Fault.TIMEOUT), ({}, Fault.TIMEOUT)],
)
async def test_a_task_has_its_time(how: dict[str, Any], fault: Fault) -> None:
    """What the caller gives it, or what progress may take, or ten minutes; then it is cancelled and
    its fate is unknown. It is looked at once more shortly before."""
    async with task_bench(working()) as at:
        failed = await at.fails(**how)
        limit = 3.0 if how else 600.0
        assert (failed.fault, failed.fate) == (fault, Fate.UNKNOWN)
        assert f"within {limit:g} s" in str(failed)
        assert limit - 0.5 <= at.clock() < limit
        await at.server.hears("tasks/cancel")
    assert at.book.begun == 1


async def test_a_task_is_not_waited_for_longer_than_it_is_kept() -> None:
    """The server may forget it after its time to live; one more look is made by then."""
    async with task_bench(
        working(ttlMs=2000), created={"ttlMs": 2000, "pollIntervalMs": 900}
    ) as at:
        failed = await at.fails()
        assert failed.fate is Fate.UNKNOWN
        assert "kept for 2 s" in str(failed)
        assert at.clock() == pytest.approx(3.6)


async def test_a_call_that_is_cancelled_cancels_its_task() -> None:
    """At once: the server is told, and nothing is waited for."""
    waiting = asyncio.Event()

    async def forever(seconds: float, early: asyncio.Event) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with task_bench(working()) as at:
        calling = asyncio.create_task(at.client(pause=forever).call("build", {}))
        await waiting.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        message = await at.server.hears("tasks/cancel")
        assert message["params"]["taskId"] == HANDLE
        assert at.server.heard("notifications/cancelled") == []


@pytest.mark.req("B-03")
@pytest.mark.req("S3-17")
async def test_a_task_outlives_its_connection() -> None:
    """The same task is asked about in the session that comes after; the call is not made again."""
    async with task_bench(Exit()) as at:
        after: list[ServerSession] = []

        async def resume(lost: ServerSession) -> ServerSession:
            at.book.then(working("again"), completed("survived"))
            identity = ClientIdentity("test", "1")
            after.append(await connect(at.server.transport(), peer="fake", client=identity))
            return after[0]

        result = await at.client(resume=resume).call("build", {})
        assert text_of(result) == "survived"
        assert (at.book.begun, at.server.connections) == (1, 2)
        assert set(at.book.names) == {HANDLE}
        await after[0].close()


@pytest.mark.req("B-03")
async def test_a_task_whose_server_does_not_come_back_has_an_unknown_fate() -> None:
    """Never that nothing was sent, whatever the last look failed with: else it would be made
    again."""
    async with task_bench(Exit()) as at:

        async def never(lost: ServerSession) -> ServerSession | None:
            return None

        with pytest.raises(PeerError) as caught:
            await at.client(resume=never).call("build", {})
        assert caught.value.fate is Fate.UNKNOWN
        with pytest.raises(PeerError) as caught:
            await at.client().call("build", {})
        assert (
            caught.value.fate is Fate.NOT_SENT
        )  # of a second call, on the connection that is gone


async def test_news_of_a_task_ends_the_wait() -> None:
    """Where the server has the extension and looks are far apart it is asked to tell; what it tells
    is not believed but looked at."""
    waits: list[float] = []

    async def until(seconds: float, early: asyncio.Event) -> None:
        waits.append(seconds)
        await early.wait()

    listen = When("subscriptions/listen")
    async with task_bench(
        completed("told"), created={"pollIntervalMs": 5000}, rules=(listen,)
    ) as at:
        calling = asyncio.create_task(at.client(pause=until).call("build", {}))
        asked = await at.server.hears("subscriptions/listen")
        assert asked["params"]["notifications"] == {"taskIds": [HANDLE]}
        await at.server.say({"jsonrpc": "2.0", "method": "notifications/tasks", "params": [1]})
        news = {"taskId": HANDLE, "status": "completed"}
        await at.server.say({"jsonrpc": "2.0", "method": "notifications/tasks", "params": news})
        assert text_of(await calling) == "told"
        assert waits == [5.0]
        await at.server.hears("notifications/cancelled")  # nobody listens any more


@pytest.mark.parametrize("capabilities", [{"tools": {}}, CAPABLE])
async def test_a_server_without_news_is_looked_at(capabilities: dict[str, Any]) -> None:
    """One that does not declare the extension is not even asked; one that refuses is left alone."""
    no = When("subscriptions/listen", Answer(error={"code": -32601, "message": "no"}))
    created = {"pollIntervalMs": 5000}
    stages = (working(), completed())
    async with task_bench(*stages, created=created, rules=(no,), capabilities=capabilities) as at:
        await at.call()
        declared = "extensions" in capabilities
        assert len(at.server.heard("subscriptions/listen")) == declared


async def test_a_task_that_nobody_asked_for() -> None:
    """A client that did not say that it knows tasks can not ask about one either."""
    async with task_bench(services=Services(extensions={})) as at:
        failed = await at.fails()
        assert (failed.fault, failed.fate) == (Fault.UNSUPPORTED, Fate.UNKNOWN)
        assert at.book.looks == 0


async def test_a_legacy_server_has_no_tasks() -> None:
    """An answer that is only a handle is an outcome nobody can learn; with content it is a result,
    whatever else it holds."""
    handle = {"resultType": "task", "taskId": "t", "status": "working"}
    rule = When("tools/call", Answer(result=handle), nth=1)
    content = {**handle, "content": [{"type": "text", "text": "all of it"}]}
    rules = (rule, When("tools/call", Answer(result=content)))
    server = LoopServer(ScriptedServer(revisions=LEGACY, rules=rules, name="old"))
    identity = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="old", client=identity)
    with pytest.raises(PeerError, match="revision 2025-11-25 does not have") as caught:
        await ToolClient(session).call("t", {})
    assert caught.value.fate is Fate.UNKNOWN
    assert text_of(await ToolClient(session).call("t", {})) == "all of it"
    await session.close()


@pytest.mark.parametrize("kind", ["partial", 5])
async def test_a_result_of_a_type_that_is_not_known_is_invalid(kind: Any) -> None:
    """2026-07-28, basic: nobody knows what it says."""
    rule = When("tools/call", Answer(result={"resultType": kind, "content": []}))
    async with task_bench(rules=(rule,)) as at:
        failed = await at.fails()
        assert (failed.fault, failed.fate) == (Fault.MALFORMED, Fate.ANSWERED)


@pytest.mark.parametrize("kind", ["task", "partial"])
async def test_only_calls_can_be_tasks(kind: str) -> None:
    """A resource that is answered with a task, or with anything else that is not known, is an
    answer that is invalid."""
    handle: dict[str, Any] = {
        "resultType": kind,
        "taskId": "t",
        "status": "working",
        "contents": [],
    }
    rule = When("resources/read", Answer(result=handle))
    capabilities: dict[str, Any] = {**CAPABLE, "resources": {}}
    async with task_bench(rules=(rule,), capabilities=capabilities) as at:
        with pytest.raises(PeerError, match=f"not known here: '{kind}'") as caught:
            await ResourceClient(at.session).read("x:1")
        assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
