"""A sub-agent in the background asks while the prompt of the conversation waits for a line."""

from __future__ import annotations

import json

import pytest

from lockgate.testing.project import Project
from lockgate.testing.terminal import StartAtTerminal

ASKED = "answer [no]: "
WORKER = """---
name: worker
description: Writes.
model: scripted:worker.replies
---
You write.
"""


@pytest.mark.parametrize(("answer", "made"), [("once", True), ("no", False)])
def test_what_is_typed_at_a_question_is_its_answer_and_no_prompt(
    project: Project, start: StartAtTerminal, answer: str, made: bool
) -> None:
    """One reads at a time: half a line that was typed before the question is thrown away, the
    answer reaches the question alone, and afterwards the prompt is shown again and read."""
    agents, root = project.root / "agents", project.root
    agents.mkdir()
    (agents / "worker.md").write_text(WORKER)
    write = {"tool": "Write", "arguments": {"path": "a.txt", "content": "hello"}}
    (agents / "worker.replies").write_text(
        json.dumps([{"calls": [write]}, {"text": "written"}, {"text": "written"}])
    )
    task = {"agent": "worker", "prompt": "write", "background": True}
    (root / "main.replies").write_text(
        json.dumps(
            [
                {"calls": [{"tool": "Task", "arguments": task}]},
                {"text": "Started."},
                {"text": "The second answer."},
                {"text": "A third one."},
            ]
        )
    )
    project.sections["agent"] = {"model": "scripted:main.replies", "agents": ["./agents"]}
    project.sections["builtin"] = ["Task", "Write", "list_agents"]
    terminal = start("run")
    terminal.until("> ")
    terminal.type("go\n")
    terminal.until(ASKED)
    terminal.type(f"{answer}\n")
    after = terminal.until("> ")
    assert "The second answer." not in after
    terminal.type("and then?\n")
    shown = terminal.until("> ")
    assert "The second answer." in shown
    terminal.type("\x04")
    assert "A third one." not in terminal.end()
    assert terminal.process.returncode == 0
    assert (root / "a.txt").exists() is made
