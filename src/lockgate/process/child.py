"""One child process: started, listened to, and ended for certain with all of its group.

Its death is noticed by the process itself, never by its pipes, which a grandchild may hold open.
Ending it is a ladder that always reaches its end (S3-23): standard input closed, SIGTERM to the
group, SIGKILL to the group, reaped; also when its owner is cancelled, in starting or in ending.
Then whatever it started that has left the group is looked for and ended too.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lockgate.errors import LocalError
from lockgate.process.group import Group, start_options
from lockgate.process.mark import Mark
from lockgate.process.outlast import outlast
from lockgate.process.pipe import Listener, Pipe, enlarge
from lockgate.process.program import Program, find, not_started
from lockgate.process.status import ExitStatus
from lockgate.process.strays import Strays
from lockgate.process.watch import Process, Watch, watch

MOST_UNREAD = 64
"""Reads of a pipe that are still made when its group is gone; somebody else may go on writing."""
TURNS = 4
"""Turns of the loop that the end of a pipe takes to be told: read, scheduled, told."""
POLL = 0.01
"""Seconds between two looks at whether a group is empty, of which the system does not tell."""
KILLED = 5.0
"""Seconds that a killed process may take to be gone; longer only if the kernel itself is stuck."""


@dataclass(frozen=True, slots=True)
class Grace:
    """How long a child is waited for before the next, ruder step. Seconds."""

    stdin: float = 2.0
    """After its standard input was closed."""
    terminate: float = 2.0
    """After SIGTERM."""


class Child:
    """A running child. Made by `Child.start`; whoever made it closes it."""

    def __init__(
        self,
        process: Process,
        name: str,
        listener: Listener,
        grace: Grace,
        mark: Mark | None = None,
    ) -> None:
        self.name = name
        self.pid = process.pid
        self.status: ExitStatus | None = None
        """How it ended; None while it runs."""
        self.left_behind = False
        """Whether it had ended by itself and something that it started had not, which then was
        ended."""
        self.held = False
        """Whether somebody who was not found still holds its output. Known once it is closed."""
        self._process = process
        self._listener = listener
        self._grace = grace
        self._group = Group(process.pid)
        self._strays = None if mark is None else Strays(mark, grace.terminate)
        self._loop = asyncio.get_running_loop()
        self._watch: Watch | None = None
        self._exited = asyncio.Event()
        files = (process.stdin, process.stdout, process.stderr)
        self._pipes = [Pipe(fd, file, listener) for fd, file in enumerate(files) if file]
        self._stdin: asyncio.WriteTransport | None = None
        self._connected = False
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, program: Program, listener: Listener, grace: Grace | None = None) -> Child:
        """Start a program with three pipes, or with two if it reads nothing.

        Raises `PeerError` (SPAWN, NOT_STARTED, NOT_SENT). Failed or cancelled, nothing is left.
        """
        mark = Mark() if program.starts_others else None
        child = cls(_spawn(program, mark), program.name, listener, grace or Grace(), mark)
        try:
            child._watch = watch(child._process, child._on_exit)
            # Not to be cut off: half-connected, it is unclear who closes which descriptor.
            await outlast(child._loop.create_task(child._connect()))
            child._end_leftovers()
        except OSError as error:
            await child.close()
            raise not_started(program, f"its pipes can not be used ({error.strerror})") from None
        except BaseException:
            await child.close()
            raise
        return child

    @property
    def stdin(self) -> asyncio.WriteTransport:
        """Where its standard input is written. Writing never blocks; see `pause_writing`."""
        if self._stdin is None:
            raise LocalError(f"{self.name} is not started yet, or reads nothing")
        return self._stdin

    async def wait(self) -> ExitStatus | None:
        """Wait for the child itself to end, whoever holds its pipes.

        None only after `close` had to give up on a process that the kernel does not let go of.
        """
        await self._exited.wait()
        return self.status

    async def close(self) -> ExitStatus | None:
        """End the child and what is left of its group; idempotent, from any number of tasks.

        Returns when all is gone. Cancelled, it goes on to the end and passes the cancellation on
        then: no longer than both graces and a moment.
        """
        await outlast(self._begin_ending())
        return self.status

    async def _connect(self) -> None:
        *stdin, stdout, stderr = self._pipes
        for pipe in stdin:
            self._stdin, _ = await self._loop.connect_write_pipe(lambda pipe=pipe: pipe, pipe.file)
        await self._loop.connect_read_pipe(lambda: stdout, stdout.file)
        await self._loop.connect_read_pipe(lambda: stderr, stderr.file)
        self._connected = True

    def _on_exit(self) -> None:
        """The child itself has ended."""
        returncode = self._process.poll()
        if returncode is None:
            return  # told too early; we are told again
        self._stop_watching()
        self.status = ExitStatus(returncode)
        self._exited.set()
        self._end_leftovers()
        self._listener.process_exited()

    def _end_leftovers(self) -> None:
        """What a dead child left in its group is ended, whoever closes it and when (PB-016).

        Not while the pipes are being connected: ending closes them.
        """
        if self._connected and self.status is not None and self._group.left():
            self.left_behind = self.left_behind or self._ending is None
            self._begin_ending()

    def _begin_ending(self) -> asyncio.Task[None]:
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(), name=f"lockgate ends {self.name}")
        return self._ending

    async def _end(self) -> None:
        """The ladder. Ends what is there to be ended, and lets go of everything."""
        by_itself = self.status is not None
        try:
            if self.status is None:
                self._close_stdin()
                await self._within(self._grace.stdin, self._exited.wait)
            if self._alive():
                self._group.terminate()
                await self._within(self._grace.terminate, self._gone)
            if self._alive():
                self._group.kill()
                await self._within(KILLED, self._gone)
            if self._strays is not None and await self._strays.end() and by_itself:
                self.left_behind = True
        except asyncio.CancelledError:
            # Nobody but a loop that is taken down cancels this task, and that means: at once.
            # Not passed on, because whoever closes was not cancelled by it.
            self._kill_now()
        finally:
            self._stop_watching()
            self._exited.set()
            await self._let_go()

    def _alive(self) -> bool:
        return self.status is None or self._group.left()

    async def _gone(self) -> None:
        await self._exited.wait()
        pause = POLL
        while self._group.left():
            await asyncio.sleep(pause)
            pause = min(2 * pause, 5 * POLL)

    async def _within(self, seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
        try:
            async with asyncio.timeout(seconds):
                await wait()
        except TimeoutError:
            pass

    def _kill_now(self) -> None:
        """Kill and reap without another turn of the loop."""
        if self._alive():
            self._kill_group()
        if self._strays is not None:
            self._strays.kill()

    def _kill_group(self) -> None:
        self._group.kill()
        try:
            returncode = self._process.wait(timeout=KILLED)
        except subprocess.TimeoutExpired:
            return
        if self.status is None:
            self.status = ExitStatus(returncode)
            self._listener.process_exited()

    def _close_stdin(self) -> None:
        """What was written is still delivered, if the child reads it, and then end of file."""
        if self._stdin is not None:
            self._stdin.close()
        elif self._process.stdin is not None:
            self._process.stdin.close()

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    async def _let_go(self) -> None:
        """Close our ends of the pipes, whoever holds the others, once what is in them is heard."""
        for pipe in self._pipes:
            for _ in range(MOST_UNREAD):
                if not pipe.unread():
                    break
                await asyncio.sleep(0)
        for _ in range(TURNS):  # what has ended is told of within them
            self.held = any(pipe.is_output and not pipe.lost.is_set() for pipe in self._pipes)
            if not self.held:
                break
            await asyncio.sleep(0)
        for pipe in self._pipes:
            pipe.abandon()
        for pipe in self._pipes:
            await self._within(1.0, pipe.lost.wait)

    def __repr__(self) -> str:
        state = "running" if self.status is None else str(self.status)
        return f"<Child {self.name} pid={self.pid} {state}>"


def _spawn(program: Program, mark: Mark | None) -> Process:
    """Start it. The pipes are close-on-exec, and no other descriptor is inherited (PB-021b)."""
    path = find(program)
    try:
        process = _popen()(
            [path, *program.args],
            stdin=subprocess.PIPE if program.reads else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            cwd=program.cwd,
            env=dict(program.env) if mark is None else mark.on(program.env),
            **start_options(),
        )
    except (OSError, ValueError) as error:
        why = _refusal(error, path)
    else:
        if sys.platform == "linux" and process.stdout is not None:
            enlarge(process.stdout)
        return process
    # Raised out here: the exception above may hold an argument, and would hang on this one.
    raise not_started(program, why)


def _refusal(error: OSError | ValueError, path: str) -> str:
    """Why the system did not start a file that is there."""
    match error:
        case FileNotFoundError():
            return f"the interpreter that the first line of `{path}` names was not found"
        case PermissionError():
            return f"permission denied: the system does not let us run `{path}`"
        case OSError():
            return f"the system refused to run `{path}`: {error.strerror}"
        case _:
            return "an argument or a variable holds a character that can not be given to a program"


def _popen() -> type[Process]:
    if sys.platform == "win32":
        # Its pipes can be waited for by the loop there.
        from asyncio import windows_utils

        return windows_utils.Popen
    return subprocess.Popen
