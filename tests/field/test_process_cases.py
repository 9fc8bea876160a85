"""Field cases of servers as processes: wrappers, orphans, pipes, paths and the environment."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.status import ServerState
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, alive, eventually, left_since
from lockgate.testing.fleet import Fleet
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer, Close, Exit, Spawn, Stderr
from lockgate.tools.result import ErrorKind

CALL = "tools/call"
SECRETS = {"MODEL_API_KEY": "sk-1", "DB_PASSWORD": "pw-2", "GATEWAY_TOKEN": "tk-3"}


async def session_with(
    endpoint: StdioEndpoint, *, timeout: float = 10, host: Mapping[str, str] | None = None
) -> ServerSession:
    """A session with a program; short grace periods."""
    transport = StdioTransport(
        endpoint, peer="srv", environ={**os.environ, **(host or {})}, grace=Grace(0.3, 0.3)
    )
    return await connect(
        transport, peer="srv", client=ClientIdentity("test", "1"), request_timeout=timeout
    )


def wrapped(server: ScriptedServer, pattern: str) -> StdioEndpoint:
    """The server, started by a shell."""
    inner = server.endpoint()
    line = shlex.join([inner.command, *inner.args])
    return StdioEndpoint("sh", ("-c", pattern.replace("SERVER", line)))


@pytest.mark.req("S3-23")
@pytest.mark.parametrize(
    "pattern", ["SERVER; true", "exec 3<&0; SERVER <&3 & wait", "(SERVER; true); true"]
)
@pytest.mark.parametrize("stubborn", [False, True])
async def test_pb_016_wrappers_leave_nothing(tmp_path: Path, pattern: str, stubborn: bool) -> None:
    """A shell that stays as parent, in front or waiting: no descendant lives after closing."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(ledger=ledger.path, ignores_eof=stubborn, ignores_sigterm=stubborn)
    before = Belongings.now()
    session = await session_with(wrapped(server, pattern))
    assert len((await ToolClient(session).list()).tools) == 1
    await session.close()
    (start,) = ledger.entries("start")
    assert not alive(start.pid)
    assert await left_since(before) == ()


@pytest.mark.req("S3-23")
@pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not installed")
@pytest.mark.parametrize("stubborn", [False, True])
async def test_pb_016_npx_leaves_nothing(tmp_path: Path, stubborn: bool) -> None:
    """A local package: npm, a shell and the server are all gone after closing."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(ledger=ledger.path, ignores_eof=stubborn, ignores_sigterm=stubborn)
    inner = server.endpoint()
    package = tmp_path / "package"
    package.mkdir()
    (package / "package.json").write_text(
        json.dumps({"name": "fake-srv", "version": "1.0.0", "bin": {"fake-srv": "run.sh"}})
    )
    (package / "run.sh").write_text(f"#!/bin/sh\n{shlex.join([inner.command, *inner.args])}\n")
    (package / "run.sh").chmod(0o755)
    quiet = {"HOME": str(tmp_path), "npm_config_update_notifier": "false"}
    before = Belongings.now()
    session = await session_with(
        StdioEndpoint("npx", ("--offline", "--yes", str(package)), quiet), timeout=40
    )
    await session.close()
    (start,) = ledger.entries("start")
    assert not alive(start.pid)
    assert await left_since(before) == ()


@pytest.mark.req("S3-23")
async def test_pb_016_an_unhandled_exception_leaves_nothing(tmp_path: Path) -> None:
    """The owner's error passes through when everything below the shell is gone."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(ledger=ledger.path, ignores_eof=True)

    async def own() -> None:
        session = await session_with(wrapped(server, "SERVER; true"))
        try:
            raise LookupError
        finally:
            await session.close()

    with pytest.raises(LookupError):
        await own()
    (start,) = ledger.entries("start")
    assert not alive(start.pid)


async def test_pb_020_a_server_that_hangs_up_again_and_again(tmp_path: Path) -> None:
    """It closes its output after every third call and stays alive: told each time, one child at
    most, and nothing gathers."""
    server = ScriptedServer(rules=(When(CALL, Answer(), Close(1), nth=3),))
    before = Belongings.now()
    for _ in range(10):
        session = await session_with(server.endpoint())
        client = ToolClient(session)
        for _ in range(3):
            await client.call("echo", {})
        reason = await session.connection.wait_gone()
        assert "closed its standard output" in str(reason)
        assert len(Belongings.now().children - before.children) == 1
        await session.close()
        assert await left_since(before) == ()


@pytest.mark.req("S3-22")
async def test_pb_021_a_grandchild_that_holds_the_pipe(tmp_path: Path) -> None:
    """The exit of the server itself fails the call at once, and closing waits for nobody."""
    ledger = ServerLedger(tmp_path / "ledger")
    rules = (When(CALL, Stderr("bye\n"), Spawn(600), Exit(1)),)
    session = await session_with(ScriptedServer(rules=rules, ledger=ledger.path).endpoint())
    server = ledger.entries("start")[0].pid
    calling = asyncio.create_task(ToolClient(session).call("echo", {}))
    await eventually(lambda: not alive(server))
    dead = time.monotonic()
    with pytest.raises(PeerError, match=r"exit code 1(.|\n)*bye") as caught:
        await calling
    assert time.monotonic() - dead < 1
    assert (caught.value.fault, caught.value.fate) == (Fault.CLOSED, Fate.UNKNOWN)
    await session.close()
    assert time.monotonic() - dead < 4
    (spawned,) = ledger.entries("spawned")
    await eventually(lambda: not alive(spawned.facts["grandchild"]))


