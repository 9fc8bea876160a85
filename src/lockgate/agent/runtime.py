"""The runtime of agents: it owns what they work with, and closes it.

Application (factories, configuration) > runtime > session > execution. A runtime lives on the loop
that it was made on; used elsewhere, or after closing, it says so at once and never hangs. It closes
its open sessions first, and then what it owns, which it does not know: closeables with a name, in
an explicit order, the MCP manager first (S3-06).
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import uuid
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol
from weakref import WeakValueDictionary

from lockgate.agent.model import Model
from lockgate.agent.occasions import Occasions
from lockgate.agent.ownership import CLOSE_SECONDS, Owned, close_all, to_the_end
from lockgate.agent.scope import SessionScope
from lockgate.agent.underway import UnderWay
from lockgate.agent.witness import Witness
from lockgate.calls.invoke import Invoker
from lockgate.errors import LocalError
from lockgate.hooks.registry import Hooks
from lockgate.tools.registry import Registry, Snapshot


class Servers(Protocol):
    """What the runtime knows of the servers behind some of its tools."""

    @property
    def failed(self) -> Mapping[str, str]:
        """The configured servers that are not there: name to reason, for people (B-07)."""
        ...

    def turn_begins(self) -> None:
        """A piece of work is about to look at the tools. Returns at once."""
        ...

    async def close(self) -> None:
        """Close all of them. Idempotent."""
        ...


ID_LENGTH: Final = 18
"""Characters of an id of a call: 72 bits, for tables that are to fit a terminal."""
IDS_AT_ONCE: Final = 128


def new_id() -> str:
    """An id that nobody can guess and that never comes twice: of a session, whose answers count for
    whoever names it."""
    return uuid.uuid4().hex


def drawn() -> Callable[[], str]:
    """A maker of ids that correlate and authorise nothing: all random, so that a few characters
    tell one from all others, and of one length.

    Every call needs two, and asking the system for randomness each time is a tenth of its cost, so
    many are drawn at once. Not to be used on both sides of a fork.
    """
    return _drawn().__next__


def _drawn() -> Generator[str]:
    while True:
        pool = secrets.token_hex(ID_LENGTH // 2 * IDS_AT_ONCE)
        for at in range(0, len(pool), ID_LENGTH):
            yield pool[at : at + ID_LENGTH]


class AgentRuntime:
    """A registry, the road for calls, and everything that must be closed after them.

    Make it in a running loop, and use it as a context manager or call `close`.
    """

    _closed = True
    """Until everything is in place: a half-made runtime owns nothing."""

    def __init__(
        self,
        *,
        id: str,
        registry: Registry,
        invoker: Invoker,
        servers: Servers | None = None,
        witness: Witness | None = None,
        models: Callable[[str], Model] | None = None,
        hooks: Hooks | None = None,
        owned: Sequence[Owned] = (),
        make_id: Callable[[], str] | None = None,
        make_session_id: Callable[[], str] = new_id,
        close_seconds: float = CLOSE_SECONDS,
    ) -> None:
        """Take over `owned`, to be closed in exactly that order: the servers first.

        `id` is the deterministic one of `agent_id`; `witness` the one before the invoker's ledger,
        by which a turn's sink hears of decisions; `models` gives the model of a name, for agents
        and their children (a `ModelBook`, which is among `owned`); `make_id` gives ids of
        executions and calls, by default `drawn` ones; `close_seconds` bounds the closing of each
        thing. Raises `LocalError` when no loop is running; whoever built the things then closes
        them (`ownership.Ownership`).
        """
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            raise LocalError("a runtime is made inside a running asyncio loop") from None
        self._thread = threading.get_ident()
        self._id = id
        self._registry = registry
        self._invoker = invoker
        self._servers = servers
        self._witness = witness
        self._models = models
        self._owned = tuple(owned)
        self.make_id = make_id or drawn()
        """A new id of an execution or a call."""
        self.make_session_id = make_session_id
        """A new id of a session."""
        self.occasions = Occasions(hooks or Hooks())
        """Tells hooks what begins and ends; the invoker tells them of calls."""
        self.under_way = UnderWay()
        """The executions that have begun and not ended."""
        # A session that nobody holds any more holds nothing either: it does not pile up here.
        self._sessions: WeakValueDictionary[int, SessionScope] = WeakValueDictionary()
        self._begun = 0
        self._close_seconds = close_seconds
        self._closing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def id(self) -> str:
        return self._id

    @property
    def closed(self) -> bool:
        """Whether closing has begun."""
        return self._closed

    @property
    def mcp(self) -> Servers | None:
        """The servers; None when none are configured (S3-12)."""
        return self._servers

    @property
    def registry(self) -> Registry:
        """Its tools."""
        self.check()
        return self._registry

    def snapshot(self) -> Snapshot:
        """The tools of now, for a piece of work that begins: it keeps them until it ends (S3-18).

        Raises `LocalError` where the runtime can not be used.
        """
        self.check()
        if self._servers is not None:
            self._servers.turn_begins()
        return self._registry.snapshot()

    @property
    def invoker(self) -> Invoker:
        """The road that every call takes."""
        self.check()
        return self._invoker

    @property
    def witness(self) -> Witness | None:
        """Tells of decisions as they are written; None if nobody may watch."""
        return self._witness

    def model(self, name: str) -> Model:
        """The model of `name` (`provider:model`), the same one each time.

        Raises `ConfigError` for a name that no model has or that can not be used here, `LocalError`
        where the runtime can not be used or knows no models by name.
        """
        self.check()
        if self._models is None:
            raise LocalError(f"{self._id} knows no models by name; give a Model")
        return self._models(name)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the configured servers that are not there, sorted."""
        return tuple(sorted(self._servers.failed)) if self._servers is not None else ()

    def begin_session(self, session_id: str | None = None) -> SessionScope:
        """A session on this runtime, of an id that nobody can guess unless one is given.

        Whoever begins it closes it; what is open when the runtime closes is closed with it.
        """
        self.check()
        session_id = session_id or self.make_session_id()
        self._begun = number = self._begun + 1

        def ended() -> None:
            self._sessions.pop(number, None)

        scope = SessionScope(session_id, seconds=self._close_seconds, ended=ended)
        self._sessions[number] = scope
        return scope

    @property
    def sessions(self) -> tuple[SessionScope, ...]:
        """Those that are open, in the order in which they began."""
        return tuple(self._sessions.values())

    def check(self) -> None:
        """Raise `LocalError` if the runtime can not be used here and now."""
        if self._closed:
            raise LocalError(f"{self._id} is closed; open it again to use it")
        self.check_place()

    async def close(self) -> None:
        """Close the open sessions, then everything owned, in order. Idempotent: a second call waits
        for the first.

        A turn that is under way is interrupted and waited for. A failure is logged and the rest
        still closes. Raises `LocalError` on another loop or thread, where waiting would hang.
        """
        self.check_place()
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await to_the_end(self._closing)

    async def _close(self) -> None:
        open_ones = self.sessions

        async def end_sessions() -> None:
            # At once: each of them may have to wait for a turn of its own.
            await asyncio.gather(*(scope.close() for scope in open_ones))

        owned, self._owned = self._owned, ()
        if open_ones:
            owned = (Owned("open sessions", end_sessions), *owned)
        await close_all(owned, self._close_seconds)

    async def __aenter__(self) -> AgentRuntime:
        self.check()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def check_place(self) -> None:
        """Raise `LocalError` on another loop or thread than its own; closed or not."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:  # which runs in one thread only
            return
        if threading.get_ident() != self._thread:
            raise LocalError(
                f"{self._id} belongs to another thread; use it from there, or open one here"
            )
        if here is None:
            raise LocalError(f"{self._id} is used inside the loop it was made on")
        raise LocalError(
            f"{self._id} belongs to another event loop; use it there, or open one in this loop"
        )

    def __del__(self) -> None:
        if not self._closed:
            warnings.warn(
                f"{self._id} was never closed: use `async with`, or await its close()",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        if self._closed:
            return f"<AgentRuntime {self._id} closed>"
        owned = ", ".join(thing.name for thing in self._owned) or "nothing"
        return f"<AgentRuntime {self._id} open, {self._registry!r}, owns {owned}>"
