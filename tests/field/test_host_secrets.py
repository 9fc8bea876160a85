"""Field cases of what programs that are started can find out about the one that started them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer

SECRETS = {"MODEL_API_KEY": "sk-1-secret", "DB_PASSWORD": "pw-2-secret", "MY_TOKEN": "tk-3-secret"}
ANY = {"when": "any", "destructive": True}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_pb_029_a_server_does_not_read_the_hosts_environment(tmp_path: Path) -> None:
    """Neither in its own nor in what the system shows of its parent's; what its configuration names
    it has, so the host itself still knows it."""
    project = Project(tmp_path)
    rules = (
        When("tools/call", Answer(report="environ"), tool="own"),
        When("tools/call", Answer(report="parent"), tool="parents"),
    )
    server = ScriptedServer((tool("own"), tool("parents")), rules)
    project.add("s", server, env={"KEY": "${DB_PASSWORD}"})
    allowed = [{"rule": f"mcp__s__{name}(...)", **ANY} for name in ("own", "parents")]
    project.sections["permissions"] = {"allow": allowed}
    own = project.run("call", "mcp__s__own", env=SECRETS)
    assert own.returncode == 0, own.stderr
    assert json.loads(own.stdout)["KEY"] == SECRETS["DB_PASSWORD"]
    assert not SECRETS.keys() & json.loads(own.stdout).keys()
    parents = project.run("call", "mcp__s__parents", env=SECRETS)
    assert parents.returncode == 0, parents.stderr
    seen = json.loads(parents.stdout)
    assert any(entry.startswith("HOME=") for entry in seen)
    assert not [entry for entry in seen if "secret" in entry]


LOOK = """
import os
pid, shown = os.getpid(), ""
while "lockgate" not in shown:
    with open(f"/proc/{pid}/stat") as file:
        pid = int(file.read().rpartition(")")[2].split()[1])
    with open(f"/proc/{pid}/cmdline") as file:
        shown = file.read()
    with open(f"/proc/{pid}/environ") as file:
        print(file.read().replace(chr(0), chr(10)))
print(*(f"{name}={value}" for name, value in os.environ.items()), sep=chr(10))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_pb_029_a_line_of_the_shell_does_not_either(tmp_path: Path) -> None:
    """Its own environment, and what the system shows of all that is between it and the host."""
    project = Project(tmp_path)
    (project.root / "look.py").write_text(LOOK)
    project.sections = {
        "builtin": ["Bash"],
        "permissions": {"allow": [{"rule": "Bash(python3 look.py)", **ANY}]},
    }
    done = project.run("call", "Bash", "command=python3 look.py", env=SECRETS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("HOME=") >= 2
    assert "secret" not in done.stdout
