"""Field cases that were met with programs, with servers over HTTP: what is said about a call."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.host.settings import Verdict
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import events, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Ask, Send, Shape, Sleep, Step
from lockgate.tools.result import ErrorKind
from lockgate.traits import ConcurrencyBehavior, SideEffectLevel

CALL, LIST = "tools/call", "tools/list"
READS = Verdict(level=SideEffectLevel.READ_ONLY, concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)
WAYS = ("json", "events", "modern", "sse")
"""Bodies, streams and the newest revision over Streamable HTTP; the older transport."""


@asynccontextmanager
async def served(
    way: str,
    tmp_path: Path,
    *rules: When,
    tools: tuple[Any, ...] = (tool("echo"),),
    **settings: Any,
) -> AsyncGenerator[tuple[Fleet, HttpServer]]:
    """One server `s`, started; what is left of it afterwards is a failure."""
    script = ScriptedServer(tools, rules, MODERN if way == "modern" else LEGACY)
    server: HttpServer = (
        SseServer(script)
        if way == "sse"
        else HttpServer(script, stream=way != "json", sessions=way != "modern")
    )
    async with server, Fleet(tmp_path) as fleet:
        place = server.stream() if isinstance(server, SseServer) else server.endpoint()
        fleet.add("s", place, **settings)
        report = await fleet.start()
        assert report.failed == (), report.errors
        yield fleet, server
        assert fleet.manager is not None
        await fleet.manager.close()


NOISE = b'{"level":"info","msg":"started"}\n42\nnull\n[]\n"ready"\ntrue\n'


@pytest.mark.parametrize("way", ["events", "modern", "sse"])
async def test_pb_002_json_that_is_no_message_in_a_stream(way: str, tmp_path: Path) -> None:
    """Ignored: the call that waits gets its answer."""
    lines = [line for line in NOISE.decode().splitlines() if line]
    noise = tuple(_raw(line) for line in lines)
    async with served(way, tmp_path, When(CALL, *noise, Answer())) as (fleet, _):
        for number in range(3):
            assert (await fleet.call("mcp__s__echo", n=number)).text == f'{{"n": {number}}}'


def _raw(line: str) -> Step:
    """One line as it stands, where a message is expected."""
    return Send(
        {"@": 1}, shape=Shape(swap=((b'{"@": 1}', line.encode()), (b'{"@":1}', line.encode())))
    )


@pytest.mark.parametrize("body", ["[]", "42", "null", '"ready"', "true", '{"level":"info"}', ""])
async def test_pb_002_a_body_that_is_no_message_fails_its_call_at_once(
    body: str, tmp_path: Path
) -> None:
    """There is no other answer to wait for; the next call works."""
    async with served("json", tmp_path, request_timeout=30) as (fleet, server):
        server.on(status(200, body, {"content-type": "application/json"}), message=CALL, nth=1)
        async with asyncio.timeout(5):
            assert (await fleet.call("mcp__s__echo")).is_error
            assert not (await fleet.call("mcp__s__echo", n=1)).is_error


@pytest.mark.parametrize("way", WAYS)
async def test_pb_010_a_byte_order_mark_is_passed_over(way: str, tmp_path: Path) -> None:
    """Before a body, and before what an event holds."""
    shape = Shape(prefix=b"\xef\xbb\xbf")
    rules = [When(method, Answer(shape=shape)) for method in (LIST, CALL)]
    async with served(way, tmp_path, *rules) as (fleet, _):
        assert (await fleet.call("mcp__s__echo", n=1)).text == '{"n": 1}'


@pytest.mark.parametrize("way", WAYS)
async def test_pb_011_bytes_that_are_no_utf_8_cost_one_call(way: str, tmp_path: Path) -> None:
    """Told with the server's name, at once; the next call works."""
    bad = Answer(text="@", shape=Shape(swap=((b'"@"', b'"\xb0\xa1"'),)))
    rule = When(CALL, bad, nth=1)
    async with served(way, tmp_path, rule, request_timeout=30) as (fleet, _):
        async with asyncio.timeout(5):
            told = await fleet.call("mcp__s__echo")
        assert told.is_error
        assert "s " in told.text
        assert "UTF-8" in told.text
        assert (await fleet.call("mcp__s__echo", n=1)).text == '{"n": 1}'


