"""Cases met in the field that speak of hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

READ = "mcp__x__read"


@pytest.mark.parametrize("name", ["write", "write ", "Write", "mcp__x__write", "WRITE"])
@pytest.mark.parametrize("server", ["x", "X"])
async def test_pb_152_through_a_hook_action(tmp_path: Path, name: str, server: str) -> None:
    """Under a READ_ONLY ceiling no spelling in a hook's action reaches a hidden tool: nothing is
    sent, nothing of its schema is told, and its name is matched exactly."""
    project = Project(tmp_path)
    schema = {"type": "object", "properties": {"hidden_word": {"type": "string"}}}
    hidden = tool("write", input_schema=schema)
    reads = tool("read", annotations={"readOnlyHint": True})
    ledger = project.add("x", ScriptedServer(tools=(reads, hidden)), annotationTrust="trust")
    action: dict[str, Any] = {"type": "mcp_tool", "server": server, "tool": name, "onError": "deny"}
    project.sections = {
        "agent": {"ceiling": "read-only"},
        "hooks": {"pre_tool": [{"hooks": [action]}]},
    }
    around = Surroundings(environ=project.environ(), cwd=project.root)
    try:
        async with lockgate.open(project.write(), surroundings=around, attended=False) as gate:
            result: Any = await gate.call(READ)
            text = result.text
            assert result.kind is lockgate.ErrorKind.DENIED
    except lockgate.ConfigError as error:
        # A server that is not configured, or a name that no tool can have, stops the start.
        assert server == "X" or name == "write "
        text = str(error)
    assert "hidden_word" not in text
    assert ledger.called == ()
    records = [path.read_text("utf-8") for path in project.state.rglob("audit/*.jsonl")]
    own = [json.loads(line) for text in records for line in text.splitlines() if '"hook"' in line]
    for record in own:
        assert record.get("decision", "refuse") == "refuse"
        assert "hidden_word" not in json.dumps(record)
