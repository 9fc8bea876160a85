"""The state database: made private, migrated once, and never written over."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lockgate.errors import LocalError
from lockgate.stores.migrations import MIGRATIONS
from lockgate.stores.state import StateError, open_state


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_private(tmp_path: Path) -> None:
    """The file and its side files are 0600, the directories it makes 0700, whatever the umask."""
    path = tmp_path / "a" / "b" / "state.db"
    before = os.umask(0)
    try:
        with open_state(path, "o") as state, state.writing():
            files = sorted(path.parent.iterdir())
    finally:
        os.umask(before)
    assert [file.name for file in files] == ["state.db", "state.db-shm", "state.db-wal"]
    assert {mode(directory) for directory in (path.parent, path.parent.parent)} == {0o700}


def test_its_side_files_are_private_too(tmp_path: Path) -> None:
    """SQLite gives the write-ahead log the mode of the database."""
    path = tmp_path / "state.db"
    before = os.umask(0)
    try:
        with open_state(path, "o") as state, state.writing():
            assert {mode(file) for file in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_each_commit_is_synced_unless_it_says_otherwise(tmp_path: Path) -> None:
    """Whatever the one before said (decisions 0012 and 0045)."""
    full, normal = 2, 1
    levels: list[int] = []
    with open_state(tmp_path / "state.db", "o") as state:
        for options in ({}, {"synced": False}, {"synced": False}, {}, {"synced": True}):
            with state.writing(**options) as connection:
                levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
    assert levels == [full, normal, normal, full, full]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """An existing state database is made private when it is opened."""
    path = tmp_path / "state.db"
    open_state(path, "o").close()
    path.chmod(0o644)
    open_state(path, "o").close()
    assert mode(path) == 0o600


def test_opening_it_again_changes_nothing(tmp_path: Path) -> None:
    """Migrations are applied once, and what was written stays."""
    path = tmp_path / "state.db"
    for _ in range(3):
        with open_state(path, "o") as state:
            versions = state.rows("SELECT version FROM migrations ORDER BY version")
            assert versions == [(migration.version,) for migration in MIGRATIONS]
    with open_state(path, "o") as state:
        assert state.rows("PRAGMA journal_mode") == [("wal",)]
        assert state.rows("PRAGMA synchronous") == [(2,)]


def test_many_processes_may_open_it_first(tmp_path: Path) -> None:
    """Processes that start together on an empty directory all come to an open database."""
    program = (
        "import sys; from pathlib import Path; from lockgate.stores.state import open_state\n"
        "sys.stdin.readline()\n"
        "open_state(Path(sys.argv[1]), 'o').close()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "s" / "state.db")]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=30)[1] for process in started]
    assert errors == [""] * 4


def foreign(path: Path) -> None:
    """A database of another program."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (id)")
    connection.commit()
    connection.close()


def marked(path: Path) -> None:
    """An empty database that bears another program's mark."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 7")
    connection.close()


def newer(path: Path) -> None:
    """A state database of a version that is yet to come."""
    with open_state(path, "o") as state, state.writing() as connection:
        connection.execute("INSERT INTO migrations (version, name) VALUES (999, 'later')")


def garbage(path: Path) -> None:
    """A file that is no database."""
    path.write_bytes(b"not a database, whatever its name says" * 100)


def damaged(path: Path) -> None:
    """A state database with its middle overwritten."""
    open_state(path, "o").close()
    data = bytearray(path.read_bytes())
    data[100:2000] = b"\xff" * 1900
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign, "another program"),
        (marked, "another program"),
        (newer, "newer lockgate"),
        (garbage, "damaged"),
        (damaged, "damaged"),
    ],
)
def test_what_is_not_ours_is_left_alone(tmp_path: Path, make: object, words: str) -> None:
    """A foreign, newer or damaged file is a clear error with its path, and not one byte changes."""
    path = tmp_path / "state.db"
    assert callable(make)
    make(path)
    before = path.read_bytes()
    with pytest.raises(StateError, match=words) as caught:
        open_state(path, "o")
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_place_that_is_no_directory_is_a_clear_error(tmp_path: Path) -> None:
    """A state directory that can not be made is told with its path and what it needs."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="can not be opened") as caught:
        open_state(tmp_path / "file" / "state.db", "o")
    assert caught.value.problems[0].hint


def test_a_directory_in_its_place_is_a_clear_error(tmp_path: Path) -> None:
    """A directory of that name is no database."""
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StateError):
        open_state(tmp_path / "state.db", "o")


def test_a_transaction_that_raises_leaves_nothing(tmp_path: Path) -> None:
    """Whatever is raised inside, the block is undone as a whole."""

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO migrations (version, name) VALUES (500, 'half')")
        raise KeyboardInterrupt

    with open_state(tmp_path / "state.db", "o") as state:
        with pytest.raises(KeyboardInterrupt), state.writing() as connection:
            half(connection)
        assert state.rows("SELECT 1 FROM migrations WHERE version = 500") == []
        with state.writing() as connection:
            connection.execute("INSERT INTO migrations (version, name) VALUES (501, 'whole')")
        assert state.rows("SELECT 1 FROM migrations WHERE version = 501") == [(1,)]


def test_a_writer_that_never_ends_is_waited_for_in_bounds(tmp_path: Path) -> None:
    """While another process writes, a write waits a bounded time and then says why it failed."""
    path = tmp_path / "state.db"
    with open_state(path, "a") as one, open_state(path, "b") as other, one.writing():
        assert other.rows("SELECT count(*) FROM tickets") == [(0,)]
        with pytest.raises(StateError, match="locked"), other.writing():
            pass


def test_using_it_after_closing_is_a_misuse(tmp_path: Path) -> None:
    """A closed database says so; closing twice is fine."""
    state = open_state(tmp_path / "state.db", "o")
    state.close()
    state.close()
    with pytest.raises(LocalError, match="used wrongly"):
        state.rows("SELECT 1")


def test_using_it_from_another_thread_is_a_misuse(tmp_path: Path) -> None:
    """It belongs to the thread that opened it, and says so instead of racing."""
    told: list[BaseException] = []
    with open_state(tmp_path / "state.db", "o") as state:

        def use() -> None:
            try:
                state.rows("SELECT 1")
            except LocalError as error:
                told.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join(10)
    assert len(told) == 1
