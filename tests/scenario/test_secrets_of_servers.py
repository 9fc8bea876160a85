"""Configured secrets are in no reason, no report and no log, wherever a server prints them."""

from __future__ import annotations

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
