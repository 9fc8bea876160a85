"""Servers from the package registry, as a program meets them through the manager."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.mcp.host.status import ServerState
from lockgate.testing.fleet import Fleet
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Sleep
from lockgate.tools.result import ErrorKind

PROGRAMS = Path(sys.executable).parent


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    path = tmp_path / "repository"
    path.mkdir()
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for words in (
        ("init", "--quiet"),
        (*who, "commit", "--quiet", "--allow-empty", "-m", "first light"),
    ):
        subprocess.run(("git", *words), cwd=path, check=True, timeout=20)
    return path


@pytest.mark.req("S3-01")
async def test_git_and_time_are_listed_ruled_and_called(tmp_path: Path, repository: Path) -> None:
    """mcp-server-git and mcp-server-time: agreed with, listed, called, told what is wrong with a
    call, and closed with nothing left."""
    async with Fleet(tmp_path) as fleet:
        git = StdioEndpoint(str(PROGRAMS / "mcp-server-git"))
        clock = StdioEndpoint(str(PROGRAMS / "mcp-server-time"), ("--local-timezone", "UTC"))
        fleet.add(
            "git",
            git,
            annotation_trust=AnnotationTrust.TRUST,
            request_timeout=30,
            required=True,
            expect_tools=("git_log", "git_reset"),
        )
        fleet.add("time", clock, request_timeout=30)
        report = await fleet.start()
        assert (report.failed, report.broken()) == ((), None)
        assert all(status.server and status.revision for status in report.servers)
        log = await fleet.call("mcp__git__git_log", repo_path=str(repository))
        assert "first light" in log.text
        now = await fleet.call("mcp__time__get_current_time", timezone="UTC")
        assert json.loads(now.text)["timezone"] == "UTC"
        wrong = await fleet.call("mcp__git__git_log", repo_path=str(tmp_path / "nowhere"))
        assert wrong.kind is ErrorKind.TOOL_ERROR
        refused = await fleet.call("mcp__time__get_current_time")
        assert refused.kind is ErrorKind.INVALID_ARGUMENTS


def _needs(seconds: float) -> tuple[When, ...]:
    """A server that takes so long over its handshake."""
    return (When("server/discover", Sleep(seconds), Answer()),)


@pytest.mark.req("S3-08")
async def test_five_slow_servers_start_like_one(tmp_path: Path) -> None:
    """Five that each need a second are ready in under one and a half times one of them."""
    seconds = 1.0
    took: list[float] = []
    for count in (1, 5):
        directory = tmp_path / str(count)
        directory.mkdir()
        async with Fleet(directory) as fleet:
            for number in range(count):
                fleet.add(f"s{number}", ScriptedServer((tool("t"),), rules=_needs(seconds)))
            report = await fleet.start(probe_patience=5)
            assert report.failed == ()
            assert len(fleet.tools) == count
            took.append(max(status.seconds for status in report.servers))
    assert took[0] >= seconds
    assert took[1] < 1.5 * took[0]


@pytest.mark.req("S3-08")
async def test_one_that_hangs_is_given_up_at_the_bound(tmp_path: Path) -> None:
    """Its process is ended, its name is told, and the others are ready and used meanwhile."""
    async with Fleet(tmp_path) as fleet:
        hangs = tuple(When(method) for method in ("server/discover", "initialize"))
        fleet.add("hangs", ScriptedServer(rules=hangs, ignores_sigterm=True, ignores_eof=True))
        fleet.add("good", ScriptedServer())
        report = await fleet.start(bound=0.8, probe_patience=0.2)
        assert report.failed == ("hangs",)
        hung, good = report.servers
        assert 0.8 <= hung.seconds < 3
        assert good.state is ServerState.READY
        assert not (await fleet.call("mcp__good__echo")).is_error
