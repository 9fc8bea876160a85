"""What is known of a server from the last time: explain without starting it (B-05)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

READS = {"readOnlyHint": True}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SERVER = ScriptedServer(tools=(tool("read", annotations=READS), tool("put", inputSchema=SCHEMA)))


@pytest.mark.req("B-05")
@pytest.mark.req("S0-11")
def test_explain_needs_no_server_once_its_tools_were_listed(project: Project) -> None:
    """The first time it is started; then the answer is the same, and says as of when it is."""
    ledger = project.add("s", SERVER, annotationTrust="trust")
    first = project.json("explain", "mcp__s__read")
    assert len(ledger.entries("start")) == 1
    assert first["lastSeen"] is None
    again = project.json("explain", "mcp__s__read")
    assert len(ledger.entries("start")) == 1
    assert again["lastSeen"] > 1_700_000_000
    assert {**again, "lastSeen": None} == first
    told = project.run("explain", "mcp__s__read").stdout
    assert "as last seen 20" in told
    assert "--online" in told
    online = project.run("explain", "mcp__s__read", "--online")
    assert "as last seen" not in online.stdout
    assert len(ledger.entries("start")) == 2


@pytest.mark.req("B-05")
def test_arguments_are_typed_and_checked_by_the_schema_last_seen(project: Project) -> None:
    """What is wrong with a call is told without its server."""
    project.add("s", SERVER)
    project.run("tools")
    fits = project.json("explain", "mcp__s__put", "n=5")
    assert (fits["decision"], fits["lastSeen"] is None) == ("refused", False)
    assert fits["steps"][-1]["reasons"][-1]["code"] == "nobody_to_ask"
    wrong = project.json("explain", "mcp__s__put", "n=many")
    assert wrong["steps"][-1]["name"] == "arguments"


@pytest.mark.req("B-05")
def test_a_server_that_is_started_otherwise_is_started(project: Project) -> None:
    """Another variable in its environment is another server: what was seen is not used."""
    ledger = project.add("s", SERVER)
    project.run("tools")
    project.servers[0]["env"] = {"MODE": "other"}
    assert project.json("explain", "mcp__s__read")["lastSeen"] is None
    assert len(ledger.entries("start")) == 2


@pytest.mark.req("B-05")
@pytest.mark.req("S0-11")
def test_what_is_configured_now_counts_for_what_was_seen_then(project: Project) -> None:
    """Claims are kept, rulings are not: trust and verdicts of today are applied."""
    project.add("s", SERVER)
    project.run("tools")
    assert project.json("explain", "mcp__s__read")["decision"] == "refused"
    project.servers[0]["annotationTrust"] = "trust"
    trusted = project.json("explain", "mcp__s__read")
    assert (trusted["decision"], trusted["lastSeen"] is None) == ("runs", False)


def test_a_tool_that_was_not_there_the_last_time_is_asked_for_anew(project: Project) -> None:
    """What was seen says what there is, never what there is not; and why one is left out."""
    ledger = project.add("s", SERVER)
    project.run("tools")
    unknown = project.json("explain", "mcp__s__raed")
    assert unknown["steps"][-1]["reasons"][0]["code"] == "unknown_tool"
    assert len(ledger.entries("start")) == 2
    project.servers[0]["pins"] = "block"
    withheld = project.json("explain", "mcp__s__read")
    assert withheld["leftOut"] == (
        "s lists read, which is left out: not reviewed: lockgate review s"
    )
    assert len(ledger.entries("start")) == 2


def test_a_call_starts_the_server_whatever_is_known_of_it(project: Project) -> None:
    """Only explaining does without."""
    ledger = project.add("s", SERVER, annotationTrust="trust")
    project.run("tools")
    assert project.run("call", "mcp__s__read").returncode == 0
    assert ledger.called == ("read",)
    assert len(ledger.entries("start")) == 2


def test_damage_and_a_full_state_directory_cost_a_start_and_nothing_else(project: Project) -> None:
    """What was seen is a convenience: broken or not writable, everything works without it."""
    ledger = project.add("s", SERVER)
    project.run("tools")
    (kept,) = project.state.glob("lockgate/*/servers/s.json")
    assert json.loads(kept.read_text("utf-8"))["server"] == "s"
    kept.write_text("{", encoding="utf-8")
    assert project.json("explain", "mcp__s__read")["lastSeen"] is None
    assert len(ledger.entries("start")) == 2
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.write_text("in the way", encoding="utf-8")
    assert project.run("tools").returncode == 0


@pytest.mark.req("B-05")
def test_no_configured_secret_is_kept(project: Project) -> None:
    """Arguments, variables and their values are in no file of what was seen."""
    project.add("s", SERVER, env={"API_TOKEN": "${THE_TOKEN}"})
    project.servers[0]["args"] = [*project.servers[0]["args"], "--key", "${THE_KEY}"]
    held = {"THE_TOKEN": "hidden-token-value", "THE_KEY": "hidden-key-value"}
    assert project.run("tools", env=held).returncode == 0
    text = "".join(
        path.read_text("utf-8") for path in project.state.rglob("*.json") if path.is_file()
    )
    assert '"server":"s"' in text
    for word in (*held, *held.values(), "API_TOKEN", "--key", os.fspath(Path("scripted_server"))):
        assert word not in text


@pytest.mark.req("B-05")
def test_check_looks_at_the_tools_last_seen_and_names_what_it_does_not_know(
    project: Project,
) -> None:
    """A slip in a deny rule is found without starting anything, once its server has been there."""
    ledger = project.add("s", SERVER)
    project.sections["permissions"] = {"deny": ["mcp__s__raed"]}
    before = project.run("check")
    assert before.returncode == 0
    assert "not known yet, so their tools were not looked at: s" in before.stdout
    project.run("tools")
    found = project.run("check")
    assert found.returncode == 1
    assert 'the deny rule "mcp__s__raed" matches no tool of server s' in found.stdout
    assert "did you mean mcp__s__read?" in found.stdout
    assert project.json("check")["notSeen"] == []
    assert len(ledger.entries("start")) == 1
