"""The shell tool itself: what it is started with, and what is told of how a line ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.builtin.shell.bash import MAX_CHARACTERS, PATH, Bash, Shell, line_environment
from lockgate.rules.in_tree import IN_TREE
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, alive, eventually, left_since
from lockgate.testing.road import Road
from lockgate.tools.context import Environment, InterruptToken
from lockgate.tools.result import ErrorKind
from lockgate.tools.subject import SubjectKind

TOKEN = "hush-hush-hush"  # noqa: S105 - no secret of anybody's

TAKES_ORDERS = (
    *("BASH_ENV", "ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND"),
    *("CDPATH", "GLOBIGNORE", "IFS", "GIT_DIR", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT"),
    *("LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "LESSOPEN", "LESSCLOSE", "LESS"),
    *("PAGER", "MANPAGER", "EDITOR", "VISUAL", "POSIXLY_CORRECT", "PYTHONPATH", "PYTHONSTARTUP"),
    *("NODE_OPTIONS", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "TOKEN"),
    *("SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GCONV_PATH", "LOCPATH", "BASH_COMPAT", "TERM"),
    *("BASH_XTRACEFD", "EXECIGNORE", "OLDPWD", "TMOUT", "RIPGREP_CONFIG_PATH", "npm_config_shell"),
)


@pytest.mark.req("S0-16")
@pytest.mark.req("S0-21")
def test_every_axis_is_declared_with_its_reason() -> None:
    """Anything can happen, again and again, one at a time, and it can be stopped."""
    tool = Bash({})
    assert repr(tool) == "<Bash Bash MUTATING DESTRUCTIVE NON_IDEMPOTENT>"
    traits = (tool.concurrency_behavior.name, tool.interrupt_behavior.name, tool.lane)
    assert traits == ("SEQUENTIAL", "COOPERATIVE", "shell")
    origin = tool.definition.origin
    assert (origin.source, origin.server, origin.ruling) == ("builtin", None, "declared")
    axes = ["concurrent", "destructive", "idempotent", "interruptible", "level"]
    assert sorted(origin.reasons) == axes
    assert all(origin.reasons.values())
    assert tool.definition.input_schema["additionalProperties"] is False


def test_its_subjects_are_the_line_and_the_directory() -> None:
    """Without a directory the line runs in the project's, and that is what is decided on."""
    command, directory = Bash({}).definition.subjects
    assert (command.kind, command.parameter) == (SubjectKind.COMMAND, "command")
    assert (directory.kind, directory.parameter) == (SubjectKind.PATH, "directory")
    assert (directory.default, directory.writes) == (".", False)
    assert IN_TREE["Bash"].line == command.parameter


def test_no_variable_that_takes_orders_is_passed_on() -> None:
    """Nor a secret; who the user is, and what is the same everywhere."""
    host = dict.fromkeys(TAKES_ORDERS, "x") | {"HOME": "/h", "LANG": "ja_JP.SJIS", "LC_CTYPE": "x"}
    assert line_environment(host) == {
        "HOME": "/h",
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "SHELL": "/bin/bash",
        "TERM": "dumb",
    }


async def test_a_line_sees_a_short_environment(run: Any, work: Path) -> None:
    """What the shell adds of its own says where it is, and nothing else."""
    result = await run("env -0 | tr '\\0' '\\n'")
    names = {line.partition("=")[0] for line in result.text.splitlines()}
    fixed = {"PATH", "LANG", "LC_ALL", "SHELL", "TERM", "HOME", "LOCKGATE_CHILD"}
    assert names == fixed | {"PWD", "SHLVL", "_"}
    assert f"PWD={work}" in result.text
    assert TOKEN not in result.text


async def test_the_shell_is_neither_a_login_nor_interactive(run: Any) -> None:
    """No start-up file, no history, no alias, no prompt; its input is empty."""
    asked = "echo $-; shopt login_shell expand_aliases; readlink /proc/self/fd/0; cat; echo $0 $#"
    result = await run(f"{asked}; set -o | grep -w 'history\\|posix'")
    flags, login, aliases, stdin, name, *options = result.text.splitlines()
    assert "i" not in flags
    assert (login.split()[1], aliases.split()[1]) == ("off", "off")
    assert (stdin, name) == ("/dev/null", "/bin/bash 0")
    assert [line.split()[1] for line in options] == ["off", "off"]


async def test_nothing_lasts_until_the_next_call(run: Any, work: Path) -> None:
    """Neither a directory nor a variable nor a function."""
    (work / "sub").mkdir()
    await run("cd sub; export X=1; f() { :; }; umask 000")
    assert (await run("pwd; echo [$X]; type -t f; true")).text == f"{work}\n[]"


