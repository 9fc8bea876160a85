"""Resources and prompts of real servers, and what the official client makes of the same ones."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from lockgate.content import EmbeddedResource
from lockgate.errors import PeerError
from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.prompts import Prompts
from lockgate.mcp.host.resources import Resources
from lockgate.mcp.host.watch import ResourceUpdate, Watch
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.fleet import Fleet
from lockgate.testing.listening import free_port, running

SERVER = (Path(__file__).parent / "resource_server.txt").read_text("utf-8")
FASTMCP = """
from fastmcp import FastMCP
server = FastMCP("fast")
@server.resource("data://config", mime_type="application/json")
def config() -> dict:
    return {"a": 1}
@server.resource("data://{kind}/{path*}")
def nested(kind: str, path: str) -> str:
    return f"{kind} at {path}"
@server.prompt
def ask(topic: str, loud: bool = False) -> str:
    return f"Tell me about {topic}"
server.run(show_banner=False)
"""


@asynccontextmanager
async def notes(
    tmp_path: Path, over: str, era: Era
) -> AsyncGenerator[tuple[Fleet, Manager, Any], None]:
    """The official SDK's server, reached over `stdio` or `http`; with it, what its client takes."""
    async with Fleet(tmp_path) as fleet:
        if over == "stdio":
            command = sys.executable, ("-c", SERVER)
            fleet.add("notes", StdioEndpoint(*command), request_timeout=20)
            await fleet.start(eras={"notes": era})
            assert fleet.manager is not None
            parameters = StdioServerParameters(command=command[0], args=list(command[1]))
            yield fleet, fleet.manager, stdio_client(parameters)
            return
        port = free_port()
        server = running(sys.executable, "-c", SERVER, "http", str(port), port=port)
        async with server as url:
            fleet.add("notes", HttpEndpoint(f"{url}/mcp"), request_timeout=20)
            await fleet.start(eras={"notes": era})
            assert fleet.manager is not None
            yield fleet, fleet.manager, f"{url}/mcp"
            await fleet.manager.close()


async def next_of(watch: Watch, seconds: float = 20) -> ResourceUpdate:
    """The next update, in bounded time."""
    async with asyncio.timeout(seconds):
        return await anext(watch)


@pytest.mark.req("S3-19")
@pytest.mark.req("B-08")
@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_the_official_client_finds_the_same(tmp_path: Path, over: str, era: Era) -> None:
    """The same resources, templates and prompts with the same words; the same contents and
    messages; the same suggestions."""
    async with notes(tmp_path, over, era) as (_, manager, theirs_reach):
        assert manager.statuses[0].era == era.value
        resources, prompts = Resources(manager), Prompts(manager)
        listed, templates = await resources.list("notes"), await resources.templates("notes")
        ours = {one.uri: (one.name, one.title, one.description, one.mime_type) for one in listed}
        families = {one.template: (one.name, one.mime_type) for one in templates}
        offered = {
            one.name: [(a.name, a.required) for a in one.arguments]
            for one in await prompts.list("notes")
        }
        (text,) = (await resources.read("notes", "note://one")).contents
        (raw,) = (await resources.read("notes", "note://raw")).contents
        made = next(iter(templates)).expand(name="me & you")
        (by,) = (await resources.read("notes", made)).contents
        got = await prompts.get("notes", "review", {"code": "x", "language": "rust"})
        some = await prompts.complete("notes", "review", "language", "py", {"code": "x"})
        async with Client(theirs_reach) as client:
            assert ours == {
                one.uri: (one.name, one.title, one.description, one.mime_type)
                for one in (await client.list_resources()).resources
            }
            assert families == {
                one.uri_template: (one.name, one.mime_type)
                for one in (await client.list_resource_templates()).resource_templates
            }
            assert offered == {
                one.name: [(a.name, bool(a.required)) for a in one.arguments or ()]
                for one in (await client.list_prompts()).prompts
            }
            theirs: Any = (await client.read_resource("note://one")).contents[0]
            blob: Any = (await client.read_resource("note://raw")).contents[0]
            same: Any = (await client.read_resource(made)).contents[0]
            prompt = await client.get_prompt("review", {"code": "x", "language": "rust"})
        assert text == EmbeddedResource("note://one", theirs.text, mime_type=theirs.mime_type)
        assert isinstance(raw, EmbeddedResource)
        assert (raw.blob, raw.decoded()) == (blob.blob, b"\x00\x01")
        assert isinstance(by, EmbeddedResource)
        assert by.text == same.text == "by me & you"
        words: Any = prompt.messages[0].content
        (message,) = got.messages
        assert (message.role, message.content.as_text()) == (prompt.messages[0].role, words.text)
        assert some.values == ("python for x", "pytorch for x")


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_updates_come_from_a_modern_server_and_after_its_restart(
    tmp_path: Path, over: str
) -> None:
    """On a stream that names the resource; after a restart it is named again, and what may have
    been missed is told."""
    async with notes(tmp_path, over, Era.MODERN) as (fleet, manager, _):
        resources = Resources(manager)
        async with resources.watch("notes", "note://one") as watch:
            for version in ("1", "2"):
                assert (await fleet.call("mcp__notes__touch")).text == version
                assert await next_of(watch) == ResourceUpdate("notes", "note://one")
                (now,) = (await resources.read("notes", "note://one")).contents
                assert isinstance(now, EmbeddedResource)
                assert now.text == f"version {version}"
            await manager.reconnect("notes", failed_only=False)
            assert await next_of(watch) == ResourceUpdate("notes", "note://one", missed=True)
            await fleet.call("mcp__notes__touch")
            assert await next_of(watch) == ResourceUpdate("notes", "note://one")


