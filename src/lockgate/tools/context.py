"""Who is calling, within which bounds, and what a running tool may know about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from lockgate.tools.deadline import Deadline
from lockgate.tools.subject import NO_SUBJECTS, Subjects
from lockgate.traits import SideEffectLevel

ProgressSink: TypeAlias = Callable[[float, float | None, str | None], None]
"""Is told how far a call is: so far, in all or None, in words or None; the words may be a
stranger's. Called on the event loop, and must return quickly."""


class Bounds(msgspec.Struct, frozen=True):
    """How far an execution may reach. Made only by `policy.ceiling`: `whole`, `narrow` (B-04)."""

    ceiling: SideEffectLevel
    """The highest side-effect level it may use."""
    offer: frozenset[str] | None
    """The registered names it is shown at all. None is everything registered; an empty set is
    nothing, never everything."""


class Environment(msgspec.Struct, frozen=True):
    """What tools that touch the machine take from their caller instead of the process."""

    cwd: Path
    roots: tuple[Path, ...] = ()
    """Directories that file tools may reach; empty is none."""
    threads: Executor | None = None
    """The caller's bounded pool, in which functions that block are run; None: they can not be."""
    barred: tuple[Path, ...] = ()
    """Real directories of lockgate's own state and policy, which no tool of ours reaches."""
    control: tuple[Path, ...] = ()
    """Real paths of the configuration in force: what writes there is always asked about (B-13)."""
    home: Path | None = None
    """What `~` stands for in a path; None: nothing does."""
    notes: Path | None = None
    """The file of notes; None: none are kept."""
    knowledge: Path | None = None
    """The database of what is kept to be searched; None: nothing is."""
    server_dirs: Mapping[str, Path] = MappingProxyType({})
    """By server, the directory that its relative paths start from; of others it is not known."""


class Execution(msgspec.Struct, frozen=True):
    """One piece of agent work, or one call made from outside: who asks, and within what."""

    id: str
    """Correlates records; authorises nothing."""
    entry: str
    """The road it came by: `agent`, `api`, `cli`, ... from the list in `app`."""
    bounds: Bounds
    attended: bool
    """Whether a person is there to answer. Decides which approvers are asked (S0-09)."""
    environment: Environment
    session_id: str | None = None
    inviting_session: str | None = None
    """The session whose grants and declines a sub-agent shares."""
    principal: str | None = None
    """Whose authority it runs under; None is the operating-system user."""
    agent: str | None = None
    """The sub-agent, skill or hook that it is the work of, for people; None: nobody in between."""
    skills: tuple[str, ...] = ()
    """The skills that it is the work of, the outermost first: their hooks are for its calls."""
    depth: int = 0
    """How many executions it is the work of: 0 is a turn of a session, its child has 1."""
    by_model: bool = False
    """Whether a model asks for its calls; otherwise a person does, or a program."""


class InterruptToken:
    """The turn's interrupt: set once, seen by every call of the turn.

    It is not task cancellation: an executor answers it with results, one for each call.
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._listeners: dict[Callable[[], None], None] = {}

    def interrupt(self) -> None:
        """Interrupt the turn. Idempotent."""
        if not self._event.is_set():
            self._event.set()
            for listener in tuple(self._listeners):
                listener()
            self._listeners.clear()

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called once, on the interrupt; at once if that has been.

        It must not raise. With it a running call needs no task of its own to wait here.
        """
        if self._event.is_set():
            listener()
        else:
            self._listeners[listener] = None

    def forget(self, listener: Callable[[], None]) -> None:
        """Take `listener` back; unknown ones are ignored."""
        self._listeners.pop(listener, None)

    @property
    def interrupted(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> None:
        """Return when the turn is interrupted."""
        await self._event.wait()


class ToolContext(msgspec.Struct, frozen=True):
    """What a tool is told about the call it runs for. It keeps nothing of it afterwards."""

    execution: Execution
    call_id: str
    interrupt: InterruptToken | None = None
    deadline: float | None = None
    """Loop time by which the caller stops waiting; None is the tool's own bound."""
    subjects: Subjects = NO_SUBJECTS
    """What the decision was made on: to be used as resolved, and never resolved again."""
    parent_call: str | None = None
    progress: ProgressSink | None = None
    """To be told how far the call is, as often as there is news; None: nobody wants to know."""
    limit: Deadline | None = None
    """`deadline` again, for a tool that has a person asked in the middle of the call: it holds it
    meanwhile, and reads from it how long it has."""
    begun: float | None = None
    """Loop time at which the call was tried first, where this is a further try: for a tool with a
    bound of its own on all tries together. None in the first one."""

    @property
    def ends(self) -> float | None:
        """`deadline` as it is now: whoever was asked in an earlier attempt has moved it."""
        return self.deadline if self.limit is None else self.limit.at
