"""Asking a program: what it is told, what counts as its answer, and that all else means no."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lockgate.bridges.command import MAX_OUTPUT, CommandApprover
from lockgate.errors import LocalError, PeerError
from lockgate.policy.approval import PASS, Answer, Later, Question, Reply, Scope
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.testing.belongings import Belongings, alive, eventually, members_of

Changed = Callable[..., Question]
ALLOW = 'print(\'{"decision": "allow"}\', flush=True)\n'


def program(code: str, env: Mapping[str, str] | None = None) -> CommandApprover:
    """An approver that runs Python code."""
    environment = child_environment(os.environ if env is None else env, {})
    return CommandApprover(Program("approver", sys.executable, ("-c", code), environment, None))


async def ask(approver: CommandApprover, question: Question) -> Reply:
    """The reply, in bounded time, with nothing left of the program."""
    before = Belongings.now()
    try:
        async with asyncio.timeout(20):
            return await approver(question)
    finally:
        assert Belongings.now().more_than(before) == ()


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ({"decision": "allow"}, Answer(True, "command")),
        ({"decision": "allow", "scope": "session"}, Answer(True, "command", Scope.SESSION)),
        ({"decision": "deny", "note": "no"}, Answer(False, "command", Scope.ONCE, "no")),
        ({"decision": "pass"}, PASS),
        ({"decision": "later"}, Later()),
    ],
)
async def test_what_it_may_answer(question: Question, said: object, reply: Reply) -> None:
    """Allow and deny with scope and note, pass, later."""
    assert await ask(program(f"print({json.dumps(said)!r})"), question) == reply


async def test_what_it_is_told(asking_about: Changed, tmp_path: Path) -> None:
    """The whole question as one line of JSON, the operator's program being one to be trusted."""
    told = tmp_path / "told"
    code = f"import sys\nopen({str(told)!r}, 'w').write(sys.stdin.read())\n{ALLOW}"
    question = asking_about(arguments={"token": "hunter2", "big": 2**70, "t": "\x1b[2J\u202e"})
    assert await ask(program(code), question) == Answer(True, "command")
    text = told.read_text()
    assert text.count("\n") == 1
    data = json.loads(text)
    assert data["arguments"] == question.arguments
    assert (data["tool"], data["server"], data["destructive"]) == (question.tool, "git", True)
    assert data["claim"] == {"readOnlyHint": False, "destructiveHint": True}
    assert [reason["code"] for reason in data["reasons"]] == ["destructive"]


@pytest.mark.req("S0-09")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"{ALLOW}raise SystemExit(1)", id="exit code"),
        pytest.param(f"{ALLOW}import os\nos.kill(os.getpid(), 9)", id="signal"),
        pytest.param("", id="silence"),
        pytest.param("print('yes')", id="no JSON"),
        pytest.param("print('[]')", id="no object"),
        pytest.param("print('{\"decision\": true}')", id="another type"),
        pytest.param('print(\'{"decision": "Allow"}\')', id="another word"),
        pytest.param('print(\'{"decision": "allow", "scope": "always"}\')', id="scope"),
        pytest.param('print(\'{"decision": "allow", "scop": "once"}\')', id="misspelt key"),
        pytest.param(f"{ALLOW}{ALLOW}", id="two answers"),
        pytest.param(f"{ALLOW}print('thanks')", id="more than an answer"),
        pytest.param("import sys\nsys.stdout.buffer.write(b'\\xff{}')", id="no text"),
    ],
)
async def test_everything_unclear_is_an_error(question: Question, code: str) -> None:
    """What is no answer raises, which counts as no."""
    with pytest.raises(LocalError):
        await ask(program(code), question)


async def test_a_program_that_is_not_there_is_an_error(question: Question) -> None:
    """One that can not be started raises, which counts as no."""
    with pytest.raises(PeerError, match="not found"):
        await ask(CommandApprover(Program("approver", "/no/such/program")), question)


async def test_its_output_is_bounded(question: Question) -> None:
    """A flood of output ends the program and is no answer; so is one that never ends."""
    code = "import sys\nwhile True: sys.stdout.write(' ' * 65536)"
    with pytest.raises(LocalError, match=str(MAX_OUTPUT)):
        await ask(program(code), question)


async def test_standard_error_is_no_answer_and_is_not_kept(
    question: Question, caplog: pytest.LogCaptureFixture
) -> None:
    """However much is said there, it is read and dropped: it may hold arguments."""
    code = f"import sys\nsys.stderr.write('hunter2' * 100_000)\n{ALLOW}"
    assert await ask(program(code), question) == Answer(True, "command")
    with caplog.at_level(logging.DEBUG), pytest.raises(LocalError):
        await ask(program("import sys\nsys.exit('hunter2')"), question)
    assert "exit code 1" in caplog.text
    assert "hunter2" not in caplog.text


async def test_it_need_not_read_the_question(asking_about: Changed) -> None:
    """One that answers without reading is not an error, however long the question is."""
    question = asking_about(arguments={"text": "x" * 2_000_000})
    assert await ask(program(ALLOW), question) == Answer(True, "command")


async def test_it_gets_the_short_environment(question: Question, tmp_path: Path) -> None:
    """Nothing of the host's environment but what every child gets."""
    told = tmp_path / "told"
    code = f"import os\nopen({str(told)!r}, 'w').write(repr(sorted(os.environ)))\n{ALLOW}"
    env = {"PATH": os.environ["PATH"], "HOME": "/h", "AWS_SECRET_ACCESS_KEY": "hunter2"}
    await ask(program(code, env), question)
    names = told.read_text()
    assert "HOME" in names
    assert "AWS" not in names


HANGS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    time.sleep(600)
open(sys.argv[1], "w").write(str(os.getpgrp()))
os.rename(sys.argv[1], sys.argv[1] + ".done")
time.sleep(600)
"""


async def test_cancelled_it_leaves_nothing(question: Question, tmp_path: Path) -> None:
    """A question that is withdrawn ends the program and its children, also stubborn ones."""
    mark = tmp_path / "group"
    environment = child_environment(os.environ, {})
    hangs = Program("approver", sys.executable, ("-c", HANGS, str(mark)), environment)
    before = Belongings.now()
    task = asyncio.ensure_future(CommandApprover(hangs)(question))
    done = mark.with_name("group.done")
    await eventually(done.exists)
    group = int(done.read_text())
    task.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert Belongings.now().more_than(before) == ()
    assert members_of(group) == ()


async def test_what_it_leaves_behind_is_ended(question: Question, tmp_path: Path) -> None:
    """A child that outlives the program and holds its output is ended; the answer counts."""
    mark = tmp_path / "pid"
    code = (
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid == 0: time.sleep(600)\n"
        f"open({str(mark)!r}, 'w').write(str(pid))\n{ALLOW}"
    )
    assert await ask(program(code), question) == Answer(True, "command")
    assert not alive(int(mark.read_text()))
