"""Every way a call is not made has its own kind, reason and advice, and leaks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

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
