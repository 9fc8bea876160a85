"""The kept sessions of a project: looked at and removed; gone on with by `Gate.agent`."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lockgate.agent.clip import clip_batch
from lockgate.agent.limits import TurnLimits
from lockgate.agent.message_json import FORMAT, UnreadableMessage, decoded, encoded_result
from lockgate.agent.model import Message, UserMessage
from lockgate.calls.call import Suspended
from lockgate.errors import LockgateError
from lockgate.settings.config import Config, SessionSettings
from lockgate.stores.session_journal import SessionAbout, SessionGone, SessionJournal
from lockgate.stores.sessions import KeptSession, SessionKeeping, SqliteSessions
from lockgate.stores.state import StateDatabase, open_state
from lockgate.tools.result import ToolResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One kept session, as it is listed."""

    id: str
    """What `Gate.agent(session=...)` and `lockgate run --resume` take. Whoever has it can go on
    with what was answered for the session."""
    model: str
    """The name of the model it began with."""
    created: float
    """Unix time."""
    used: float
    """Unix time of its last message."""
    messages: int
    size: int
    """Bytes of its messages."""
    began: str = field(repr=False)
    """The prompt it began with."""


class Sessions:
    """The sessions that are kept in one state directory, also those that other gates made.

    Every method raises `LockgateError` if the state database can not be read or written.
    """

    def __init__(self, store: SqliteSessions) -> None:
        self._store = store

    def list(self) -> tuple[SessionInfo, ...]:
        """All of them, the one that was used last first."""
        return tuple(_info(kept) for kept in self._store.kept())

    def find(self, beginning: str) -> SessionInfo:
        """The one whose id begins so. Raises `LocalError` if there is none, or more than one."""
        return _info(self._store.find(beginning))

    def transcript(self, session: str) -> tuple[Message, ...]:
        """Everything said in the session of that id, results as the model was shown them.

        Raises `LocalError` if there is none, `StateError` if it can not be read."""
        return tuple(_decoded(body, self._store) for body in self._store.messages(session))

    def remove(self, *sessions: str) -> frozenset[str]:
        """Remove what was said in the sessions of these ids, and the answers given for them.

        Returns which were removed: one that is open, here or in another process, stays. A call that
        waits for an answer (a ticket) ends as a no, unless another session waits for it too.
        Records of calls and open unknowns are not the session's, and stay too.
        """
        return self._store.remove(sessions)

    def ids(self) -> frozenset[str]:
        """The id of each, also of such as can not be read: for removing them."""
        return frozenset(self._store.ids())


class SessionKeeper:
    """Keeps the sessions of one gate, bound to its project, its configuration and its name."""

    def __init__(self, store: SqliteSessions, about: SessionAbout, *, keeps: bool) -> None:
        """With `keeps` off nothing is written down, so no session is gone on with either."""
        self._store = store
        self._about = about
        self._keeps = keeps
        self.sessions = Sessions(store)

    def journal(self, session: str, model: str) -> SessionJournal | None:
        """Where the new session of that id is written down; None if it is not."""
        if not self._keeps:
            return None
        about = SessionAbout(*self._about.place(), model=model)
        return self._store.begin(session, about)

    def reopen(self, session: str) -> SessionJournal:
        """The journal of a kept session. Raises `SessionGone` if it can not be gone on with."""
        self._check()
        return self._store.reopen(session, self._about)

    def last(self) -> str:
        """The id of the session that was used last of those that can be gone on with here.

        Raises `SessionGone` if there is none.
        """
        self._check()
        if (last := self._store.last(self._about)) is None:
            raise SessionGone("no session of this project is kept")
        return last

    def _check(self) -> None:
        if not self._keeps:
            raise SessionGone(
                "sessions.keep says never: going on with a session would write down what is said"
            )

    def answered(self, ticket: str, result: ToolResult | Suspended) -> None:
        """A call that waited under `ticket` was answered: its session is to be told.

        Never raises for what can not be kept: the call was made, and its caller has the result.
        """
        try:
            if not self._store.awaited(ticket):
                return
            if isinstance(result, Suspended):
                self._store.waits_again(ticket, result.ticket)
            else:
                (clipped,) = clip_batch([result], TurnLimits())
                self._store.answered(ticket, encoded_result(clipped))
        except LockgateError as error:
            _log.warning("the session of the call does not learn its result: %s", error)


def session_store(
    state: StateDatabase,
    state_dir: Path,
    settings: SessionSettings,
    time: Callable[[], float],
) -> SqliteSessions:
    """The kept sessions in an open state database."""
    keeping = SessionKeeping(settings.keep or None, settings.max_count, settings.max_bytes)
    return SqliteSessions(state, state_dir / "sessions", format=FORMAT, time=time, keeping=keeping)


def session_about(runtime: str, config: Config, project: Path) -> SessionAbout:
    """What binds the sessions of a gate: its id, its project's real directory, and the project's
    own configuration files."""
    real = project.resolve()
    files = [source.resolve() for source in config.sources]
    mine = sorted(str(file) for file in files if file.parent == real)
    return SessionAbout(runtime, str(real), tuple(mine))


def resumable(config: Config, runtime: str, beginning: str, time: Callable[[], float]) -> str:
    """The id of the session to go on with: the one whose id begins so, or that was used last.

    Looked up before anything is started; `beginning` empty is the last. Raises `SessionGone` if
    there is none.
    """
    if config.state_dir is None or not (config.state_dir / "state.db").exists():
        raise SessionGone("no session of this project is kept")
    with open_state(config.state_dir / "state.db", secrets.token_hex(8)) as state:
        store = session_store(state, config.state_dir, config.sessions, time)
        if beginning:
            return store.find(beginning).id
        about = session_about(runtime, config, config.project_dir or Path.cwd())
        return SessionKeeper(store, about, keeps=config.sessions.keep != 0).last()


@contextmanager
def open_sessions(
    state_dir: Path, time: Callable[[], float], settings: SessionSettings | None = None
) -> Generator[Sessions | None]:
    """The kept sessions of the project whose state is in `state_dir`, without opening a gate; None
    if it has no state yet."""
    path = state_dir / "state.db"
    if not path.exists():
        yield None
        return
    with open_state(path, secrets.token_hex(8)) as state:
        yield Sessions(session_store(state, state_dir, settings or SessionSettings(), time))


def _info(kept: KeptSession) -> SessionInfo:
    began = ""
    if kept.first is not None:
        try:
            first = decoded(kept.first)
        except UnreadableMessage:
            began = "(can not be read)"
        else:
            began = first.text if isinstance(first, UserMessage) else ""
    return SessionInfo(
        kept.id, kept.about.model, kept.created, kept.used, kept.messages, kept.size, began
    )


def _decoded(body: bytes, store: SqliteSessions) -> Message:
    try:
        return decoded(body)
    except UnreadableMessage as error:
        raise store.unreadable(error) from error
