"""The database of knowledge: one SQLite file, opened for each call, with its words in FTS5.

What is searched are the words of `words.indexed`, kept beside the documents as they were given.
Write-ahead mode: whoever searches waits for nobody, and whoever writes a bounded time for another
process. Everything here blocks, and runs in a thread.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from lockgate.builtin.files.blocking import Stop, Stopped
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.knowledge.words import expression, indexed
from lockgate.stores.state import private_directory

APPLICATION_ID: Final = 0x4C474B4E
"""`LGKN`, in the header of the file: a database of something else is never written to."""
SCHEMA: Final = 1
"""The `user_version` that this lockgate writes and reads."""
MAX_DOCUMENTS: Final = 10_000
_SLICE_MS: Final = 50
_STEPS: Final = 1000
"""Steps of SQLite between two looks at whether anybody still waits."""

_DOCUMENTS: Final = """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        content TEXT NOT NULL
    )
    """
_WORDS: Final = "CREATE VIRTUAL TABLE words USING fts5(title, content, tokenize = 'unicode61')"
_MAKE: Final = (
    _DOCUMENTS,
    _WORDS,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA}",
)
_HOLDS: Final = frozenset(
    (name, " ".join(sql.split()))
    for name, sql in (
        ("documents", _DOCUMENTS),
        ("sqlite_autoindex_documents_1", ""),
        ("words", _WORDS),
        ("words_data", "CREATE TABLE 'words_data'(id INTEGER PRIMARY KEY, block BLOB)"),
        (
            "words_idx",
            "CREATE TABLE 'words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
        ),
        ("words_content", "CREATE TABLE 'words_content'(id INTEGER PRIMARY KEY, c0, c1)"),
        ("words_docsize", "CREATE TABLE 'words_docsize'(id INTEGER PRIMARY KEY, sz BLOB)"),
        ("words_config", "CREATE TABLE 'words_config'(k PRIMARY KEY, v) WITHOUT ROWID"),
    )
)
"""Everything that the schema says, tables of FTS5's own among it. A repository may bring the file:
a trigger or a view would have a call do what nobody decided about."""
_T = TypeVar("_T")


class Limits(msgspec.Struct, frozen=True):
    """How far a database may go."""

    documents: int = MAX_DOCUMENTS
    pages: int = 262_144
    """Of the file, by default of 4 KiB each."""
    busy_seconds: float = 5.0
    """How long who writes waits for another process that does."""


LIMITS: Final = Limits()


class Document(msgspec.Struct, frozen=True):
    """Something that is known."""

    id: str
    title: str
    """May be empty."""
    content: str


class Library:
    """An open database. Only for the thread that opened it."""

    def __init__(self, connection: sqlite3.Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits

    def get(self, id: str) -> Document | None:
        """The document of that id."""
        rows = self._rows("SELECT id, title, content FROM documents WHERE id = ?", id)
        return Document(*rows[0]) if rows else None

    def count(self) -> int:
        """How many documents there are."""
        return self._rows("SELECT count(*) FROM documents")[0][0]

    def newest(self, limit: int) -> tuple[Document, ...]:
        """Those that were added last, the last one first."""
        query = "SELECT id, title, content FROM documents ORDER BY number DESC LIMIT ?"
        return tuple(Document(*row) for row in self._rows(query, limit))

    def search(
        self, words: tuple[str, ...], limit: int, *, every: bool
    ) -> tuple[int, tuple[Document, ...]]:
        """How many documents have `every` one of the words, or any, and the best of them."""
        asked = expression(words, every=every)
        count = self._rows("SELECT count(*) FROM words WHERE words MATCH ?", asked)[0][0]
        # A word of a title counts for four of the text.
        rows = self._rows(
            "SELECT d.id, d.title, d.content FROM words JOIN documents d ON d.number = words.rowid"
            " WHERE words MATCH ? ORDER BY bm25(words, 4.0, 1.0), d.number LIMIT ?",
            asked,
            limit,
        )
        return count, tuple(Document(*row) for row in rows)

    def add(self, document: Document) -> None:
        """Keep a document whose id is new. Raises `FileProblem` (`full`) if there is no room."""
        if self.count() >= self._limits.documents:
            text = f"there are {self._limits.documents:,} documents, and no more are kept"
            raise FileProblem("full", text)
        row = (document.id, document.title, document.content)
        self._connection.execute("INSERT INTO documents (id, title, content) VALUES (?, ?, ?)", row)
        self._index(document)

    def replace(self, document: Document) -> None:
        """Keep a document in the place of the one of its id, which has to be there."""
        self._unindex(document.id)
        row = (document.title, document.content, document.id)
        self._connection.execute("UPDATE documents SET title = ?, content = ? WHERE id = ?", row)
        self._index(document)

    def remove(self, id: str) -> None:
        """Remove the document of that id."""
        self._unindex(id)
        self._connection.execute("DELETE FROM documents WHERE id = ?", (id,))

    def _index(self, document: Document) -> None:
        self._connection.execute(
            "INSERT INTO words (rowid, title, content)"
            " SELECT number, ?, ? FROM documents WHERE id = ?",
            (indexed(document.title), indexed(document.content), document.id),
        )

    def _unindex(self, id: str) -> None:
        self._connection.execute(
            "DELETE FROM words WHERE rowid = (SELECT number FROM documents WHERE id = ?)", (id,)
        )

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()


def reading(path: Path, stop: Stop, work: Callable[[Library], _T]) -> _T | None:
    """What `work` makes of the database at `path`; None if there is none yet, and none is made.

    Raises `FileProblem` for one that can not be used, and `Stopped`.
    """
    with _translated():
        try:
            _check_kind(path.lstat().st_mode)
        except FileNotFoundError:
            return None
        with _opened(path, stop, "ro", LIMITS) as connection:
            connection.execute("BEGIN")
            if not _is_ours(connection):
                return None
            return work(Library(connection, LIMITS))


def writing(path: Path, stop: Stop, work: Callable[[Library], _T], limits: Limits = LIMITS) -> _T:
    """What `work` makes of the database at `path`, which is made if there is none; in one
    transaction: all of it is kept, or, if it raises or nobody waits any more, nothing.

    Raises `FileProblem` for one that can not be used, is full or is held by another process, and
    `Stopped`.
    """
    with _translated():
        _prepare(path)
        with _opened(path, stop, "rw", limits) as connection:
            connection.execute(f"PRAGMA max_page_count = {limits.pages}")
            _is_ours(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            _begin(connection, stop, limits)
            if not _is_ours(connection):
                for statement in _MAKE:
                    connection.execute(statement)
            done = work(Library(connection, limits))
            stop.check()
            connection.execute("COMMIT")
            return done


def _begin(connection: sqlite3.Connection, stop: Stop, limits: Limits) -> None:
    """Take the write lock, in short waits, so that a call which is given up leaves no thread."""
    connection.execute(f"PRAGMA busy_timeout = {_SLICE_MS}")
    waits = max(1, int(limits.busy_seconds * 1000 / _SLICE_MS))
    for left in reversed(range(waits)):
        stop.check()
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not left or not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise
        else:
            return


def _prepare(path: Path) -> None:
    """Make the file ourselves: SQLite would make it with the umask's mode."""
    private_directory(path.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        _check_kind(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


def _check_kind(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise _foreign()


@contextmanager
def _opened(path: Path, stop: Stop, mode: str, limits: Limits) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=limits.busy_seconds,
        isolation_level=None,
    )
    try:
        connection.set_progress_handler(lambda: stop.is_set, _STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        if sys.version_info >= (3, 12):  # where Python lets it be set
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
        yield connection
    finally:
        # What was not committed is rolled back with it.
        connection.close()


def _is_ours(connection: sqlite3.Connection) -> bool:
    """Whether it has documents; False if it is empty. Raises `FileProblem` if it is foreign."""
    # In this order: another process may be making it, and both come with one commit.
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    whose = connection.execute("PRAGMA application_id").fetchone()[0]
    if not tables and not whose:
        return False
    if whose != APPLICATION_ID:
        raise _foreign()
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA:
        raise FileProblem(
            "newer",
            f"the database of knowledge was written by another lockgate (schema {version}, this "
            f"one knows {SCHEMA}). Nothing was done",
        )
    _check_schema(connection)
    return True


def _check_schema(connection: sqlite3.Connection) -> None:
    """Refuse a database that holds anything beside what this module makes."""
    rows: list[tuple[str, str | None]] = connection.execute(
        "SELECT name, sql FROM sqlite_schema LIMIT ?", (len(_HOLDS) + 1,)
    ).fetchall()
    held = [(name, " ".join((sql or "").split())) for name, sql in rows]
    if len(held) != len(_HOLDS) or frozenset(held) != _HOLDS:
        raise FileProblem(
            "altered",
            "the database of knowledge holds triggers, views or tables that lockgate did not make, "
            "and is left alone. A person has to move the file away, or name another one (the key "
            "knowledge)",
        )


def _foreign() -> FileProblem:
    return FileProblem(
        "foreign",
        "the file that is configured for knowledge is not a database of it, and is left alone. A "
        "person has to name another one (the key knowledge)",
    )


@contextmanager
def _translated() -> Generator[None]:
    """SQLite's errors, and the system's, as what a model can act on; no value is in them."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or type(error).__name__
        if name.startswith("SQLITE_INTERRUPT"):
            raise Stopped from None
        raise _told(name, error) from None
    except OSError as error:
        what = error.strerror or type(error).__name__
        text = f"the database of knowledge can not be used: {what}. Nothing was done"
        raise FileProblem("not_kept", text) from None


def _told(name: str, error: sqlite3.Error) -> FileProblem:
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        text = "another program is writing to the database of knowledge. Nothing was done: try it "
        return FileProblem("busy", text + "again later")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        text = "the database of knowledge is damaged. Nothing was done: a person has to move the "
        return FileProblem("damaged", text + "file away, with its -wal and -shm neighbours")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        text = "there is no room left for the database of knowledge, or its disk fails"
        return FileProblem("full", f"{text} ({name}). Nothing was done")
    if "no such module: fts5" in str(error):
        text = "this Python's SQLite has no full-text search (FTS5): nothing can be kept"
        return FileProblem("no_fts5", text)
    text = f"the database of knowledge can not be used ({name}). Nothing was done"
    return FileProblem("not_kept", text)
