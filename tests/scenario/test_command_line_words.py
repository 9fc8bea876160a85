"""What the command line says about slips, servers that are not there, and streams that are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

READS = {"readOnlyHint": True}
SERVER = ScriptedServer(tools=(tool("read", annotations=READS), tool("wipe")))


def test_a_misspelt_deny_rule_is_told(project: Project) -> None:
    """PB-177: by every command that starts the server, on stderr; by doctor with exit code 1."""
    project.add("s", SERVER, annotationTrust="trust")
    project.sections["permissions"] = {"deny": ["mcp__s__wipee"]}
    project.sections["agent"] = {"offer": ["mcp__s__raed", "mcp__s__read"]}
    for words in (("tools",), ("call", "mcp__s__read"), ("explain", "mcp__s__read")):
        done = project.run(*words)
        assert done.returncode == 0
        assert done.stderr.count("warning: ") == 2
        assert "did you mean mcp__s__wipe?" in done.stderr
        assert "warning" not in done.stdout
    doctor = project.run("doctor")
    assert doctor.returncode == 1
    assert "permissions.deny[0]: the deny rule" in doctor.stdout
    assert "did you mean mcp__s__read?" in doctor.stdout
    unmatched = project.json("doctor")["unmatched"]
    assert [finding["hint"] for finding in unmatched] == [
        "did you mean mcp__s__wipe?",
        "did you mean mcp__s__read?",
    ]
    del project.sections["permissions"], project.sections["agent"]
    assert project.run("doctor").returncode == 0


def test_many_slips_are_told_in_a_few_lines(project: Project) -> None:
    """Three, and how many more there are."""
    project.add("s", SERVER)
    project.sections["permissions"] = {"deny": [f"mcp__s__t{n}" for n in range(30)]}
    done = project.run("tools")
    assert done.stderr.count("\n") == 4
    assert "27 more of that kind, see: lockgate doctor" in done.stderr


@pytest.mark.req("S3-10")
def test_a_call_of_a_server_that_did_not_start_says_so(project: Project) -> None:
    """Exit code 5, the server's name and its reason; nothing about tools that do not exist."""
    script = "import sys; sys.exit('the disk is on holiday')"
    project.add("dead", StdioEndpoint(sys.executable, ("-c", script)))
    done = project.run("call", "mcp__dead__read")
    assert done.returncode == 5
    assert "The server dead is not there" in done.stderr
    assert "the disk is on holiday" in done.stderr
    assert "no tool named" not in done.stderr
    explained = project.run("explain", "mcp__dead__read")
    assert explained.returncode == 0
    assert "the server dead is not there" in explained.stdout
    assert "the disk is on holiday" in explained.stdout


