"""Real servers: what is believed of their tools and where that comes from, and calls to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.testing.fleet import Fleet
from lockgate.testing.project import Project
from lockgate.tools.result import ErrorKind

PROGRAMS = Path(sys.executable).parent

WORST = ("mutating", True, False, "default")
READS = ("read-only", False, False, "claim")


def installed(name: str) -> StdioEndpoint:
    """A server that is installed beside the interpreter."""
    return StdioEndpoint(str(PROGRAMS / name))


def rulings(project: Project) -> dict[str, tuple[str, bool, bool, str]]:
    """Tool to level, destructive, idempotent and source, as `lockgate tools --json` says."""
    tools: list[dict[str, Any]] = project.json("tools")["tools"]
    return {
        tool["name"]: (tool["level"], tool["destructive"], tool["idempotent"], tool["ruling"])
        for tool in tools
    }


@pytest.mark.req("S0-12")
@pytest.mark.req("S0-02")
def test_without_trust_no_claim_of_a_real_server_counts(project: Project) -> None:
    """Ignored, every tool is the worst case by default, whatever it is annotated with."""
    project.add("git", installed("mcp-server-git"))
    project.add("time", installed("mcp-server-time"))
    found = rulings(project)
    assert {"mcp__git__git_log", "mcp__git__git_reset", "mcp__time__get_current_time"} <= set(found)
    assert set(found.values()) == {WORST}


@pytest.mark.req("S0-12")
@pytest.mark.req("S0-13")
def test_trust_in_one_real_server_says_nothing_of_another(project: Project) -> None:
    """Trusted, git's claims become its declarations; time beside it stays the worst case."""
    project.add("git", installed("mcp-server-git"), annotationTrust="trust")
    project.add("time", installed("mcp-server-time"))
    found = rulings(project)
    assert found["mcp__git__git_log"] == READS
    assert found["mcp__git__git_commit"] == ("mutating", False, False, "claim")
    assert found["mcp__git__git_reset"][:2] == ("mutating", True)
    assert found["mcp__git__git_reset"][3] == "claim"
    assert {found[name] for name in found if name.startswith("mcp__time__")} == {WORST}


@pytest.mark.req("S0-13")
def test_an_operators_word_goes_over_claim_and_trust(project: Project) -> None:
    """A verdict decides its axis, with trust and without, and is named as the source."""
    word = {"git_log": {"level": "mutating"}, "git_commit": {"destructive": True}}
    project.add("git", installed("mcp-server-git"), annotationTrust="trust", verdicts=word)
    word = {"get_current_time": {"level": "read-only"}}
    project.add("time", installed("mcp-server-time"), verdicts=word)
    found = rulings(project)
    assert found["mcp__git__git_log"][0] == "mutating"
    assert found["mcp__git__git_log"][3] == "verdict"
    assert found["mcp__git__git_commit"] == ("mutating", True, False, "verdict")
    assert found["mcp__git__git_show"] == READS
    assert found["mcp__time__get_current_time"] == ("read-only", False, False, "verdict")
    assert found["mcp__time__convert_time"] == WORST


@pytest.mark.req("S0-12")
@pytest.mark.req("S0-13")
def test_servers_written_for_node(
    project: Project, tmp_path: Path, node_server: Callable[[str], Path]
) -> None:
    """The same ladder on the reference servers: ignored, trusted, and an operator's word."""
    everything = StdioEndpoint(str(node_server("mcp-server-everything")))
    files = StdioEndpoint(str(node_server("mcp-server-filesystem")), (str(tmp_path),))
    word = {"move_file": {"destructive": False}, "read_text_file": {"level": "mutating"}}
    project.add("everything", everything)
    project.add("files", files, annotationTrust="trust", verdicts=word)
    found = rulings(project)
    assert {found[name] for name in found if name.startswith("mcp__everything__")} == {WORST}
    assert found["mcp__files__list_directory"] == READS
    assert found["mcp__files__write_file"] == ("mutating", True, True, "claim")
    assert found["mcp__files__create_directory"] == ("mutating", False, True, "claim")
    assert found["mcp__files__move_file"] == ("mutating", False, False, "verdict")
    assert found["mcp__files__read_text_file"][0] == "mutating"
    assert found["mcp__files__read_text_file"][3] == "verdict"


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
        clock = replace(installed("mcp-server-time"), args=("--local-timezone", "UTC"))
        fleet.add(
            "git",
            installed("mcp-server-git"),
            annotation_trust=AnnotationTrust.TRUST,
            request_timeout=30,
            required=True,
            expect_tools=("git_log", "git_reset"),
        )
        fleet.add("time", clock, request_timeout=30)
        report = await fleet.start()
        assert (report.failed, report.unreachable, report.missing) == ((), (), ())
        assert all(status.server and status.revision for status in report.servers)
        log = await fleet.call("mcp__git__git_log", repo_path=str(repository))
        assert "first light" in log.text
        now = await fleet.call("mcp__time__get_current_time", timezone="UTC")
        assert json.loads(now.text)["timezone"] == "UTC"
        wrong = await fleet.call("mcp__git__git_log", repo_path=str(tmp_path / "nowhere"))
        assert wrong.kind is ErrorKind.TOOL_ERROR
        refused = await fleet.call("mcp__time__get_current_time")
        assert refused.kind is ErrorKind.INVALID_ARGUMENTS
