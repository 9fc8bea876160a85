"""Kept sessions: written as they are said, bound to their place, one holder, bounded, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from lockgate.calls.suspension import TicketGone
from lockgate.calls.waiting import Waiting
from lockgate.errors import LocalError
from lockgate.policy.grants import Grant
from lockgate.stores.grants import SqliteGrants
from lockgate.stores.session_journal import SessionAbout, SessionGone
from lockgate.stores.session_lock import lock_session
from lockgate.stores.sessions import SessionKeeping, SqliteSessions
from lockgate.stores.state import StateDatabase, StateError, open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.testing.clock import FakeClock

HERE = SessionAbout("agent:main", "/here", ("/here/lockgate.yaml",), "scripted:a")

Sessions = Callable[..., SqliteSessions]


@pytest.fixture
def clock() -> FakeClock:
    """What the time is."""
    return FakeClock()


@pytest.fixture
def state(tmp_path: Path) -> Generator[StateDatabase]:
    """An open state database."""
    with open_state(tmp_path / "state.db", "one") as state:
        yield state


@pytest.fixture
def sessions(state: StateDatabase, tmp_path: Path, clock: FakeClock) -> Sessions:
    """`sessions(format=1, age=..., count=..., size=...)`."""

    def make(format: int = 1, **bounds: float | None) -> SqliteSessions:
        keeping = SessionKeeping(**bounds)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - keywords as they come
        locks = tmp_path / "sessions"
        return SqliteSessions(state, locks, format=format, time=clock, keeping=keeping)

    return make


def test_what_is_said_waits_for_no_disk_and_what_is_answered_does(
    sessions: Sessions, state: StateDatabase
) -> None:
    """A message costs no sync, which would stop every session of the runtime; a grant has one."""
    journal = sessions().begin("a" * 32, HERE)
    for step in (lambda: journal.write([b"1"]), lambda: journal.note_seen(b"{}")):
        step()
        assert state.rows("PRAGMA synchronous") == [(1,)]
    grant = Grant("a" * 32, "add", "f", frozenset(), None, True, "person", 1.0)
    SqliteGrants(state).remember(grant)
    assert state.rows("PRAGMA synchronous") == [(2,)]


def test_what_was_said_is_there_for_the_next_who_opens_it(sessions: Sessions) -> None:
    """In order, in as many writes as there were, with what was noted of it."""
    journal = sessions().begin("a" * 32, HERE)
    journal.write([b"1", b"2"])
    journal.write([b"3"])
    journal.note_seen(b"{}")
    journal.close()
    again = sessions().reopen("a" * 32, HERE)
    assert again.read() == (b"1", b"2", b"3")
    assert again.seen() == b"{}"
    again.write([b"4"])
    assert again.read()[-1] == b"4"
    again.close()
    [kept] = sessions().kept()
    assert (kept.messages, kept.size, kept.first, kept.about) == (4, 4, b"1", HERE)


def test_nothing_is_kept_of_a_session_in_which_nothing_was_said(
    sessions: Sessions, tmp_path: Path
) -> None:
    """An agent that was made and never used leaves no row and no file."""
    journal = sessions().begin("a" * 32, HERE)
    journal.note_seen(b"{}")
    assert (journal.read(), journal.seen(), journal.waiting()) == ((), None, ())
    journal.close()
    assert sessions().kept() == ()
    assert not (tmp_path / "sessions").exists()


def test_one_holder_at_a_time(sessions: Sessions, tmp_path: Path) -> None:
    """A session that is open is refused, not interleaved; when it ends it is free, and its lock
    leaves no file behind."""
    journal = sessions().begin("a" * 32, HERE)
    journal.write([b"1"])
    with pytest.raises(SessionGone, match="open elsewhere"):
        sessions().reopen("a" * 32, HERE)
    assert sessions().remove(["a" * 32]) == frozenset()
    journal.close()
    journal.close()
    again = sessions().reopen("a" * 32, HERE)
    with pytest.raises(LocalError, match="closed"):
        journal.write([b"2"])
    again.close()
    assert [*(tmp_path / "sessions").iterdir()] == []


def test_a_holder_that_dies_holds_nothing(tmp_path: Path) -> None:
    """The system frees the lock of a process that is killed; its file stands in nobody's way."""
    program = (
        "import sys, os, signal; from pathlib import Path;"
        "from lockgate.stores.session_lock import lock_session;"
        "lock = lock_session(Path(sys.argv[1]), 's'); print('held', flush=True);"
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert lock_session(tmp_path, "s") is None
        holder.kill()
    lock = lock_session(tmp_path, "s")
    assert lock is not None
    lock.free()


@pytest.mark.parametrize(
    ("elsewhere", "said"),
    [
        (SessionAbout("agent:main", "/there", HERE.files), 'made in "/here", and this is "/there"'),
        (SessionAbout("agent:main", "/here", ("/here/b.yaml",)), 'made with "/here/lockgate.yaml"'),
        (SessionAbout("agent:other", "/here", HERE.files), "made by agent:main"),
    ],
)
def test_a_session_goes_on_where_it_was_made(
    sessions: Sessions, elsewhere: SessionAbout, said: str
) -> None:
    """Another project, configuration or runtime is told where to go on; another model may."""
    journal = sessions().begin("a" * 32, HERE)
    journal.write([b"1"])
    journal.close()
    with pytest.raises(SessionGone, match=said):
        sessions().reopen("a" * 32, elsewhere)
    sessions().reopen("a" * 32, SessionAbout(*HERE.place(), model="other")).close()


def test_a_session_that_is_not_there(sessions: Sessions, tmp_path: Path) -> None:
    """Whatever is given as its id is told back harmless, and reaches no file."""
    for id in ("", "../../x", "a\x1b[2J", "\ud800"):
        with pytest.raises(SessionGone, match="no session"):
            sessions().reopen(id, HERE)
    assert not (tmp_path / "sessions").exists()


def test_a_later_format_is_refused(sessions: Sessions) -> None:
    """What a later lockgate wrote is not half read."""
    journal = sessions(format=2).begin("a" * 32, HERE)
    journal.write([b"1"])
    journal.close()
    with pytest.raises(StateError, match="another version"):
        sessions().reopen("a" * 32, HERE)
    with pytest.raises(StateError, match="another version"):
        sessions().messages("a" * 32)


def test_a_beginning_of_its_id_finds_it(sessions: Sessions) -> None:
    """If it is long enough and says which."""
    for id in ("abcdef11", "abcdef22", "bcdefg33"):
        journal = sessions().begin(id, HERE)
        journal.write([b"1"])
        journal.close()
    assert sessions().find("bcdefg").id == "bcdefg33"
    assert sessions().find("abcdef11").id == "abcdef11"
    for beginning, said in (("abcdef", "more than one"), ("bcd", "at least 6"), ("xyzxyz", "no")):
        with pytest.raises(SessionGone, match=said):
            sessions().find(beginning)


def test_age_count_and_size_are_bounded(sessions: Sessions, clock: FakeClock) -> None:
    """When one begins, what is too old or too much goes, the longest unused first; one that is
    open stays."""

    def say(bounds: dict[str, float], *ids: str) -> list[str]:
        for id in ids:
            journal = sessions(**bounds).begin(id, HERE)
            journal.write([b"0123456789"])
            journal.close()
            clock.advance(10)
        return sorted(one.id for one in sessions().kept())

    assert say({"count": 2}, "a", "b", "c") == ["b", "c"]
    assert say({"size": 15}, "d") == ["c", "d"]
    clock.advance(100)
    held = sessions().reopen("d", HERE)
    assert say({"age": 60}, "e") == ["d", "e"]
    held.close()


def test_a_session_has_a_bound_of_its_own(sessions: Sessions) -> None:
    """What does not fit is refused whole, and says which key to raise."""
    journal = sessions(size=10).begin("a", HERE)
    journal.write([b"12345"])
    with pytest.raises(LocalError, match=r"sessions\.maxBytes"):
        journal.write([b"1", b"123456"])
    assert journal.read() == (b"12345",)
    journal.close()


def test_what_can_not_be_written_is_not_half_there(
    sessions: Sessions, state: StateDatabase
) -> None:
    """A database that takes no write: an error of ours, and once it does the session goes on
    without a hole. Also for the first message of all, whose lock is held from then on."""
    journal = sessions().begin("a" * 32, HERE)
    for said in ([b"1"], [b"2", b"3"]):
        state.rows("PRAGMA query_only = ON")
        before = journal.read()
        with pytest.raises(StateError, match="disk is full"):
            journal.write(said)
        assert journal.read() == before
        state.rows("PRAGMA query_only = OFF")
        journal.write(said)
    assert journal.read() == (b"1", b"2", b"3")
    journal.close()


def test_what_is_removed_is_gone_from_the_files(
    sessions: Sessions, state: StateDatabase, tmp_path: Path
) -> None:
    """Its words, its answers for the session; overwritten, not only unlinked."""
    secret = b"a-word-that-nobody-else-says"
    journal = sessions().begin("a" * 32, HERE)
    journal.write([secret])
    journal.note_waiting([Waiting("1", "add", "t")])
    journal.close()
    grants = SqliteGrants(state)
    for session in ("a" * 32, "b" * 32):
        grants.remember(Grant(session, "add", "f", frozenset(), None, True, "person", 1.0))
    assert sessions().remove(["a" * 32, "none"]) == {"a" * 32}
    assert [kept.grant.session for kept in grants.kept()] == ["b" * 32]
    assert state.rows("SELECT * FROM waiting_calls") == []
    for file in tmp_path.iterdir():
        assert file.is_dir() or secret not in file.read_bytes()


def test_calls_that_wait_for_a_removed_session_end_as_a_no(
    sessions: Sessions, state: StateDatabase
) -> None:
    """Their arguments were said in it. One that another session waits for too stays open."""
    store = sessions()
    waiting = {"a" * 32: ["mine", "both"], "b" * 32: ["both", "other"]}
    for session, tickets in waiting.items():
        journal = store.begin(session, HERE)
        journal.write([b"1"])
        journal.note_waiting([Waiting(ticket, "add", ticket) for ticket in tickets])
        journal.close()
    with state.writing() as connection:
        for ticket in ("mine", "both", "other", "elsewhere"):
            connection.execute(
                "INSERT INTO tickets (id, execution, call_id, digest, expires, body)"
                " VALUES (?, 'e', ?, 'd', 9e9, 'the arguments')",
                (ticket, ticket),
            )
    store.remove(["a" * 32])
    rows = state.rows("SELECT id, approved, body FROM tickets ORDER BY answered IS NULL, id")
    assert rows[0] == ("mine", 0, "")
    assert [row[:2] for row in rows[1:]] == [("both", None), ("elsewhere", None), ("other", None)]
    with pytest.raises(TicketGone, match="no, by removal of its session"):
        SqliteTickets(state).get("mine")


def test_only_the_person_can_read_it(sessions: Sessions, tmp_path: Path) -> None:
    """The database 0600, the directory of locks 0700."""
    os.umask(0o022)
    journal = sessions().begin("a" * 32, HERE)
    journal.write([b"1"])
    assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "sessions").stat().st_mode & 0o777 == 0o700
    journal.close()


