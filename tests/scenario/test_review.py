"""Reviewing a server: what is proposed, what is accepted, and that both files or none change."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool
from lockgate.testing.terminal import StartAtTerminal

SERVER = ScriptedServer(tools=(tool("get_user"), tool("drop_user"), tool("frobnicate")))
ASKS = "accept, change, skip, quit [skip]: "


def _file(project: Project, server: ScriptedServer = SERVER) -> None:
    """A configuration in block style, with comments: as a person has it."""
    project.add("s", server)
    (entry,) = project.servers
    project.servers.clear()
    project.file.write_text(
        "# mine\nmcp:\n  servers:\n    - name: s  # the one\n"
        f"      command: {entry['command']}\n      args: {json.dumps(entry['args'])}\n\n# end\n",
        encoding="utf-8",
    )


def _pinned(project: Project) -> list[str]:
    path = project.root / "lockgate.pins.json"
    if not path.exists():
        return []
    return sorted(json.loads(path.read_text("utf-8"))["servers"]["s"]["tools"])


@pytest.mark.req("B-06")
def test_a_review_writes_what_was_accepted_and_nothing_else(
    project: Project, start: StartAtTerminal
) -> None:
    """One accepted as proposed, one changed, one skipped: verdicts into the file, its comments
    kept; pins beside it; and the next start believes it."""
    _file(project)
    before = project.file.read_text("utf-8")
    reviewer = start("review", "s")
    shown = reviewer.until(ASKS)
    assert "[1/3] get_user: not pinned" in shown
    assert 'read-only, non-destructive: "get" reads' in shown
    assert "This lets more pass than now" in " ".join(shown.split())
    reviewer.type("a\n")
    assert 'its name says "drop"' in reviewer.until(ASKS)
    reviewer.type("x\n")
    reviewer.until(ASKS)
    reviewer.type("c\n")
    reviewer.until("b)ack [back]: ")
    reviewer.type("a\n")
    reviewer.until("accept it? [y/N]: ")
    reviewer.type("y\n")
    reviewer.until(ASKS)
    reviewer.type("\n")
    told = reviewer.end()
    assert "Pinned 2 tool(s) in lockgate.pins.json" in told
    assert "Wrote 2 verdict(s) to lockgate.yaml" in told
    after = project.file.read_text("utf-8")
    assert after == before.replace(
        "\n\n# end",
        "\n      verdicts:\n        get_user: {level: read-only}\n"
        "        drop_user: {level: mutating, destructive: false}\n\n# end",
    )
    assert _pinned(project) == ["drop_user", "get_user"]
    rows = {row["name"]: row for row in project.json("tools")["tools"]}
    assert rows["mcp__s__get_user"]["level"] == "read-only"
    assert rows["mcp__s__drop_user"]["destructive"] is False
    assert any("nobody has reviewed" in r for r in rows["mcp__s__frobnicate"]["remarks"])


@pytest.mark.req("B-06")
@pytest.mark.parametrize(("keys", "written"), [("\x03", []), ("\x04", []), ("q\n", ["get_user"])])
def test_broken_off_in_the_middle_nothing_or_all_of_it_is_written(
    project: Project, start: StartAtTerminal, keys: str, written: list[str]
) -> None:
    """Ctrl+C and the end of input write nothing and say so; quitting writes what was accepted."""
    _file(project)
    before = project.file.read_text("utf-8")
    reviewer = start("review", "s")
    reviewer.until(ASKS)
    reviewer.type("a\n")
    reviewer.until(ASKS)
    reviewer.type(keys)
    told = reviewer.end()
    assert _pinned(project) == written
    assert (project.file.read_text("utf-8") == before) is (not written)
    assert ("Interrupted: nothing was written." in told) is (not written)
    assert reviewer.process.returncode == (0 if written else 130)


@pytest.mark.req("B-06")
def test_what_can_not_be_written_leaves_both_files_as_they_were(project: Project) -> None:
    """The file can not be edited: then nothing is pinned either, since a verdict without its pin
    holds for whatever comes next, and a pin says that somebody is done."""
    server = ScriptedServer(tools=(tool("drop_user", annotations={"readOnlyHint": True}),))
    _file(project, server)
    text = project.file.read_text("utf-8").replace(
        "\n\n# end",
        "\n      annotationTrust: trust\n      verdicts:\n        drop_user:  # why\n"
        "          concurrent: true\n\n# end",
    )
    project.file.write_text(text, encoding="utf-8")
    done = project.run("review", "s", "--yes")
    assert done.returncode == 2
    assert "can not edit" in done.stderr
    assert _pinned(project) == []
    assert project.file.read_text("utf-8") == text


@pytest.mark.req("B-06")
def test_yes_accepts_what_does_not_loosen_and_names_the_rest(project: Project) -> None:
    """Nobody looks: the strict proposals are written, the others are left for a person."""
    _file(project)
    done = project.run("review", "s", "--yes")
    assert done.returncode == 0
    assert _pinned(project) == ["drop_user", "frobnicate"]
    assert "Left for you, since they would let more pass than now: get_user" in done.stderr
    assert "verdicts" not in project.file.read_text("utf-8")


@pytest.mark.req("B-06")
def test_yes_does_not_restore_what_a_change_took_away(project: Project) -> None:
    """A tool changed, so its claim is not believed: pinning it anew would loosen, and is left."""
    reads = {"readOnlyHint": True}
    project.add("s", ScriptedServer(tools=(tool("get", "a", annotations=reads),)),
                annotationTrust="trust")  # fmt: skip
    project.run("review", "s", "--yes")
    assert _pinned(project) == ["get"]
    before = (project.root / "lockgate.pins.json").read_bytes()
    project.servers.clear()
    project.add("s", ScriptedServer(tools=(tool("get", "b", annotations=reads),)),
                annotationTrust="trust")  # fmt: skip
    assert "Left for you" in project.run("review", "s", "--yes").stderr
    assert (project.root / "lockgate.pins.json").read_bytes() == before


@pytest.mark.req("B-06")
def test_under_block_yes_lets_nothing_in_that_was_left_out(project: Project) -> None:
    """To register a tool that nobody has looked at is to let more pass."""
    project.add("s", SERVER, pins="block")
    assert "Left for you" in project.run("review", "s", "--yes").stderr
    assert _pinned(project) == []


@pytest.mark.req("B-06")
def test_a_pin_of_a_tool_that_is_gone_is_told_and_stays(project: Project) -> None:
    """A review is about what there is; taking a pin out is said with another command."""
    project.add("s", SERVER)
    project.run("pins", "accept", "s", "--yes")
    project.servers.clear()
    project.add("s", ScriptedServer(tools=SERVER.tools[1:]))
    done = project.run("review", "s", "--yes")
    assert done.returncode == 0
    assert "get_user is pinned, and not listed any more" in done.stderr
    assert "all 2 tools are as they were reviewed" in done.stdout
    assert _pinned(project) == ["drop_user", "frobnicate", "get_user"]


@pytest.mark.req("B-06")
def test_without_a_terminal_it_shows_the_table_and_what_to_do(project: Project) -> None:
    """And ends with 2, having written nothing; --json is for programs and writes nothing either."""
    _file(project)
    before = project.file.read_text("utf-8")
    done = project.run("review", "s")
    assert done.returncode == 2
    assert "TOOL" in done.stdout
    assert "read-only, loosens" in done.stdout
    assert "there is no terminal to ask on" in done.stderr
    data = project.json("review", "s")
    assert [t["tool"] for t in data["tools"]] == ["get_user", "drop_user", "frobnicate"]
    first: dict[str, Any] = data["tools"][0]["proposal"]
    assert (first["verdict"], first["loosens"], first["due"]) == (
        {"level": "read-only"},
        True,
        True,
    )
    assert data["tools"][2]["suggestion"]["known"] is False
    assert (project.file.read_text("utf-8"), _pinned(project)) == (before, [])


@pytest.mark.req("B-06")
def test_a_server_of_your_own_gets_its_verdicts_in_your_own_file(
    project: Project, start: StartAtTerminal
) -> None:
    """Where it is configured, and not in a project's file that others have without the server."""
    project.add("s", SERVER)
    project.write()
    own = project.root / "home" / "config" / "lockgate" / "config.yaml"
    project.environ()
    own.parent.mkdir(parents=True)
    project.file.rename(own)
    project.file.write_text("{}", encoding="utf-8")
    project.servers.clear()
    reviewer = start("review", "s")
    reviewer.until(ASKS)
    reviewer.type("a\n")
    reviewer.until(ASKS)
    reviewer.type("q\n")
    assert "Wrote 1 verdict(s)" in reviewer.end()
    written = json.loads(own.read_text("utf-8"))["mcp"]["servers"][0]["verdicts"]
    assert written == {"get_user": {"level": "read-only"}}


@pytest.mark.req("B-06")
def test_a_real_server_is_reviewed(project: Project) -> None:
    """mcp-server-git: reads seem reads, resetting destructive, and all of it can be pinned."""
    program = Path(sys.executable).with_name("mcp-server-git")
    project.add("git", StdioEndpoint(str(program)), annotationTrust="trust")
    data = {t["tool"]: t for t in project.json("review", "git")["tools"]}
    for name in ("git_status", "git_diff", "git_log", "git_show"):
        assert data[name]["suggestion"]["level"] == "read-only"
        assert data[name]["proposal"] == {**data[name]["proposal"], "verdict": None, "due": True}
    assert data["git_reset"]["suggestion"]["destructive"] == "destructive"
    assert project.run("pins", "accept", "git", "--yes", "--last-seen").returncode == 0
    assert project.run("pins", "diff", "git").returncode == 0
    again = project.run("review", "git")
    assert again.returncode in (0, 2)
    assert project.json("explain", "mcp__git__git_log")["decision"] == "runs"
