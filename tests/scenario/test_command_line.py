"""The command line on a project with servers, where nobody is there to answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Exit, Stderr

READS = {"readOnlyHint": True}
ADDS = {"readOnlyHint": False, "destructiveHint": False}


@pytest.mark.req("S0-09")
@pytest.mark.req("S0-17")
def test_a_destructive_call_without_a_terminal_is_refused_and_never_sent(project: Project) -> None:
    """Exit code 3, the reason in words, and the server's own record holds no call."""
    ledger = project.add("db", ScriptedServer(tools=(tool("drop"),)))
    done = project.run("call", "mcp__db__drop", "table=t")
    assert done.returncode == 3
    assert "nobody is there" in done.stderr
    assert "/dev/tty" not in done.stderr
    assert ledger.entries("start")
    assert ledger.called == ()


@pytest.mark.req("S0-07")
def test_what_needs_no_answer_runs_without_one(project: Project) -> None:
    """PB-147: a read below the line and a call that a rule answers run; another is refused."""
    tools = (
        tool("read", annotations=READS),
        tool("add", annotations=ADDS),
        tool("put", annotations=ADDS),
    )
    ledger = project.add("s", ScriptedServer(tools=tools), annotationTrust="trust")
    project.sections["permissions"] = {"allow": [{"rule": "mcp__s__add", "when": "unattended"}]}
    assert project.run("call", "mcp__s__read").returncode == 0
    assert project.run("call", "mcp__s__add").returncode == 0
    refused = project.run("call", "mcp__s__put")
    assert refused.returncode == 3
    assert "needs an approval" in refused.stderr
    assert ledger.called == ("read", "add")


@pytest.mark.req("S0-08")
def test_no_allow_rule_answers_for_a_destructive_tool(project: Project) -> None:
    """A rule by name alone does not answer for a tool that can destroy."""
    ledger = project.add("s", ScriptedServer(tools=(tool("drop"),)))
    project.sections["permissions"] = {"allow": [{"rule": "mcp__s__drop", "when": "any"}]}
    project.sections["approvals"] = {"exemptAtOrBelow": "mutating"}
    assert project.run("call", "mcp__s__drop").returncode == 3
    assert ledger.called == ()


@pytest.mark.req("S0-12")
def test_trust_in_one_server_never_carries_to_another(project: Project) -> None:
    """PB-130: one claim of two servers; under a read-only ceiling only the trusted one runs."""
    claims = ScriptedServer(tools=(tool("drop_all", annotations=READS),))
    ledger_a = project.add("a", claims)
    ledger_b = project.add("b", ScriptedServer(tools=claims.tools), annotationTrust="trust")
    project.sections["agent"] = {"ceiling": "read-only"}
    a, b = project.json("tools")["tools"]
    assert (a["level"], a["now"]) == ("mutating", "refused")
    assert (b["level"], b["now"], b["ruling"]) == ("read-only", "runs", "claim")
    assert project.run("call", "mcp__a__drop_all").returncode == 3
    assert project.run("call", "mcp__b__drop_all").returncode == 0
    assert (ledger_a.called, ledger_b.called) == ((), ("drop_all",))


def test_arguments_are_typed_by_the_tool(project: Project) -> None:
    """key=value is read as the schema wants it, key:=json as JSON; what does not fit is exit 2."""
    properties = {"n": {"type": "integer"}, "s": {"type": "string"}, "l": {"type": "array"}}
    schema = {"type": "object", "properties": properties, "required": ["n"]}
    ledger = project.add(
        "s",
        ScriptedServer(tools=(tool("t", inputSchema=schema, annotations=READS),)),
        annotationTrust="trust",
    )
    done = project.run("call", "mcp__s__t", "n=5", "s=5", 'l:=["a"]')
    assert done.returncode == 0, done.stderr
    assert ledger.entries("call")[0].facts["arguments"] == {"n": 5, "s": "5", "l": ["a"]}
    assert project.run("call", "mcp__s__t", "n=many").returncode == 2
    assert project.run("call", "mcp__s__t", "--input-json", '{"n": 1}').returncode == 0
    assert project.run("call", "mcp__s__t", "n").returncode == 2
    assert project.run("call", "mcp__s__tt", "n=1").returncode == 2
    assert len(ledger.called) == 2


@pytest.mark.req("B-07")
def test_required_servers_and_expected_tools_have_codes_of_their_own(project: Project) -> None:
    """A required server that is missing is 5, an expected tool 4, which wins; doctor tells both."""
    project.add("gone", StdioEndpoint("no-such-program"), required=True)
    assert project.run("call", "mcp__s__t").returncode == 5
    project.add("s", ScriptedServer(), expectTools=["no-such-tool"])
    done = project.run("call", "mcp__s__t")
    assert done.returncode == 4
    assert "no-such-tool" in done.stderr
    assert "gone" in done.stderr
    assert project.run("doctor").returncode == 4
    assert project.left_running() == []