@pytest.mark.parametrize("way", WAYS)
async def test_pb_023_only_the_cancelled_call_ends(way: str, tmp_path: Path) -> None:
    """The server is told in its transport's way; it goes on, and a late answer is nobody's."""
    tools = (tool("slow"), tool("echo"))
    slow = When(CALL, Sleep(0.3), Answer(text="late"), tool="slow")
    settings: dict[str, Any] = {"verdicts": {"slow": READS, "echo": READS}}
    async with served(way, tmp_path, slow, tools=tools, **settings) as (fleet, server):
        call = asyncio.create_task(fleet.call("mcp__s__slow"))
        await server.wait_for(lambda: len(server.told(CALL)) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await fleet.call("mcp__s__echo", n=1)).text == '{"n": 1}'
        assert (await fleet.call("mcp__s__slow")).text == "late"
        identity = server.told(CALL)[0].message["id"]
        if way == "modern":
            await server.wait_for(lambda: server.told(CALL)[0] in server.hung_up)
        else:
            (told,) = server.told("notifications/cancelled")
            assert told.message["params"]["requestId"] == identity


@pytest.mark.parametrize("error", [None, {"code": -32000, "message": "no"}])
@pytest.mark.parametrize("way", WAYS)
async def test_pb_038_an_id_of_another_type_is_told_before_the_timeout(
    way: str, error: dict[str, Any] | None, tmp_path: Path
) -> None:
    """Result and error alike: the call fails with that reason, with both ids, at once."""
    first = 4 if way not in ("modern", "sse") else 3
    answer = Answer(result={} if error is None else None, error=error, id=(str(first),))
    async with served(way, tmp_path, When(CALL, answer), request_timeout=60) as (fleet, server):
        async with asyncio.timeout(5):
            result = await fleet.call("mcp__s__echo")
        assert server.told(CALL)[0].message["id"] == first
    assert result.kind is ErrorKind.TOOL_ERROR
    assert f"the id '{first}', a string, where {first}, a number, was asked" in result.text


