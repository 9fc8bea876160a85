"""Every way a call is not made has its own kind, reason and advice, and leaks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.ceiling import whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import REFUSALS, ErrorKind
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
SCHEMA = {"type": "object", "properties": {"secret_parameter": {"type": "string"}}}


@pytest.mark.parametrize("name", ["Read", "READ", "read ", " read", "raed", "reads"])
async def test_names_are_matched_exactly(make_road: MakeRoad, name: str) -> None:
    """A slip of the name is no call; what was meant is suggested from the shown tools."""
    road = make_road([ScriptedTool("read", level=READ)])
    result = await road.invoke(road.call(name))
    assert result.kind is ErrorKind.UNKNOWN_TOOL
    assert "Did you mean read?" in result.text


@pytest.mark.req("S0-06")
@pytest.mark.parametrize("name", ["Write", "write ", "writ"])
async def test_near_names_come_from_the_shown_set(make_road: MakeRoad, name: str) -> None:
    """A tool above the ceiling, outside the offer or denied is not suggested."""
    tool = ScriptedTool("write", input_schema=SCHEMA)
    for bounds in (whole(READ), whole(MUTATE, frozenset())):
        road = make_road([tool], owner=repr(bounds))
        result = await road.invoke(road.call(name, bounds=bounds))
        assert "mean" not in result.text
    denied = make_road([tool], rules=RuleSet((parse_rule("write", Decision.DENY),)), owner="d")
    assert "mean" not in (await denied.invoke(denied.call(name))).text


@pytest.mark.req("S0-05", "S0-06")
async def test_a_hidden_tool_leaks_no_schema(make_road: MakeRoad) -> None:
    """The refusal of a hidden tool names it and the levels, and nothing of its parameters."""
    road = make_road([ScriptedTool("write", description="what it does", input_schema=SCHEMA)])
    for bounds in (whole(READ), whole(MUTATE, frozenset())):
        result = await road.invoke(road.call("write", {"secret_parameter": 5}, bounds=bounds))
        assert result.kind in REFUSALS
        assert "secret_parameter" not in result.text
        assert "what it does" not in result.text


async def test_a_name_that_is_no_tool_is_repeated_in_part(make_road: MakeRoad) -> None:
    """A long or odd name is cut and shown without its control characters."""
    road = make_road([])
    result = await road.invoke(road.call("\x1b[31m" + "x" * 10_000))
    assert len(result.text) < 400
    assert "\x1b" not in result.text


@pytest.mark.req("S3-04")
async def test_a_server_that_is_down_says_so(make_road: MakeRoad) -> None:
    """Not connected is its own kind: nothing was sent, and policy has nothing to do with it."""
    down = PeerError(
        "files is not connected",
        peer="files",
        phase=Phase.REQUEST,
        fault=Fault.NOT_CONNECTED,
        fate=Fate.NOT_SENT,
    )
    road = make_road([ScriptedTool("read", server="files", level=READ, replies=[down, down])])
    result = await road.invoke(road.call("mcp__files__read"))
    assert result.kind is ErrorKind.NOT_CONNECTED
    assert result.kind not in REFUSALS
    assert [record.fate for record in road.ledger.outcomes] == ["not_sent"]


@pytest.mark.req("S0-15")
async def test_invalid_arguments_are_told_with_all_violations(make_road: MakeRoad) -> None:
    """The model gets every violation, and what it wrote is not in the record."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["c"],
    }
    road = make_road([ScriptedTool("t", level=READ, input_schema=schema)])
    result = await road.invoke(road.call("t", {"a": "hunter2", "b": "hunter2"}))
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    for place in ("$.a", "$.b", '"c"'):
        assert place in result.text
    assert "hunter2" not in result.text + repr(road.ledger.records)