@pytest.mark.req("S3-23")
async def test_pb_021_no_server_holds_the_pipes_of_another(tmp_path: Path) -> None:
    """Eight at once; the first is closed and sees the end of its input, the others go on."""
    server = ScriptedServer(rules=(When(CALL, Answer(report="fds")),), ignores_eof=True)
    before = Belongings.now()
    async with Fleet(tmp_path) as fleet:
        ledgers = [
            fleet.add(f"s{number}", ScriptedServer(rules=server.rules)) for number in range(8)
        ]
        await fleet.start()
        pipes: list[str] = []
        for number in range(8):
            seen: dict[str, str] = json.loads((await fleet.call(f"mcp__s{number}__echo")).text)
            pipes += [target for target in seen.values() if target.startswith("pipe:")]
        assert len(pipes) == len(set(pipes)) == 24
        (start,) = ledgers[0].entries("start")
        assert start.pid in Belongings.now().children - before.children
    for ledger in ledgers:
        assert len(ledger.entries("eof")) == 1


async def test_pb_024_a_server_that_closes_its_input() -> None:
    """Each call is an error, the connection is lost, and nobody spins."""
    server = ScriptedServer(rules=(When("tools/list", Answer(), Close(0)),))
    session = await session_with(server.endpoint())
    client = ToolClient(session)
    await client.list()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for _ in range(5):
        with pytest.raises(PeerError):
            await client.call("echo", {})
    assert "closed its standard input" in str(await session.connection.wait_gone())
    with pytest.raises(PeerError) as caught:
        await client.call("echo", {})
    assert caught.value.fate is Fate.NOT_SENT
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - used < 1
    await session.close()


async def test_pb_026_four_ways_not_to_be_there(tmp_path: Path) -> None:
    """Four distinct errors and one more for the directory; the good server works."""
    script = tmp_path / "srv.py"
    script.write_text("print('no')\n")
    async with Fleet(tmp_path) as fleet:
        fleet.add("unknown", StdioEndpoint("no-such-cmd"))
        fleet.add("plain", StdioEndpoint(str(script)))
        fleet.add("folder", StdioEndpoint(str(tmp_path)))
        fleet.add("home", StdioEndpoint("~/no-such-directory/srv"))
        fleet.add("nowhere", StdioEndpoint("true", cwd=Path("/nope")))
        fleet.add("good", ScriptedServer())
        report = await fleet.start()
        reasons = {status.name: status.reason or "" for status in report.servers}
        states = {status.name: status.state for status in report.servers}
        assert (await fleet.call("mcp__good__echo", n=1)).text == '{"n": 1}'
    assert "`no-such-cmd` was not found in the PATH" in reasons["unknown"]
    assert "permission denied" in reasons["plain"]
    assert "is a directory" in reasons["folder"]
    assert f"`{Path.home()}/no-such-directory/srv` was not found" in reasons["home"]
    assert "working directory (cwd) `/nope` does not exist" in reasons["nowhere"]
    assert states.pop("good") is ServerState.READY
    assert set(states.values()) == {ServerState.FAILED}


async def seen_by(endpoint: StdioEndpoint, host: Mapping[str, str]) -> dict[str, str]:
    """The environment that a server reports."""
    session = await session_with(endpoint, host=host)
    result = await ToolClient(session).call("echo", {})
    await session.close()
    return json.loads(result.content[0].as_text())


REPORTER = ScriptedServer(rules=(When(CALL, Answer(report="environ")),))


async def test_pb_027_the_environment_is_added_to() -> None:
    """A bare `python3` is found, the usual variables are there, and what is configured too."""
    endpoint = StdioEndpoint("python3", REPORTER.args(), {"FOO": "bar", "LANG": "ko_KR.UTF-8"})
    seen = await seen_by(endpoint, {"LANG": "C"})
    assert {"PATH", "HOME"} <= seen.keys()
    assert (seen["FOO"], seen["LANG"]) == ("bar", "ko_KR.UTF-8")


async def test_pb_029_host_secrets_stay_with_the_host() -> None:
    """A server sees none of them, except one that its configuration names."""
    seen = await seen_by(REPORTER.endpoint(), SECRETS)
    assert not SECRETS.keys() & seen.keys()
    assert not set(SECRETS.values()) & set(seen.values())
    seen = await seen_by(REPORTER.endpoint(env={"DB_PASSWORD": SECRETS["DB_PASSWORD"]}), SECRETS)
    assert SECRETS.keys() & seen.keys() == {"DB_PASSWORD"}


async def test_pb_022_a_lost_server_answers_at_once_on_the_road(tmp_path: Path) -> None:
    """After the death of its process a call is an error result, never an exception."""
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(rules=(When(CALL, Stderr("why\n"), Exit(9)),)))
        await fleet.start()
        first = await fleet.call("mcp__s__echo")
        second = await fleet.call("mcp__s__echo")
    assert first.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "exit code 9" in first.text
    assert second.kind is ErrorKind.NOT_CONNECTED
