"""No call can be made from where nobody looks: the list of roads is whole, and so is each test."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from lockgate.app.entries import Entry
from roads import ROADS, places, unlisted
from source_tree import read_tree

PACKAGE = Path(__file__).parents[2] / "src" / "lockgate"

PLANTED = {
    "a new command": ("cli/batch.py", "async def batch(gate):\n    await gate.call('t')"),
    "a command that answers": ("cli/nod.py", "async def nod(o):\n    await o.resume(t, True)"),
    "a command with an agent": ("cli/chat.py", "def chat(it):\n    it.agent().run('go')"),
    "a call that is handed on": ("cli/many.py", "def many(gate):\n    each(gate.call, names)"),
    "a function of the app": ("app/jobs.py", "async def job(r):\n    await r.invoker.invoke(c, s)"),
    "a method beside the others": (
        "app/gate.py",
        "class Gate:\n    async def sweep(self):\n        await self._invoker.invoke(c, s)",
    ),
    "a function beside a command": (
        "cli/call.py",
        "async def again(gate):\n    await gate.call('t')",
    ),
    "an execution": (
        "gateway/service.py",
        "def of(caller):\n    return Execution(id, 'gateway', b)",
    ),
    "an execution by another name": (
        "hooks/run.py",
        "from lockgate.tools.context import Execution as Work\nwork = Work(id, 'hook', b)",
    ),
    "an execution of its own": ("agent/skill.py", "class Mine(context.Execution): ..."),
    "an altered execution": ("agent/fork.py", "child = msgspec.structs.replace(e, bounds=wide)"),
    "an execution altered by name": (
        "agent/fork.py",
        "from msgspec.structs import replace as change\nchild = change(e, entry='fork')",
    ),
    "an invoker": ("wake/worker.py", "def road():\n    return Invoker(rules=rules)"),
    "a gate for no entry": (
        "cli/peek.py",
        "from lockgate.app.build import open as open_gate\ngate = open_gate(config)",
    ),
    "a gate for an entry of no list": (
        "cli/peek.py",
        "from lockgate.app.build import open\ngate = open(config, entry='peek')",
    ),
}

PERMITTED = {
    "settings of agents": ("cli/look.py", "def look(config):\n    return config.agent.model"),
    "a call on record": ("cli/look.py", "def look(decided):\n    return decided.call"),
    "a tool of a server": (
        "mcp/host/adapter.py",
        "async def run(client):\n    await client.call(n)",
    ),
    "an entry that is listed": (
        "cli/look.py",
        "from lockgate.app.build import open as open_gate\ngate = open_gate(c, entry=Entry.CLI)",
    ),
    "an entry of a file": ("cli/look.py", "plan = replace(plan, entry=entry)"),
    "a test's own": ("testing/road.py", "execution = Execution(id, 'test', bounds)"),
}


def found_in(root: Path, file: str, code: str) -> list[str]:
    """What is not listed in a tree of its own."""
    target = root / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'"""Planted."""\n{dedent(code)}\n', encoding="utf-8")
    return unlisted(read_tree(root))


@pytest.mark.req("S0-17")
def test_every_place_that_can_make_a_call_is_listed() -> None:
    """A new command or function stands in `ROADS` with its entry, or this fails."""
    assert unlisted(read_tree(PACKAGE)) == []


@pytest.mark.req("S0-17")
def test_the_list_has_no_stale_line_and_every_entry_has_a_road() -> None:
    """What is listed is there, and an entry is where some call comes from."""
    assert set(ROADS) == {(place.path, place.function) for place in places(read_tree(PACKAGE))}
    entries = [value for value in ROADS.values() if isinstance(value, tuple)]
    assert {entry for value in entries for entry in value} == set(Entry)


@pytest.mark.req("S0-17")
@pytest.mark.parametrize(("file", "code"), PLANTED.values(), ids=PLANTED)
def test_a_planted_road_is_seen(tmp_path: Path, file: str, code: str) -> None:
    """Each way of making a call from somewhere new is told, with its place."""
    [first, *_] = found_in(tmp_path, file, code)
    assert first.startswith(f"{file}:")


@pytest.mark.parametrize(("file", "code"), PERMITTED.values(), ids=PERMITTED)
def test_a_near_miss_is_no_road(tmp_path: Path, file: str, code: str) -> None:
    """What only looks like one is let through."""
    assert found_in(tmp_path, file, code) == []
