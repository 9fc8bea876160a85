"""The promises and the tests hold each other: requirements.toml, reached.txt and `req` marks."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ID = re.compile(r"[A-Z]\d?-\d{2}")


def known() -> dict[str, str]:
    """Every promise by its id."""
    return tomllib.loads((TESTS / "requirements.toml").read_text("utf-8"))


def ids_in(text: str) -> list[str]:
    """The ids of a version of reached.txt, comments left out."""
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def reached() -> list[str]:
    """The ids in force."""
    return ids_in((TESTS / "reached.txt").read_text("utf-8"))


def citations(source: str, place: str) -> Iterator[tuple[str, str]]:
    """(id, where) of every `pytest.mark.req(...)` in a file; anything but a literal is refused."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req":
            where = f"{place}:{node.lineno}"
            for argument in node.args:
                match argument:
                    case ast.Constant(value=str(cited)):
                        yield cited, where
                    case _:
                        raise ValueError(f"{where}: the id of a req mark is written out")
            if not node.args or node.keywords:
                raise ValueError(f"{where}: a req mark names ids, and nothing else")


@pytest.fixture(scope="module")
def cited() -> dict[str, list[str]]:
    """Id to the places that cite it."""
    places: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for found, where in citations(file.read_text("utf-8"), str(file.relative_to(TESTS))):
            places.setdefault(found, []).append(where)
    return places


def test_ids_have_one_form() -> None:
    """An id is a source and two digits, so that a misspelt one can not pass for a new one."""
    assert [name for name in known() if not ID.fullmatch(name)] == []


def test_a_reached_promise_is_known_and_listed_once() -> None:
    """reached.txt lists known ids, each once."""
    listed = reached()
    assert [name for name in listed if name not in known()] == []
    assert len(listed) == len(set(listed))


def test_a_reached_promise_has_a_test(cited: dict[str, list[str]]) -> None:
    """A promise in force without a test that cites it is not in force."""
    assert [name for name in reached() if name not in cited] == []


def test_a_test_cites_known_promises(cited: dict[str, list[str]]) -> None:
    """A test that cites an id that does not exist ties itself to nothing."""
    assert {name: cited[name] for name in cited if name not in known()} == {}


def test_a_promise_once_reached_stays_reached() -> None:
    """reached.txt is only ever added to: every id of every committed version is still there."""
    log = subprocess.run(
        ["git", "log", "-p", "--format=", "--no-color", "--no-ext-diff", "--", "reached.txt"],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if log.returncode != 0:
        pytest.skip(f"NOT CHECKED: no git history to compare with ({log.stderr.strip()})")
    added = [line[1:] for line in log.stdout.splitlines() if re.match(r"\+(?!\+\+)", line)]
    ever = set(ids_in("\n".join(added)))
    assert sorted(ever - set(reached())) == []


def test_a_mark_that_is_computed_is_refused() -> None:
    """Marks are read without running anything, so an id has to stand there in full."""
    assert list(citations('@pytest.mark.req("S0-01")\ndef test(): ...', "x")) == [("S0-01", "x:1")]
    for code in ("pytest.mark.req(name)", "pytest.mark.req()", 'pytest.mark.req(id="S0-01")'):
        with pytest.raises(ValueError, match="x:1"):
            list(citations(code, "x"))
