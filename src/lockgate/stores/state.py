"""The state database: what must outlive the process that wrote it.

One SQLite file in write-ahead mode. Readers never wait for a writer, and writers are short: one
statement or two, then a commit. So it is used on the loop's own thread: a thread pool would cost
more than most of these calls, and a cancelled await could leave a commit half believed in. What
blocks is the disk, and, for at most `BUSY_SECONDS`, another process that is writing.

Suspensions, answers and unknown outcomes are synced to the disk with each commit: a power failure
must not take back that a ticket was used, and they are seldom. What is said in a session is not,
since that is written all the time (docs/decisions/0045): it has left the process, and a later
commit that is synced takes it along.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lockgate.errors import ConfigError, LocalError, LockgateError, Problem
from lockgate.stores.migrations import MIGRATIONS

APPLICATION_ID: Final = 0x4C474154
"""`LGAT`, in the header of the file: a database of another program is never written to."""

BUSY_SECONDS: Final = 2.0
"""How long a write waits for another process, with the loop standing still meanwhile."""


class StateError(ConfigError):
    """The state database can not be used: damaged, of another program, of a newer version, full
    or not writable. It is left as it is; the message says what to do."""


class StateDatabase:
    """An open state database. Made by `open_state`; its maker closes it."""

    def __init__(self, connection: sqlite3.Connection, path: Path, owner: str) -> None:
        self._connection = connection
        self.path = path
        self.owner = owner
        """A word for this opening of it, different each time: whose intents are in flight."""
        self._syncs = True

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What one query finds. Foreign errors become `StateError` or `LocalError`."""
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _told(error, self.path) from error

    @contextmanager
    def writing(self, *, synced: bool = True) -> Generator[sqlite3.Connection]:
        """One transaction: committed at the end of the block, rolled back if it raises.

        The write lock is taken at the start, so what the block reads is what it decides on. The
        block must not await. Unless `synced`, a power failure may take the commit back; the end of
        this process does not.
        """
        with _translated(self.path):
            if synced is not self._syncs:
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
                self._syncs = synced
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def unreadable(self, what: str, error: Exception, then: str = "") -> StateError:
        """The error for a row that can not be read; its content is not in it. `then` is what
        follows from that."""
        return StateError(
            Problem(
                f"{what} in the state database can not be read: {type(error).__name__}",
                file=self.path,
                hint=f"it was damaged, or written by another version of lockgate{then}",
            )
        )

    def close(self) -> None:
        """Close it. Idempotent; using it afterwards is a `LocalError`."""
        with _translated(self.path):
            self._connection.close()

    def __enter__(self) -> StateDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_state(path: Path, owner: str) -> StateDatabase:
    """Open the database at `path`, make it (0600, its directory 0700) if there is none.

    `owner` is a word that no other opening of it has or had, such as a random one.
    Missing migrations are applied, all or none of them, safely beside other processes.
    Raises `StateError` for a file that is damaged, of another program or of a newer version, and
    for a place that can not be written; the file is then left as it is.
    """
    _prepare(path)
    with _translated(path):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    state = StateDatabase(connection, path, owner)
    try:
        with _translated(path):
            newest = _newest(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
        if newest != MIGRATIONS[-1].version:
            _migrate(state)
    except BaseException:
        connection.close()
        raise
    return state


def private_directory(path: Path) -> None:
    """Make `path` and its missing parents, readable by their owner alone. Raises OSError.

    A directory that exists is left as it is: its owner may have reasons.
    """
    missing = [path] if not path.exists() else []
    missing += [parent for parent in path.parents if not parent.exists()]
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)


def _prepare(path: Path) -> None:
    """Make the file ourselves: SQLite would make it, and its side files, with the umask's mode."""
    try:
        private_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise StateError(Problem("is not a regular file", file=path))
            if stat.S_IMODE(mode) & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StateError(
            Problem(
                f"the state database can not be opened: {error.strerror or error}",
                file=path,
                hint="it needs a directory that this user may write to",
            )
        ) from error


def _newest(connection: sqlite3.Connection, path: Path) -> int:
    """The newest migration that the file has had, 0 for an empty one. Raises unless the file is
    empty or ours, and not from the future."""
    # In this order: another process may be making the file, and both come with one commit.
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    whose = connection.execute("PRAGMA application_id").fetchone()[0]
    if whose != APPLICATION_ID and (tables or whose):
        raise StateError(
            Problem(
                "is a database of another program",
                file=path,
                hint="name another state directory; this file was not touched",
            )
        )
    if not tables:
        return 0
    known = MIGRATIONS[-1].version
    newest = connection.execute("SELECT max(version) FROM migrations").fetchone()[0]
    if newest is not None and newest > known:
        raise StateError(
            Problem(
                f"was written by a newer lockgate (schema {newest}, this one knows {known})",
                file=path,
                hint="update lockgate, or name another state directory",
            )
        )
    return newest or 0


def _migrate(state: StateDatabase) -> None:
    """Apply what is missing, in one transaction: each commit syncs the disk, which is most of what
    a new database costs."""
    with state.writing() as connection:
        # Looked up under the write lock: another process may have been first.
        had: set[int] = set()
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            had.update(row[0] for row in connection.execute("SELECT version FROM migrations"))
        else:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for migration in MIGRATIONS:
            if migration.version not in had:
                for statement in migration.statements:
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO migrations (version, name) VALUES (?, ?)",
                    (migration.version, migration.name),
                )


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _told(error, path) from error


def _told(error: sqlite3.Error, path: Path) -> LockgateError:
    """What SQLite says, in our words: whose fault it is and what to do."""
    if isinstance(error, sqlite3.ProgrammingError):
        return LocalError(f"the state database was used wrongly: {error}")
    if isinstance(error, sqlite3.OperationalError):
        what, hint = "failed", "look whether the disk is full and the directory writable"
    else:
        what, hint = "is damaged", _DAMAGED
    return StateError(Problem(f"the state database {what}: {error}", file=path, hint=hint))


_DAMAGED: Final = (
    "move the file away (with its -wal and -shm neighbours) to start afresh; open tickets and "
    "grants are then lost, and nothing that waits for an answer will run"
)
