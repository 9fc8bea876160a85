"""`/reload` in a conversation: the files are read again, and what tightens is in force."""

from __future__ import annotations

import json

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

READ, OTHER = "mcp__work__read", "mcp__work__other"


def test_a_line_of_a_conversation_reads_the_configuration_again(project: Project) -> None:
    """What changed between two turns is told line by line; the next turn meets the new rules."""
    work = ScriptedServer(tools=(tool("read", annotations={"readOnlyHint": True}),))
    ledger = project.add("work", work, annotationTrust="trust")
    model = project.root / "model.yaml"
    call = {"calls": [{"tool": READ}]}
    model.write_text(json.dumps([call, {"text": "one"}, call, {"text": "two"}]))
    later = project.root / "later.yaml"
    change = {"type": "command", "command": ["cp", str(later), str(project.file)]}
    project.sections = {
        "agent": {"model": f"scripted:{model}"},
        "hooks": {"turn_stop": [{"hooks": [change]}]},
    }
    project.write()
    whole = json.loads(project.file.read_text())
    later.write_text(json.dumps(whole | {"permissions": {"deny": [READ], "allow": [OTHER]}}))
    done = project.run("run", stdin="go\n/reload\nagain\n/reload\n")
    assert done.stdout.split() == ["one", "two"]
    assert done.stderr.count(f'in force: the deny rule "{READ}" is new') == 1
    assert done.stderr.count(f'NOT in force, waits for a restart: the allow rule "{OTHER}"') == 2
    assert ledger.called == ("read",)


def test_a_fault_is_told_and_changes_nothing(project: Project) -> None:
    """The conversation goes on with what was in force."""
    project.add("work", ScriptedServer(tools=(tool("read"),)))
    model = project.root / "model.yaml"
    model.write_text(json.dumps([{"text": "one"}, {"text": "two"}]))
    change = {"type": "command", "command": ["sh", "-c", f"echo 'agnt: {{}}' > {project.file}"]}
    project.sections = {
        "agent": {"model": f"scripted:{model}"},
        "hooks": {"turn_stop": [{"hooks": [change]}]},
    }
    done = project.run("run", stdin="go\n/reload\nagain\n")
    assert done.stdout.split() == ["one", "two"]
    assert "nothing was taken" in done.stderr
    assert "did you mean agent?" in done.stderr