async def test_the_directory_is_an_argument(run: Any, work: Path) -> None:
    """From the project's directory on, links followed before the decision."""
    (work / "sub").mkdir()
    (work / "link").symlink_to("sub")
    assert (await run("pwd", directory="sub")).text == str(work / "sub")
    assert (await run("pwd", directory="link")).text == str(work / "sub")
    missing = await run("pwd", directory="nowhere")
    assert (missing.kind, missing.reason) == (ErrorKind.TOOL_ERROR, "directory")


async def test_a_good_end_is_what_was_printed(run: Any) -> None:
    """Nothing is added to it; nothing at all is said to be nothing."""
    result = await run("printf 'one\\ntwo\\n'")
    assert (result.text, result.is_error) == ("one\ntwo", False)
    assert result.structured == {"exitCode": 0, "signal": None}
    assert (await run("true")).text == "It printed nothing."


async def test_a_failure_is_an_error_with_both_streams(run: Any) -> None:
    """The exit code comes first, for the model and for programs."""
    result = await run("echo out; echo err >&2; exit 3")
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "exit_code")
    assert result.text == "It ended with exit code 3.\nout\nstandard error:\nerr"
    assert result.structured == {"exitCode": 3, "signal": None}


async def test_what_is_said_on_the_side_is_told_of_a_success_too(run: Any) -> None:
    """Standard error is marked as such."""
    result = await run("echo out; echo err >&2")
    assert (result.is_error, result.text) == (False, "out\nstandard error:\nerr")


async def test_a_signal_is_told_by_its_name(run: Any) -> None:
    """As its end, not as an exit code."""
    result = await run("kill -KILL $$")
    assert (result.reason, result.text) == (
        "signal",
        "It was ended by SIGKILL.\nIt printed nothing.",
    )


async def test_where_programs_are_looked_for_is_told_when_one_is_missing(run: Any) -> None:
    """The host's PATH is not asked."""
    result = await run("no-such-program")
    assert "command not found" in result.text
    assert PATH in result.text