def test_a_call_waits_for_no_server_that_it_does_not_need(project: Project) -> None:
    """Of the others only those that the operator relies on are started; for `explain` not even
    those, since it says what would be."""
    ledger = project.add("s", SERVER, annotationTrust="trust")
    other = project.add("other", SERVER)
    needed = project.add("needed", SERVER, required=True)
    project.add("mute", StdioEndpoint(sys.executable, ("-c", "import time; time.sleep(600)")))
    assert project.run("explain", "mcp__s__read", timeout=20).returncode == 0
    assert needed.entries("start") == ()
    assert project.run("call", "mcp__s__read", timeout=20).returncode == 0
    assert ledger.called == ("read",)
    assert needed.entries("start")
    assert other.entries("start") == ()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gpt-4", "there is no model 'gpt-4'"),
        ("scripted:nope.yaml", "nope.yaml: the script can not be read"),
        (None, "--model NAME"),
        ("antropic:claude-sonnet-4-6", "did you mean anthropic?"),
        ("anthropic:claude-sonnet-4-6", "set the environment variable ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-pro", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_model_that_is_not_there_starts_nothing(
    project: Project, model: str | None, words: str
) -> None:
    """It is looked for first."""
    ledger = project.add("s", SERVER)
    done = project.run("run", *(() if model is None else ("--model", model)), "hello")
    assert done.returncode == 2
    assert words in done.stderr
    assert ledger.entries("start") == ()


def test_a_key_of_the_record_that_is_none_starts_nothing(project: Project) -> None:
    """It is looked at first."""
    ledger = project.add("s", SERVER, annotationTrust="trust")
    assert project.run("call", "mcp__s__read").returncode == 0
    started = len(ledger.entries("start"))
    (key,) = project.state.rglob("digest.key")
    key.write_bytes(b"short")
    done = project.run("call", "mcp__s__read")
    assert done.returncode == 2
    assert "holds no key" in done.stderr
    assert len(ledger.entries("start")) == started


@pytest.mark.parametrize(
    "words",
    [
        ("call", "mcp__s__read", "--input-json", '{"a": 1, "a": 2}'),
        ("call", "mcp__s__read", "--input-json", "@nowhere"),
        ("call", "mcp__s__read", "--timeout", "nan"),
        ("call", "mcp__s__\udcff"),
        ("explain", "\udcff"),
        ("explain", "mcp__s__read", "a=\udcff", "--json"),
    ],
)
def test_words_that_can_not_be_used_start_nothing(project: Project, words: tuple[str, ...]) -> None:
    """They are a fault of usage, told in words."""
    ledger = project.add("s", SERVER)
    done = project.run(*words)
    assert done.returncode == 2
    assert "Error: " in done.stderr
    assert "internal" not in done.stderr
    assert ledger.entries("start") == ()


def test_without_tools_the_next_step_is_told(project: Project) -> None:
    """Of a folder with nothing in it, and of servers that all failed."""
    assert "lockgate mcp import" in project.run("tools", named=False).stderr
    project.add("dead", StdioEndpoint(sys.executable, ("-c", "")))
    assert "lockgate doctor" in project.run("tools").stderr


@pytest.mark.parametrize(
    ("redirection", "code", "out", "said"),
    [
        (">&-", 0, "", ""),
        ("2>&-", 0, "mcp__s__read", ""),
        ("<&-", 0, "mcp__s__read", ""),
        (">&- 2>&- <&-", 0, "", ""),
        (">/dev/full", 1, "", "error: No space left on device"),
        (">/dev/full 2>/dev/full", 1, "", ""),
        ("| true; exit ${PIPESTATUS[0]}", 141, "", ""),
    ],
)
@pytest.mark.parametrize("words", [("tools",), ("--help",)])
def test_streams_that_are_closed_full_or_read_by_nobody(
    project: Project, words: tuple[str, ...], redirection: str, code: int, out: str, said: str
) -> None:
    """No traceback and no internal error; what can be printed is, and the code tells the rest."""
    project.add("s", SERVER, annotationTrust="trust")
    script = f'"$@" {redirection}'
    command = [sys.executable, "-m", "lockgate", *words]
    if words != ("--help",):
        command += ["-c", str(project.write())]
    done = subprocess.run(
        ["bash", "-c", script, "-", *command],
        cwd=project.root,
        env=project.environ(),
        capture_output=True,
        encoding="utf-8",
        timeout=40,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stderr
    assert not set(done.stderr.split()) & {"Traceback", "internal", "Exception", "ignored"}
    if words == ("tools",):
        assert out in done.stdout
    assert project.left_running() == []


def test_a_sync_gate_that_nobody_leaves_is_closed_with_the_program(tmp_path: Path) -> None:
    """A program that ends in the middle still closes its servers, and ends without a word."""
    program = f"""
import sys, lockgate
from pathlib import Path
from lockgate.testing.script import ScriptedServer, tool
from lockgate.mcp.host.settings import ServerSettings
scripted = ScriptedServer(tools=(tool("read"),))
server = ServerSettings("s", scripted.endpoint(file=Path({str(tmp_path)!r}) / "s.script"))
config = lockgate.Config(servers=(server,), state_dir=Path({str(tmp_path)!r}) / "state")
opened = lockgate.open_sync(config, attended=False)
gate = opened.__enter__()
print(len(gate.tools()))
if len(sys.argv) > 1:
    sys.exit(7)
"""
    project = Project(tmp_path)
    for words, code in (((), 0), (("x",), 7)):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            capture_output=True,
            encoding="utf-8",
            timeout=40,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (code, "1\n", "")
    assert project.left_running() == []


def test_the_name_of_a_directory_writes_no_line_of_its_own(tmp_path: Path) -> None:
    """Whoever unpacks an archive or clones a repository has its names: one with a line feed and a
    bidi mark in it is on its line, escaped, wherever a file of the configuration is named."""
    root = tmp_path / "p\nFAKE \x9b2J\u202e"
    root.mkdir()
    project = Project(root)
    project.add("s", SERVER, annotationTrust="trust")
    project.sections["permissions"] = {"deny": ["mcp__s__wipee"], "allow": ["mcp__s__wipee"]}
    project.sections["agent"] = {"model": "scripted:none.yaml"}
    done = [project.run(*words) for words in (("check",), ("doctor",), ("run", "hello"))]
    next(project.state.rglob("audit.key")).write_bytes(b"short")
    done += [project.run("call", "mcp__s__read"), project.run("audit", "verify")]
    project.sections["bogus"] = 1
    done.append(project.run("check"))
    for one in done:
        shown = one.stdout + one.stderr
        assert "p\\nFAKE \\x9b2J\\u202e/" in shown, one.args
        assert not set(shown) & {"\x9b", "\u202e"}, one.args
        assert "\nFAKE" not in shown, one.args
