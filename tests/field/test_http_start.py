"""Field cases that were met with programs, with servers over HTTP: start, end, and loops."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import sys
import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import page, stall, status, truncated
from lockgate.testing.http_heard import Action
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.sse_server import SseServer
from lockgate.testing.steps import Answer, Sleep

HTML = {"content-type": "text/html"}
BAD: Mapping[str, Action] = {
    "refuses": status(400, "<html>Bad Request</html>", HTML),
    "bars": status(401, "<html>Sign in</html>", HTML),
    "fails": status(500, "<html>Oops</html>", HTML),
    "away": status(502, "<html>Bad Gateway</html>", HTML),
    "greets": page("Welcome"),
    "breaks-off": truncated(b'{"jsonrpc":"2.0","id":1,"res', of=500),
}
SAYS = {"refuses": "400", "bars": "401", "fails": "500", "away": "502", "greets": "Welcome"}


@pytest.mark.req("S3-10")
@pytest.mark.parametrize("older", [False, True], ids=["streamable", "sse"])
async def test_pb_032_bad_servers_beside_a_good_one_are_only_reported(
    older: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Started together, again and again: the good one is registered each time, each bad one named
    with its reason; nothing escapes, nothing is left, and the loop has nothing to complain of."""
    complaints: list[Mapping[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    caplog.set_level(logging.ERROR)
    async with AsyncExitStack() as stack:
        places: dict[str, Any] = {}
        for name, action in BAD.items():
            script = ScriptedServer(revisions=LEGACY)
            server = SseServer(script) if older else HttpServer(script)
            server.on(action).on(action, method="GET")
            await stack.enter_async_context(server)
            places[name] = server.stream() if isinstance(server, SseServer) else server.endpoint()
        for run in range(12):
            directory = tmp_path / str(run)
            directory.mkdir()
            async with Fleet(directory) as fleet:
                for name, place in places.items():
                    fleet.add(name, place)
                fleet.add("good", ScriptedServer())
                report = await fleet.start()
                assert report.failed == tuple(BAD)
                assert fleet.tools == ("mcp__good__echo",)
                for name, said in SAYS.items():
                    assert said in report.errors[name], report.errors
                    assert "\n" not in report.errors[name]
    gc.collect()
    assert complaints == []
    assert caplog.text == ""


@pytest.mark.req("S3-08")
async def test_pb_033_waiting_is_the_longest_not_the_sum(tmp_path: Path) -> None:
    """Silent, slow and fast ones over every transport: each has its own time, the silent ones are
    named with the word timeout, and all are waited for together."""
    slow = tuple(When(method, Sleep(0.5), Answer()) for method in ("server/discover", "initialize"))
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(Fleet(tmp_path))
        silent: list[str] = []
        for older in (False, True):
            for what, rules in (("silent", ()), ("slow", slow), ("fast", ())):
                script = ScriptedServer(rules=rules, revisions=LEGACY)
                server = SseServer(script) if older else HttpServer(script)
                if what == "silent":
                    server.on(stall()).on(stall(), method="GET")
                await stack.enter_async_context(server)
                name = f"{what}-{'sse' if older else 'http'}"
                place = server.stream() if isinstance(server, SseServer) else server.endpoint()
                timeout = 0.7 if what == "silent" else 9.0
                fleet.add(name, place, request_timeout=timeout)
                silent += [name] if what == "silent" else []
        report = await fleet.start(probe_patience=0.2)
        assert report.failed == tuple(silent)
        for name in silent:
            assert "timeout" in report.errors[name], report.errors
        assert max(server.seconds for server in report.servers) < 4
        states = {server.name: server.state for server in report.servers}
        assert states["slow-http"] is states["slow-sse"] is ServerState.READY
        assert fleet.manager is not None
        await fleet.manager.close()


ROUNDS = """
import asyncio, gc, os, signal, sys
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.legacy_sse import LegacySseTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.sse_server import SseServer
from lockgate.tools.registry import Registry

OLDER = sys.argv[1] == "sse"

def server(*rules):
    script = ScriptedServer((tool("t"),), rules=rules, revisions=LEGACY)
    return SseServer(script) if OLDER else HttpServer(script, sessions=True, listening=True)

def reach(server):
    if OLDER:
        return LegacySseTransport(server.stream(), peer="s", environ={})
    return StreamableHttpTransport(server.endpoint(), peer="s", environ={})

def make(*servers):
    by_name = {f"s{n}": server for n, server in enumerate(servers)}
    settings = [ServerSettings(name, StdioEndpoint("x"), request_timeout=5) for name in by_name]
    return Manager(settings, connect=lambda s: reach(by_name[s.name]), probe_patience=1)

async def round(number):
    asyncio.get_running_loop().slow_callback_duration = 60  # the machine may be busy
    hangs = server(When("initialize"))
    async with server() as one, server(When("tools/call")) as two, hangs:
        a, b, c = make(one), make(two), make(one)
        registry = Registry()
        await asyncio.gather(a.start(Registry()), b.start(registry), c.start(Registry()))
        await asyncio.create_task(b.close())
        await a.close()
        await a.close()
        del c
        gc.collect()
        d = make(hangs, one)
        starting = asyncio.create_task(d.start(Registry()))
        await hangs.wait_for(lambda: bool(hangs.told("initialize")))
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


@pytest.mark.parametrize("transport", ["streamable", "sse"])
async def test_pb_085_fifty_rounds_make_no_noise(transport: str, tmp_path: Path) -> None:
    """Managers closed from other tasks, from a signal handler, dropped to the collector, cut off
    by the end of the loop: under -X dev nothing is reported, and the program ends."""
    script = tmp_path / "rounds.py"
    script.write_text(ROUNDS)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "dev", "-W", "error", str(script), transport),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(50):
        output, _ = await process.communicate()
    assert (process.returncode, output.decode()) == (0, "")


def test_pb_090_a_loop_for_each_use_and_two_at_once(tmp_path: Path) -> None:
    """asyncio.run for each use, then two threads with a loop each: connections that are kept are
    of their own loop, and nothing is left of them."""
    texts: list[int] = []
    failures: list[BaseException] = []

    async def use(name: str) -> None:
        directory = tmp_path / name
        directory.mkdir()
        before = Belongings.now()
        script = ScriptedServer(revisions=LEGACY)
        async with (
            HttpServer(script, sessions=True) as new,
            SseServer(script) as old,
            Fleet(directory) as fleet,
        ):
            fleet.add("new", new.endpoint())
            fleet.add("old", old.stream())
            assert (await fleet.start()).failed == ()
            for number in range(5):
                for server in ("new", "old"):
                    told = await fleet.call(f"mcp__{server}__echo", n=number)
                    texts.append(json.loads(told.text)["n"])
        if threading.current_thread() is threading.main_thread():
            assert await left_since(before) == ()  # of a process, not of a thread

    def run(name: str) -> None:
        try:
            asyncio.run(use(name))
        except BaseException as error:
            failures.append(error)
            raise

    run("one")
    run("two")
    threads = [threading.Thread(target=run, args=(name,)) for name in ("three", "four")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(texts) == sorted([*range(5)] * 8)