@pytest.mark.req("S3-19")
async def test_a_legacy_server_that_declares_no_subscriptions_is_not_asked_for_any(
    tmp_path: Path,
) -> None:
    """The error says it."""
    async with notes(tmp_path, "stdio", Era.LEGACY) as (_, manager, _theirs):
        with pytest.raises(PeerError, match="does not tell when a resource changes"):
            async with Resources(manager).watch("notes", "note://one"):
                pass


@pytest.mark.req("S3-19")
async def test_a_server_of_fastmcp(tmp_path: Path) -> None:
    """Its wildcard templates are templates, and what the official client finds is found."""
    command = sys.executable, ("-c", FASTMCP)
    async with Fleet(tmp_path) as fleet:
        fleet.add("fast", StdioEndpoint(*command), request_timeout=20)
        await fleet.start()
        resources, prompts = Resources(fleet.manager), Prompts(fleet.manager)
        listed = await resources.list()
        templates = await resources.templates()
        assert templates.left_out == ()
        (content,) = (await resources.read("fast", "data://config")).contents
        assert '"a"' in content.as_text()
        (template,) = templates
        assert template.variables == ("kind", "path")
        made = template.expand(kind="docs", path="a")
        (nested,) = (await resources.read("fast", made)).contents
        assert "docs at a" in nested.as_text()
        offered = await prompts.list()
        got = await prompts.get("fast", "ask", {"topic": "light"})
        assert got.messages[0].content.as_text() == "Tell me about light"
        parameters = StdioServerParameters(command=command[0], args=list(command[1]))
        async with Client(stdio_client(parameters)) as client:
            theirs = (await client.list_resources()).resources
            assert [one.uri for one in listed] == [one.uri for one in theirs]
            names = [one.name for one in (await client.list_prompts()).prompts]
            assert [one.name for one in offered] == names


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("over", ["stdio", "streamableHttp"])
async def test_the_reference_server_in_all_it_has(
    tmp_path: Path, node_server: Callable[[str], Path], over: str
) -> None:
    """server-everything: every resource is read, templates, suggestions, every prompt, and updates
    of what was subscribed to, also after it was started anew."""
    program = str(node_server("mcp-server-everything"))
    if over == "stdio":
        async with Fleet(tmp_path) as fleet:
            fleet.add("everything", StdioEndpoint(program), request_timeout=20)
            await _everything(fleet, StdioServerParameters(command=program))
        return
    port = free_port()
    server = running(program, over, port=port, env={"PORT": str(port)})
    async with server as url, Fleet(tmp_path) as fleet:
        fleet.add("everything", HttpEndpoint(f"{url}/mcp"), request_timeout=20)
        await _everything(fleet, f"{url}/mcp")


async def _everything(fleet: Fleet, theirs: Any) -> None:
    """Use all of it."""
    await fleet.start()
    manager = fleet.manager
    assert manager is not None
    resources, prompts = Resources(manager), Prompts(manager)
    found = await resources.list()
    assert len(found) > 3
    for one in found:
        (content,) = (await resources.read("everything", one.uri)).contents
        assert isinstance(content, EmbeddedResource)
        assert content.text
    templates = {one.template: one for one in await resources.templates()}
    text = next(one for name, one in templates.items() if "/text/" in name)
    blob = next(one for name, one in templates.items() if "/blob/" in name)
    (made,) = (await resources.read("everything", text.expand(resourceId="3"))).contents
    assert "Resource 3" in made.as_text()
    (data,) = (await resources.read("everything", blob.expand(resourceId="3"))).contents
    assert isinstance(data, EmbeddedResource)
    assert b"Resource 3" in data.decoded()
    with pytest.raises(PeerError):
        await resources.read("everything", "demo://nowhere")
    some = await resources.complete("everything", text.template, "resourceId", "1")
    assert some.values == ("1",)
    narrowed = await prompts.complete(
        "everything", "completable-prompt", "name", "", {"department": "Engineering"}
    )
    assert "Alice" in narrowed.values
    given = {"city": "Oslo", "resourceType": "Text", "resourceId": "1", "department": "Sales"}
    listed = await prompts.list()
    for prompt in listed:
        values = {a.name: given.get(a.name, "Alice") for a in prompt.arguments}
        assert (await prompts.get("everything", prompt.name, values)).messages
    reach = stdio_client(theirs) if isinstance(theirs, StdioServerParameters) else theirs
    async with Client(reach) as client:
        assert [one.uri for one in found] == [
            one.uri for one in (await client.list_resources()).resources
        ]
        assert [one.name for one in listed] == [
            one.name for one in (await client.list_prompts()).prompts
        ]
    uri = found.entries[0].uri
    async with resources.watch("everything", uri) as watch:
        for missed in (False, True):
            if missed:
                await manager.reconnect("everything", failed_only=False)
                assert await next_of(watch) == ResourceUpdate("everything", uri, missed=True)
            await fleet.call("mcp__everything__toggle-subscriber-updates")
            assert await next_of(watch) == ResourceUpdate("everything", uri)
    await manager.close()
