"""Servers over HTTP through the command line and from Python: real ones, and ones that leak."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client

import lockgate
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import status
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.listening import free_port, running
from lockgate.testing.project import Project
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.sse_server import SseServer

SDK = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("real", log_level="ERROR")
@server.tool()
def echo(message: str) -> str:
    return "Echo: " + message
kind, port = sys.argv[1], int(sys.argv[2])
options = {"stateless_http": kind == "stateless"} if kind != "sse" else {}
server.run("sse" if kind == "sse" else "streamable-http", port=port, **options)
"""
SECRET = "SEKRET-of-the-person-0123456789"  # noqa: S105 - it is one that tests look for
NodeServer = Callable[[str], Path]


@asynccontextmanager
async def everything(node_server: NodeServer, transport: str) -> AsyncGenerator[str, None]:
    """The reference server for Node; the address of it."""
    program, port = str(node_server("mcp-server-everything")), free_port()
    word, path = ("sse", "/sse") if transport == "sse" else ("streamableHttp", "/mcp")
    async with running(program, word, port=port, env={"PORT": str(port)}) as origin:
        yield origin + path


@asynccontextmanager
async def official(kind: str) -> AsyncGenerator[str, None]:
    """The official SDK's server: `sse`, `stateless` or `stateful`; the address of it."""
    port = free_port()
    async with running(sys.executable, "-c", SDK, kind, str(port), port=port) as origin:
        yield origin + ("/sse" if kind == "sse" else "/mcp")


