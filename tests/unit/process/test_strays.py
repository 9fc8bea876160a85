"""What left the group of a child is found by its mark and ended with it. Linux."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.process.child import Grace
from lockgate.process.environment import child_environment
from lockgate.process.mark import NAME, Mark
from lockgate.process.strays import Strays
from lockgate.testing.belongings import Belongings, alive, eventually, left_since

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they are found by /proc")

AWAY = "setsid sh -c 'echo $$ >{pid}; exec sleep 600' >/dev/null 2>&1 & "
"""Starts something in a session of its own."""
WRITTEN = "until [ -s {pid} ]; do sleep 0.01; done; echo ready; "
DAEMON = """
import os, sys, time
if not os.fork():
    os.setsid()
    if not os.fork():
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
"""


def _sleeper(environment: dict[str, str]) -> int:
    return os.posix_spawn("/bin/sleep", ["sleep", "600"], environment)


def _reap(pid: int) -> None:
    os.waitpid(pid, 0)


def _running(word: str) -> list[int]:
    """Processes with a word in their command line; those that have ended have none."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_text():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _pid(path: Path) -> int:
    return int(path.read_text())


@pytest.mark.parametrize("then", ["cat", "sleep 600"])
async def test_a_session_of_its_own_ends_with_the_child(
    start: Any, tmp_path: Path, then: str
) -> None:
    """Whether the child ends by itself when its input does, or has to be told."""
    before, file = Belongings.now(), tmp_path / "pid"
    script = (AWAY + WRITTEN).format(pid=file) + then
    child, ear = await start("sh", "-c", script, grace=Grace(0.2, 5))
    await ear.line()
    await child.close()
    assert not alive(_pid(file))
    assert not child.left_behind
    assert await left_since(before) == ()


async def test_a_daemon_ends_with_a_child_that_died(start: Any, tmp_path: Path) -> None:
    """It forked twice and is nobody's child; its starter was killed."""
    file = tmp_path / "pid"
    child, ear = await start(
        sys.executable, "-c", DAEMON + "print('up', flush=True)\nos.kill(os.getpid(), 9)", str(file)
    )
    await ear.line()
    await child.wait()
    await eventually(lambda: file.exists() and file.read_text() != "")
    assert alive(_pid(file))
    await child.close()
    assert not alive(_pid(file))
    assert child.left_behind


async def test_what_does_not_hear_sigterm_is_killed(start: Any, tmp_path: Path) -> None:
    """After the same time as the group has."""
    file = tmp_path / "pid"
    deaf = (
        f"setsid sh -c 'trap \"\" TERM; echo $$ >{file}; sleep 600; sleep 600' >/dev/null 2>&1 & "
    )
    script = deaf + WRITTEN.format(pid=file)
    child, ear = await start("sh", "-c", script, grace=Grace(0.2, 0.1))
    await ear.line()
    await child.close()
    assert not alive(_pid(file))


async def test_what_starts_others_while_it_is_ended_is_ended_with_them(
    start: Any, tmp_path: Path
) -> None:
    """Each SIGTERM is answered by one more session: all processes are looked through again."""
    (tmp_path / "hydra.sh").write_text(
        f"trap 'setsid sh {tmp_path}/hydra.sh & exit' TERM\n"
        f"echo $$ >>{tmp_path}/pids\n"
        "while :; do sleep 600 & wait $!; done\n"
    )
    script = f"setsid sh {tmp_path}/hydra.sh >/dev/null 2>&1 & " + WRITTEN.format(
        pid=tmp_path / "pids"
    )
    child, ear = await start("sh", "-c", script)
    await ear.line()
    await child.close()
    assert not _running("hydra.sh")


async def test_only_descendants_are_ended(start: Any) -> None:
    """Other children of the program, and those of another child, are left alone."""
    ours, theirs = await start("sleep", "600"), await start("sleep", "600")
    await ours[0].close()
    assert alive(theirs[0].pid)
    own = _sleeper(dict(os.environ))
    child, _ = await start("cat")
    await child.close()
    assert alive(own)
    os.kill(own, signal.SIGKILL)
    _reap(own)


async def test_inner_marks_do_not_hide_outer_ones(start: Any, tmp_path: Path) -> None:
    """A lockgate inside a child hands its own mark on with that of the outer one."""
    outer, inner = Mark("a" * 32), Mark("b" * 32)
    host = outer.on({"PATH": os.defpath})
    assert inner.on(child_environment(host, {}))[NAME] == f"{outer.text}:{inner.text}"
    pid = _sleeper(inner.on(host))
    await eventually(lambda: outer.carried_by(pid) and inner.carried_by(pid))
    assert not Mark().carried_by(pid)
    assert await Strays(outer, 5).end()
    _reap(pid)


async def test_a_look_is_quick() -> None:
    """A few ms for a machine's processes. The best of several, as the machine has other work; it
    took 1.2 ms for 105 processes."""
    mark, times = Mark(), list[float]()
    for _ in range(5):
        before = time.perf_counter()
        assert not await Strays(mark, 1).end()
        times.append(time.perf_counter() - before)
    processes = sum(name.isdecimal() for name in os.listdir("/proc"))  # noqa: PTH208 - a count
    assert min(times) < 0.0002 * processes