def test_calls_that_wait_are_told_of_as_they_are_answered(
    sessions: Sessions, state: StateDatabase, clock: FakeClock
) -> None:
    """By what the tickets say, and the result where one was brought back."""
    journal = sessions().begin("a", HERE)
    journal.write([b"1"])
    now = clock()
    tickets = [
        ("open", now + 10, None, None),
        ("late", now, None, None),
        ("no", now + 10, now, 0),
        ("yes", now + 10, now, 1),
    ]
    with state.writing() as connection:
        connection.executemany(
            "INSERT INTO tickets (id, execution, call_id, digest, expires, body,"
            " answered, approved) VALUES (?1, 'e', ?1, 'd', ?2, '', ?3, ?4)",
            tickets,
        )
    names = [*(ticket[0] for ticket in tickets), "never", "moved"]
    journal.note_waiting([Waiting(name, "add", name) for name in names])
    sessions().waits_again("moved", "open")
    told = {one.call_id: one.answered for one in journal.waiting()}
    assert told == {
        "open": "open",
        "late": "refused",
        "no": "refused",
        "yes": "unknown",
        "never": "unknown",
        "moved": "open",
    }
    assert sessions().awaited("open")
    sessions().answered("open", b"{}")
    assert not sessions().awaited("open")
    with_result = [one for one in journal.waiting() if one.answered == "result"]
    assert [(one.call_id, one.result) for one in with_result] == [("open", b"{}"), ("moved", b"{}")]
    journal.forget(with_result)
    assert [one.call_id for one in journal.waiting()] == ["late", "no", "yes", "never"]
    journal.close()


def test_a_session_that_can_not_be_read_can_be_removed(
    sessions: Sessions, state: StateDatabase
) -> None:
    """It is told of without its content."""
    with state.writing() as connection:
        connection.execute(
            "INSERT INTO sessions VALUES ('a', ?, 1, 0, 2e9, 0, NULL)", (json.dumps("secret"),)
        )
    with pytest.raises(StateError, match="can not be read") as raised:
        sessions().kept()
    assert "secret" not in str(raised.value)
    journal = sessions().begin("b" * 32, HERE)
    journal.write([b"1"])
    journal.close()
    assert sessions().find("bbbbbb").messages == 1
    assert sessions().remove(sessions().ids()) == {"a", "b" * 32}
    assert sessions().kept() == ()