async def run(project: Project, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """`project.run`, while servers of this loop go on."""
    return await asyncio.to_thread(project.run, *words, **options)


async def report(project: Project, *words: str, **options: Any) -> Any:
    """What a command says with --json."""
    done = await run(project, *words, "--json", **options)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
async def test_the_reference_server_through_the_command_line(
    project: Project, node_server: NodeServer, transport: str
) -> None:
    """doctor, tools, explain and call see what they see of a program."""
    async with everything(node_server, transport) as url:
        project.add_url("everything", url, transport=transport)
        (server,) = (await report(project, "doctor"))["servers"]
        assert (server["state"], server["era"]) == ("ready", "legacy")
        assert server["transport"] == url.rpartition("/")[0]
        assert "verything" in server["server"]
        tools = [tool["name"] for tool in (await report(project, "tools"))["tools"]]
        assert "mcp__everything__echo" in tools
        project.sections["permissions"] = {
            "allow": [{"rule": "mcp__everything__echo(...)", "when": "any", "destructive": True}]
        }
        told = await run(project, "explain", "mcp__everything__echo", "message=hi")
        assert told.returncode == 0, told.stderr
        done = await run(project, "call", "mcp__everything__echo", "message=hi")
        assert (done.returncode, done.stdout.strip()) == (0, "Echo: hi"), done.stderr


@pytest.mark.req("S3-16")
async def test_the_reference_server_over_sse_keeps_its_stream(
    tmp_path: Path, node_server: NodeServer
) -> None:
    """Many calls at once, each with its own answer, and nothing left afterwards."""
    async with everything(node_server, "sse") as url, Fleet(tmp_path) as fleet:
        fleet.add("everything", SseEndpoint(url), request_timeout=20)
        assert (await fleet.start()).failed == ()
        results = await asyncio.gather(
            *(fleet.call("mcp__everything__echo", message=str(n)) for n in range(30))
        )
    assert [result.text for result in results] == [f"Echo: {n}" for n in range(30)]


@pytest.mark.req("S3-16")
async def test_over_sse_the_official_client_gets_the_same_answers(tmp_path: Path) -> None:
    """The one that servers of that transport were written against."""
    text = '가 \u2028 🙂 \\ " ' * 1000
    async with official("sse") as url:
        async with Fleet(tmp_path) as fleet:
            fleet.add("real", SseEndpoint(url))
            assert (await fleet.start()).failed == ()
            ours = await fleet.call("mcp__real__echo", message=text)
        async with sse_client(url) as (reading, writing), ClientSession(reading, writing) as they:
            await they.initialize()
            theirs = await they.call_tool("echo", {"message": text})
    assert ours.text == f"Echo: {text}"
    assert json.loads(theirs.model_dump_json())["content"][0]["text"] == ours.text


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("kind", ["sse", "stateless", "stateful"])
async def test_the_official_servers_from_python(project: Project, kind: str) -> None:
    """Through `lockgate.open`, from a configuration with a header by reference."""
    transport = "sse" if kind == "sse" else "streamable-http"
    async with official(kind) as url:
        project.add_url("real", url, transport=transport, headers={"X-Team": "one"})
        rule = {"rule": "mcp__real__echo(...)", "when": "any", "destructive": True}
        project.sections["permissions"] = {"allow": [rule]}
        async with lockgate.open(project.write(), attended=False) as gate:
            result = await gate.call("mcp__real__echo", {"message": "가"})
    assert isinstance(result, lockgate.ToolResult)
    assert result.text == "Echo: 가"


@pytest.mark.req("S3-16")
async def test_five_servers_of_all_transports(project: Project, node_server: NodeServer) -> None:
    """Programs and addresses side by side: past their start nothing tells them apart."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        project.add("one", ScriptedServer())
        project.add("two", ScriptedServer(revisions=LEGACY))
        project.add_url("three", await enter(official("stateful")))
        project.add_url("four", await enter(everything(node_server, "sse")), transport="sse")
        project.add_url("five", await enter(everything(node_server, "http")))
        project.sections["permissions"] = {
            "allow": [
                {"rule": f"mcp__{name}__echo(...)", "when": "any", "destructive": True}
                for name in ("one", "two", "three", "four", "five")
            ]
        }
        found = await report(project, "doctor")
        assert [(s["name"], s["state"]) for s in found["servers"]] == [
            (name, "ready") for name in ("one", "two", "three", "four", "five")
        ]
        tools = {t["name"]: t for t in (await report(project, "tools"))["tools"]}
        rulings = {
            tuple(tools[f"mcp__{n}__echo"][key] for key in ("level", "destructive"))
            for n in ("one", "two", "three", "four", "five")
        }
        assert rulings == {("mutating", True)}
        for name in ("one", "three", "four", "five"):
            done = await run(project, "call", f"mcp__{name}__echo", "message=hi")
            assert (done.returncode, "hi" in done.stdout) == (0, True), done.stderr
        await project.none_left_running()


@pytest.mark.req("S3-16")
async def test_doctor_says_in_a_line_what_is_wrong_and_what_to_do(project: Project) -> None:
    """Nobody there, nobody let in, the other transport, and a page for people."""
    async with (
        HttpServer(ScriptedServer()) as barred,
        HttpServer(ScriptedServer()) as lost,
        SseServer(ScriptedServer()) as old,
    ):
        barred.on(status(401, "no"))
        lost.on(status(404, "no"))
        project.add_url("lost", lost.url)
        project.add_url("gone", f"http://127.0.0.1:{free_port()}/mcp")
        project.add_url("barred", barred.url)
        project.add_url("older", old.url)
        project.add_url("newer", barred.url, transport="sse")
        done = await run(project, "doctor")
    assert done.returncode == 1
    lines = {
        line.split()[1].rstrip(":"): line
        for line in done.stdout.splitlines()
        if line.startswith("FAILED")
    }
    assert "connection refused" in lines["gone"]
    assert "401" in lines["barred"]
    assert "check the headers" in lines["barred"]
    assert "set the transport of this server to sse" in lines["older"]
    assert "405" in lines["newer"]
    assert "lockgate mcp get gone" in done.stdout
    assert "check the path of the url" in lines["lost"]
    for name in ("lost", "older"):
        assert f"look at url and transport of this server: lockgate mcp get {name}" in done.stdout
    assert "no revision" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.req("S0-14")
async def test_no_output_holds_the_secret_of_a_header(project: Project) -> None:
    """Not even of a server that says it back in its answers, errors and definitions."""

    async def leak(exchange: HttpExchange) -> None:
        text = f"not you: {exchange.heard.headers.get('authorization')} {SECRET}"
        await exchange.answer(403, text.encode(), {"content-type": "text/plain"})

    outputs: list[str] = []
    async with HttpServer(ScriptedServer()) as good, HttpServer(ScriptedServer()) as bad:
        bad.on(leak)
        headers = {"Authorization": "Bearer ${THEIRS}"}
        project.add_url("good", good.url, headers=headers)
        project.add_url("bad", bad.url, headers=headers)
        project.add_url("sse", bad.url, transport="sse", headers=headers)
        commands = (
            ("config", "accept", "--yes"),
            ("mcp", "list"),
            ("mcp", "get", "good"),
            ("check",),
            ("doctor", "--json"),
            ("explain", "mcp__good__echo", "a=1"),
            ("call", "mcp__good__echo", "a=1"),
            ("call", "mcp__bad__echo", "a=1"),
        )
        project.write()
        several = await asyncio.gather(
            *(run(project, *words, env={"THEIRS": SECRET}) for words in commands)
        )
        last = await run(project, "audit", "tail", "--json", env={"THEIRS": SECRET})
        for done in (*several, last):
            outputs += [done.stdout, done.stderr]
        heard = [each.headers.get("authorization") for each in (*good.heard, *bad.heard)]
    assert heard
    assert set(heard) == {f"Bearer {SECRET}"}
    assert SECRET not in "".join(outputs)
    assert "403" in "".join(outputs)
    kept = [path for path in project.root.rglob("*") if path.is_file()]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []


async def test_an_address_is_added_and_used(project: Project) -> None:
    """From `mcp add` to a call, with the secret in the environment alone."""
    async with HttpServer(ScriptedServer()) as server:
        header = "Authorization: Bearer ${THEIRS}"
        words = ("mcp", "add", "far", "--transport", "http", server.url, "--header", header)
        done = await run(project, *words, named=False)
        assert done.returncode == 0, done.stderr
        listed = await run(project, "tools", named=False, env={"THEIRS": SECRET})
        assert "mcp__far__echo" in listed.stdout, listed.stderr
        missing = await run(project, "tools", named=False)
        assert missing.returncode == 2
        assert "${THEIRS} is not set" in missing.stderr
    assert {heard.headers["authorization"] for heard in server.heard} == {f"Bearer {SECRET}"}


async def test_who_answers_elsewhere_gets_no_header(project: Project) -> None:
    """A redirect to another origin is told, and not followed."""
    async with HttpServer(ScriptedServer()) as other, HttpServer(ScriptedServer()) as server:
        server.on(status(307, headers={"location": other.url}))
        project.add_url("far", server.url, headers={"Authorization": "Bearer ${THEIRS}"})
        done = await run(project, "doctor", env={"THEIRS": SECRET})
        assert other.connections == 0
    assert "which is not followed" in done.stdout


def test_an_endpoint_from_python_is_what_a_file_says() -> None:
    """`lockgate.HttpEndpoint` and `lockgate.SseEndpoint` are public."""
    assert lockgate.HttpEndpoint is HttpEndpoint
    assert lockgate.SseEndpoint is SseEndpoint
