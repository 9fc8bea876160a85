"""Servers that change or are lost while a program holds its gate open: the whole product."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.instructions import BASE
from lockgate.agent.model import ModelReply, ToolCall
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.mcp.host.status import ServerState
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.heard_events import HeardEvents
from lockgate.testing.model import FakeModel
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Exit, Send
from lockgate.tools.result import ErrorKind, ToolResult

READS: dict[str, Any] = {"annotations": {"readOnlyHint": True}}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def _settings(directory: Path, server: ScriptedServer, name: str = "s") -> ServerSettings:
    recorded = replace(server, ledger=directory / f"{name}.ledger")
    endpoint = recorded.endpoint(file=directory / f"{name}.script")
    return ServerSettings(name, endpoint, annotation_trust=AnnotationTrust.TRUST)


@pytest.mark.req("S3-18")
async def test_a_change_reaches_the_next_call_and_the_next_turn(tmp_path: Path) -> None:
    """A program's next call has the newest tools; an agent's turn that is under way keeps its own,
    and its next one has the new ones and says so in a line."""
    go, late = tool("go", **READS), tool("late", **READS)
    rules = (
        When("tools/list", Answer(result={"tools": [go]}), nth=1),
        When("tools/call", Send(CHANGED), Answer(), tool="go"),
    )
    server = ScriptedServer((go, late), rules=rules)
    heard, before = HeardEvents(), Belongings.now()
    config = lockgate.Config(servers=(_settings(tmp_path, server),), state_dir=tmp_path / "state")
    calls = [ModelReply("", (ToolCall(n, f"mcp__s__{name}", {}),)) for n, name in _WANTED]
    first, second, third = calls
    model = FakeModel([first, second, ModelReply("one"), third, ModelReply("two")])
    async with lockgate.open(config, attended=False, listeners=[heard]) as gate:
        agent = gate.agent(model=model)
        made = (await agent.run("a")).calls
        reasons = [r.reason for r in (c.result for c in made) if isinstance(r, ToolResult)]
        assert reasons == [None, "no_such_tool"]
        await heard.changed()
        assert [t.name for t in gate.tools()] == ["mcp__s__go", "mcp__s__late"]
        result = await gate.call("mcp__s__late")
        assert isinstance(result, ToolResult)
        assert not result.is_error
        (again,) = (await agent.run("b")).calls
        assert isinstance(again.result, ToolResult)
        assert not again.result.is_error
    line = "Your tools have changed since your last turn. New: mcp__s__late."
    told = [shown.instructions.removeprefix(BASE).strip() for shown in model.seen]
    assert told == ["", "", "", line, line]
    assert await left_since(before) == ()


_WANTED = (("1", "go"), ("2", "late"), ("3", "late"))


@pytest.mark.req("S3-17")
async def test_a_lost_server_is_brought_back_when_a_program_asks(tmp_path: Path) -> None:
    """It comes back at once, its tools as before; what is missing meanwhile is told."""
    die = tool("die", **READS)
    server = ScriptedServer(
        (die, tool("t", **READS)), rules=(When("tools/call", Exit(3), tool="die"),)
    )
    config = lockgate.Config(servers=(_settings(tmp_path, server),), state_dir=tmp_path / "state")
    async with lockgate.open(config, attended=False) as gate:
        lost = await gate.call("mcp__s__die")
        assert isinstance(lost, ToolResult)
        assert lost.kind is ErrorKind.NOT_CONNECTED
        assert "it may be called again" in lost.text
        assert list(gate.failed) == ["s"]
        (status,) = await gate.reconnect()
        assert (status.state, status.generation) == (ServerState.READY, 2)
        assert gate.failed == {}
        result = await gate.call("mcp__s__t")
        assert isinstance(result, ToolResult)
        assert not result.is_error
        with pytest.raises(lockgate.LocalError, match="no server is called"):
            await gate.reconnect("other")


def test_without_a_loop_it_can_be_asked_for_too(tmp_path: Path) -> None:
    """The synchronous front has the same; without servers it says so."""
    server = ScriptedServer((tool("t", **READS),))
    config = lockgate.Config(servers=(_settings(tmp_path, server),), state_dir=tmp_path / "state")
    with lockgate.open_sync(config, attended=False) as gate:
        (status,) = gate.reconnect("s", failed_only=False)
        assert (status.state, status.generation) == (ServerState.READY, 2)
        result = gate.call("mcp__s__t")
        assert isinstance(result, ToolResult)
        assert not result.is_error
    with (
        lockgate.open_sync(lockgate.Config(state_dir=tmp_path / "other"), attended=False) as gate,
        pytest.raises(lockgate.LocalError, match="no MCP servers are configured"),
    ):
        gate.reconnect()


@pytest.mark.req("S3-17")
def test_a_conversation_can_ask_for_servers(project: Project) -> None:
    """`/reconnect` is for lockgate, not for the model: it tells what came of it, by name too."""
    ledger: ServerLedger = project.add("s", ScriptedServer((tool("t"),)))
    project.add("gone", ScriptedServer(opening=(Exit(3),)))
    (project.root / "replies.yaml").write_text(json.dumps([{"text": "Hello."}]))
    project.sections["agent"] = {"model": "scripted:replies.yaml"}
    lines = "/reconnect\n/reconnect s\n/reconnect nobody\nhello\n"
    done = project.run("run", stdin=lines)
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "s: ok, 1 tool" in done.stderr
    assert "gone: failed: " in done.stderr
    assert "no server is called 'nobody'; there is s, gone" in done.stderr
    assert len(ledger.entries("start")) == 1
