"""The registry: what may enter, what is kept out and why, and snapshots that do not change."""

from __future__ import annotations

import time
from typing import Any

import pytest

from lockgate.policy.ceiling import shown, whole
from lockgate.schema.error import SchemaError
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.registry import MAX_DERIVED, NameRefused, Registry
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel


class Named(ScriptedTool):
    """A tool registered under any name at all."""

    def __init__(self, name: str, server: str | None = None) -> None:
        super().__init__("x")
        origin = Origin("mcp" if server else "local", server, name, fingerprint({}))
        self._named = ToolDefinition(name, "", {"type": "object"}, origin)

    @property
    def definition(self) -> ToolDefinition:
        return self._named


def test_tools_are_kept_in_the_order_they_came() -> None:
    """Lists show them so, and the model sees them so."""
    registry = Registry()
    registry.register_all([ScriptedTool("b"), ScriptedTool("a")])
    registry.register(ScriptedTool("c"))
    assert [tool.name for tool in registry.snapshot().tools] == ["b", "a", "c"]


@pytest.mark.req("S3-02")
@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "한글"])
def test_an_invalid_name_is_refused(name: str) -> None:
    """What models do not accept is never registered."""
    with pytest.raises(NameRefused, match="is no tool name"):
        Registry().register(Named(name))


@pytest.mark.req("S3-11")
def test_a_held_name_is_never_replaced() -> None:
    """The newcomer is refused, both origins are told, and the holder is untouched."""
    registry = Registry()
    holder = ScriptedTool("log", server="git")
    registry.register(holder)
    before = registry.snapshot()
    with pytest.raises(NameRefused) as refused:
        registry.register(Named("mcp__git__log", server="other"))
    assert "server 'other'" in str(refused.value)
    assert "server 'git'" in str(refused.value)
    assert registry.snapshot() is before
    entry = before.get("mcp__git__log")
    assert entry is not None
    assert entry.tool is holder


def test_a_name_for_servers_is_refused_to_our_own_tools() -> None:
    """Rules about servers go by the tool's origin; a local tool may not look like one of theirs."""
    with pytest.raises(NameRefused, match="kept for tools of servers"):
        Registry().register(Named("mcp__git__log"))


def test_registering_several_is_all_or_nothing() -> None:
    """One that fails keeps the others out, and a clash within the batch is one as well."""
    registry = Registry()
    with pytest.raises(NameRefused, match="held"):
        registry.register_all([ScriptedTool("a"), ScriptedTool("b"), ScriptedTool("a")])
    assert len(registry.snapshot()) == 0


@pytest.mark.req("S3-05")
@pytest.mark.parametrize("schema", [None, [], True, "object", {"type": "string"}])
def test_a_schema_that_is_none_keeps_the_tool_out(schema: Any) -> None:
    """Left out with a reason; nothing else is touched."""
    registry = Registry()
    with pytest.raises(SchemaError):
        registry.register(ScriptedTool("a", input_schema=schema))
    assert "a" not in registry.snapshot()


