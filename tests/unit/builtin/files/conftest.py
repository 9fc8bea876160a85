"""A road over the file tools, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.calls.paths import resolve_path
from lockgate.decision import Decision
from lockgate.policy.ceiling import whole
from lockgate.rules.path import PathPattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.result import ToolResult
from lockgate.tools.subject import Subjects
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel


class Run(Protocol):
    """Makes a call, approved by whoever is asked, and returns what came of it."""

    async def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The working directory and only file root."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """The pool that blocking work runs in."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def make_road(
    tmp_path: Path, work: Path, threads: ThreadPoolExecutor
) -> Iterator[Callable[..., Road]]:
    """Makes roads on which everybody says yes; `rules` are (decision, tool, path pattern)."""
    made: list[Road] = []

    def make(*rules: tuple[Decision, str, str], **options: Any) -> Road:
        state = tmp_path / f"state{len(made)}"
        state.mkdir()
        place = Environment(work, roots=(work,), threads=threads, **options)
        made.append(
            Road(
                state,
                in_tree(["Read", "Glob", "Grep", "Write", "Edit"], {}),
                rules=RuleSet(tuple(_rule(work, *rule) for rule in rules)),
                attended=[ScriptedApprover.always(True)],
                environment=place,
            )
        )
        return made[-1]

    yield make
    for road in made:
        road.close()


@pytest.fixture
def road(make_road: Callable[..., Road]) -> Road:
    """Without rules."""
    return make_road()


@pytest.fixture
def run(road: Road) -> Run:
    """Calls on `road`."""
    return runner(road)


@pytest.fixture
def run_under(make_road: Callable[..., Road]) -> Callable[..., Run]:
    """Calls on a road of its own, under rules."""
    return lambda *rules, **options: runner(make_road(*rules, **options))


class Direct:
    """Runs a tool past the road, on what its path was resolved to at some moment before."""

    def __init__(self, place: Environment) -> None:
        self._place = place

    @contextmanager
    def decided(self, path: str, *, late: bool = False) -> Generator[Callable[..., Any]]:
        """Resolve `path` now; what runs later runs on that. `late`: its deadline is over."""
        yield self._runner(Subjects({"path": resolve_path(path, self._place)}), late=late)

    @contextmanager
    def undecided(self) -> Generator[Callable[..., Any]]:
        """Without anything resolved."""
        yield self._runner(Subjects(), late=False)

    def _runner(self, subjects: Subjects, *, late: bool) -> Callable[..., Any]:
        execution = Execution(
            "e", "test", whole(SideEffectLevel.MUTATING), attended=True, environment=self._place
        )

        async def run(tool: Tool, **arguments: Any) -> ToolResult:
            deadline = 0.0 if late else None
            context = ToolContext(execution, "c", deadline=deadline, subjects=subjects)
            return (await tool.execute(arguments, Permit(context))).result

        return run


@pytest.fixture
def direct(work: Path, threads: ThreadPoolExecutor) -> Direct:
    """For what happens between the decision and the tool."""
    return Direct(Environment(work, roots=(work,), threads=threads))


def runner(road: Road) -> Run:
    """Calls on a road."""

    async def made(name: str, **arguments: Any) -> ToolResult:
        return await road.invoke(road.call(name, arguments))

    return made


def _rule(work: Path, decision: Decision, tool: str, pattern: str) -> Rule:
    subject = PathPattern.parse(pattern, base=str(work), home=None)
    text = f"{tool}({pattern})"
    return Rule(decision, text, None, tool, subject=subject, destructive=True, when="any")
