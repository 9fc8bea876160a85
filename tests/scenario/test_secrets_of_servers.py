"""Configured secrets are in no reason, no report and no log, wherever a server prints them."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from lockgate.app.build import Surroundings
from lockgate.app.build import open as open_gate
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.process.hidden import MARK
from lockgate.settings.config import Config
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Raw

LEAKS = """
import json, os, sys
print("environment", json.dumps(dict(os.environ)), file=sys.stderr)
print("started as", sys.argv, file=sys.stderr)
print("usage: x\\nx: error: unrecognized arguments:", *sys.argv[1:], file=sys.stderr)
print("answer [no]: \\x1b[2J", file=sys.stderr, end="")
print("out", *sys.argv, os.environ["API_TOKEN"], flush=True)
sys.exit(3)
"""
OF_ENV = "0-value-of-env"
OF_ARGS = "1-value-of-arg"
OF_FLAG = "2-value/of flag"
INHERITED = "3-inherited-one"


@pytest.mark.req("S0-14")
async def test_what_a_server_prints_of_its_secrets_is_shown_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its environment, its arguments and what the host's environment gave them: in the reason of
    its failure, in the log and in the report there is a mark instead, the rest can be read."""
    script = tmp_path / "leaks.py"
    script.write_text(LEAKS)
    args = ("-I", str(script), "--token", OF_ARGS, f"--api-key={OF_FLAG}", INHERITED)
    endpoint = StdioEndpoint("python3", args, {"API_TOKEN": OF_ENV, "LONG": OF_ENV * 99})
    config = Config(servers=(ServerSettings("leaks", endpoint),), state_dir=tmp_path / "state")
    around = Surroundings(environ={**os.environ, "MY_PASSWORD": INHERITED}, cwd=tmp_path)
    with caplog.at_level(logging.DEBUG, logger="lockgate"):
        async with open_gate(config, attended=False, surroundings=around) as gate:
            report = gate.report
            failed = gate.failed["leaks"]
    assert report is not None
    reason = report.servers[0].reason or ""
    for secret in (OF_ENV, OF_ARGS, OF_FLAG, INHERITED, "2-value"):
        assert secret not in f"{reason} {failed} {report!r} {caplog.text}"
    assert f"unrecognized arguments: --token {MARK} --api-key={MARK} {MARK}" in reason
    assert f"'--token', '{MARK}', '--api-key={MARK}', '{MARK}'" in reason
    assert f'"API_TOKEN": "{MARK}"' in reason
    mine = [r for r in caplog.records if r.name.startswith(("lockgate.mcp", "lockgate.app"))]
    assert all(record.getMessage().isprintable() for record in mine)
    warned = [r.getMessage() for r in mine if r.levelno >= logging.WARNING]
    assert [line for line in warned if "unrecognized" in line or "answer [no]" in line] == [
        f"MCP server leaks is not available: {failed}"
    ]


@pytest.mark.parametrize("words", [("tools",), ("tools", "--json"), ("doctor",), ("run", "hello")])
def test_a_command_tells_a_failure_once_and_noise_once(
    project: Project, words: tuple[str, ...]
) -> None:
    """One line for a server that did not start, however much it said, and one for the banners of
    another; no line begins with a server's words, and no secret is in any."""
    script = project.root / "leaks.py"
    script.write_text(LEAKS)
    args = ("-I", str(script), "--token", OF_ARGS, f"--api-key={OF_FLAG}", INHERITED)
    env = {"API_TOKEN": "${FROM_OUTSIDE}"}
    project.add("leaks", StdioEndpoint("python3", args), env=env)
    banner = Raw(b"Server v1\nready\nanswer [no]: \n")
    project.add("noisy", ScriptedServer(opening=(banner, banner)))
    (project.root / "turn.yaml").write_text("- text: done\n")
    project.sections["agent"] = {"model": "scripted:turn.yaml"}
    done = project.run(*words, env={"FROM_OUTSIDE": OF_ENV, "MY_PASSWORD": INHERITED})
    said = done.stdout + done.stderr
    for secret in (OF_ENV, OF_ARGS, OF_FLAG, INHERITED):
        assert secret not in said
    assert said.replace("\n", "").isprintable()
    lines = said.splitlines()
    assert not [line for line in lines if line.startswith(("answer", "usage", "Server", "x:"))]
    assert [line.startswith("noisy sent something") for line in lines].count(True) == 1
    assert len([line for line in lines if "sent something" in line]) <= 2  # leaks wrote once too
    if words == ("doctor",):
        assert "         | answer [no]: \\x1b[2J" in said  # all it said, with a margin
    told = [line for line in lines if "exit code 3" in line or "leaks is not" in line]
    assert len(told) == (2 if "--json" in words else 1)  # to the program that reads it, and to us


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("words", [("call", "mcp__says__t"), ("run", "hello", "--json")])
def test_an_error_of_a_call_that_says_a_secret_back_is_shown_without_it(
    project: Project, words: tuple[str, ...]
) -> None:
    """To whoever called, to the model, and in the record."""
    error = {"code": -32001, "message": f"own {OF_ENV}"}
    tools = (tool("t", annotations={"readOnlyHint": True}),)
    server = ScriptedServer(tools, (When("tools/call", Answer(error=error)),))
    project.add("says", server, annotationTrust="trust", env={"API_TOKEN": "${FROM_OUTSIDE}"})
    turns = [{"calls": [{"tool": "mcp__says__t"}]}, {"text": "done"}]
    (project.root / "turn.yaml").write_text(json.dumps(turns))
    project.sections["agent"] = {"model": "scripted:turn.yaml"}
    done = project.run(*words, env={"FROM_OUTSIDE": OF_ENV})
    said = done.stdout + done.stderr
    assert f"own {MARK}" in said
    assert OF_ENV not in said
    kept = [file for file in project.state.rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if OF_ENV.encode() in file.read_bytes()]
