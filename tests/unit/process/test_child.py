"""Starting a child, its pipes, and being told of its end."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import LocalError, PeerError
from lockgate.process.child import Child, Grace
from lockgate.process.pipe import READ_SIZE
from lockgate.process.program import Program
from lockgate.testing.belongings import Belongings, alive, eventually, left_since, members_of


async def test_pipes_carry_both_ways(start: Any) -> None:
    """What is written arrives, and what the child writes is told by its descriptor."""
    child, ear = await start("sh", "-c", "cat; echo oops >&2")
    child.stdin.write(b"hello\n")
    assert await ear.line() == "hello"
    child.stdin.close()
    await ear.until(lambda: sorted(ear.lost) == [0, 1, 2] and ear.exits == 1)
    assert ear.out == {1: b"hello\n", 2: b"oops\n"}
    assert str(child.status) == "exit code 0"


async def test_a_full_pipe_is_told_and_never_blocks(start: Any) -> None:
    """Writing more than the pipe takes returns at once, and says when it has gone through."""
    child, ear = await start("sh", "-c", "cat >/dev/null; echo done")
    child.stdin.write(b"x" * (4 << 20))
    assert ear.full
    await ear.until(lambda: not ear.full)
    child.stdin.close()
    assert await ear.line() == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe holds no more than a read")
async def test_large_output_is_read_in_large_pieces(start: Any, tmp_path: Path) -> None:
    """Reads are small, since large buffers are dear, until output is larger than one of them."""
    written = tmp_path / "written"
    script = f"head -c 200000 /dev/zero; touch {written}; read line; echo small"
    child, ear = await start("sh", "-c", script)
    patience = time.monotonic() + 10
    while not written.exists() and time.monotonic() < patience:
        pass  # the loop stands still, so that all of it waits in the pipe
    await ear.until(lambda: len(ear.out[1]) == 200_000)
    assert ear.pieces == [READ_SIZE, 200_000 - READ_SIZE]
    child.stdin.write(b"\n")
    await ear.until(lambda: ear.out[1].endswith(b"small\n"))


@pytest.mark.req("S3-22")
async def test_the_end_is_noticed_though_a_grandchild_holds_the_pipes(start: Any) -> None:
    """Death is told by the process, not by its pipes: within a second (PB-021)."""
    loop = asyncio.get_running_loop()
    times: list[float] = []
    child, ear = await start("sh", "-c", "sleep 600 & echo $!; read line; exec kill -9 $$")
    await ear.line()
    dead = asyncio.create_task(eventually(lambda: not alive(child.pid)))
    dead.add_done_callback(lambda _: times.append(loop.time()))
    child.stdin.write(b"\n")
    async with asyncio.timeout(10):
        status = await child.wait()
    times.append(loop.time())
    await dead
    assert abs(times[0] - times[1]) < 1
    assert str(status) == "killed by SIGKILL"
    assert ear.exits == 1


@pytest.mark.req("S3-23")
async def test_what_a_dead_child_left_in_its_group_is_ended(start: Any) -> None:
    """A wrapper that dies does not leave its server behind, whether or not anyone closes."""
    child, ear = await start("sh", "-c", "sleep 600 & echo $!")
    grandchild = int(await ear.line())
    await child.wait()
    await ear.until(lambda: {1, 2} <= set(ear.lost))
    assert not alive(grandchild)


async def test_a_wrapper_that_is_gone_before_its_pipes_are_connected(start: Any) -> None:
    """However early the child ends, starting succeeds and its leftovers are ended."""
    for _ in range(20):
        child, ear = await start("/bin/sh", "-c", "sleep 600 &")
        await child.wait()
        await child.close()
        assert sorted(ear.lost) == [0, 1, 2]
        assert members_of(child.pid) == ()


async def test_a_signal_ends_with_its_name(start: Any) -> None:
    """How it ended is said in words that can be looked up."""
    child, _ = await start("sleep", "600")
    os.kill(child.pid, signal.SIGTERM)
    status = await child.wait()
    assert (status.code, status.signal) == (None, "SIGTERM")


async def test_the_child_leads_a_session_of_its_own(start: Any) -> None:
    """No terminal to read from, and no Ctrl+C before its owner has closed it."""
    child, _ = await start("cat")
    assert os.getsid(child.pid) == child.pid == os.getpgid(child.pid)


@pytest.mark.req("S3-23")
async def test_no_child_holds_the_pipes_of_another(start: Any) -> None:
    """Our ends are close-on-exec, so that closing one child's input is seen at once (PB-021)."""
    first, _ = await start("cat")
    second, ear = await start("cat")
    second.stdin.write(b"loaded\n")  # while it is being loaded it has its libraries open
    await ear.line()
    assert len(_descriptors(second.pid)) == 3
    assert not _descriptors(first.pid) & _descriptors(second.pid)
    first.stdin.close()
    async with asyncio.timeout(5):
        await first.wait()
    assert second.status is None


