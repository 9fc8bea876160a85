"""Hooks on the command line: explained, on record, and a turn that one of them denies."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

READ: Final = "mcp__work__read"


def a_project(project: Project, event: str, code: str, matcher: str | None = None) -> None:
    """One server, and one program as the hook of `event`."""
    reads = tool("read", annotations={"readOnlyHint": True})
    project.add("work", ScriptedServer(tools=(reads,)), annotationTrust="trust")
    handler = {"type": "command", "command": [sys.executable, "-c", code]}
    group: dict[str, Any] = {"hooks": [handler]}
    if matcher is not None:
        group["matcher"] = matcher
    project.sections = {"hooks": {event: [group]}}


@pytest.mark.req("B-05")
def test_explain_lists_hooks_runs_none_and_is_conditional(project: Project) -> None:
    """In words and for programs: which hook, where it is declared, and that the verdict depends on
    it."""
    touched = project.root / "touched"
    a_project(project, "pre_tool", f"open({str(touched)!r}, 'w')", "mcp__work__*")
    shown = project.run("explain", READ, "x=1")
    assert shown.returncode == 0
    flat = " ".join(shown.stdout.split())
    assert "is told before the call: it may object, ask or rewrite" in flat
    assert "lockgate.yaml" in flat
    assert "so it runs, unless a hook objects" in flat
    told = json.loads(project.run("explain", READ, "x=1", "--json").stdout)
    assert told["conditional"] is True
    assert [hook["code"] for hook in told["hooks"]] == ["hook_before"]
    assert told["hooks"][0]["source"]
    assert told["decision"] == "runs"
    assert not touched.exists()


def test_without_hooks_a_verdict_is_one(project: Project) -> None:
    """Nothing is said of hooks that are about other tools."""
    a_project(project, "pre_tool", "pass", "Bash")
    shown = project.run("explain", READ, "x=1")
    assert "no hook is told of it" in shown.stdout
    assert "unless" not in shown.stdout
    assert json.loads(project.run("explain", READ, "--json").stdout)["conditional"] is False


def test_the_record_says_what_a_hook_withheld(project: Project) -> None:
    """The call was made, the result is not shown, and `audit show` tells which hook and why."""
    code = "import sys; sys.stderr.write('it holds a key'); sys.exit(2)"
    a_project(project, "post_tool", code)
    done = project.run("call", READ)
    assert "is withheld" in done.stdout
    (segment,) = project.state.rglob("audit/*.jsonl")
    records = [json.loads(line) for line in segment.read_text("utf-8").splitlines()]
    (call,) = [each["call"] for each in records if each.get("record") == "outcome"]
    shown = project.run("audit", "show", call)
    flat = " ".join(shown.stdout.split())
    assert "hook_denies" in flat
    assert "it holds a key" in flat


def test_a_denied_turn_exits_as_a_refusal(project: Project) -> None:
    """The model is asked nothing; the words say which hook and why."""
    code = "import sys; sys.stderr.write('out of hours'); sys.exit(2)"
    a_project(project, "turn_start", code)
    (project.root / "model.yaml").write_text("- text: hello\n", "utf-8")
    project.sections["agent"] = {"model": "scripted:model.yaml"}
    done = project.run("run", "go")
    assert done.returncode == 3
    assert "out of hours" in done.stdout + done.stderr
    assert "hello" not in done.stdout
