"""Calls that real processes, and servers over HTTP, take as tasks, through the gate."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fate
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import Verdict
from lockgate.testing.belongings import eventually
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import reset, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import MODERN, ScriptedServer, tool
from lockgate.testing.task_book import CAPABLE, HANDLE, TaskBook, completed, working
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind
from lockgate.traits import IdempotencyBehavior, SideEffectLevel

READ_ONLY, IDEMPOTENT = SideEffectLevel.READ_ONLY, IdempotencyBehavior.IDEMPOTENT
PROGRAM = Path(__file__).with_name("task_program.py")


def program(file: Path, *stages: str) -> StdioEndpoint:
    """A server that keeps its tasks in `file`."""
    return StdioEndpoint(sys.executable, ("-I", "-S", str(PROGRAM), str(file), *stages))


def words(file: Path) -> list[str]:
    """What has happened in the server."""
    return file.read_text("utf-8").split()


async def test_a_task_over_stdio_is_followed_to_its_end(tmp_path: Path) -> None:
    """One call, and looks at what it comes to."""
    log = tmp_path / "log"
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", program(log, "work", "work"))
        assert (await fleet.start()).failed == ()
        assert (await fleet.call("mcp__s__build")).text == "begun 1 times"
    assert words(log) == ["begun", "look", "look", "look"]


@pytest.mark.req("B-03")
@pytest.mark.req("S3-17")
async def test_a_server_that_dies_in_a_task_is_asked_about_it_when_it_is_back(
    tmp_path: Path,
) -> None:
    """The process ends in the middle; the next one knows the task, and nothing is done twice."""
    log = tmp_path / "log"
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", program(log, "work", "die", "work"))
        assert (await fleet.start()).failed == ()
        result = await fleet.call("mcp__s__build")
        assert (result.text, result.is_error) == ("begun 1 times", False)
    assert words(log) == ["begun", "look", "look", "look", "look"]


@pytest.mark.req("B-03")
async def test_a_task_that_is_forgotten_has_an_unknown_outcome(tmp_path: Path) -> None:
    """The next process does not know it: nobody can say what was done, and it is not done again."""
    log = tmp_path / "log"
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", program(log, "die", "forget"))
        assert (await fleet.start()).failed == ()
        result = await fleet.call("mcp__s__build")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        assert "Task not found" in result.text
        (outcome,) = fleet.road.ledger.outcomes
        assert outcome.fate == Fate.UNKNOWN.value
    assert words(log) == ["begun", "look", "look"]


@pytest.mark.req("B-03")
@pytest.mark.req("S3-17")
@pytest.mark.parametrize("said", [{"level": READ_ONLY}, {"idempotent": IDEMPOTENT}])
@pytest.mark.parametrize("stages", [["work"] * 1000, ["die", "forget"]], ids=["late", "lost"])
async def test_a_task_is_never_begun_twice(
    tmp_path: Path, said: dict[str, Any], stages: list[str]
) -> None:
    """Also of a tool whose calls may be made again, and also with time left: what ran out of its
    time is cancelled, and that is all that is done about it."""
    log = tmp_path / "log"
    async with Fleet(tmp_path) as fleet:
        verdicts = {"build": Verdict(**said)}
        times = {"request_timeout": 3.0, "progress_extends": 3.0}
        fleet.add("s", program(log, *stages), verdicts=verdicts, **times)
        assert (await fleet.start()).failed == ()
        result = await fleet.call("mcp__s__build")
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        if "forget" not in stages:
            await eventually(lambda: "cancelled" in words(log))
    assert words(log).count("begun") == 1


@pytest.mark.req("S3-21")
async def test_an_interrupt_cancels_the_task(tmp_path: Path) -> None:
    """The turn goes on at once, and the server is told."""
    log = tmp_path / "log"
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", program(log, *["work"] * 1000))
        assert (await fleet.start()).failed == ()
        interrupt = InterruptToken()
        call = fleet.road.call("mcp__s__build", {}, interrupt=interrupt)
        calling = asyncio.create_task(fleet.road.invoke(call))
        await eventually(lambda: log.exists() and "look" in words(log))
        interrupt.interrupt()
        result = await calling
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        await eventually(lambda: "cancelled" in words(log))


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_task_over_http_is_followed_over_lost_exchanges(
    tmp_path: Path, stream: bool
) -> None:
    """Each look names the task in a header; one that is lost, or refused for now, is made again."""
    book = TaskBook(working("half"), working(), completed("built"))
    script = ScriptedServer(
        (tool("build"),), revisions=MODERN, rules=book.rules(), capabilities=CAPABLE
    )
    async with HttpServer(script, stream=stream) as server, Fleet(tmp_path) as fleet:
        server.on(reset(), message="tasks/get", nth=1)
        server.on(status(503), message="tasks/get", nth=2)
        fleet.add("s", server.endpoint())
        assert (await fleet.start()).failed == ()
        assert (await fleet.call("mcp__s__build")).text == "built"
        looks = server.told("tasks/get")
        assert {look.headers["mcp-name"] for look in looks} == {HANDLE}
        assert {look.headers["mcp-method"] for look in looks} == {"tasks/get"}
    assert (book.begun, book.looks, book.cancelled) == (1, 3, 0)


async def test_the_callers_deadline_bounds_a_task_and_cancels_it(tmp_path: Path) -> None:
    """Whatever tasks may take otherwise."""
    book = TaskBook(working())
    script = ScriptedServer((tool("build"),), revisions=MODERN, rules=book.rules())
    async with HttpServer(script) as server, Fleet(tmp_path) as fleet:
        fleet.add("s", server.endpoint())
        assert (await fleet.start()).failed == ()
        result = await fleet.road.invoke(fleet.road.call("mcp__s__build", {}, timeout=0.6))
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        await server.wait_for(lambda: book.cancelled == 1)
    assert book.begun == 1
