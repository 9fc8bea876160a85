"""The ladder that ends a child: standard input, SIGTERM, SIGKILL, reaped; nothing stops it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, alive, eventually, left_since, members_of
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer

DEAF = "trap '' TERM; echo ready; while :; do sleep 600 & wait $!; done"
"""A shell that ignores SIGTERM and its input, and so does what it starts."""


@pytest.mark.req("S3-23")
async def test_first_the_input_is_closed(start: Any) -> None:
    """A child that ends by itself then gets no signal."""
    child, ear = await start("sh", "-c", "trap 'echo signal' TERM; cat; echo bye")
    await child.close()
    assert ear.out[1] == b"bye\n"
    assert str(child.status) == "exit code 0"


async def test_what_was_written_is_still_delivered(start: Any) -> None:
    """Closing right after writing more than a pipe takes loses nothing, if the child reads."""
    child, ear = await start("sh", "-c", "wc -c")
    child.stdin.write(b"x" * 1_000_000)
    await child.close()
    assert ear.out[1].strip() == b"1000000"


@pytest.mark.req("S3-23")
async def test_then_the_group_gets_sigterm(start: Any) -> None:
    """A child that ignores the end of its input is asked to end."""
    child, ear = await start("sh", "-c", "echo ready; sleep 600", grace=Grace(0.05, 5))
    await ear.line()
    await child.close()
    assert str(child.status) == "killed by SIGTERM"


@pytest.mark.req("S3-23")
async def test_last_the_group_is_killed(start: Any) -> None:
    """A child that ignores SIGTERM too is killed, with what it started."""
    child, ear = await start("sh", "-c", DEAF, grace=Grace(0.05, 0.05))
    await ear.line()
    await child.close()
    assert str(child.status) == "killed by SIGKILL"
    assert ear.exits == 1


async def test_the_defaults_are_two_seconds_each() -> None:
    """The grace periods of the requirement are the defaults."""
    assert Grace() == Grace(2.0, 2.0)


@pytest.mark.req("S3-23")
@pytest.mark.parametrize("script", ["sleep 600 & wait", "sleep 600; true", "sleep 600 & exec cat"])
async def test_descendants_end_with_the_group(start: Any, script: str) -> None:
    """Wrappers, however they wait: nothing of the group is left (PB-016)."""
    child, ear = await start("sh", "-c", f"echo ready; {script}", grace=Grace(0.05, 5))
    await ear.line()
    await eventually(lambda: len(members_of(child.pid)) > 1)
    await child.close()
    assert members_of(child.pid) == ()


async def test_a_leftover_that_ignores_sigterm_is_killed(start: Any) -> None:
    """The ladder is climbed for the group, also when the child itself went at once."""
    child, ear = await start("sh", "-c", f'sh -c "{DEAF}" & read line', grace=Grace(5, 0.05))
    await ear.line()
    await child.close()
    assert str(child.status) == "exit code 1"
    assert members_of(child.pid) == ()


@pytest.mark.req("S3-23")
async def test_closing_twice_and_from_many_tasks_is_closing_once(start: Any) -> None:
    """Idempotent; everyone who closes waits for the end."""
    child, ear = await start("cat")
    statuses = await asyncio.gather(*(child.close() for _ in range(5)))
    assert statuses == [child.status] * 5
    assert await child.close() is child.status
    assert ear.exits == 1


@pytest.mark.req("S3-23")
async def test_cancelled_while_closing_it_still_ends_and_then_passes_on(start: Any) -> None:
    """Cancelled once and once more in the middle: no orphan, and the cancellation arrives."""
    child, ear = await start("sh", "-c", DEAF, grace=Grace(0.1, 0.1))
    await ear.line()
    closing = asyncio.create_task(child.close())
    for _ in range(3):
        await asyncio.sleep(0)
        closing.cancel()
    await asyncio.wait((closing,), timeout=10)
    assert closing.cancelled()
    assert str(child.status) == "killed by SIGKILL"


@pytest.mark.req("S3-23")
async def test_a_loop_that_is_taken_down_kills_at_once(start: Any) -> None:
    """`asyncio.run` cancels every task at its end, the one that closes too: still no orphan."""
    child, ear = await start("sh", "-c", DEAF, grace=Grace(600, 600))
    await ear.line()
    before = asyncio.all_tasks()
    closing = asyncio.create_task(child.close())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - before:
        task.cancel()
    await asyncio.wait((closing,), timeout=10)
    assert str(child.status) == "killed by SIGKILL"


HOST = """
import asyncio, os, sys
from lockgate.process.child import Child, Grace
from lockgate.process.program import Program
class Nobody:
    def __getattr__(self, name):
        return lambda *a: None
async def main():
    program = Program("x", sys.argv[2], tuple(sys.argv[3:]), env=dict(os.environ))
    child = await Child.start(program, Nobody(), Grace(5, 5))
    print(child.pid, flush=True)
    if sys.argv[1] == "raise":
        raise SystemExit(7)
    if sys.argv[1] == "leave":
        await child.close()
    else:
        await asyncio.Event().wait()
asyncio.run(main())
"""


def _host(how: str, server: ScriptedServer) -> subprocess.Popen[str]:
    endpoint = server.endpoint()
    return subprocess.Popen(
        [sys.executable, "-c", HOST, how, endpoint.command, *endpoint.args],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@pytest.mark.req("S3-23")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_a_killed_host_means_end_of_file_for_the_child(tmp_path: Path, number: int) -> None:
    """A real host, ended from outside: nobody else holds the child's input, so it sees the end."""
    ledger = ServerLedger(tmp_path / "ledger")
    with _host("wait", ScriptedServer(ledger=ledger.path)) as host:
        try:
            await ledger.wait_for("start")
            host.send_signal(number)
            await ledger.wait_for("eof", timeout=5)
        finally:
            host.kill()
    (start,) = ledger.entries("start")
    await eventually(lambda: not alive(start.pid))


@pytest.mark.req("S3-23")
@pytest.mark.parametrize("how", ["raise", "leave"])
async def test_a_host_that_ends_leaves_no_orphan(tmp_path: Path, how: str) -> None:
    """A real host that raises, or that closes as it should."""
    ledger = ServerLedger(tmp_path / "ledger")
    with _host(how, ScriptedServer(ledger=ledger.path)) as host:
        pid = int(host.stdout.readline()) if host.stdout else 0
        host.wait(timeout=10)
    await eventually(lambda: not alive(pid))


@pytest.mark.req("S3-23")
def test_orphans_that_are_given_to_us_are_reaped() -> None:
    """As process 1 of a container we inherit what wrappers leave; they do not cost the grace."""
    code = (
        "import ctypes\nctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"  # PR_SET_CHILD_SUBREAPER
        + HOST.replace("Grace(5, 5)", "Grace(60, 60)")
    )
    script = "sleep 0.05 & sleep 600 & read line"
    args = [sys.executable, "-c", code, "leave", "sh", "-c", script]
    done = subprocess.run(args, capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""
    assert members_of(int(done.stdout)) == ()


async def test_nothing_is_left_after_closing(start: Any) -> None:
    """No task, descriptor or process."""
    before = Belongings.now()
    child, ear = await start("sh", "-c", DEAF, grace=Grace(0.02, 0.02))
    await ear.line()
    await child.close()
    assert await left_since(before) == ()
