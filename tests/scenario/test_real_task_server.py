"""A real server whose tools are tasks, fastmcp's, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lockgate.content import Text
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import CallResult
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.listening import free_port, running

PROGRAM = Path(__file__).with_name("real_task_program.py")
PINS = Path(__file__).with_name("real_task_server.txt")
FOLDER = Path(sys.prefix) / "fastmcp-tasks"

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module")
def python(package_registry: bool) -> Path:
    """An interpreter with the server's packages, which do not go together with the suite's."""
    if not package_registry:
        pytest.skip("no package registry can be reached")
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers want it at once
        return _installed()


def _installed() -> Path:
    found, stamp = FOLDER / "bin" / "python", FOLDER / "pins"
    if stamp.exists() and stamp.read_text("utf-8") == PINS.read_text("utf-8"):
        return found
    install = (str(found), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(PINS))
    for command in ((sys.executable, "-m", "venv", "--clear", str(FOLDER)), install):
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    stamp.write_text(PINS.read_text("utf-8"), "utf-8")
    return found


async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
    """A person who likes red."""
    return ElicitAnswer(Action.ACCEPT, {"colour": "red"})


@asynccontextmanager
async def session_with(python: Path, way: str) -> AsyncGenerator[ServerSession, None]:
    """A session with a new server."""
    identity, services = ClientIdentity("test", "1"), Services(elicit=elicit)
    if way == "stdio":
        endpoint = StdioEndpoint(str(python), (str(PROGRAM), "stdio"))
        transport = StdioTransport(endpoint, peer="real", environ=dict(os.environ))
        session = await connect(
            transport, peer="real", client=identity, services=services, probe_patience=30
        )
        try:
            yield session
        finally:
            await session.close()
        return
    port = free_port()
    async with running(str(python), str(PROGRAM), str(port), port=port) as url:
        transport = StreamableHttpTransport(HttpEndpoint(f"{url}/mcp"), peer="real", environ={})
        session = await connect(
            transport, peer="real", client=identity, services=services, probe_patience=30
        )
        try:
            yield session
        finally:
            await session.close()


def text(result: CallResult) -> str:
    """The text of a result."""
    return "".join(block.text for block in result.content if isinstance(block, Text))


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.req("B-08")
async def test_a_real_servers_tasks_are_followed(python: Path, way: str) -> None:
    """To a result, to an error of the tool's, through a question in the middle; one that is given
    up is cancelled, and the server goes on."""
    async with session_with(python, way) as session:
        assert session.revision.modern
        client = ToolClient(session)
        assert text(await client.call("build", {"seconds": 0.5})) == "begun 1 times"
        broken = await client.call("broken", {})
        assert broken.is_error
        assert "it is broken" in text(broken)
        assert text(await client.call("ask", {})) == "chosen red"
        long = asyncio.create_task(client.call("build", {"seconds": 600}))
        async with asyncio.timeout(30):
            while text(await client.call("counts", {})) != "2 begun, 0 cancelled":
                pass  # the server begins a task when it likes
        long.cancel()
        await asyncio.wait((long,))
        assert long.cancelled()
        async with asyncio.timeout(30):
            while text(await client.call("counts", {})) != "2 begun, 1 cancelled":
                pass
        assert text(await client.call("build", {"seconds": 0})) == "begun 3 times"
