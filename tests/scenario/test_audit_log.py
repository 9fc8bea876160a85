"""The record of calls through the command line: written, read, searched, verified (B-02)."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.stores.audit_reader import read_calls
from lockgate.stores.audit_verify import SegmentState, verify
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Sleep

READS = {"readOnlyHint": True}
WRITER = """
import sys, time
from pathlib import Path
from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog, Keeping
directory, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
log = AuditLog(directory, key=bytes(32), time=time.time, new_id=lambda: name,
               keeping=Keeping(max_bytes=20_000))
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    call = f"{name}-{number}"
    log.decision(DecisionRecord(call, time.time(), "test", name, "t", "run", (), "d"))
    log.outcome(OutcomeRecord(call, time.time(), False, "answered", 0.1, 1, execution=name))
log.close()
"""


@pytest.fixture
def audited(project: Project) -> Project:
    """A project with a call that ran and one that was refused."""
    tools = (tool("read", annotations=READS), tool("drop"))
    project.add("s", ScriptedServer(tools=tools), annotationTrust="trust")
    assert project.run("call", "mcp__s__read", "path=a.txt", "token=hunter2").returncode == 0
    assert project.run("call", "mcp__s__drop", "table=t").returncode == 3
    return project


def directory_of(project: Project) -> Path:
    """Where this project's records are."""
    [directory] = (project.state / "lockgate").glob("*/audit")
    return directory


@pytest.mark.req("B-02")
def test_both_calls_are_listed_with_what_came_of_them(audited: Project) -> None:
    """`tail`: what was decided, by whose word, and the outcome; filters take the others away."""
    done = audited.run("audit", "tail")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split() == [
        "CALL", "TIME", "TOOL", "DECISION", "WHY", "OUTCOME",
    ]  # fmt: skip
    assert "done," in done.stdout
    assert "not_approved (nobody_to_ask)" in done.stdout
    wanted = {
        ("--decision", "refuse"): ["mcp__s__drop"],
        ("--tool", "mcp__s__r*"): ["mcp__s__read"],
        ("--kind", "not_approved"): ["mcp__s__drop"],
        ("--since", "1h"): ["mcp__s__read", "mcp__s__drop"],
        ("--since", "2100-01-01"): [],
        ("--session", "nobody"): [],
        ("-n", "1"): ["mcp__s__drop"],
        ("-n", "0"): [],
    }
    for words, tools in wanted.items():
        lines = audited.run("audit", "tail", "--json", *words).stdout.splitlines()
        assert [json.loads(line)["decision"]["tool"] for line in lines] == tools
    assert audited.run("audit", "tail", "--since", "yesterday").returncode == 2


def test_one_call_is_shown_in_full(audited: Project) -> None:
    """`show`: by its id or how it begins; everything the record says, no argument's value."""
    [line, *_] = audited.run("audit", "tail", "--json").stdout.splitlines()
    name = json.loads(line)["call"]
    done = audited.run("audit", "show", name)
    assert done.returncode == 0
    for text in (
        "mcp__s__read (server s)",
        "read-only",
        "decision    run",
        "1 attempt\n",
        "digest",
    ):
        assert text in done.stdout
    assert "a.txt" not in done.stdout
    [found] = audited.json("audit", "show", name)
    assert (found["fate"], found["kind"]) == ("answered", None)
    assert audited.run("audit", "show", "nothing").returncode == 2


async def test_a_few_characters_find_a_call_among_those_of_its_program(project: Project) -> None:
    """Calls that one program makes begin as differently as those of several."""
    project.add("s", ScriptedServer(tools=(tool("read", annotations=READS),)))
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with lockgate.open(project.write(), attended=False, surroundings=around) as gate:
        for number in range(3):
            await gate.call("mcp__s__read", {"number": number})
    lines = project.run("audit", "tail", "--json").stdout.splitlines()
    names = [json.loads(line)["call"] for line in lines]
    assert len(names) == 3
    [found] = project.json("audit", "show", names[1][:8])
    assert found["call"] == names[1]


def test_content_is_written_when_it_is_asked_for(project: Project) -> None:
    """`audit.content`: the values, those of secrets masked; by default none at all."""
    project.add("s", ScriptedServer(tools=(tool("read", annotations=READS),)),
                annotationTrust="trust")  # fmt: skip
    project.run("call", "mcp__s__read", "path=a.txt", "apiToken=hunter2")
    project.sections["audit"] = {"content": True}
    project.run("call", "mcp__s__read", "path=a.txt", "apiToken=hunter2")
    without, with_it = read_calls(directory_of(project)).calls
    assert not without.decision.arguments
    assert with_it.decision.arguments == {"path": "a.txt", "apiToken": "[masked, 7 characters]"}
    written = b"".join(path.read_bytes() for path in directory_of(project).iterdir())
    assert b"hunter2" not in written
    shown = project.run("audit", "show", with_it.decision.call).stdout
    assert '  path      "a.txt"' in shown


