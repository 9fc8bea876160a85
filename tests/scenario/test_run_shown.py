"""`lockgate run` as it is seen: what goes to the terminal, what into a file, and what it costs."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Sleep
from lockgate.testing.terminal import StartAtTerminal

READS = {"readOnlyHint": True}
TURNS: list[dict[str, Any]] = [
    {"text": "I look first.", "calls": [{"tool": "mcp__s__read"}], "tokens": 40},
    {"text": "All is well.\nTruly.", "tokens": 2},
]


@pytest.fixture
def talk(project: Project) -> Project:
    """A model that looks and answers."""
    server = ScriptedServer(tools=(tool("read", annotations=READS),))
    project.add("s", server, annotationTrust="trust")
    (project.root / "replies.yaml").write_text(json.dumps(TURNS))
    project.sections["agent"] = {"model": "scripted:replies.yaml"}
    return project


def test_on_a_terminal_text_and_calls_are_shown_in_order_and_once(
    talk: Project, start: StartAtTerminal
) -> None:
    """What the model says, the call, the answer, and what it cost."""
    lines = start("run", "go").end().splitlines()
    at = lines.index("I look first.")
    assert lines[at + 1] == "* [1] mcp__s__read()"
    assert lines[at + 2].startswith("  [1] mcp__s__read -> ran")
    assert lines[at + 3 :] == ["All is well.", "Truly.", "  0 tokens read, 42 written"]
    assert "\n".join(lines).count("All is well.") == 1


def test_into_a_file_goes_the_answer_alone(talk: Project) -> None:
    """What the model says before its calls stands with them, on standard error."""
    talk.write()
    done = talk.run("run", "go")
    assert done.stdout == "All is well.\nTruly.\n"
    assert "I look first.\n* [1] mcp__s__read()\n  [1] mcp__s__read -> ran" in done.stderr
    assert "All is well" not in done.stderr


def test_as_json_it_tells_what_it_cost(talk: Project) -> None:
    """As before, and the usage beside the sum."""
    talk.write()
    found = json.loads(talk.run("run", "--json", "go").stdout)
    assert found["usage"] == {"input": 0, "output": 42, "cached": 0}
    assert (found["tokens"], found["text"]) == (42, "All is well.\nTruly.")


def test_what_takes_over_a_second_is_said_to_go_on(
    project: Project, start: StartAtTerminal
) -> None:
    """Under the number of its call."""
    server = ScriptedServer(
        tools=(tool("slow", annotations=READS),),
        rules=(When("tools/call", Sleep(1.3), tool="slow"),),
    )
    project.add("s", server, annotationTrust="trust")
    (project.root / "replies.yaml").write_text(
        json.dumps([{"calls": [{"tool": "mcp__s__slow"}]}, {"text": "Done."}])
    )
    project.sections["agent"] = {"model": "scripted:replies.yaml"}
    terminal = start("run", "go")
    shown = terminal.until("has been running")
    assert "  [1] mcp__s__slow has been running" in shown
    terminal.type("\x03")
    after = terminal.end()
    assert "interrupting; once more to leave" in after
    assert "[no answer: the turn was interrupted]" in after
    assert terminal.process.returncode == 130


def test_an_interrupt_withdraws_an_open_question(project: Project, start: StartAtTerminal) -> None:
    """Nothing was answered, nothing is sent, and the turn ends."""
    server = ScriptedServer(tools=(tool("drop"),))
    ledger = project.add("s", server, annotationTrust="trust")
    (project.root / "replies.yaml").write_text(
        json.dumps([{"calls": [{"tool": "mcp__s__drop"}, {"tool": "mcp__s__drop"}]}, {"text": "x"}])
    )
    project.sections["agent"] = {"model": "scripted:replies.yaml"}
    terminal = start("run", "go")
    terminal.until("answer [no]: ")
    terminal.process.send_signal(signal.SIGINT)
    after = terminal.end()
    assert "[the question is withdrawn]" in after
    assert "answer [no]: " not in after
    assert "  [2] mcp__s__drop -> refused, skipped" in after
    assert "[no answer: the turn was interrupted]" in after
    assert terminal.process.returncode == 130
    assert ledger.called == ()
