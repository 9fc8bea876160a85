"""Field cases of what servers list: names, schemas, annotations, pages. Real processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.policy.ceiling import refusal, whole
from lockgate.testing.fleet import Fleet
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Shape, Sleep
from lockgate.tools.naming import NAME
from lockgate.tools.result import ErrorKind
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel

IGNORE, TRUST = AnnotationTrust.IGNORE, AnnotationTrust.TRUST
READ_ONLY = SideEffectLevel.READ_ONLY

NAMES = (
    *("admin.tools.list", "user/update", "한글도구", "has space", "", "a" * 200, "x;rm -rf"),
    *("__init__", "UPPER_case", "tool\nname"),
)


@pytest.mark.req("S3-02")
async def test_pb_100_offered_names_are_valid_and_the_server_gets_its_own(tmp_path: Path) -> None:
    """What no model would accept is altered; what has no name is left out by its place."""
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer(tuple(map(tool, NAMES))))
        report = await fleet.start()
        left_out = report.servers[0].left_out
        assert [(left.tool, left.reason) for left in left_out] == [("tool 5", "has an empty name")]
        for name in fleet.tools:
            assert NAME.fullmatch(name)
            assert not (await fleet.call(name)).is_error
        assert ledger.called == tuple(name for name in NAMES if name)


@pytest.mark.req("S3-02")
async def test_pb_103_one_name_is_one_tool(tmp_path: Path) -> None:
    """Twice on one page, again on the next, once with a flipped hint: registered once, the
    conflict is told, and a definition that is contradicted is believed in nothing."""
    safe = tool("t", "first", annotations={"readOnlyHint": True})
    other = tool("t", "second", annotations={"readOnlyHint": False})
    server = ScriptedServer((safe, safe, other, tool("u")), page_size=2)
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", server, annotation_trust=TRUST)
        report = await fleet.start()
        assert [left.tool for left in report.servers[0].left_out] == ["a second definition of t"]
        assert report.servers[0].remarks == ("listed more than once, each time the same: 't'",)
        first, second = fleet.registry.snapshot().tools
        assert (first.name, second.name) == ("mcp__s__t", "mcp__s__u")
        assert (first.definition.description, first.is_destructive) == ("first", True)
        assert any("listed again" in remark for remark in first.definition.origin.remarks)


async def _schemas(fleet: Fleet, **schemas: Any) -> dict[str, str]:
    """Start a server with a tool for each schema (... for none); why which was left out."""
    tools: list[Any] = []
    for name, schema in schemas.items():
        definition = tool(name, inputSchema=schema)
        if schema is ...:
            del definition["inputSchema"]
        tools.append(definition)
    fleet.add("s", ScriptedServer((None, tool("t") | {"name": 5}, *tools, tool("last"))))
    report = await fleet.start()
    assert report.failed == ()
    assert "mcp__s__last" in fleet.tools
    return {left.tool: left.reason for left in report.servers[0].left_out}


@pytest.mark.req("S3-05")
async def test_pb_106_a_choice_of_objects_is_a_schema(tmp_path: Path) -> None:
    """anyOf at the root: registered as it is, and both branches are accepted, a third is not."""
    branches = [
        {"type": "object", "properties": {key: {"type": "integer"}}, "required": [key]}
        for key in ("a", "b")
    ]
    async with Fleet(tmp_path) as fleet:
        await _schemas(fleet, either={"anyOf": branches})
        assert not (await fleet.call("mcp__s__either", a=1)).is_error
        assert not (await fleet.call("mcp__s__either", b=2)).is_error
        assert (await fleet.call("mcp__s__either")).kind is ErrorKind.INVALID_ARGUMENTS


async def test_pb_107_odd_schemas_cost_their_own_tool(tmp_path: Path) -> None:
    """Absent and empty ones take any object; what is no schema of an object is left out by name;
    a tool that is null, or has a number for its name, by its place."""
    fine = {
        "missing": ...,
        "empty": {},
        "dialect": {"$schema": "http://json-schema.org/draft-07/schema#"},
        "plain": {"type": "object"},
        "nullable": {"type": ["object", "null"]},
    }
    bad: dict[str, Any] = {
        "null": None,
        "array": [],
        "string": "object",
        "true": True,
        "upper": {"type": "OBJECT"},
    }
    async with Fleet(tmp_path) as fleet:
        left_out = await _schemas(fleet, **fine, **bad)
        assert set(left_out) == {"tool 1", "tool 2", *bad}
        assert all("inputSchema" in left_out[name] for name in bad)
        for name in fine:
            assert not (await fleet.call(f"mcp__s__{name}", anything=1)).is_error


async def test_pb_108_schemas_of_something_else_are_found_when_listed(tmp_path: Path) -> None:
    """Not offered, named; the others are usable."""
    async with Fleet(tmp_path) as fleet:
        left_out = await _schemas(
            fleet,
            text={"type": "string"},
            listed={"type": "object", "properties": [1, 2]},
            wanting={"type": "object", "required": "x"},
        )
        assert set(left_out) == {"tool 1", "tool 2", "text", "listed", "wanting"}
        assert fleet.tools == ("mcp__s__last",)


async def test_pb_110_references_that_lead_nowhere_are_told_not_raised(tmp_path: Path) -> None:
    """The tool is registered with a remark and can be called; references that do lead somewhere,
    by pointer, anchor or escape, are followed."""
    number = {"type": "integer"}
    held = {"$defs": {"a/b": number, "per cent": number, "n": {"$anchor": "here", **number}}}
    led = {
        "slash": {"$ref": "#/$defs/a~1b"},
        "escaped": {"$ref": "#/$defs/per%20cent"},
        "anchor": {"$ref": "#here"},
    }
    async with Fleet(tmp_path) as fleet:
        left_out = await _schemas(
            fleet,
            lost={"type": "object", "properties": {"s": {"$ref": "#/$defs/Missing"}}},
            old={"type": "object", "properties": {"s": {"$ref": "#/definitions/X"}}, "$defs": {}},
            dynamic={"type": "object", "properties": {"s": {"$dynamicRef": "#nobody"}}},
            led={"type": "object", "properties": led, **held},
        )
        assert set(left_out) == {"tool 1", "tool 2"}
        for name in ("lost", "old", "dynamic"):
            entry = fleet.registry.snapshot().get(f"mcp__s__{name}")
            assert entry is not None
            assert entry.remarks
            assert not (await fleet.call(f"mcp__s__{name}", s="x")).is_error
        assert not (await fleet.call("mcp__s__led", slash=1, escaped=2, anchor=3)).is_error
        for key in led:
            wrong = await fleet.call("mcp__s__led", **{key: "x"})
            assert wrong.kind is ErrorKind.INVALID_ARGUMENTS


async def test_pb_111_depth_costs_one_tool_or_one_answer(tmp_path: Path) -> None:
    """A schema 600 deep is left out with that reason; a result as deep, and a line of brackets,
    fail no other call; the reader lives on."""
    deep = b'{"type":"object","properties":{"p":' * 600 + b"{}" + b"}}" * 600
    swap = ((b'"DEEP"', deep),)
    tools = (tool("a"), tool("deep", inputSchema="DEEP"), tool("answers"), tool("brackets"))
    rules = (
        When("tools/list", Answer(shape=Shape(swap=swap))),
        When(
            "tools/call",
            Answer(result={"content": [], "structuredContent": "DEEP"}, shape=Shape(swap=swap)),
            tool="answers",
        ),
        When(
            "tools/call",
            Answer(text="", shape=Shape(prefix=b"[" * 100_000 + b"\n")),
            tool="brackets",
        ),
    )
    async with Fleet(tmp_path) as fleet:
        fleet.add("s", ScriptedServer(tools, rules=rules))
        report = await fleet.start()
        (left,) = report.servers[0].left_out
        assert (left.tool, "deep" in left.reason) == ("deep", True)
        await fleet.call("mcp__s__answers")
        assert not (await fleet.call("mcp__s__brackets")).is_error
        assert not (await fleet.call("mcp__s__a")).is_error


async def test_pb_113_older_drafts_are_judged_by_their_own_rules(tmp_path: Path) -> None:
    """A call that is valid by the stated draft is not refused; an unknown dialect is not judged."""
    seven = "http://json-schema.org/draft-07/schema#"
    four = "http://json-schema.org/draft-04/schema"
    async with Fleet(tmp_path) as fleet:
        left_out = await _schemas(
            fleet,
            seven={
                "$schema": seven,
                "type": "object",
                "properties": {
                    "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
                    "n": {"exclusiveMinimum": 0},
                    "d": {"$ref": "#/definitions/d"},
                },
                "definitions": {"d": {"type": "boolean"}},
                "dependencies": {"n": ["d"]},
            },
            four={
                "$schema": four,
                "id": "http://example.org/s",
                "type": "object",
                "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}},
            },
            foreign={
                "$schema": "https://example.org/mine",
                "type": "object",
                "properties": {"a": 1},
            },
        )
        assert set(left_out) == {"tool 1", "tool 2"}
        assert not (await fleet.call("mcp__s__seven", pair=["a", 1, "more"], n=1, d=True)).is_error
        assert not (await fleet.call("mcp__s__four", n=1)).is_error
        assert (await fleet.call("mcp__s__four", n=0)).kind is ErrorKind.INVALID_ARGUMENTS
        assert not (await fleet.call("mcp__s__foreign", a="anything")).is_error


HINTS: dict[str, dict[str, Any]] = {
    "none": {},
    "empty": {"annotations": {}},
    "not-read-only": {"annotations": {"readOnlyHint": False}},
    "mild": {"annotations": {"destructiveHint": False}},
    "idempotent": {"annotations": {"idempotentHint": True}},
    "reads": {"annotations": {"readOnlyHint": True}},
    "destroys": {"annotations": {"readOnlyHint": False, "destructiveHint": True}},
    "contradicts": {"annotations": {"readOnlyHint": True, "destructiveHint": True}},
}


def _shown(held: Tool) -> str:
    return repr(held).partition(" ")[2].partition(" ")[2].removesuffix(">")


@pytest.mark.req("S0-10")
@pytest.mark.req("S0-12")
@pytest.mark.req("S0-13")
async def test_pb_128_131_hints_count_under_trust_only(tmp_path: Path) -> None:
    """Under IGNORE all are as though they had claimed nothing; under TRUST absent is the worst,
    and read-only with destructive is READ_ONLY NON_DESTRUCTIVE, in behaviour and display."""
    tools = tuple(tool(name, **fields) for name, fields in HINTS.items())
    async with Fleet(tmp_path) as fleet:
        fleet.add("a", ScriptedServer(tools))
        fleet.add("b", ScriptedServer(tools), annotation_trust=TRUST)
        await fleet.start()
        held = fleet.registry.snapshot().tools
        doubted, believed = held[: len(HINTS)], held[len(HINTS) :]
    worst = "MUTATING DESTRUCTIVE NON_IDEMPOTENT"
    assert [_shown(tool) for tool in doubted] == [worst] * len(HINTS)
    assert dict(zip(HINTS, map(_shown, believed), strict=True)) == {
        "none": worst,
        "empty": worst,
        "not-read-only": worst,
        "mild": "MUTATING NON_DESTRUCTIVE NON_IDEMPOTENT",
        "idempotent": "MUTATING DESTRUCTIVE IDEMPOTENT",
        "reads": "READ_ONLY NON_DESTRUCTIVE",
        "destroys": worst,
        "contradicts": "READ_ONLY NON_DESTRUCTIVE",
    }


@pytest.mark.req("S0-12")
async def test_pb_130_trust_does_not_spread(tmp_path: Path) -> None:
    """One claim, two servers: hidden and refused below a read-only ceiling for the one that is
    not trusted, allowed for the other, and each shows whose word that is."""
    claim = (tool("drop_all", annotations={"readOnlyHint": True}),)
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("a", ScriptedServer(claim))
        fleet.add("b", ScriptedServer(claim), annotation_trust=TRUST)
        await fleet.start()
        doubted, believed = fleet.registry.snapshot().tools
        bounds = whole(READ_ONLY)
        assert refusal(doubted, bounds) is not None
        assert refusal(believed, bounds) is None
        refused = await fleet.road.invoke(fleet.road.call(doubted.name, bounds=bounds))
        assert refused.kind is ErrorKind.ABOVE_CEILING
        assert ledger.called == ()
        allowed = await fleet.road.invoke(fleet.road.call(believed.name, bounds=bounds))
        assert not allowed.is_error
        rulings = (doubted.definition.origin.ruling, believed.definition.origin.ruling)
        assert rulings == ("default", "claim")


@pytest.mark.parametrize("trust", list(AnnotationTrust))
async def test_pb_132_names_never_lower_a_level(tmp_path: Path, trust: AnnotationTrust) -> None:
    """get_ and list_ are words; without a claim they are refused below a read-only ceiling."""
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add(
            "s",
            ScriptedServer((tool("get_and_delete"), tool("list_users"))),
            annotation_trust=trust,
        )
        await fleet.start()
        for name in fleet.tools:
            call = fleet.road.call(name, bounds=whole(READ_ONLY))
            assert (await fleet.road.invoke(call)).kind is ErrorKind.ABOVE_CEILING
        assert ledger.called == ()


@pytest.mark.parametrize("cursor", ["", None, 0, 5, {}, "c" * 100_000])
async def test_pb_140_every_cursor_ends(tmp_path: Path, cursor: Any) -> None:
    """Whatever nextCursor is, start-up ends and the tools are there; what is odd is remarked."""
    page: dict[str, Any] = {"tools": [tool("t")], "nextCursor": cursor}
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("s", ScriptedServer(rules=(When("tools/list", Answer(result=page)),)))
        report = await fleet.start()
        assert fleet.tools == ("mcp__s__t",)
        assert bool(report.servers[0].remarks) is (cursor is not None)
        asked = [e for e in ledger.entries("received") if e.facts["method"] == "tools/list"]
        assert len(asked) == (2 if isinstance(cursor, str) else 1)


@pytest.mark.req("S3-10")
async def test_pb_141_all_pages_or_an_error(tmp_path: Path) -> None:
    """Three pages, the last one slow: 120 tools, and each cursor comes back byte for byte. A page
    that fails fails the list: never a silently short one."""
    odd = ' page "2" 둘\t'
    pages = [
        {"tools": [tool(f"t{page}-{n}") for n in range(40)], **more}
        for page, more in enumerate(({"nextCursor": odd}, {"nextCursor": "3"}, {}))
    ]
    steps = [(Answer(result=pages[0]),), (Answer(result=pages[1]),), (Sleep(0.3), Answer(pages[2]))]
    rules = tuple(When("tools/list", *done, nth=1) for done in steps)
    failing = (rules[0], When("tools/list", Answer(error={"code": -32603, "message": "no"}), nth=1))
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("all", ScriptedServer(rules=rules))
        fleet.add("short", ScriptedServer(rules=failing))
        report = await fleet.start()
        assert len(fleet.tools) == 120
        assert report.failed == ("short",)
        assert "-32603" in report.errors["short"]
        cursors = [
            entry.facts["params"].get("cursor")
            for entry in ledger.entries("received")
            if entry.facts["method"] == "tools/list"
        ]
        assert cursors == [None, odd, "3"]
