"""The database of knowledge: against a dictionary, beside other processes, and broken."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lockgate.builtin.files.blocking import Stop, Stopped
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.knowledge.database import (
    LIMITS,
    Document,
    Library,
    Limits,
    reading,
    writing,
)
from lockgate.builtin.knowledge.words import words_of

IDS = st.sampled_from(["a", "b", "배포", "x/y"])
WORDS = st.sampled_from(["apple", "pear", "데이터베이스", "서버", "deploying", "port 42"])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(", ".join)


def added(path: Path, document: Document, limits: Limits = LIMITS) -> None:
    """Add a document."""
    writing(path, Stop(), lambda library: library.add(document), limits)


def all_of(path: Path) -> tuple[Document, ...]:
    """Every document, the newest first."""
    return reading(path, Stop(), lambda library: library.newest(1000)) or ()


class Collection(RuleBasedStateMachine):
    """Adds, replaces and removes; a dictionary says what has to be there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "knowledge.db"
        self.model: dict[str, Document] = {}

    @rule(id=IDS, title=st.just("") | WORDS, content=TEXTS)
    def keep(self, id: str, title: str, content: str) -> None:
        document = Document(id, title, content)

        def work(library: Library) -> None:
            assert library.get(id) == self.model.get(id)
            if id in self.model:
                library.replace(document)
            else:
                library.add(document)

        writing(self.path, Stop(), work)
        self.model[id] = document

    @rule(id=IDS)
    def remove(self, id: str) -> None:
        writing(self.path, Stop(), lambda library: library.remove(id))
        self.model.pop(id, None)

    @rule(id=IDS, content=TEXTS)
    def fail(self, id: str, content: str) -> None:
        """What raises leaves nothing behind."""

        def work(library: Library) -> None:
            library.remove(id)
            library.add(Document(id, "", content))
            raise FileProblem("test", "test")

        with pytest.raises(FileProblem):
            writing(self.path, Stop(), work)

    @rule(word=WORDS)
    def search(self, word: str) -> None:
        words = words_of(word)
        found = reading(self.path, Stop(), lambda library: library.search(words, 100, every=True))
        ids = {document.id for document in found[1]} if found else set[str]()
        assert ids == {
            one.id
            for one in self.model.values()
            if all(part in f"{one.title}, {one.content}" for part in word.split())
        }

    @invariant()
    def the_same(self) -> None:
        assert {one.id: one for one in all_of(self.path)} == self.model

    def teardown(self) -> None:
        self.folder.cleanup()


Collection.TestCase.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)
TestCollection = Collection.TestCase

_MANY = """
import sys
from pathlib import Path
from lockgate.builtin.files.blocking import Stop
from lockgate.builtin.knowledge.database import Document, writing
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    document = Document(f"{name}-{number}", "", f"about {name} {number}")
    writing(path, Stop(), lambda library: library.add(document))
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """They make the file between them, and every document of each is there and found."""
    path = tmp_path / "knowledge.db"
    others = [subprocess.Popen([sys.executable, "-c", _MANY, str(path), name]) for name in "abc"]
    assert [other.wait(60) for other in others] == [0, 0, 0]
    assert len(all_of(path)) == 60
    found = reading(path, Stop(), lambda library: library.search(("b",), 100, every=True))
    assert found is not None
    assert found[0] == 20


def test_who_searches_does_not_wait_for_who_writes(tmp_path: Path) -> None:
    """And sees what was committed before."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM documents")
    assert len(all_of(path)) == 1
    other.close()


def test_who_writes_waits_for_another_a_while(tmp_path: Path) -> None:
    """Bounded; then it says so, and nothing was done."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(FileProblem) as caught:
        added(path, Document("b", "", "x"), Limits(busy_seconds=0.01))
    other.close()
    assert caught.value.reason == "busy"
    assert [one.id for one in all_of(path)] == ["a"]


def test_a_full_disk_keeps_nothing_of_a_document(tmp_path: Path) -> None:
    """What does not fit is not there in part, and the next that fits is kept."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    with pytest.raises(FileProblem) as caught:
        added(path, Document("b", "", "word " * 50_000), Limits(pages=20))
    assert caught.value.reason == "full"
    added(path, Document("c", "", "y"))
    assert [one.id for one in all_of(path)] == ["c", "a"]


