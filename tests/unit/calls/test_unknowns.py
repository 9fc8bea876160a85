"""Open unknowns: whose they are, and how a book keeps them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from lockgate.calls.unknowns import MemoryUnknowns, OpenUnknown, UnknownBook, scope_of
from lockgate.policy.ceiling import whole
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import open_state
from lockgate.tools.context import Environment, Execution
from lockgate.traits import SideEffectLevel

ONE = OpenUnknown("e", "c1", "session:s", "add", 1.0)
TWO = OpenUnknown("e", "c2", "session:s", "add", 2.0)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_book_of_unknowns(kind: str, tmp_path: Path) -> None:
    """What is opened is found by scope and tool, in order, until it is closed."""
    state = open_state(tmp_path / "state.db", "o")
    book: UnknownBook = MemoryUnknowns() if kind == "memory" else SqliteUnknowns(state)
    assert book.find("session:s", "add") == ()
    book.open(ONE)
    book.open(TWO)
    assert book.find("session:s", "add") == (ONE, TWO)
    assert book.find("session:t", "add") == ()
    assert book.find("session:s", "other") == ()
    book.close([ONE, replace(TWO, call_id="c3")], "terminal")
    assert book.find("session:s", "add") == (TWO,)
    book.close([TWO], "terminal")
    assert book.find("session:s", "add") == ()
    book.open(ONE)
    assert book.find("session:s", "add") == (ONE,)
    state.close()


@pytest.mark.req("B-03")
def test_whose_an_unknown_is() -> None:
    """The session's, or the inviting one's; without any, the principal's, never everybody's."""
    execution = Execution(
        "e", "api", whole(SideEffectLevel.MUTATING), True, Environment(Path("/")), "s"
    )
    assert scope_of(execution) == "session:s"
    assert scope_of(structs.replace(execution, inviting_session="p")) == "session:p"
    assert scope_of(structs.replace(execution, session_id=None, principal="ann")) == "principal:ann"
    assert scope_of(structs.replace(execution, session_id=None)) == "principal:"


def test_the_reason_names_the_call() -> None:
    """A person is told which call it is about, and what to do first."""
    assert "c1" in ONE.reason.text
    assert "look" in ONE.reason.text
    assert ONE.reason != TWO.reason