async def test_a_flood_is_cut_in_its_middle(run: Any) -> None:
    """Both ends are there, and how much is not."""
    result = await run("seq 1 100000")
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("\n99999\n100000")
    assert "bytes are left out here" in result.text
    assert len(result.text) < 34_000


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"command": "echo a\0b"}, "$.command"),
        ({"command": ""}, "$.command"),
        ({"command": "x" * (MAX_CHARACTERS + 1)}, "$.command"),
        ({"command": "true", "timeout": 0}, "$.timeout"),
        ({"command": "true", "timeout": 601}, "$.timeout"),
        ({"command": "true", "cwd": "/"}, "cwd"),
        ({}, "command"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_unasked(
    road: Road, arguments: dict[str, Any], path: str
) -> None:
    """A NUL, which no argument of a program can hold; too much; too long; another name."""
    result = await road.invoke(road.call("Bash", arguments))
    assert (result.kind, path in result.text) == (ErrorKind.INVALID_ARGUMENTS, True)


async def test_the_longest_line_can_be_run(run: Any) -> None:
    """Also where every character of it has four bytes."""
    line = "true " + "\U0001f600" * (MAX_CHARACTERS - 5)
    assert not (await run(line)).is_error


async def test_a_line_has_its_time(run: Any) -> None:
    """It is ended after `timeout`, with what it has printed, and whatever it started."""
    before, started = Belongings.now(), time.monotonic()
    result = await run("echo begun; sleep 600 | sleep 600; echo never", timeout=0.2)
    assert (result.kind, result.reason) == (ErrorKind.TIMEOUT, "time_limit")
    assert "It was ended after 0.2 seconds" in result.text
    assert result.text.endswith("\nbegun")
    assert time.monotonic() - started < 5
    assert await left_since(before) == ()


async def test_it_ends_before_its_caller_stops_waiting(run: Any) -> None:
    """Then the caller hears what became of it."""
    result = await run("trap '' TERM; while :; do sleep 0.01; done", within=2.0)
    assert (result.kind, result.reason) == (ErrorKind.TIMEOUT, "time_limit")


async def test_no_job_is_left_in_the_background(run: Any) -> None:
    """It is ended with its line, deaf to SIGTERM or not, and that is said."""
    before = Belongings.now()
    result = await run("sleep 600 & echo $!")
    job, note = result.text.splitlines()
    assert note == "What it left running in the background was ended: jobs do not last."
    assert not alive(int(job))
    deaf = await run("(trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo $!")
    assert not alive(int(deaf.text.splitlines()[0]))
    assert await left_since(before) == ()


async def test_what_was_printed_is_not_lost_with_the_jobs(run: Any) -> None:
    """All that a line wrote before its end is heard, also where its jobs are ended right then."""
    for _ in range(10):
        result = await run("sleep 600 & head -c 20000 /dev/zero | tr '\\0' x; echo end")
        assert len(result.text.splitlines()[0]) == 20_003
    big = await run("sleep 600 & seq 1 30000")
    assert "\n30000\n" in big.text


LEAVES = {
    "setsid": "(setsid bash -c 'echo $$ >pid; exec sleep 600' >/dev/null 2>&1 &)",
    "deaf": "(setsid bash -c 'trap \"\" TERM; echo $$ >pid; sleep 600; :' >/dev/null 2>&1 &)",
    "a daemon": """/usr/bin/env python3 -c '
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 9)
open("pid", "w").write(str(os.getpid()))
time.sleep(600)'""",
    "with the output": "setsid bash -c 'echo $$ >pid; exec sleep 600' &",
}


@pytest.mark.skipif(sys.platform != "linux", reason="they are found by /proc")
@pytest.mark.parametrize("leave", LEAVES)
async def test_what_left_the_group_is_ended_too(run: Any, work: Path, leave: str) -> None:
    """A session of its own, a daemon that forks twice: nothing is left, and that is said."""
    before, started = Belongings.now(), time.monotonic()
    result = await run(f"{LEAVES[leave]}\nwhile ! [ -s pid ]; do :; done; echo x")
    assert time.monotonic() - started < 8
    note = "What it left running in the background was ended: jobs do not last."
    assert result.text.splitlines() == ["x", note]
    stray = int((work / "pid").read_text())
    assert not alive(stray)
    assert await left_since(before) == ()


async def test_what_can_not_be_found_is_not_waited_for(run: Any, work: Path) -> None:
    """Its environment was cleaned. It holds the output, and goes on; the call ends, and says so."""
    before, started = Belongings.now(), time.monotonic()
    clean = "setsid env -i bash -c 'echo $$ >pid; exec sleep 600' &"
    result = await run(f"{clean} while ! [ -s pid ]; do :; done; echo x")
    assert time.monotonic() - started < 5
    assert result.text.startswith("x\nSomething that it started has cleaned its environment")
    stray = int((work / "pid").read_text())
    assert alive(stray)
    os.kill(stray, signal.SIGKILL)
    await eventually(lambda: not alive(stray))
    assert await left_since(before) == ()


async def test_an_interrupt_ends_the_line_at_once(road: Road, work: Path) -> None:
    """Its group is ended, and what it has done until then is not known."""
    before, token = Belongings.now(), InterruptToken()
    line = {"command": "sleep 600 & echo $! >pid; wait"}
    call = asyncio.create_task(road.invoke(road.call("Bash", line, interrupt=token)))
    await eventually(lambda: (work / "pid").exists() and (work / "pid").read_text() != "")
    token.interrupt()
    async with asyncio.timeout(5):
        result = await call
    assert (result.kind, result.reason) == (ErrorKind.OUTCOME_UNKNOWN, "interrupted")
    assert not alive(int((work / "pid").read_text()))
    del call
    assert await left_since(before) == ()


async def test_a_cancelled_call_leaves_nothing(road: Road, work: Path) -> None:
    """The cancellation passes once all is gone, and the outcome is on record as unknown."""
    before = Belongings.now()
    line = {"command": "sleep 600 & echo $! >pid; wait"}
    call = asyncio.create_task(road.invoke(road.call("Bash", line)))
    await eventually(lambda: (work / "pid").exists() and (work / "pid").read_text() != "")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not alive(int((work / "pid").read_text()))
    assert road.ledger.outcomes[-1].fate == "unknown"
    del call
    assert await left_since(before) == ()


async def test_two_lines_run_one_after_the_other(road: Road, work: Path) -> None:
    """They share a lane."""
    line = "mkdir lock; sleep 0.05; rmdir lock; echo $?"
    calls = [road.call("Bash", {"command": line}, session=None) for _ in range(3)]
    results = await asyncio.gather(*map(road.invoke, calls))
    assert [r.text for r in results] == ["0"] * 3


async def test_a_shell_that_is_not_there_is_told(tmp_path: Path) -> None:
    """As a failure of the tool, in which nothing was run."""
    shell = Shell(str(tmp_path / "nothing"), PATH)
    place = Environment(tmp_path, roots=(tmp_path,))
    yes = [ScriptedApprover.always(True)]
    with Road(tmp_path, [Bash({}, shell)], attended=yes, environment=place) as road:
        result = await road.invoke(road.call("Bash", {"command": "true"}))
        assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "not_started")
        assert road.ledger.outcomes[-1].fate == "not_sent"
