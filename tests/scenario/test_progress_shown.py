"""A call that takes long, as a person sees it: how far it is, and what its server logs."""

from __future__ import annotations

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Send, Step
from lockgate.testing.terminal import StartAtTerminal

CALL_ID = 4
"""The id of the first call to a legacy server."""


def said(progress: float, message: str) -> Step:
    """One report."""
    params = {"progressToken": CALL_ID, "progress": progress, "total": 100, "message": message}
    return Send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def logged(level: str, text: str) -> Step:
    """One line of the server's log."""
    params = {"level": level, "data": text}
    return Send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


@pytest.fixture
def server() -> ScriptedServer:
    """Reports a thousand times, with words that deceive, and logs what it knows."""
    reports = tuple(said(n / 10, "\x1b[2Jso far\n\u202e") for n in range(1001))
    logs = (logged("error", "the key is hunter2-hunter2"), logged("debug", "chatter"))
    rules = (When("tools/call", *logs, *reports, Answer(text="done")),)
    tools = (tool("long", annotations={"readOnlyHint": True}),)
    return ScriptedServer(tools, rules, revisions=LEGACY)


def test_a_person_sees_how_far_a_call_is(
    project: Project, start: StartAtTerminal, server: ScriptedServer
) -> None:
    """A line for each further tenth, made visible; what the server logs as an error, without the
    secret it was given."""
    env = {"KEY": "hunter2-hunter2"}
    project.add("s", server, annotationTrust="trust", env=env)
    shown = start("call", "mcp__s__long").end()
    lines = [line for line in shown.splitlines() if line.startswith("mcp__s__long: ")]
    assert len(lines) == 11
    assert lines[1] == "mcp__s__long: 10 of 100, \\x1b[2Jso far\\n\\u202e"
    assert "s says: the key is [***]" in shown
    assert "hunter2" not in shown
    assert "chatter" not in shown
    assert shown.splitlines()[-1] == "done"


def test_without_a_person_the_result_is_all_there_is(
    project: Project, server: ScriptedServer
) -> None:
    """Into a pipe: nobody is told how far it is."""
    project.add("s", server, annotationTrust="trust")
    done = project.run("call", "mcp__s__long")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "of 100" not in done.stderr