@pytest.mark.req("B-02")
def test_verify_says_what_was_done_to_the_record(audited: Project) -> None:
    """0 while it holds; 4, with the line, when a line was altered, removed or cut off."""
    done = audited.run("audit", "verify")
    assert done.returncode == 0
    assert done.stdout.endswith("The record holds.\n")
    head = next(line for line in done.stdout.splitlines() if line.startswith("head: "))[6:]
    assert audited.run("audit", "verify", "--head", head).returncode == 0
    segments = directory_of(audited).glob("*.jsonl")
    [segment] = (path for path in segments if path.read_bytes().count(b"\n") == 3)
    whole = segment.read_bytes()
    lines = whole.splitlines(keepends=True)
    cases = {
        "line 2 was altered": whole.replace(b"mcp__s__", b"mcp__t__"),
        "before line 2 a line is missing": b"".join([lines[0], *lines[2:]]),
        "its end is cut off: 1 line is missing": b"".join(lines[:-1]),
    }
    for fault, data in cases.items():
        segment.write_bytes(data)
        done = audited.run("audit", "verify")
        assert done.returncode == 4
        assert fault in done.stdout
    segment.write_bytes(whole)
    heads = directory_of(audited) / "heads"
    heads.write_bytes(b"".join(heads.read_bytes().splitlines(keepends=True)[:-1]))
    assert audited.run("audit", "verify").returncode == 0
    assert audited.run("audit", "verify", "--head", head).returncode == 4
    assert audited.run("audit", "verify", "--head", "x").returncode == 2
    (directory_of(audited).parent / "audit.key").unlink()
    done = audited.run("audit", "verify")
    assert done.returncode == 4
    assert "key" in done.stderr


def test_a_project_without_calls(project: Project) -> None:
    """Nothing on record is no fault, and nothing is made by looking."""
    assert project.run("audit", "verify", named=False).stdout == "There is no record yet.\n"
    done = project.run("audit", "tail", named=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No calls.\n")
    assert not project.state.exists()


def test_a_record_that_can_not_be_read_is_told(project: Project) -> None:
    """A file in the place of the directory: which, and why, and no traceback."""
    state = project.state / "lockgate"
    project.run("audit", "tail", named=False)
    project.sections["agent"] = {"ceiling": "read-only"}
    project.run("tools")
    [own] = state.iterdir()
    (own / "audit").write_text("in the way")
    done = project.run("audit", "tail")
    assert done.returncode == 2
    assert "audit" in done.stderr
    assert "can not be read" in done.stderr


@pytest.mark.req("B-02")
def test_a_call_whose_process_was_killed_reads_as_unknown(project: Project) -> None:
    """Followed while it runs, then killed: the follower told its decision, `tail` says unknown."""
    server = ScriptedServer(
        tools=(tool("read", annotations=READS),), rules=(When("tools/call", Sleep(60)),)
    )
    project.add("s", server, annotationTrust="trust")
    file = project.write()
    environ, lockgate = project.environ(), [sys.executable, "-m", "lockgate"]
    follower = subprocess.Popen(
        [*lockgate, "audit", "tail", "-c", str(file), "-f"],
        cwd=project.root, env=environ, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    caller = subprocess.Popen(
        [*lockgate, "call", "-c", str(file), "mcp__s__read"],
        cwd=project.root, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert follower.stdout is not None
        line = follower.stdout.readline()
        assert "running" in line
        assert "mcp__s__read" in line
        os.killpg(caller.pid, signal.SIGKILL)
        caller.wait(10)
    finally:
        for process in (follower, caller):
            process.kill()
            process.wait(10)
        if follower.stdout is not None:
            follower.stdout.close()
    [found] = audit_lines(project, "--kind", "outcome_unknown")
    assert (found["kind"], found["fate"], found["outcome"]) == ("outcome_unknown", "unknown", None)
    [segment] = project.json("audit", "verify")["segments"]
    assert segment["state"] == "unclosed"


def audit_lines(project: Project, *words: str) -> list[dict[str, object]]:
    """What `tail --json` prints."""
    return [
        json.loads(line)
        for line in project.run("audit", "tail", "--json", *words).stdout.splitlines()
    ]


@pytest.mark.req("B-02")
def test_eight_processes_write_at_once(tmp_path: Path) -> None:
    """Each its own segments, one list: nothing is lost, mixed or broken."""
    directory, key, count = tmp_path / "audit", bytes(32), 100
    names = [secrets.token_hex(4) for _ in range(8)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(directory), name, str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in names
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=40)
        assert process.returncode == 0
    reading = read_calls(directory)
    assert reading.faults == ()
    assert {call.decision.call for call in reading.calls} == {
        f"{name}-{number}" for name in names for number in range(count)
    }
    assert all(call.fate == "answered" for call in reading.calls)
    found = verify(directory, key)
    assert found.holds
    assert len(found.segments) > 16
    assert {segment.state for segment in found.segments} == {SegmentState.OK}