@pytest.mark.req("S0-15")
@pytest.mark.parametrize(
    "arguments",
    [
        {"hunter2": 1},
        {"hunter2": 1, "hunter22": 2},
        {"a": {"hunter2": "x"}},
        {"a": {"hunter2": float("nan")}},
        {"b": {"hunter2": 1}},
        {"c": {"hunter2": 1}},
    ],
)
async def test_keys_that_no_schema_names_are_told_and_not_recorded(
    make_road: MakeRoad, arguments: dict[str, Any]
) -> None:
    """A secret in the place of a name is read by its caller alone."""
    properties = {
        "a": {"type": "object", "additionalProperties": {"type": "integer"}},
        "b": {"anyOf": [{"type": "object", "additionalProperties": False}, {"type": "array"}]},
        "c": {"type": "object", "propertyNames": {"maxLength": 3}},
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    road = make_road([ScriptedTool("t", level=READ, input_schema=schema)])
    result = await road.invoke(road.call("t", arguments))
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert road.ledger.records
    assert "hunter2" not in repr(road.ledger.records)


async def test_arguments_that_are_no_json_are_invalid(make_road: MakeRoad) -> None:
    """What no message could carry is refused before anybody is asked, with its place."""
    tool = ScriptedTool("t")
    road = make_road([tool])
    for value, place in (
        ({"a": float("nan")}, "$.a"),
        ({"a": {b"x"}}, "$.a"),
        ({"a": "\udc00"}, "$"),
    ):
        result = await road.invoke(road.call("t", value))
        assert result.kind is ErrorKind.INVALID_ARGUMENTS
        assert place in result.text
    assert tool.runs == []


async def test_refusing_is_quick_whatever_is_asked(make_road: MakeRoad) -> None:
    """A refusal does not wait for anything."""
    road = make_road([ScriptedTool("t")])
    task = asyncio.create_task(road.invoke(road.call("nothing")))
    await asyncio.sleep(0)
    assert task.done()


@pytest.mark.req("S3-04")
async def test_a_tool_of_a_server_that_did_not_start_is_not_connected(make_road: MakeRoad) -> None:
    """Not "no such tool": nobody knows its tools. A server that has tools is not excused so."""
    road = make_road([ScriptedTool("read", server="files", level=READ)], failed=("dead", "files"))
    result = await road.invoke(road.call("mcp__dead__read"))
    assert result.kind is ErrorKind.NOT_CONNECTED
    assert "The server dead is not there" in result.text
    for name in ("mcp__files__raed", "mcp__other__read", "mcp__dead", "mcp__dead__", "dead"):
        other = await road.invoke(road.call(name))
        assert other.kind is ErrorKind.UNKNOWN_TOOL


async def test_the_server_need_not_be_spelt_out_to_be_suggested(make_road: MakeRoad) -> None:
    """`git_log` is near to `mcp__git__git_log`."""
    road = make_road([ScriptedTool("git_log", server="git", level=READ)])
    assert "Did you mean mcp__git__git_log?" in (await road.invoke(road.call("git_log"))).text


RULED = RuleSet((parse_rule("asked", Decision.ASK), parse_rule("open", Decision.ALLOW)))


@pytest.mark.req("S0-08")
@pytest.mark.parametrize(
    ("name", "helps"), [("plain", True), ("drop", False), ("asked", False), ("open", False)]
)
async def test_a_rule_is_advised_only_where_one_could_answer(
    make_road: MakeRoad, name: str, helps: bool
) -> None:
    """Not for a destructive tool, not beside an ask rule, not over an open unknown."""
    tools = [ScriptedTool(n, destructive=False) for n in ("plain", "asked", "open")]
    road = make_road([*tools, ScriptedTool("drop")], rules=RULED)
    road.leave_open(road.call("open"))
    result = await road.invoke(road.call(name))
    assert result.reason == "nobody_to_ask"
    assert ("or a rule that allows it" in result.text) is helps
    assert ("no allow rule answers this" in result.text) is (name in ("asked", "open"))
    assert ("`destructive: true` and `when: any`" in result.text) is (name == "drop")


PARAMETERS = {"properties": {"repo_path": {"type": "string"}}, "required": ["repo_path"]}


OPEN_SCHEMAS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"additionalProperties": {"type": "string"}}, False),
    ({"patternProperties": {"^p": {}}}, False),
    ({"allOf": [{"properties": {"path": {}}}]}, False),
]


@pytest.mark.parametrize(("more", "told"), OPEN_SCHEMAS)
async def test_names_that_no_schema_knows_are_told_beside_a_violation(
    make_road: MakeRoad, more: dict[str, Any], told: bool
) -> None:
    """A misspelt parameter shows; where nothing is wrong, or the schema is open, nothing is."""
    schema = {"type": "object", **PARAMETERS, **more}
    road = make_road([ScriptedTool("t", level=READ, input_schema=schema)])
    refused = await road.invoke(road.call("t", {"path": "hunter2"}))
    assert refused.kind is ErrorKind.INVALID_ARGUMENTS
    assert ('Not a parameter of it: "path".' in refused.text) is told
    assert "hunter2" not in refused.text
    assert not (await road.invoke(road.call("t", {"repo_path": ".", "path": "x"}))).is_error


async def test_many_unknown_names_are_cut(make_road: MakeRoad) -> None:
    """A refusal stays short, and odd names are shown as escapes."""
    schema = {"type": "object", **PARAMETERS}
    road = make_road([ScriptedTool("t", level=READ, input_schema=schema)])
    text = (await road.invoke(road.call("t", {f"\x1b{n}": 1 for n in range(500)}))).text
    assert "and 490 more" in text
    assert "\x1b" not in text
    assert len(text) < 600
