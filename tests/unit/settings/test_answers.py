"""The file of what a person answers for good: one answer in, one out, all else as it was."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.answers import (
    Answered,
    AnsweredRule,
    AnsweredVerdict,
    keep_answer,
    kept_answers,
    take_back,
)
from lockgate.settings.filelock import locked
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.traits import DestructiveBehavior, SideEffectLevel

PIN, OTHER = "0" * 63 + "a", "1" * 64
RULE = AnsweredRule('mcp__db__drop(table="t")', True, PIN)
MILD = AnsweredRule('mcp__db__add(note="a: #b\\n")', False, PIN)
READS = AnsweredVerdict("db", "read it", "read-only", OTHER)
ADDS = AnsweredVerdict("db", "add", "additive", PIN)
ALL: tuple[Answered, ...] = (RULE, MILD, READS, ADDS)

NEW_FILE = f"""\
# What you answered for good in this project. lockgate grants list tells it in words, and
# lockgate grants revoke takes it back.
permissions:
  allow:
    - rule: "mcp__db__drop(table=\\"t\\")"
      exact: true
      destructive: true
      pin: {PIN}
mcp:
  servers:
    - name: db
      verdicts:
        "read it": {{level: read-only, pin: "{OTHER}"}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is not there yet, in a directory that is not there either."""
    return tmp_path / "state" / "answers.yaml"


def said(file: Path) -> list[Answered]:
    """What stands in it."""
    return [kept.answered for kept in kept_answers(file)]


def test_a_new_file_says_what_it_is_and_is_the_persons_alone(file: Path) -> None:
    """Made with its directory, readable by nobody else."""
    keep_answer(file, RULE)
    keep_answer(file, READS)
    assert file.read_text() == NEW_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_answer_says_where_it_stands(file: Path) -> None:
    """With a word of its own, by which it is taken back."""
    for answered in ALL:
        keep_answer(file, answered)
    kept = kept_answers(file)
    assert [one.answered for one in kept] == list(ALL)
    assert len({one.id for one in kept}) == 4
    assert [(one.place.file, one.place.line) for one in kept[:1]] == [(file, 5)]
    assert kept_answers(file.with_name("none")) == ()


def test_the_same_answer_again_changes_nothing_and_another_takes_its_place(file: Path) -> None:
    """One call has one rule, one tool has one word."""
    for answered in ALL:
        keep_answer(file, answered)
    before = file.read_bytes()
    for answered in ALL:
        keep_answer(file, answered)
    assert file.read_bytes() == before
    changed = AnsweredRule(RULE.text, RULE.destructive, OTHER)
    word = AnsweredVerdict("db", "read it", "additive", PIN)
    keep_answer(file, changed)
    keep_answer(file, word)
    assert sorted(map(str, said(file))) == sorted(map(str, (changed, MILD, word, ADDS)))


WRITTEN = """\
# mine
permissions:
    deny: [mcp__db__wipe]   # never
    allow:
    # by hand
    -   rule: mcp__db__list
        reason: 'it only lists'
mcp: {servers: [{name: files, verdicts: {write: {destructive: true}}}]}
"""


def test_what_was_written_by_hand_stays_and_is_no_answer(file: Path) -> None:
    """Comments, quotes and layout byte for byte; a deny rule and a strict verdict are no answers
    and are not taken back with all of them."""
    file.parent.mkdir()
    file.write_text(WRITTEN)
    assert said(file) == []
    for answered in ALL:
        keep_answer(file, answered)
    text = file.read_text()
    for line in WRITTEN.splitlines()[:-1]:
        assert line in text.splitlines()
    assert len(take_back(file, None)) == 4
    assert said(file) == []
    assert file.read_text().splitlines()[:-1] == WRITTEN.splitlines()[:-1]
    assert take_back(file, None) == frozenset()


def test_a_word_by_hand_is_not_replaced(file: Path) -> None:
    """Two words on one tool would be a fault: it is told where the other stands."""
    file.parent.mkdir()
    file.write_text("mcp:\n  servers:\n    - name: db\n      verdicts: {add: {idempotent: true}}\n")
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="says something of the tool add already") as error:
        keep_answer(file, ADDS)
    assert error.value.problems[0].line == 4
    assert file.read_bytes() == before


def test_answers_are_taken_back_one_by_one(file: Path) -> None:
    """The last word on a server takes its entry with it; what is unknown is not counted."""
    for answered in ALL:
        keep_answer(file, answered)
    ids = {kept.answered: kept.id for kept in kept_answers(file)}
    left = list(ALL)
    for answered in ALL:
        left.remove(answered)
        gone = take_back(file, frozenset({ids[answered], "a000"}))
        assert (gone, said(file)) == ({ids[answered]}, left)
    assert "name: db" not in file.read_text()
    keep_answer(file, READS)
    keep_answer(file, RULE)
    assert said(file) == [RULE, READS]


LAYOUTS = [
    "",
    "# nothing\n",
    "permissions:\n",
    "permissions: {}\n",
    "permissions: {allow: []}\n",
    "permissions:\n  allow: []  # none\n",
    "permissions:\n  allow:\n  - mcp__x\n",
    "permissions:\r\n  allow:\r\n    - mcp__x\r\n",
    "{permissions: {allow: [mcp__x]}, mcp: {servers: []}}\n",
    "mcp:\n  servers:\n  - name: db\n    verdicts:\n      b: {level: mutating}\n",
    "mcp:\n  servers:\n  - {name: db, verdicts: {b: {level: mutating}}}",
    "mcp:\n  servers:\n  - name: db\n\n# the end\n",
    "\ufeffmcp:\n  servers:\n  - name: db\n    verdicts:\n      b:\n        level: mutating\n",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_usual_layout_takes_answers_and_gives_them_back(file: Path, layout: str) -> None:
    """What was there before is there afterwards."""
    file.parent.mkdir()
    file.write_bytes(layout.encode())
    for answered in ALL:
        keep_answer(file, answered)
    assert sorted(map(str, said(file))) == sorted(map(str, ALL))
    assert len(take_back(file, None)) == 4
    left = file.read_bytes().decode()
    assert left.startswith("\ufeff") is layout.startswith("\ufeff")
    for word in ("mcp__x", "level: mutating", "# the end", "# none", "# nothing"):
        assert (word in left) is (word in layout)


TEXT = st.text(min_size=1, max_size=30)


@given(argument=TEXT, tool=TEXT)
def test_any_text_survives_being_written(
    tmp_path_factory: pytest.TempPathFactory, argument: str, tool: str
) -> None:
    """Rules and names come back as they were."""
    file = tmp_path_factory.mktemp("any") / "answers.yaml"
    answers = (AnsweredRule(argument, True, PIN), AnsweredVerdict("s", tool, "additive", OTHER))
    try:
        for answered in answers:
            keep_answer(file, answered)
    except ConfigError:
        return  # blank texts are no rules
    assert said(file) == list(answers)


@pytest.mark.parametrize(
    "content",
    [
        b"permissions: [",
        b"\xff\xfe",
        b"allow: []\n",
        b"agent: {ceiling: mutating}\n",
        b"permissions: {allow: 1}\n",
        b"- a list\n",
    ],
)
def test_a_file_that_can_not_be_used_is_left_as_it_is(file: Path, content: bytes) -> None:
    """PB-157: nothing is written over what is damaged, or is no file of answers."""
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ConfigError):
        keep_answer(file, RULE)
    with pytest.raises(ConfigError):
        kept_answers(file)
    assert file.read_bytes() == content


def test_a_file_that_was_made_read_only_is_left_as_it_is(file: Path) -> None:
    """PB-157: replacing it would need no permission of its own, and is not done."""
    keep_answer(file, RULE)
    file.chmod(0o444)
    before = file.read_bytes()
    for change in (lambda: keep_answer(file, READS), lambda: take_back(file, None)):
        with pytest.raises(ConfigError, match="is read-only"):
            change()
    assert file.read_bytes() == before


def test_a_full_disk_leaves_the_file_and_nothing_beside_it(file: Path) -> None:
    """PB-157: the old content or the new one, never a part."""
    keep_answer(file, RULE)
    before = file.read_bytes()
    code = f"""
import resource
from pathlib import Path
from lockgate.errors import ConfigError
from lockgate.settings.answers import AnsweredVerdict, keep_answer
resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
try:
    keep_answer(Path({str(file)!r}), AnsweredVerdict("db", "add", "additive", {PIN!r}))
except ConfigError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "can not be written: File too large" in done.stdout
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_lock_that_is_held_is_not_waited_for_without_end(file: Path) -> None:
    """PB-157: a call does not hang on another program that changes the file."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(file):
            held.set()
            done.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert held.wait(10)
        with pytest.raises(ConfigError, match="being changed by another program"):
            keep_answer(file, RULE)
    finally:
        done.set()
        other.join()
    keep_answer(file, RULE)


def test_processes_that_answer_at_once_lose_nothing(file: Path) -> None:
    """PB-157: each change is made on what the one before has written."""
    code = """
import sys
from pathlib import Path
from lockgate.settings.answers import AnsweredRule, keep_answer
for i in range(8):
    keep_answer(Path(sys.argv[1]), AnsweredRule(f"t(a={sys.argv[2]}, b={i})", False, "0" * 64))
"""
    both = [subprocess.Popen([sys.executable, "-c", code, file, str(n)]) for n in range(3)]
    assert [process.wait(60) for process in both] == [0, 0, 0]
    assert len(said(file)) == 24


@pytest.mark.req("S0-08")
def test_the_next_start_reads_what_was_kept(project: Path, environ: dict[str, str]) -> None:
    """A rule for attended runs with exactly these arguments and its pin; a verdict with its own."""
    (project / "lockgate.yaml").write_text("mcp: {servers: [{name: db, command: db}]}\n")
    layers = locate(project, environ, project / "lockgate.yaml")
    for answered in ALL:
        keep_answer(layers.answers, answered)
    config = load(layers, environ)
    first, second = config.rules.rules
    assert (first.decision, first.text, first.when) == (Decision.ALLOW, RULE.text, "attended")
    assert (first.exact, first.destructive, first.pin) == (True, True, PIN)
    assert (second.text, second.exact, second.destructive) == (MILD.text, True, False)
    assert config.servers[0].verdicts == {
        "read it": Verdict(level=SideEffectLevel.READ_ONLY, pin=OTHER),
        "add": Verdict(destructive=DestructiveBehavior.NON_DESTRUCTIVE, pin=PIN),
    }
    assert config.answers == layers.answers
    assert project not in layers.answers.parents


def test_a_pin_alone_is_no_verdict(problems_of: Callable[[str], tuple[Problem, ...]]) -> None:
    """It says for which definition a word holds, and needs a word."""
    text = f"mcp: {{servers: [{{name: s, command: s, verdicts: {{t: {{pin: '{PIN}'}}}}}}]}}"
    [problem] = problems_of(text)
    assert "says nothing" in problem.message
