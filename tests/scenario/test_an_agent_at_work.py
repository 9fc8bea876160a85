"""An agent at work: tools of ours, two real servers, a sub-agent, a skill and hooks at once, under
each ceiling and with each approver that exists; and what the record tells of it afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.terminal import StartAtTerminal

Told: TypeAlias = tuple[str, str | None, str, str | None]
"""Of a call on record: tool, whose it is, the decision, and who answered or why it is refused."""

YES: Final = frozenset({"append_note", "Write"})
"""What every approver here says yes to, once; all else is a no."""

QUESTIONS: Final = {"read-only": 0, "mutating": 4}
"""How many calls come to be asked about, by the ceiling of the agent."""

NOW: Final = {"tool": "mcp__time__get_current_time", "arguments": {"timezone": "UTC"}}
CONVERT: Final = {
    "tool": "mcp__time__convert_time",
    "arguments": {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Seoul"},
}
NOTE: Final = {"tool": "append_note", "arguments": {"text": "began"}}
TASK: Final = {"tool": "Task", "arguments": {"agent": "historian", "prompt": "What changed?"}}
SKILL: Final = {"tool": "Skill", "arguments": {"skill": "release-notes", "arguments": "v1"}}
WRITE: Final = {"tool": "Write", "arguments": {"path": "NOTES.md", "content": "It is new."}}
BRANCH: Final = {
    "tool": "mcp__git__git_create_branch",
    "arguments": {"repo_path": ".", "branch_name": "release"},
}
LOG: Final = {"tool": "mcp__git__git_log", "arguments": {"repo_path": "."}}
RESET: Final = {"tool": "mcp__git__git_reset", "arguments": {"repo_path": "."}}

HISTORIAN: Final = """---
name: historian
description: Looks up what changed.
tools: [mcp__git__git_log, mcp__git__git_reset]
model: scripted:historian.yaml
---
You look up what changed.
"""
RELEASE_NOTES: Final = """---
name: release-notes
description: How notes of a release are written.
---
Write the notes since $1, newest first.
"""

APPROVER: Final = f"""
import json, sys
question = json.loads(sys.stdin.readline())
yes = question["tool"] in {sorted(YES)!r}
print(json.dumps({{"decision": "allow" if yes else "deny"}}))
"""
HOOK: Final = """
import json, sys
told = json.load(sys.stdin)
with open("hooks.log", "a") as log:
    words = (told["hook_event_name"], told.get("agent"), told.get("tool_name"))
    print(*filter(None, words), file=log)
if told["hook_event_name"] == "pre_tool":
    print(json.dumps({"decision": "deny", "reason": "nothing is converted here"}))
elif told["hook_event_name"] == "post_tool":
    print(json.dumps({"decision": "allow", "additionalContext": "seen by the hook"}))
