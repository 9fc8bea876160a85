"""Field cases of what servers say, in answers and unasked: real processes."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.host.settings import Verdict
from lockgate.testing.fleet import Fleet
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Ask, Send, Sleep
from lockgate.tools.result import ErrorKind
from lockgate.traits import ConcurrencyBehavior, SideEffectLevel

CALL_ID = 4
"""The id of the first call: after server/discover, initialize and tools/list."""


@pytest.mark.parametrize("error", [None, {"code": -32000, "message": "no"}])
async def test_pb_038_an_id_of_another_type_is_told_before_the_timeout(
    tmp_path: Path, error: dict[str, object] | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Result and error alike: logged with both ids, and the call fails with that reason."""
    answer = Answer(result={} if error is None else None, error=error, id=(str(CALL_ID),))
    rules = (When("tools/call", answer),)
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(revisions=LEGACY, rules=rules), request_timeout=60)
        await fleet.start()
        async with asyncio.timeout(5):
            result = await fleet.call("mcp__s__echo")
    assert result.kind is ErrorKind.TOOL_ERROR
    assert f"the id '{CALL_ID}', a string, where {CALL_ID}, a number, was asked" in result.text
    warned = [r for r in caplog.records if r.levelno == logging.WARNING and "a string" in r.message]
    assert len(warned) == 1


async def test_pb_038_a_float_id_is_the_same_number(tmp_path: Path) -> None:
    """`4.0` answers 4."""
    frame: dict[str, Any] = {"jsonrpc": "2.0", "id": float(CALL_ID), "result": {"content": []}}
    rules = (When("tools/call", Send(frame)),)
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(revisions=LEGACY, rules=rules))
        await fleet.start()
        assert not (await fleet.call("mcp__s__echo")).is_error


async def test_pb_039_a_server_that_answers_everything_with_one_id(tmp_path: Path) -> None:
    """It fails by its timeout with a hint at what came instead; another server is unharmed."""
    rules = (When("tools/list", Answer(result={"tools": []}, id=(0,))),)
    async with Fleet(tmp_path) as fleet:
        fleet.add("zero", ScriptedServer(rules=rules), request_timeout=0.3)
        fleet.add("good", ScriptedServer())
        report = await fleet.start()
        assert report.failed == ("zero",)
        assert "response with unknown id 0 received" in report.errors["zero"]
        assert fleet.tools == ("mcp__good__echo",)


async def test_pb_047_features_that_are_not_there_cost_nothing(tmp_path: Path) -> None:
    """Prompts and resources are not asked for; tools are registered whatever else is refused."""
    refuse = Answer(error={"code": -32603, "message": "no"})
    methods = ("prompts/list", "resources/list", "resources/templates/list")
    server = ScriptedServer(
        capabilities={"tools": {}, "prompts": {}},
        rules=tuple(When(method, refuse) for method in methods),
    )
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server)
        report = await fleet.start()
        assert (report.failed, fleet.tools) == ((), ("mcp__s__echo",))
        heard = {entry.facts["method"] for entry in ledger.entries("received")}
    assert heard.isdisjoint(methods)


async def test_pb_048_pings_are_answered_before_during_and_in_a_row(tmp_path: Path) -> None:
    """The server goes on only when each ping was answered: before initialize, and a hundred in
    the middle of a call; those with its own ids, 0 among them, too."""
    own = [{"jsonrpc": "2.0", "id": identity, "method": "ping"} for identity in ("p1", 0)]
    rules = (
        When("initialize", Ask("ping"), Answer()),
        When("tools/call", *map(Send, own), *[Ask("ping")] * 100, Answer()),
    )
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer(revisions=LEGACY, rules=rules))
        report = await fleet.start()
        assert report.failed == ()
        async with asyncio.timeout(5):
            assert not (await fleet.call("mcp__s__echo")).is_error
        replies = [entry.facts["message"] for entry in ledger.entries("reply")]
    assert len(replies) == 1 + 2 + 100
    assert all(reply["result"] == {} for reply in replies)
    assert {"p1", 0} <= {reply["id"] for reply in replies}


NOTES = [
    {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}},
    {"method": "notifications/message", "params": {"level": "verbose", "data": [1]}},
    {"method": "notifications/message", "params": {"level": "info", "data": None}},
    {"method": "notifications/unknown", "params": {"x": 1}},
    {"method": "notifications/tools/list_changed"},
]


async def test_pb_052_notifications_at_odd_moments_are_heard_and_harmless(tmp_path: Path) -> None:
    """Before the answer to initialize and between pages of the list; start-up is as always. A list
    that was announced to have changed while it was read is read again, later, and heard as well."""
    notes = [Send({"jsonrpc": "2.0", **note}) for note in NOTES]
    rules = (When("initialize", *notes, Answer()), When("tools/list", *notes, Answer()))
    server = ScriptedServer(
        tuple(tool(f"t{n}") for n in range(4)), revisions=LEGACY, rules=rules, page_size=2
    )
    heard: list[str] = []

    def listen(server: str, method: str, params: Any) -> None:
        heard.append(method)

    async with Fleet(tmp_path) as fleet:
        fleet.add("s", server)
        report = await fleet.start(listeners=[listen])
        assert (report.failed, len(fleet.tools)) == ((), 4)
    names = [note["method"] for note in NOTES]
    assert len(heard) >= 3 * len(names)
    assert heard == [names[at % len(names)] for at in range(len(heard))]


@pytest.mark.req("S3-24")
async def test_pb_088_a_hundred_calls_at_once_get_their_own_answers(tmp_path: Path) -> None:
    """Answered in random order, 100 KB each, between notifications and pings; the time is about
    the longest, not the sum."""
    seeded = random.Random(88)  # noqa: S311 - an order, no secret
    note = Send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}})
    rules = (When("tools/call", Sleep(argument="after"), note, Ask("ping"), Answer()),)
    verdict = Verdict(
        level=SideEffectLevel.READ_ONLY, concurrent=ConcurrencyBehavior.CONCURRENT_SAFE
    )
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(rules=rules), verdicts={"echo": verdict}, request_timeout=30)
        await fleet.start()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        results = await asyncio.gather(
            *(
                fleet.call("mcp__s__echo", n=n, after=seeded.random() / 2, pad="x" * 100_000)
                for n in range(100)
            )
        )
        took = loop.time() - begun
    assert [json.loads(result.text)["n"] for result in results] == list(range(100))
    assert took < 10  # the waits alone add up to 25 s


async def test_pb_144_progress_without_an_answer_ends_at_the_timeout(tmp_path: Path) -> None:
    """PB-143 too: progress of every odd kind never raises and never extends; the server is told."""
    odd: list[dict[str, object]] = [
        {"progressToken": 4, "progress": 1},
        {"progressToken": "nobody", "progress": 2, "total": None},
        {"progress": 1},
        {"progressToken": 4, "progress": -5, "message": "m" * 1_000_000},
    ]
    notes = [Send({"jsonrpc": "2.0", "method": "notifications/progress", "params": p}) for p in odd]
    steps = [step for note in notes * 5 for step in (note, Sleep(0.05))]
    rules = (When("tools/call", *steps),)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer(rules=rules), request_timeout=0.5)
        await fleet.start()
        async with asyncio.timeout(1):
            result = await fleet.call("mcp__s__echo")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        # After server/discover and tools/list.
        told = await ledger.wait_for("received", count=3)
        assert told.facts["method"] == "notifications/cancelled"
        assert told.facts["params"]["requestId"] == ledger.entries("call")[0].facts["id"]