@pytest.mark.req("S3-05")
def test_the_schema_is_advertised_as_it_is() -> None:
    """Compiling changes nothing about what its owner wrote (PB-105, PB-118)."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/F"}, "g": {"$ref": "#/nowhere"}},
        "$defs": {"F": {"type": "string", "enum": ["a", "b"]}},
        "title": "t",
        "examples": [{"f": "a"}],
        "x-vendor": 1,
    }
    copy = {**schema}
    registry = Registry()
    registry.register(ScriptedTool("a", input_schema=schema))
    entry = registry.snapshot().get("a")
    assert entry is not None
    assert entry.tool.definition.input_schema is schema
    assert schema == copy
    assert entry.remarks == (
        'input schema: the reference "#/nowhere" leads nowhere: what it stands for is not checked',
    )


class Fickle(ScriptedTool):
    """A tool that declares something else each time it is looked at."""

    looks = 0

    @property
    def side_effect_level(self) -> SideEffectLevel:
        self.looks += 1
        return SideEffectLevel.READ_ONLY if self.looks % 2 else SideEffectLevel.MUTATING


@pytest.mark.parametrize("looks", [0, 1])
def test_a_declaration_is_read_once(looks: int) -> None:
    """What is decided and what is shown rest on the same reading, made at registration."""
    registry, tool = Registry(), Fickle("a")
    tool.looks = looks
    registry.register(tool)
    snapshot = registry.snapshot()
    entry = snapshot.get("a")
    assert entry is not None
    is_shown = bool(shown(snapshot, whole(SideEffectLevel.READ_ONLY)))
    assert is_shown is (entry.side_effect_level is SideEffectLevel.READ_ONLY)


def test_the_lane_of_a_tool_that_may_overlap_is_none() -> None:
    """A sequential tool has its own name for a lane unless it says another."""
    registry = Registry()
    registry.register_all([ScriptedTool("a"), ScriptedTool("b", concurrent=True)])
    entries = registry.snapshot().entries
    assert [entry.lane for entry in entries.values()] == ["a", None]
    assert [entry.interruptible for entry in entries.values()] == [False, False]


def test_an_output_schema_that_is_none_leaves_the_tool_in() -> None:
    """Its results go unchecked, and a remark says so."""
    registry = Registry()
    registry.register(ScriptedTool("a", output_schema={"type": "OBJECT"}))
    entry = registry.snapshot().get("a")
    assert entry is not None
    assert entry.output_schema is None
    assert "results are not checked" in entry.remarks[0]


def test_an_output_schema_may_describe_any_value() -> None:
    """Structured content need not be an object."""
    registry = Registry()
    registry.register(ScriptedTool("a", output_schema={"type": "array"}))
    entry = registry.snapshot().get("a")
    assert entry is not None
    assert entry.output_schema is not None
    assert entry.output_schema.violations([]) == ()
    assert entry.output_schema.violations({}) != ()


def test_a_snapshot_is_the_same_object_until_something_changes() -> None:
    """What is worked out for it lasts as long as it does."""
    registry = Registry()
    empty = registry.snapshot()
    assert registry.snapshot() is empty
    registry.register_all([])
    registry.withdraw(["nobody"])
    assert registry.snapshot() is empty
    registry.register(ScriptedTool("a"))
    full = registry.snapshot()
    assert full is not empty
    assert full.generation > empty.generation
    assert (len(empty), len(full)) == (0, 1)


def test_a_withdrawn_tool_stays_in_older_snapshots() -> None:
    """A turn goes on with the tools it began with; its name is free afterwards."""
    registry = Registry()
    registry.register_all([ScriptedTool("a"), ScriptedTool("b")])
    before = registry.snapshot()
    registry.withdraw(["a"])
    assert "a" in before
    assert "a" not in registry.snapshot()
    registry.register(ScriptedTool("a"))
    assert [tool.name for tool in registry.snapshot().tools] == ["b", "a"]


def test_a_snapshot_can_not_be_changed_from_outside() -> None:
    """What it hands out is read-only."""
    registry = Registry()
    registry.register(ScriptedTool("a"))
    entries: Any = registry.snapshot().entries
    with pytest.raises(TypeError):
        entries["b"] = entries["a"]


def test_names_are_matched_to_the_letter() -> None:
    """Another case, a space or a bare tool name is another name (PB-152)."""
    registry = Registry()
    registry.register(ScriptedTool("write", server="x"))
    snapshot = registry.snapshot()
    for name in ("MCP__x__write", "mcp__x__write ", "mcp__x__Write", "x__write", "write"):
        assert snapshot.get(name) is None


def test_what_is_derived_is_worked_out_once_and_bounded() -> None:
    """The same key gives the same object, and the store can not grow without end."""
    snapshot = Registry().snapshot()
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return []

    assert snapshot.derived("key", make) is snapshot.derived("key", make)
    assert len(made) == 1
    for number in range(MAX_DERIVED + 1):
        snapshot.derived(number, make)
    snapshot.derived("key", make)
    assert len(made) == MAX_DERIVED + 3


def test_two_thousand_tools_cost_nothing_while_nothing_changes() -> None:
    """Snapshot and definitions of a turn within a millisecond."""
    registry = Registry()
    registry.register_all(ScriptedTool(f"tool_{number}") for number in range(2_000))
    bounds = whole(SideEffectLevel.MUTATING)
    assert len(shown(registry.snapshot(), bounds)) == 2_000
    best = min(_timed(registry, whole(SideEffectLevel.MUTATING)) for _ in range(20))
    assert best < 0.001


def _timed(registry: Registry, bounds: Any) -> float:
    begin = time.perf_counter()
    shown(registry.snapshot(), bounds)
    return time.perf_counter() - begin