"""


def installed(program: str) -> StdioEndpoint:
    """A real server of the environment that the suite runs in."""
    return StdioEndpoint(str(Path(sys.executable).with_name(program)))


def hooked(matcher: str | None = None) -> list[dict[str, Any]]:
    """The hook, for one event."""
    group: dict[str, Any] = {
        "hooks": [{"type": "command", "command": sys.executable, "args": ["hook.py"]}]
    }
    return [group if matcher is None else {"matcher": matcher, **group}]


def prepared(project: Project, ceiling: str) -> None:
    """A repository with everything in it."""
    root = project.root
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    (root / "README.md").write_text("# Shop\n")
    for words in (("init", "-q"), ("add", "README.md"), ("commit", "-qm", "Say what it is")):
        subprocess.run([*git, *words], cwd=root, check=True, env=project.environ())
    (root / "hook.py").write_text(HOOK)
    (root / "approve.py").write_text(APPROVER)
    (root / "agents").mkdir()
    (root / "agents" / "historian.md").write_text(HISTORIAN)
    (root / "skills" / "release-notes").mkdir(parents=True)
    (root / "skills" / "release-notes" / "SKILL.md").write_text(RELEASE_NOTES)
    scripts: Mapping[str, Any] = {
        "agents/historian.yaml": [{"calls": [LOG, RESET]}, {"text": "One commit."}],
        "main.yaml": [
            {"calls": [NOW, CONVERT, NOTE]},
            {"calls": [TASK, SKILL]},
            {"calls": [WRITE, BRANCH]},
            {"text": "All done."},
        ],
    }
    for name, script in scripts.items():
        (root / name).write_text(json.dumps(script))
    project.add("git", installed("mcp-server-git"), annotationTrust="trust", pins="off")
    project.add("time", installed("mcp-server-time"), annotationTrust="trust", pins="off")
    project.sections |= {
        "builtin": ["append_note", "Write"],
        "roots": ["."],
        "agent": {
            "model": "scripted:main.yaml",
            "ceiling": ceiling,
            "agents": ["./agents"],
            "skills": ["./skills"],
        },
        "hooks": {
            "pre_tool": hooked("mcp__time__convert_time"),
            "post_tool": hooked("mcp__git__git_log"),
            "subagent_start": hooked(),
            "turn_stop": hooked(),
        },
    }


def by_terminal(project: Project, start: StartAtTerminal) -> str:
    """A person sits there."""
    terminal = start("run", "Prepare the release")
    shown = ""
    for _ in range(QUESTIONS[project.sections["agent"]["ceiling"]]):
        shown = terminal.until("answer [no]: ")
        asked = shown.rpartition("a call needs an answer")[2]
        terminal.type("once\n" if any(f" {name}\n" in asked for name in YES) else "no\n")
    return terminal.end()


def by_command(project: Project, start: StartAtTerminal) -> str:
    """A program answers, and nobody is there."""
    del start
    project.sections["approvals"] = {
        "unattended": [{"command": [sys.executable, "approve.py"]}],
    }
    return project.run("run", "Prepare the release").stdout


def by_queue(project: Project, start: StartAtTerminal) -> str:
    """Questions wait; a person answers them later, and has the session go on."""
    del start
    project.sections["approvals"] = {"unattended": ["queue"]}
    done = project.run("run", "Prepare the release")
    for _ in range(6):
        tickets = project.json("approvals", "list")["tickets"]
        if not tickets:
            break
        for ticket in tickets:
            word = "yes" if ticket["tool"] in YES else "no"
            project.run("approvals", "answer", ticket["ticket"], word)
        done = project.run("run", "--resume", "--", "Go on") if done.returncode else done
    return done.stdout


def record(project: Project) -> list[Told]:
    """What the audit log tells, in order."""
    told: list[Told] = []
    for line in project.run("audit", "tail", "-n", "100", "--json").stdout.splitlines():
        call = json.loads(line)["decision"]
        why = call.get("approver") or call.get("reason")
        told.append((call["tool"], call.get("agent"), call["decision"], why))
    return told


def expected(ceiling: str, approver: str) -> list[Told]:
    """What has to be on record, sorted: of calls that run at once the order is open."""
    limited = ceiling == "read-only"

    def asked(tool: str, agent: str | None = None) -> list[Told]:
        if limited:
            return [(tool, agent, "refuse", "above_ceiling")]
        answered: Told = (tool, agent, "run" if tool in YES else "refuse", approver)
        return [(tool, agent, "suspend", None), answered] if approver == "queue" else [answered]

    return sorted(
        [
            ("mcp__time__get_current_time", None, "run", None),
            ("mcp__time__convert_time", None, "refuse", "hook"),
            ("Task", None, "run", None),
            ("Skill", None, "run", None),
            ("mcp__git__git_log", "historian", "run", None),
            *asked("append_note"),
            *asked("mcp__git__git_reset", "historian"),
            *asked("Write"),
            *asked("mcp__git__git_create_branch"),
        ],
        key=repr,
    )


@pytest.mark.req("S0-05")
@pytest.mark.req("S0-06")
@pytest.mark.req("S0-09")
@pytest.mark.req("S0-17")
@pytest.mark.req("B-01")
@pytest.mark.req("B-04")
@pytest.mark.parametrize("ceiling", ["read-only", "mutating"])
@pytest.mark.parametrize("approver", ["terminal", "command", "queue"])
def test_the_record_tells_what_an_agent_did(
    project: Project, start: StartAtTerminal, ceiling: str, approver: str
) -> None:
    """Each call once, whose it was, what was decided and by whom, for every ceiling and approver;
    and the world is as the record says."""
    prepared(project, ceiling)
    answering = {"terminal": by_terminal, "command": by_command, "queue": by_queue}[approver]
    assert "All done." in answering(project, start)
    assert sorted(record(project), key=repr) == expected(ceiling, approver)
    assert project.run("audit", "verify").returncode == 0

    hooks = (project.root / "hooks.log").read_text().splitlines()
    assert hooks.count("pre_tool mcp__time__convert_time") == 1
    assert hooks.count("subagent_start historian") == 1
    assert hooks.count("post_tool historian mcp__git__git_log") == 1
    assert (project.root / "NOTES.md").exists() is (ceiling == "mutating")
    branches = subprocess.run(
        ("git", "branch"), cwd=project.root, capture_output=True, text=True, check=True
    )
    assert "release" not in branches.stdout
    assert project.left_running() == []