@pytest.mark.req("B-13")
def test_a_project_file_that_was_found_starts_nothing_until_it_is_accepted(
    project: Project,
) -> None:
    """Found: refused, and what it would do is told. Accepted: used. Changed: refused again."""
    ledger = project.add("s", ScriptedServer(opening=(Stderr("up\n"),)))
    done = project.run("tools", named=False)
    assert done.returncode == 2
    assert "config accept" in done.stderr
    assert ledger.entries() == ()
    assert project.run("config", "accept", "--yes", named=False).returncode == 0
    assert project.run("tools", named=False).returncode == 0
    project.sections["approvals"] = {"exemptAtOrBelow": "mutating"}
    started = len(ledger.entries("start"))
    again = project.run("tools", named=False)
    assert again.returncode == 2
    assert "changed" in again.stderr
    assert len(ledger.entries("start")) == started
    assert project.run("tools").returncode == 0


FAULTS = {
    "unknown key": (
        '{"mcp": {"servers": [{"name": "a", "comand": "x"}]}}',
        ("comand", "did you mean command?"),
    ),
    "unknown value": (
        '{"mcp": {"servers": [{"name": "a", "command": "x", "annotationTrust": "trsut"}]}}',
        ("annotationTrust", "trust"),
    ),
    "a tab": ("mcp:\n\tservers: []\n", (":2",)),
    "a duplicate key": ("mcp: {}\nmcp: {}\n", (":2", "mcp")),
    "a duplicate server": (
        '{"mcp": {"servers": [{"name": "a", "command": "x"}, {"name": "a", "command": "y"}]}}',
        ("a",),
    ),
    "a bad server name": (
        '{"mcp": {"servers": [{"name": "Atlassian Rovo", "command": "x"}]}}',
        ("Atlassian Rovo", "atlassian-rovo"),
    ),
    "a secret that is not set": (
        '{"mcp": {"servers": [{"name": "a", "command": "x", "env": {"T": "${NOT_SET}"}}]}}',
        ("NOT_SET", "a"),
    ),
    "the other form": ('{"mcpServers": {"a": {"command": "x"}}}', ("lockgate mcp import",)),
}


@pytest.mark.req("S0-14")
@pytest.mark.req("S3-11")
@pytest.mark.parametrize("name", FAULTS)
def test_a_configuration_that_can_not_be_used_says_where_and_what(
    project: Project, name: str
) -> None:
    """Exit 2, the file with the line, the key or the name, the nearest spelling, no traceback."""
    text, words = FAULTS[name]
    project.file.write_text(text, encoding="utf-8")
    done = project.run("doctor")
    assert done.returncode == 2
    assert str(project.file) in done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_secrets_of_a_configuration_are_shown_nowhere(project: Project) -> None:
    """PB-186: not in lists, failures, records, questions or explanations, at any level of log."""
    server = ScriptedServer(tools=(tool("t"),), rules=(When("tools/call", Exit(1)),))
    project.add("good", server, env={"API_TOKEN": "SEKRET1"})
    project.servers[0]["args"].append("--api-key=SEKRET3")
    project.add("bad", StdioEndpoint("no-such-program", ("SEKRET4",)), env={"PASSWORD": "SEKRET2"})
    said = ""
    for words in (
        ("tools",),
        ("tools", "--json"),
        ("doctor",),
        ("check",),
        ("explain", "mcp__good__t", "password=SEKRET5"),
        ("call", "mcp__good__t", "password=SEKRET5"),
    ):
        done = project.run(*words)
        said += done.stdout + done.stderr
    # Whoever accepts or lists a program sees what it is started with, named secrets excepted.
    for words in (("mcp", "list"), ("mcp", "get", "good"), ("config", "accept", "--yes")):
        told = project.run(*words, named=words[0] == "mcp")
        assert told.returncode == 0, told.stderr
        said += told.stdout.replace("SEKRET4", "")
    for path in project.state.rglob("*"):
        if path.is_file():
            said += path.read_bytes().decode("utf-8", "replace")
    assert "mcp__good__t" in said
    assert "SEKRET" not in said


