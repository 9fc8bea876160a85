"""Results held against the output schema of their tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.calls.outputs import NO_OUTPUT, UNFIT
from lockgate.content import Text
from lockgate.errors import Fate
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel

MakeRoad = Callable[..., Road]
ROWS = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "integer"}}},
    "required": ["rows"],
}
CORPUS = sorted((Path(__file__).parents[2] / "data" / "corpus").glob("*.json"))


async def answered(
    make_road: MakeRoad, reply: ToolResult | Outcome, schema: Any = ROWS, server: str | None = None
) -> ToolResult:
    """What a tool with that output schema comes to when it answers so."""
    tool = ScriptedTool(
        "t", server=server, output_schema=schema, replies=[reply], level=SideEffectLevel.READ_ONLY
    )
    road = make_road([tool])
    return await road.invoke(road.call(tool.name))


@pytest.mark.parametrize("server", [None, "files"])
async def test_what_fits_is_handed_on_as_it_is(make_road: MakeRoad, server: str | None) -> None:
    """The very same result, of a server's tool and of one of ours."""
    reply = ToolResult.of("2 rows", structured={"rows": [1, 2]})
    assert await answered(make_road, reply, server=server) is reply


async def test_without_a_schema_nothing_is_looked_at(make_road: MakeRoad) -> None:
    """A tool that promises nothing breaks no promise, whatever it hands on."""
    reply = ToolResult.of("x", structured=object())
    assert await answered(make_road, reply, schema=None) is reply


@pytest.mark.parametrize("server", [None, "files"])
async def test_what_does_not_fit_is_told_and_not_handed_on_as_structured(
    make_road: MakeRoad, server: str | None
) -> None:
    """The call stays what it was, a success; the violations are named, no value is repeated."""
    reply = ToolResult.of("done", structured={"rows": [1, "hunter2"]})
    result = await answered(make_road, reply, server=server)
    assert not result.is_error
    assert result.structured is None
    assert result.reason == UNFIT
    assert result.content[0] == Text("done")
    assert "output schema" in result.text
    assert "$.rows[1]" in result.text
    assert "hunter2" not in result.text


async def test_a_mutating_call_is_never_failed_by_it(make_road: MakeRoad) -> None:
    """What was done was done: the outcome is recorded as a success, with its reason."""
    reply = Outcome(ToolResult.of("moved", structured=[]), Fate.ANSWERED)
    tool = ScriptedTool("move", destructive=False, output_schema=ROWS, replies=[reply])
    road = make_road([tool], exempt=SideEffectLevel.MUTATING)
    result = await road.invoke(road.call("move"))
    assert not result.is_error
    assert len(tool.runs) == 1
    (outcome,) = road.ledger.outcomes
    assert (outcome.is_error, outcome.fate, outcome.reason) == (False, "answered", UNFIT)


async def test_a_result_without_content_is_shown_before_it_is_put_aside(
    make_road: MakeRoad,
) -> None:
    """Nothing is lost for whoever reads: what is no structured content is text."""
    result = await answered(make_road, ToolResult(structured={"row": 1}))
    assert result.content[0] == Text('{"row":1}')
    assert "lacks the required" in result.text


async def test_what_has_no_json_form_is_told(make_road: MakeRoad) -> None:
    """A tool of ours may hand on anything; what is no JSON fits no schema."""
    result = await answered(make_road, ToolResult(structured={"rows": {object()}}))
    assert result.reason == UNFIT
    assert len(result.content) == 1


async def test_missing_structured_content_is_a_remark(make_road: MakeRoad) -> None:
    """A schema asks for structured content; the answer is used all the same."""
    result = await answered(make_road, ToolResult.of("2 rows"))
    assert not result.is_error
    assert result.reason == NO_OUTPUT
    assert result.content[0] == Text("2 rows")
    assert "no structured content" in result.text


@pytest.mark.parametrize("schema", [{}, {"type": ["object", "null"]}, {"$schema": "odd:one"}])
async def test_a_schema_that_asks_for_nothing_misses_nothing(
    make_road: MakeRoad, schema: dict[str, Any]
) -> None:
    """Null fits, or nothing can be checked: no remark."""
    reply = ToolResult.of("x")
    assert await answered(make_road, reply, schema) is reply


async def test_a_remark_is_bounded(make_road: MakeRoad) -> None:
    """Many violations, and long ones: a few are named, of the others how many there are."""
    schema = {"type": "array", "items": {"enum": ["x" * 500, "y" * 500, *range(20)]}}
    result = await answered(make_road, ToolResult.of("", structured=[["n"]] * 40), schema)
    assert "; and 35 more" in result.text
    assert len(result.text) < 2000


@pytest.mark.parametrize(
    "reply",
    [
        ToolResult.error(ErrorKind.TOOL_ERROR, "ORA-00942", structured={"error": "x"}),
        Outcome(ToolResult.error(ErrorKind.TIMEOUT, "late"), Fate.ANSWERED),
    ],
)
async def test_error_results_are_not_checked(
    make_road: MakeRoad, reply: ToolResult | Outcome
) -> None:
    """PB-120: an error is no output, so the schema says nothing about it."""
    given = reply.result if isinstance(reply, Outcome) else reply
    assert await answered(make_road, reply) is given


def promises(path: Path) -> dict[str, Any]:
    """The output schemas of one recorded server, by tool."""
    pages = json.loads(path.read_text("utf-8")).get("tools_list") or ()
    return {
        tool["name"]: tool["outputSchema"]
        for page in pages
        for tool in page.get("result", {}).get("tools", ())
        if "outputSchema" in tool
    }


RECORDED = {path.stem: found for path in CORPUS if (found := promises(path))}


def test_there_are_recorded_schemas() -> None:
    """Of 24 servers."""
    assert len(RECORDED) == 24


@pytest.mark.parametrize("server", RECORDED)
def test_recorded_schemas_are_checked_whole(server: str) -> None:
    """Nothing of what real servers promise is left unchecked, and all of them promise objects."""
    registry = Registry()
    for name, schema in RECORDED[server].items():
        registry.register(ScriptedTool(name, server="s", output_schema=schema))
    for registered in registry.snapshot().entries.values():
        assert registered.remarks == ()
        assert registered.output_schema is not None
        assert registered.output_schema.violations(None)
        required = registered.output_schema.schema.get("required")
        assert bool(registered.output_schema.violations({})) is bool(required)
