"""Real servers over Streamable HTTP: the official SDK's, with sessions and without, and one for
Node."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from mcp.client import Client

from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.fleet import Fleet
from lockgate.testing.listening import free_port, running

SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("real", log_level="ERROR")
@server.tool()
def echo(text: str) -> str:
    return text
@server.tool()
def broken() -> str:
    raise ValueError("it is broken")
port, stateless, plain = int(sys.argv[1]), "stateless" in sys.argv, "json" in sys.argv
server.run("streamable-http", port=port, stateless_http=stateless, json_response=plain)
"""


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize("how", [(), ("json",), ("stateless",), ("stateless", "json")])
@pytest.mark.req("S3-16")
async def test_the_official_servers_are_listed_and_called(
    tmp_path: Path, how: Sequence[str], era: Era
) -> None:
    """In both eras, with bodies and with streams; the official client gets the same answers."""
    port = free_port()
    async with running(sys.executable, "-c", SERVER, str(port), *how, port=port) as url:
        async with Fleet(tmp_path) as fleet:
            fleet.add("real", HttpEndpoint(f"{url}/mcp"))
            report = await fleet.start(eras={"real": era})
            assert report.failed == ()
            assert report.servers[0].era == era.value
            text = '가 \u2028 🙂 \\ " ' * 100
            ours = (await fleet.call("mcp__real__echo", text=text)).text
            results = await asyncio.gather(
                *(fleet.call("mcp__real__echo", text=str(n)) for n in range(20))
            )
            assert [result.text for result in results] == [str(n) for n in range(20)]
            assert "tool broken" in (await fleet.call("mcp__real__broken")).text
        async with Client(f"{url}/mcp") as client:
            theirs = await client.call_tool("echo", {"text": text})
        assert ours == text
        assert json.loads(theirs.model_dump_json())["content"][0]["text"] == text


@pytest.mark.req("S3-16")
async def test_a_server_for_node_keeps_its_session(
    tmp_path: Path, node_server: Callable[[str], Path]
) -> None:
    """The reference server: legacy, with sessions and streams, and a stream of its own."""
    program, port = str(node_server("mcp-server-everything")), free_port()
    environ = {"PORT": str(port)}
    server = running(program, "streamableHttp", port=port, env=environ)
    async with server as url, Fleet(tmp_path) as fleet:
        fleet.add("everything", HttpEndpoint(f"{url}/mcp"), request_timeout=20)
        report = await fleet.start()
        assert report.failed == ()
        assert report.servers[0].era == "legacy"
        assert (await fleet.call("mcp__everything__echo", message="hi")).text == "Echo: hi"