def test_there_is_room_for_so_many(tmp_path: Path) -> None:
    """The collection is bounded; what is removed makes room."""
    path = tmp_path / "knowledge.db"
    few = Limits(documents=1)
    added(path, Document("a", "", "x"), few)
    with pytest.raises(FileProblem) as caught:
        added(path, Document("b", "", "x"), few)
    assert caught.value.reason == "full"
    writing(path, Stop(), lambda library: library.remove("a"))
    added(path, Document("b", "", "x"), few)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"x" * 5000, "damaged"), (b"SQLite format 3\0" + b"\xff" * 5000, "")]
)
def test_a_damaged_file_is_told_and_left(tmp_path: Path, content: bytes, reason: str) -> None:
    """With what a person has to do; it is not written to."""
    path = tmp_path / "knowledge.db"
    path.write_bytes(content)
    for act in (lambda: added(path, Document("a", "", "x")), lambda: all_of(path)):
        with pytest.raises(FileProblem) as caught:
            act()
        assert not reason or caught.value.reason == reason
    assert path.read_bytes() == content


def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    """Also where only a part of it is broken."""
    path = tmp_path / "knowledge.db"
    for number in range(30):
        added(path, Document(f"id-{number}", "", "some words " * 2000))
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xff" * (len(data) - 4096 * 2)
    path.write_bytes(data)
    with pytest.raises(FileProblem, match="is damaged"):
        all_of(path)


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """No name in a configuration can have documents put into it."""
    path = tmp_path / "knowledge.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    for act in (lambda: added(path, Document("a", "", "x")), lambda: all_of(path)):
        with pytest.raises(FileProblem) as caught:
            act()
        assert caught.value.reason == "foreign"
    assert path.read_bytes() == before


def test_a_database_of_a_later_lockgate_is_left_alone(tmp_path: Path) -> None:
    """It may mean something else by what this one would write."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 2")
    other.close()
    with pytest.raises(FileProblem, match="another lockgate"):
        added(path, Document("b", "", "x"))


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM documents; END",
        "CREATE VIEW v AS SELECT * FROM documents",
        "CREATE TABLE theirs (x)",
        "CREATE INDEX i ON documents (title)",
        "ALTER TABLE documents ADD COLUMN more GENERATED ALWAYS AS (id || title)",
        "DROP TABLE words",
    ],
)
def test_a_database_whose_schema_somebody_altered_is_left_alone(tmp_path: Path, sql: str) -> None:
    """A repository may bring the file: a trigger in it would make of adding a removal."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    with sqlite3.connect(path) as other:
        other.execute(sql)
    other.close()
    for act in (lambda: added(path, Document("b", "", "x")), lambda: all_of(path)):
        with pytest.raises(FileProblem) as caught:
            act()
        assert caught.value.reason == "altered"
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT id FROM documents").fetchall() == [("a",)]
    other.close()


def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    """Neither to read nor to write."""
    target = tmp_path / "target.db"
    added(target, Document("a", "", "x"))
    link = tmp_path / "knowledge.db"
    link.symlink_to(target)
    for act in (lambda: added(link, Document("b", "", "x")), lambda: all_of(link)):
        with pytest.raises(FileProblem):
            act()
    assert len(all_of(target)) == 1


def test_what_nobody_waits_for_is_not_kept(tmp_path: Path) -> None:
    """Told to stop in the middle of it, also in the middle of SQLite's own work, nothing stays."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    stop = Stop()

    def half(library: Library) -> None:
        library.add(Document("b", "", "x"))
        stop.set()

    with pytest.raises(Stopped):
        writing(path, stop, half)
    assert [one.id for one in all_of(path)] == ["a"]


def test_a_search_without_end_is_ended(tmp_path: Path) -> None:
    """A query that SQLite is busy with is given up as soon as nobody waits."""
    path = tmp_path / "knowledge.db"
    added(path, Document("a", "", "x"))
    stop = Stop()
    begun = threading.Event()

    def endless(library: Library) -> None:
        begun.set()
        library._connection.execute(  # pyright: ignore[reportPrivateUsage] - no query of ours takes long
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
        ).fetchall()

    caught: list[BaseException] = []

    def work() -> None:
        try:
            reading(path, stop, endless)
        except Stopped as stopped:
            caught.append(stopped)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    stop.set()
    thread.join(10)
    assert len(caught) == 1
