"""`gate.resources` and `gate.prompts`: what a program gets, and what it is told when it errs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.errors import LocalError
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer

MESSAGE = {"role": "user", "content": {"type": "text", "text": "hi"}}


def notes() -> LoopServer:
    """A server with one of each."""
    rules = (
        When("resources/list", Answer(result={"resources": [{"uri": "x:1"}]})),
        When("resources/templates/list", Answer(result={"resourceTemplates": []})),
        When("resources/read", Answer(result={"contents": [{"uri": "x:1", "text": "t"}]})),
        When("prompts/list", Answer(result={"prompts": [{"name": "p"}]})),
        When("prompts/get", Answer(result={"messages": [MESSAGE]})),
        When("completion/complete", Answer(result={"completion": {"values": ["v"]}})),
    )
    able: dict[str, Any] = {"resources": {}, "prompts": {}, "completions": {}}
    return LoopServer(ScriptedServer((), rules, LEGACY, capabilities=able))


def options(tmp_path: Path) -> tuple[lockgate.Config, dict[str, Any]]:
    """A configuration with that server, and how it is reached."""
    settings = lockgate.ServerSettings("notes", lockgate.StdioEndpoint("fake"))
    config = lockgate.Config(
        servers=(settings,),
        builtin=("ListResources", "ReadResource"),
        state_dir=tmp_path / "state",
    )
    around = Surroundings(connect=lambda of: notes().transport(peer=of.name))
    return config, {"surroundings": around, "attended": False}


@pytest.mark.req("S3-19")
async def test_they_are_there_while_the_gate_is(tmp_path: Path) -> None:
    """Beside its tools; after its end they say so."""
    config, more = options(tmp_path)
    async with lockgate.open(config, **more) as gate:
        found = await gate.resources.list()
        assert [(one.server, one.uri) for one in found] == [("notes", "x:1")]
        assert isinstance(found.entries[0], lockgate.Resource)
        assert (await gate.prompts.get("notes", "p")).messages[0].role == "user"
        assert [tool.name for tool in gate.tools()] == ["ListResources", "ReadResource"]
        resources = gate.resources
    with pytest.raises(LocalError, match="is closed"):
        _ = gate.resources
    with pytest.raises(LocalError, match="is closed"):
        _ = gate.prompts
    assert set((await resources.list()).failed) == {"notes"}


@pytest.mark.req("S3-19")
async def test_without_servers_there_is_nothing(tmp_path: Path) -> None:
    """And the tools over them say that none is configured."""
    config = lockgate.Config(builtin=("ListResources",), state_dir=tmp_path / "state")
    async with lockgate.open(config, attended=False) as gate:
        assert len(await gate.resources.list()) == len(await gate.prompts.list()) == 0
        listed = await gate.call("ListResources", {})
        assert isinstance(listed, lockgate.ToolResult)
        assert listed.text == "No resources are offered."
        with pytest.raises(LocalError, match="no MCP servers are configured"):
            await gate.prompts.get("notes", "p")


@pytest.mark.req("S3-19")
async def test_a_misuse_is_named(tmp_path: Path) -> None:
    """Which parameter, and what it has to be; nothing is sent."""
    config, more = options(tmp_path)
    wrong: Any = 5
    async with lockgate.open(config, **more) as gate:
        with pytest.raises(LocalError, match="uri must be str, not int"):
            await gate.resources.read("notes", wrong)
        times: list[Any] = [0, -1, math.nan, math.inf, True, "5"]
        for timeout in times:
            with pytest.raises(LocalError, match="timeout must be"):
                await gate.resources.read("notes", "x:1", timeout=timeout)
        with pytest.raises(LocalError, match="a must be str"):
            await gate.prompts.get("notes", "p", {"a": wrong})
        with pytest.raises(LocalError, match="value must be str"):
            await gate.prompts.complete("notes", "p", "a", wrong)
        with pytest.raises(LocalError, match="no server is called 'other'"):
            await gate.resources.read("other", "x:1")


@pytest.mark.req("S3-19")
def test_a_program_without_a_loop_has_them_too(tmp_path: Path) -> None:
    """All but watching, which takes a loop."""
    config, more = options(tmp_path)
    with lockgate.open_sync(config, **more) as gate:
        assert [one.uri for one in gate.resources.list("notes")] == ["x:1"]
        assert len(gate.resources.templates()) == 0
        (content,) = gate.resources.read("notes", "x:1", timeout=5).contents
        assert content.as_text().endswith("t")
        assert gate.resources.complete("notes", "x:{a}", "a").values == ("v",)
        assert [one.name for one in gate.prompts.list()] == ["p"]
        assert gate.prompts.get("notes", "p", {"a": "b"}).messages
        assert gate.prompts.complete("notes", "p", "a", "v").values == ("v",)