async def test_a_child_that_closed_its_input_is_noticed(start: Any) -> None:
    """The end of a pipe that nobody reads is told without anything being written."""
    child, ear = await start("sh", "-c", "exec <&-; echo closed; sleep 600")
    await ear.until(lambda: 0 in ear.lost)
    assert child.status is None


async def test_many_children_leave_nothing() -> None:
    """Fifty rounds, with a child that ends by itself and one that is ended: all flat."""
    before = Belongings.now()
    for number in range(50):
        command = ("true", ()) if number % 2 else ("sleep", ("600",))
        program = Program("x", command[0], command[1], env=dict(os.environ))
        child = await Child.start(program, _Nobody(), Grace(0.02, 5))
        await child.close()
        assert await left_since(before) == ()


async def test_a_cancelled_start_leaves_nothing() -> None:
    """At whatever turn of the loop it is cancelled."""
    before = Belongings.now()
    for delay in range(6):
        program = Program("x", "sleep", ("600",), env=dict(os.environ))
        starting = asyncio.create_task(Child.start(program, _Nobody(), Grace(0.02, 5)))
        for _ in range(delay):
            await asyncio.sleep(0)
        starting.cancel()
        try:
            await (await starting).close()
        except asyncio.CancelledError:
            pass
        assert await left_since(before) == ()


async def test_without_descriptors_it_fails_and_leaves_nothing() -> None:
    """Whichever of the descriptors that a start needs is the one too many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = Belongings.now()
    failed = 0
    for spare in range(12):
        program = Program("x", "/bin/sleep", ("600",), env={})
        resource.setrlimit(resource.RLIMIT_NOFILE, (before.descriptors + spare, hard))
        try:
            child = await Child.start(program, _Nobody(), Grace(0.02, 5))
        except PeerError as error:
            failed += "Too many open files" in str(error)
        else:
            await child.close()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert await left_since(before) == ()
    assert 0 < failed < 12


async def test_the_representation_shows_no_argument(start: Any) -> None:
    """A child in a message or a log shows its name, its number and its state."""
    child, _ = await start("sleep", "600")
    assert repr(child) == f"<Child a program pid={child.pid} running>"
    assert "600" not in repr(Program("x", "sleep", ("600",), env={"A": "600"}))


def _descriptors(pid: int) -> set[Path]:
    """What the descriptors of a process lead to."""
    return {link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()}


class _Nobody:
    """A listener that does not listen."""

    def pipe_data_received(self, fd: int, data: bytes) -> None: ...
    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...
    def process_exited(self) -> None: ...


async def test_a_program_that_reads_nothing_has_dev_null(start: Any) -> None:
    """Not a pipe at its end: programs look at what their input is, and search or wait for it."""
    before = Belongings.now()
    child, ear = await start("sh", "-c", "readlink /proc/self/fd/0", reads=False)
    await ear.until(lambda: sorted(ear.lost) == [1, 2] and ear.exits == 1)
    await child.close()
    assert (ear.out[1], child.left_behind) == (b"/dev/null\n", False)
    with pytest.raises(LocalError, match="reads nothing"):
        _ = child.stdin
    assert await left_since(before) == ()


async def test_whether_something_was_left_behind_is_known(start: Any) -> None:
    """A child that ends before what it started; not one that we end with all of its group."""
    child, ear = await start("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo")
    await child.wait()
    await child.close()
    assert child.left_behind
    child, ear = await start("sh", "-c", "sleep 600 & echo; wait", grace=Grace(0.01, 5))
    await ear.line()
    await child.close()
    assert not child.left_behind
