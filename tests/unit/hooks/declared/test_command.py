"""A hook that is a program: its input, its exit codes, what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from lockgate.hooks.declared.command import MAX_ERROR, CommandHook
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.testing.belongings import Belongings, left_since

PRE = HookEvent.PRE_TOOL
TOLD = HookInput(
    PRE,
    session_id="s",
    cwd="/work",
    attended=True,
    tool_name="Bash",
    tool_input={"command": "$(rm -rf /) {{env.HOME}} \u202e", "big": 2**70},
    details={"round": 3},
)


async def run(code: str, told: HookInput = TOLD, *arguments: str) -> HookResult:
    """What a program of this code says, in bounded time, with nothing left of it."""
    before = Belongings.now()
    environment = child_environment(os.environ, {})
    program = Program("check.py", sys.executable, ("-c", code, *arguments), environment, None)
    try:
        async with asyncio.timeout(20):
            return await CommandHook(program)(told)
    finally:
        assert await left_since(before) == ()


async def test_it_is_told_the_event_as_one_line_of_json(tmp_path: Path) -> None:
    """Under the names that people know; the arguments whole, and nothing on its command line."""
    out = tmp_path / "told"
    code = f"import sys; open({str(out)!r}, 'w').write(sys.stdin.read() + repr(sys.argv[1:]))"
    assert await run(code, TOLD, "--strict", "{{tool_input.command}}") == HookResult()
    text, _, arguments = out.read_text().partition("\n")
    assert arguments == "['--strict', '{{tool_input.command}}']"
    assert json.loads(text) == {
        "hook_event_name": "pre_tool",
        "session_id": "s",
        "cwd": "/work",
        "attended": True,
        "tool_name": "Bash",
        "tool_input": TOLD.tool_input,
        "round": 3,
    }


async def test_exit_code_2_is_a_veto_with_what_standard_error_says() -> None:
    """Cleaned and bounded; what was written to standard output means nothing then."""
    code = "import sys; print('{\"decision\": \"allow\"}'); sys.exit('no: \\x1b[2J\\u202e why')"
    code = code.replace("sys.exit(", "sys.stderr.write(") + "; sys.exit(2)"
    assert await run(code) == HookResult(HookDecision.DENY, "no: \\x1b[2J\\u202e why")
    flood = "import sys; sys.stderr.write('x' * 10_000_000); sys.exit(2)"
    assert await run(flood) == HookResult(HookDecision.DENY, "x" * MAX_ERROR)
    assert await run("import sys; sys.exit(2)") == HookResult(HookDecision.DENY, "check.py said no")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ('import sys; print(\'{"decision": "deny"}\'); sys.exit(3)', "exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("print('{')", "no JSON"),
        ('print(\'{"decision": "no"}\')', "its decision is none of"),
    ],
)
async def test_everything_else_is_a_failure(code: str, why: str) -> None:
    """Another exit code, a signal, an object that is none."""
    with pytest.raises(HookFailure, match=why):
        await run(code)


async def test_text_is_ignored() -> None:
    """A program that prints what it did has decided nothing."""
    assert await run("print('all fine')") == HookResult()


async def test_it_need_not_read_the_event() -> None:
    """Also not a large one."""
    told = HookInput(PRE, tool_name="Write", tool_input={"content": "x" * 3_000_000})
    assert await run('print(\'{"decision": "ask"}\')', told) == HookResult(HookDecision.ASK)


async def test_a_program_that_is_not_there_is_a_failure() -> None:
    """With why; nothing of the event in it."""
    program = Program("check.py", "/no/such/check.py", ("--key", "hunter2"))
    with pytest.raises(HookFailure, match="not found") as caught:
        await CommandHook(program)(TOLD)
    assert "hunter2" not in str(caught.value)


async def test_what_it_leaves_running_is_ended() -> None:
    """A grandchild that holds its output neither keeps the call waiting nor stays."""
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        'print(\'{"decision": "defer"}\')'
    )
    assert await run(code) == HookResult(HookDecision.DEFER)
