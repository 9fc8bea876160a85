"""How tests are written here: they say their rule, wait for events, and patch nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from source_rules import MAX_LINES
from source_tree import Source, imports_of, read_tree

TESTS = Path(__file__).parents[1]

Habit: TypeAlias = Callable[[Source], Iterator[str]]


def unspoken(source: Source) -> Iterator[str]:
    """Tests without a docstring."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("test_") and not ast.get_docstring(node):
            yield f"{source.path}:{node.lineno}: {node.name} does not say which rule it pins"


def faked(source: Source) -> Iterator[str]:
    """Mocks and patched attributes; setting an environment variable is fine."""
    for node, module, name in imports_of(source.tree):
        if module.startswith("unittest") or (module, name) == ("pytest_mock", "MockerFixture"):
            yield f"{source.path}:{node.lineno}: use a scripted fake of lockgate.testing"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr":
            yield f"{source.path}:{node.lineno}: hand the fake in; do not patch it over"


def slept(source: Source) -> Iterator[str]:
    """Waiting by the clock: slow on a fast machine, flaky on a slow one."""
    for node in ast.walk(source.tree):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called in {"time.sleep", "asyncio.sleep"} and not ast.unparse(node).endswith("(0)"):
            yield f"{source.path}:{getattr(node, 'lineno', 0)}: wait for the event, within a bound"


def test_every_test_states_its_rule() -> None:
    """A test's docstring states the rule it pins, so that a red one says what broke."""
    assert [line for source in read_tree(TESTS) for line in unspoken(source)] == []


def test_nothing_is_patched() -> None:
    """Fakes are scripted and handed in; a patch knows how the inside is built."""
    assert [line for source in read_tree(TESTS) for line in faked(source)] == []


def test_nobody_sleeps_to_wait() -> None:
    """Tests wait for what happens, not for a while."""
    assert [line for source in read_tree(TESTS) for line in slept(source)] == []


def test_files_stay_short() -> None:
    """The limit of the source holds for its tests."""
    sources = read_tree(TESTS)
    assert [s.path for s in sources if s.text.count("\n") > MAX_LINES] == []


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (unspoken, "def test_x(): ..."),
        (faked, "from unittest.mock import patch"),
        (faked, "def test_x(monkeypatch): monkeypatch.setattr(a, 'b', c)"),
        (slept, "time.sleep(0.1)"),
        (slept, "async def f(): await asyncio.sleep(1)"),
    ],
)
def test_a_planted_habit_is_seen(check: Habit, code: str) -> None:
    """Each of these checks reports what it is meant to."""
    assert list(check(Source("test_x.py", code, ast.parse(code))))
