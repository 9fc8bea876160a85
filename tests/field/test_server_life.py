"""Field cases of servers that die, are cancelled or closed: real processes."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from pathlib import Path

import pytest

from lockgate.testing.fleet import Fleet
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Kill, Sleep, Stderr
from lockgate.tools.result import ErrorKind

SLOW = tool("slow", annotations={"readOnlyHint": False})
ECHO = tool("echo")


async def test_pb_022_a_killed_process_ends_its_calls_at_once(tmp_path: Path) -> None:
    """The first call says at once that the process died, by which signal, with the end of its
    standard error; later ones fail fast, and nothing is raised."""
    rules = (When("tools/call", Stderr("about to fail\n"), Kill(9), tool="slow"),)
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer((SLOW, ECHO), rules=rules), request_timeout=1800)
        await fleet.start()
        async with asyncio.timeout(2):
            died = await fleet.call("mcp__s__slow")
            later = [await fleet.call("mcp__s__echo") for _ in range(2)]
    assert died.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "SIGKILL" in died.text
    assert "about to fail" in died.text
    assert [result.kind for result in later] == [ErrorKind.NOT_CONNECTED] * 2


async def test_pb_023_only_the_cancelled_call_ends(tmp_path: Path) -> None:
    """notifications/cancelled with its id; the server stays; the late answer is ignored."""
    rules = (When("tools/call", Sleep(0.3), Answer(text="late"), tool="slow"),)
    server = ScriptedServer((SLOW, ECHO), rules=rules, heeds_cancel=False)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", server)
        await fleet.start()
        call = asyncio.create_task(fleet.call("mcp__s__slow"))
        asked = await ledger.wait_for("call")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await fleet.call("mcp__s__echo", n=1)).text == '{"n": 1}'
        again = await fleet.call("mcp__s__slow")
        assert again.text == "late"
        cancelled = [
            entry.facts["params"]["requestId"]
            for entry in ledger.entries("received")
            if entry.facts["method"] == "notifications/cancelled"
        ]
    assert cancelled == [asked.facts["id"]]


async def test_pb_085_closing_in_every_order_and_moment(tmp_path: Path) -> None:
    """Close while a call is pending, from another task, twice, and during connect."""
    rules = (When("tools/call", tool="slow"),)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("a", ScriptedServer((SLOW,), rules=rules))
        fleet.add("b", ScriptedServer())
        fleet.add("c", ScriptedServer())
        await fleet.start()
        assert fleet.manager is not None
        pending = asyncio.create_task(fleet.call("mcp__a__slow"))
        await ledger.wait_for("call")
        await asyncio.gather(*(asyncio.create_task(fleet.manager.close()) for _ in range(3)))
        assert (await pending).kind is ErrorKind.OUTCOME_UNKNOWN
    connecting = tmp_path / "connecting"
    connecting.mkdir()
    async with Fleet(connecting) as fleet:
        ledger = fleet.add("a", ScriptedServer(rules=(When("server/discover"),)))
        starting = asyncio.create_task(fleet.start(probe_patience=20))
        await ledger.wait_for("received")
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting


ROUNDS = """
import asyncio, gc, signal, os
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.tools.registry import Registry

def server(*rules):
    return LoopServer(ScriptedServer((tool("t"),), rules=rules, revisions=LEGACY))

def make(*servers):
    by_name = {f"s{n}": server for n, server in enumerate(servers)}
    settings = [ServerSettings(name, StdioEndpoint("x"), request_timeout=5) for name in by_name]
    return Manager(settings, connect=lambda s: by_name[s.name].transport(), probe_patience=1)

async def round(number):
    asyncio.get_running_loop().slow_callback_duration = 60  # the machine may be busy
    hangs = server(When("initialize"))
    a, b, c = make(server()), make(server(When("tools/call"))), make(server())
    await asyncio.gather(*(m.start(Registry()) for m in (a, b, c)))
    await b.close()
    await asyncio.create_task(a.close())
    await a.close()
    del c
    gc.collect()
    d = make(hangs, server())
    starting = asyncio.create_task(d.start(Registry()))
    await hangs.hears("initialize")
    closed = asyncio.Event()
    def on_signal():
        task = asyncio.get_running_loop().create_task(d.close())
        task.add_done_callback(lambda _: closed.set())
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, on_signal)
    os.kill(os.getpid(), signal.SIGUSR1)
    await closed.wait()
    try:
        await starting
    except Exception as error:
        assert "closed while it was starting" in str(error), error

for number in range(50):
    asyncio.run(round(number))
gc.collect()
"""


async def test_pb_085_fifty_rounds_make_no_noise(tmp_path: Path) -> None:
    """Managers closed from other tasks, from a signal handler, dropped to the collector, cut off
    by the end of the loop: under -X dev nothing is reported, and the program ends."""
    script = tmp_path / "rounds.py"
    script.write_text(ROUNDS)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "dev", "-W", "error", str(script)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(50):
        output, _ = await process.communicate()
    assert (process.returncode, output.decode()) == (0, "")


def test_pb_090_one_loop_after_the_other_and_two_at_once(tmp_path: Path) -> None:
    """asyncio.run for each use, and a loop in each of two threads: each with a fleet of its own
    works, and nothing is left (that a manager is refused elsewhere is in the unit tests)."""
    texts: list[str] = []

    async def use(name: str) -> None:
        directory = tmp_path / name
        directory.mkdir()
        async with Fleet(directory) as fleet:
            fleet.add("s", ScriptedServer())
            await fleet.start()
            texts.append((await fleet.call("mcp__s__echo", name=name)).text)

    asyncio.run(use("one"))
    asyncio.run(use("two"))
    assert [json.loads(text)["name"] for text in texts] == ["one", "two"]


def test_pb_090_loops_in_threads_do_not_meet(tmp_path: Path) -> None:
    """Two threads, each with a loop and servers of its own, at the same time."""
    failures: list[BaseException] = []

    async def use(directory: Path) -> None:
        fleet = Fleet(directory)
        fleet.add("s", ScriptedServer())
        await fleet.start()
        assert fleet.manager is not None
        for number in range(5):
            assert json.loads((await fleet.call("mcp__s__echo", n=number)).text) == {"n": number}
        await fleet.manager.close()
        fleet.road.close()

    def run(name: str) -> None:
        try:
            (tmp_path / name).mkdir()
            asyncio.run(use(tmp_path / name))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
