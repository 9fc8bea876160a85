"""Field cases of servers that start slowly, badly, or not at all: real processes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import alive
from lockgate.testing.fleet import Fleet
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When
from lockgate.testing.steps import Answer, Exit, Raw, Sleep, Stderr

BAD = {
    "quits": ScriptedServer(opening=(Stderr("no key\n"), Exit(3))),
    "garbage": ScriptedServer(
        rules=(
            When("server/discover", Raw(b"<html>401</html>\n"), Exit(0)),
            When("initialize", Raw(b"<html>401</html>\n"), Exit(0)),
        )
    ),
    "refuses": ScriptedServer(
        revisions=LEGACY,
        rules=(When("initialize", Answer(error={"code": -32603, "message": "Boom"})),),
    ),
}


async def test_pb_032_a_failure_beside_a_good_server_is_only_reported(tmp_path: Path) -> None:
    """The good one is registered each time, the bad ones are named; nothing escapes or is left."""
    for run in range(4):
        directory = tmp_path / str(run)
        directory.mkdir()
        async with Fleet(directory) as fleet:
            for name, server in BAD.items():
                fleet.add(name, server)
            fleet.add("missing", StdioEndpoint("no-such-program-here"))
            fleet.add("good", ScriptedServer())
            report = await fleet.start()
            assert report.failed == (*BAD, "missing")
            assert fleet.tools == ("mcp__good__echo",)
            assert "no key" in report.errors["quits"]
            assert "Boom" in report.errors["refuses"]


def _slow_to_start(seconds: float) -> tuple[When, ...]:
    return tuple(
        When(method, Sleep(seconds), Answer()) for method in ("server/discover", "initialize")
    )


@pytest.mark.req("S3-08")
async def test_pb_033_waiting_is_the_longest_not_the_sum(tmp_path: Path) -> None:
    """Each server's own timeout is honoured; the one that is over it is named with the word
    timeout and its time, and the slow one that has the time is ready."""
    async with Fleet(tmp_path) as fleet:
        fleet.add("patient", ScriptedServer(rules=_slow_to_start(0.6)), request_timeout=9)
        fleet.add("hasty", ScriptedServer(rules=_slow_to_start(60)), request_timeout=0.3)
        fleet.add("fast", ScriptedServer())
        report = await fleet.start(probe_patience=0.2)
        assert report.failed == ("hasty",)
        assert "(timeout)" in report.errors["hasty"]
        assert "(after 0." in report.errors["hasty"]
        patient, _, fast = report.servers
        assert fast.seconds < patient.seconds < 3


@pytest.mark.req("S3-08")
async def test_pb_034_twenty_two_servers_are_all_connected(tmp_path: Path) -> None:
    """Together they take little longer than one of them, and none is lost."""
    slow = (When("server/discover", Sleep(0.5), Answer()),)
    begun = time.monotonic()
    async with Fleet(tmp_path) as fleet:
        for number in range(22):
            fleet.add(f"s{number}", ScriptedServer(rules=slow), request_timeout=30)
        report = await fleet.start(probe_patience=10)
        assert report.failed == ()
        assert len(fleet.tools) == 22
        assert time.monotonic() - begun < 22 * 0.5


@pytest.mark.req("S3-09")
async def test_pb_036a_late_success_is_discarded_and_its_process_ended(tmp_path: Path) -> None:
    """Given up at the bound: no tools, and the process that would have answered is gone."""
    rules = (When("server/discover", Sleep(0.6), Answer()),)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("late", ScriptedServer(rules=rules))
        report = await fleet.start(bound=0.4, probe_patience=5)
        assert report.failed == ("late",)
        assert "timeout" in report.errors["late"]
        (start,) = ledger.entries("start")
        async with asyncio.timeout(5):
            while alive(start.pid):  # noqa: ASYNC110 - another process does not tell
                await asyncio.sleep(0)
        assert fleet.tools == ()
        assert fleet.manager is not None
        assert fleet.manager.statuses[0].state is ServerState.FAILED


@pytest.mark.req("S3-08")
async def test_one_that_hangs_and_stays_is_given_up_at_the_bound(tmp_path: Path) -> None:
    """Its process is ended, its name is told, and the others are ready and used meanwhile."""
    async with Fleet(tmp_path) as fleet:
        hangs = tuple(When(method) for method in ("server/discover", "initialize"))
        fleet.add("hangs", ScriptedServer(rules=hangs, ignores_sigterm=True, ignores_eof=True))
        fleet.add("good", ScriptedServer())
        report = await fleet.start(bound=0.8, probe_patience=0.2)
        assert report.failed == ("hangs",)
        hung, good = report.servers
        assert 0.8 <= hung.seconds < 3
        assert good.state is ServerState.READY
        assert not (await fleet.call("mcp__good__echo")).is_error


PROBES = {
    "method not found": (Answer(error={"code": -32601, "message": "Method not found"}),),
    "invalid params": (Answer(error={"code": -32602, "message": "Invalid"}),),
    "not initialized": (Answer(error={"code": -32002, "message": "Not initialized"}),),
    "html": (Raw(b"<html>404</html>\n"),),
    "nothing at all": (),
    "exits": (Exit(1),),
}


@pytest.mark.req("B-08")
@pytest.mark.parametrize("probe", PROBES)
async def test_pb_043_every_answer_to_the_probe_leads_to_initialize(
    tmp_path: Path, probe: str
) -> None:
    """In the same process, but for the one that exits; the silent one after the short patience."""
    rules = (When("server/discover", *PROBES[probe]),)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer(revisions=LEGACY, rules=rules))
        report = await fleet.start(probe_patience=0.3)
        assert report.failed == ()
        assert report.servers[0].seconds < 3
        assert (report.servers[0].era, fleet.tools) == ("legacy", ("mcp__s__echo",))
        assert len(ledger.entries("start")) == (2 if probe == "exits" else 1)
        assert "notifications/cancelled" not in {
            entry.facts["method"] for entry in ledger.entries("received")
        }


@pytest.mark.req("B-08")
@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
async def test_pb_041_every_known_revision_is_spoken(tmp_path: Path, revision: str) -> None:
    """A server that speaks one of them only is called like any other."""
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(revisions=(revision,)))
        report = await fleet.start()
        assert report.servers[0].revision == revision
        assert (await fleet.call("mcp__s__echo", n=1)).text == '{"n": 1}'


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ({"protocolVersion": "2099-01-01"}, "2099-01-01, which is not known here"),
        ({"capabilities": {}}, "without a protocol version"),
    ],
)
async def test_pb_041_an_unknown_or_missing_version_is_refused(
    tmp_path: Path, reply: dict[str, object], wanted: str
) -> None:
    """By name, and the server is closed."""
    rules = (When("initialize", Answer(result=reply)),)
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(revisions=LEGACY, rules=rules))
        report = await fleet.start()
        assert wanted in report.errors["s"]