@pytest.mark.parametrize("way", WAYS)
async def test_pb_039_an_answer_under_another_id_is_not_the_answer(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged; over Streamable HTTP the call fails at once, as nothing else can come there."""
    rule = When(CALL, Answer(id=(987654,)), nth=1)
    wait = 0.5 if way == "sse" else 30.0
    async with served(way, tmp_path, rule, request_timeout=wait) as (fleet, _):
        async with asyncio.timeout(5):
            result = await fleet.call("mcp__s__echo")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "response with unknown id 987654 received" in caplog.text


@pytest.mark.parametrize("way", ["events", "sse"])
async def test_pb_048_pings_are_answered_while_a_call_waits(way: str, tmp_path: Path) -> None:
    """Before the answer to initialize, and a hundred in the middle of a call, with ids of its own
    choosing; the server goes on only when each was answered."""
    own = [{"jsonrpc": "2.0", "id": identity, "method": "ping"} for identity in ("p1", 0)]
    rules = (
        When("initialize", Ask("ping"), Answer()),
        When(CALL, *map(Send, own), *[Ask("ping")] * 100, Answer()),
    )
    async with served(way, tmp_path, *rules, request_timeout=30) as (fleet, server):
        assert not (await fleet.call("mcp__s__echo")).is_error
        replies = [heard.message for heard in server.heard if "result" in heard.message]
    assert len(replies) == 1 + 2 + 100
    assert all(reply["result"] == {} for reply in replies)
    assert {"p1", 0} <= {reply["id"] for reply in replies}


NOTES: tuple[dict[str, Any], ...] = (
    {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}},
    {"method": "notifications/message", "params": {"level": "verbose", "data": [1]}},
    {"method": "notifications/message", "params": {"level": "info", "data": None}},
    {"method": "notifications/unknown", "params": {"x": 1}},
    {"method": "notifications/initialized"},
)


@pytest.mark.parametrize("way", ["events", "modern", "sse"])
async def test_pb_052_notifications_at_odd_moments_are_harmless(way: str, tmp_path: Path) -> None:
    """Before the answer to the first message and between pages of the list."""
    notes = [Send({"jsonrpc": "2.0", **note}) for note in NOTES]
    opening = "server/discover" if way == "modern" else "initialize"
    pages = (
        Answer(result={"tools": [tool("a")], "nextCursor": "2", "resultType": "complete"}),
        Answer(result={"tools": [tool("echo")], "resultType": "complete"}),
    )
    rules = (
        When(opening, *notes, Answer()),
        When(LIST, *notes, pages[0], nth=1),
        When(LIST, *notes, pages[1], nth=1),
    )
    async with served(way, tmp_path, *rules) as (fleet, _):
        assert fleet.tools == ("mcp__s__a", "mcp__s__echo")


@pytest.mark.req("S3-24")
@pytest.mark.parametrize("way", WAYS)
async def test_pb_088_a_hundred_calls_at_once_get_their_own_answers(
    way: str, tmp_path: Path
) -> None:
    """Answered in random order, 100 KB each, between notifications; the time is about the longest,
    not the sum."""
    seeded = random.Random(88)  # noqa: S311 - an order, no secret
    note = Send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}})
    rule = When(CALL, Sleep(argument="after"), note, Answer())
    settings: dict[str, Any] = {"verdicts": {"echo": READS}, "request_timeout": 30}
    async with served(way, tmp_path, rule, **settings) as (fleet, server):
        loop = asyncio.get_running_loop()
        begun = loop.time()
        results = await asyncio.gather(
            *(
                fleet.call("mcp__s__echo", n=n, after=seeded.random() / 2, pad="x" * 100_000)
                for n in range(100)
            )
        )
        took = loop.time() - begun
        assert server.connections <= 110
    assert [json.loads(result.text)["n"] for result in results] == list(range(100))
    assert took < 10  # the waits alone add up to 25 s


@pytest.mark.parametrize("way", WAYS)
async def test_pb_093_an_answered_error_is_never_retried(way: str, tmp_path: Path) -> None:
    """-32602, -32603 and isError of a tool that may run again: one call each, no new session, and
    the server's own words reach the model."""
    words = "these very words"
    codes = (-32602, -32603)
    failing = [When(CALL, Answer(error={"code": c, "message": words}), nth=1) for c in codes]
    content = [{"type": "text", "text": words}]
    reported = When(CALL, Answer(result={"content": content, "isError": True}), nth=1)
    settings: dict[str, Any] = {"verdicts": {"echo": READS}}
    async with served(way, tmp_path, *failing, reported, **settings) as (fleet, server):
        for count in (1, 2, 3):
            result = await fleet.call("mcp__s__echo")
            assert result.kind is ErrorKind.TOOL_ERROR
            assert words in result.text
            assert len(server.told(CALL)) == count
        assert len(server.told("initialize")) <= 1


@pytest.mark.parametrize("extends", [None, 5.0])
@pytest.mark.parametrize("way", ["events", "modern"])
async def test_pb_144_keepalives_extend_nothing(
    way: str, extends: float | None, tmp_path: Path
) -> None:
    """Comments all the time and never a result: over at the timeout, also where progress would
    extend it, and the server is told in its transport's way."""
    comments = events(*[": keepalive\n\n"] * 3, then="stay")
    settings: dict[str, Any] = {"request_timeout": 0.5}
    if extends is not None:
        settings["progress_extends"] = extends
    async with served(way, tmp_path, **settings) as (fleet, server):
        server.on(comments, message=CALL)
        async with asyncio.timeout(3):
            result = await fleet.call("mcp__s__echo")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        (call,) = server.told(CALL)
        await server.wait_for(lambda: call in server.hung_up)
        if way != "modern":
            await server.wait_for(lambda: bool(server.told("notifications/cancelled")))
        told = server.told("notifications/cancelled")
        cancelled = [heard.message["params"]["requestId"] for heard in told]
        assert cancelled == ([] if way == "modern" else [call.message["id"]])
