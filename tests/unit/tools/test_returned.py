"""What a function returns, as the result of its call."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from lockgate.content import Image, Text
from lockgate.errors import Fate
from lockgate.tools.context import ToolContext
from lockgate.tools.function import tool
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Tool


async def execute(function: Tool, arguments: dict[str, Any], context: ToolContext) -> Outcome:
    """Run a tool under a permit; only tests and the road make one."""
    async with asyncio.timeout(10):
        return await function.execute(arguments, Permit(context))


@dataclasses.dataclass
class Row:
    """Something a function returns."""

    id: int
    tags: tuple[str, ...]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", ToolResult.of("text")),
        (None, ToolResult()),
        (3, ToolResult.of("3", structured=3)),
        (False, ToolResult.of("false", structured=False)),
        ([], ToolResult.of("[]", structured=[])),
        ({"a": 1}, ToolResult.of('{"a": 1}', structured={"a": 1})),
        ({1: "한"}, ToolResult.of('{"1": "한"}', structured={"1": "한"})),
        (
            Row(1, ("a",)),
            ToolResult.of('{"id": 1, "tags": ["a"]}', structured={"id": 1, "tags": ["a"]}),
        ),
        (Path("/a"), ToolResult.of('"/a"', structured="/a")),
        (Image("AAAA", "image/png"), ToolResult((Image("AAAA", "image/png"),))),
        ([Text("a"), Text("b")], ToolResult((Text("a"), Text("b")))),
        (
            ToolResult.error(ErrorKind.TOOL_ERROR, "no"),
            ToolResult.error(ErrorKind.TOOL_ERROR, "no"),
        ),
        (2**70, ToolResult.of(str(2**70), structured=2**70)),
    ],
    ids=[
        *(
            "text",
            "nothing",
            "number",
            "bool",
            "empty list",
            "object",
            "number as key",
            "dataclass",
        ),
        *("path", "image", "blocks", "error result", "beyond 64 bits"),
    ],
)
async def test_what_is_returned_becomes_the_result(
    context: ToolContext, value: object, result: ToolResult
) -> None:
    """Text stays text, results and blocks are taken as they are, the rest is JSON twice over."""

    @tool
    async def give() -> object:
        return value

    outcome = await execute(give, {}, context)
    assert outcome == Outcome(result)
    assert type(outcome.result.structured) is type(result.structured)


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {"a": {1j}}], ids=["object", "nan", "set of complex"]
)
async def test_what_has_no_json_form_is_an_error_that_says_it_ran(
    context: ToolContext, value: object
) -> None:
    """The work was done; only its result can not be shown."""

    @tool
    async def give() -> object:
        return value

    outcome = await execute(give, {}, context)
    assert (outcome.result.kind, outcome.result.reason) == (ErrorKind.TOOL_ERROR, "not_json")
    assert "the tool ran" in outcome.result.text
    assert outcome.fate is Fate.ANSWERED