def test_any_locale_and_any_text(project: Project) -> None:
    """PB-013: UTF-8 both ways whatever the locale says; nothing ends in an encoding error."""
    server = ScriptedServer(tools=(tool("t", "done \u2713 \ud55c\uae00", annotations=READS),))
    ledger = project.add("s", server, annotationTrust="trust")
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "\u2713" in project.run("tools", "--json", env=plain).stdout
    done = project.run("call", "mcp__s__t", "--input-json", "-", stdin='{"x": "\ud55c\uae00"}')
    assert done.returncode == 0, done.stderr
    assert "\ud55c\uae00" in done.stdout
    assert ledger.entries("call")[0].facts["arguments"] == {"x": "\ud55c\uae00"}


def test_a_reader_that_goes_away_ends_the_program_quietly(project: Project) -> None:
    """PB-024: output into a closed pipe is no traceback, and nothing is left running."""
    project.add("s", ScriptedServer(tools=tuple(tool(f"t{n}") for n in range(3000))))
    path = project.write()
    program = subprocess.Popen(
        [sys.executable, "-m", "lockgate", "tools", "-c", str(path)],
        env=project.environ(),
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    program.stdout.readline()
    program.stdout.close()
    assert program.stderr is not None
    said = program.stderr.read()
    program.stderr.close()
    assert program.wait(30) in (1, 141)
    assert b"Traceback" not in said
    assert project.left_running() == []


@pytest.mark.req("S3-23")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_no_server_outlives_the_program(project: Project, number: int) -> None:
    """Ended by a signal in the middle of a call, it takes its servers with it."""
    server = ScriptedServer(tools=(tool("t", annotations=READS),), rules=(When("tools/call"),))
    ledger = project.add("s", server, annotationTrust="trust")
    path = project.write()
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lockgate", "call", "-c", str(path), "mcp__s__t"),
        env=project.environ(),
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    await ledger.wait_for("call", timeout=20)
    os.kill(program.pid, number)
    async with asyncio.timeout(20):
        _, said = await program.communicate()
    assert b"Traceback" not in said
    wanted = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
    assert program.returncode == wanted[signal.Signals(number)]
    # A killed host can not wait for its servers: they see the end of their input.
    await project.none_left_running()


@pytest.mark.req("B-02")
def test_every_call_leaves_its_records(project: Project) -> None:
    """One decision and one outcome with the same call id, and no argument's value in either."""
    server = ScriptedServer(tools=(tool("t", annotations=READS), tool("drop")))
    project.add("s", server, annotationTrust="trust")
    project.run("call", "mcp__s__t", "x=WORDS")
    project.run("call", "mcp__s__drop", "x=WORDS")
    segments = sorted(project.state.rglob("audit/*.jsonl"), key=lambda path: path.stat().st_mtime)
    text = "".join(segment.read_text() for segment in segments)
    records = [json.loads(line) for line in text.splitlines()]
    records = [record for record in records if record["record"] != "segment"]
    assert [r["record"] for r in records] == ["decision", "outcome", "decision"]
    assert records[0]["call"] == records[1]["call"]
    assert (records[0]["decision"], records[2]["decision"]) == ("run", "refuse")
    assert records[2]["reason"] == "nobody_to_ask"
    assert {r["entry"] for r in records if "entry" in r} == {"cli"}
    assert "WORDS" not in text


def test_a_turn_with_a_scripted_model(project: Project) -> None:
    """`run` shows each call with what was decided; the answer alone is on standard output."""
    server = ScriptedServer(
        tools=(tool("t", annotations=READS), tool("drop")),
        rules=(When("tools/call", Answer(text="found it"), tool="t"),),
    )
    ledger = project.add("s", server, annotationTrust="trust")
    replies = [
        {"calls": [{"tool": "mcp__s__t"}, {"tool": "mcp__s__drop"}, {"tool": "mcp__s__drp"}]},
        {"text": "All done."},
    ]
    (project.root / "replies.yaml").write_text(json.dumps(replies))
    project.sections["agent"] = {"model": "scripted:replies.yaml"}
    done = project.run("run", "look", "around")
    assert (done.returncode, done.stdout) == (0, "All done.\n")
    assert "found it" in done.stderr
    assert "mcp__s__drop -> refused, not approved: " in done.stderr
    assert "mcp__s__drp -> refused, unknown tool: " in done.stderr
    assert ledger.called == ("t",)
    told = project.json("run", "look")
    assert [c["decision"] for c in told["calls"]] == ["run", "refuse", "refuse"]


def test_the_program_says_what_it_can_do(project: Project, tmp_path: Path) -> None:
    """Help is quick and names every command; an unknown command names the nearest."""
    done = project.run("--help", named=False)
    for word in ("run", "tools", "call", "explain", "check", "doctor", "mcp", "config"):
        assert f"  {word} " in done.stdout
    wrong = project.run("docter", named=False)
    assert wrong.returncode == 2
    assert "'doctor'" in wrong.stderr
