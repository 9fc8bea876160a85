"""Field cases of results and of calls that take long: real processes, and HTTP."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.calls.outputs import NO_OUTPUT, UNFIT
from lockgate.content import EmbeddedResource, Image, ResourceLink, Text, UnknownContent
from lockgate.errors import LocalError
from lockgate.testing.fleet import Fleet
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Send, Sleep, Step
from lockgate.tools.result import ErrorKind, ToolResult

CALL_ID = 4
"""The id of the first call to a legacy server: after server/discover, initialize, tools/list."""
ROWS = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}


@asynccontextmanager
async def serving(
    how: str, tmp_path: Path, script: ScriptedServer, **settings: Any
) -> AsyncGenerator[Fleet]:
    """One server `s`, as a process or over HTTP."""
    async with Fleet(tmp_path) as fleet:
        if how == "stdio":
            fleet.add("s", script, **settings)
            await fleet.start()
            yield fleet
        else:
            async with HttpServer(script, stream=True) as server:
                fleet.add("s", server.endpoint(), **settings)
                await fleet.start()
                yield fleet
                if fleet.manager is not None:
                    await fleet.manager.close()


async def answered(tmp_path: Path, result: dict[str, Any], **more: Any) -> ToolResult:
    """What comes of a call that a server answers so; its tool may have an `outputSchema`."""
    script = ScriptedServer((tool("t", **more),), (When("tools/call", Answer(result)),))
    async with serving("stdio", tmp_path, script) as fleet:
        return await fleet.call("mcp__s__t")


async def test_pb_120_an_error_is_not_held_against_the_output_schema(tmp_path: Path) -> None:
    """The server's own words reach the model, and nothing is said about its schema."""
    result = await answered(
        tmp_path,
        {
            "isError": True,
            "content": [{"type": "text", "text": "ORA-00942: no such table"}],
            "structuredContent": {"error": "x"},
        },
        outputSchema=ROWS,
    )
    assert result.kind is ErrorKind.TOOL_ERROR
    assert result.text == "ORA-00942: no such table"
    assert result.structured == {"error": "x"}


@pytest.mark.parametrize(
    ("structured", "reason"),
    [({"rows": [1]}, None), ({"error": "x"}, UNFIT), (None, NO_OUTPUT)],
)
async def test_pb_120_a_success_is(tmp_path: Path, structured: Any, reason: str | None) -> None:
    """What does not fit, or is missing, is told; the call has succeeded all the same."""
    answer = {"content": [{"type": "text", "text": "done"}], "structuredContent": structured}
    result = await answered(tmp_path, answer, outputSchema=ROWS)
    assert (result.is_error, result.reason) == (False, reason)
    assert result.structured == (structured if reason is None else None)
    assert result.content[0] == Text("done")
    assert ("output schema" in result.text) is (reason is not None)


def files_in(folder: Path) -> list[Path]:
    """Every file below it."""
    return [path for path in folder.rglob("*") if path.is_file()]


HOSTILE_NAME = "../../n\0\n\x1b[2J\u202e" + "x" * 300


async def test_pb_124_nothing_is_written_and_names_are_shown_safely(tmp_path: Path) -> None:
    """Addresses that climb, names that deceive, data that is none: all of it is shown on lines of
    its own, and no file is made of any."""
    blob = b64encode(b"#!/bin/sh\n").decode()
    result = await answered(
        tmp_path,
        {
            "content": [
                {"type": "resource", "resource": {"uri": "file:///../../../tmp/pwn", "blob": blob}},
                {"type": "resource", "resource": {"uri": "..%2f..%2fx", "blob": blob}},
                {"type": "resource_link", "uri": f"file:///{HOSTILE_NAME}", "name": HOSTILE_NAME},
                {"type": "resource", "resource": {"uri": "file:///bad", "blob": "%%%="}},
                {"type": "image", "data": "AAA", "mimeType": "image/png"},
                {"type": f"x{HOSTILE_NAME}", "name": HOSTILE_NAME},
            ]
        },
    )
    assert not result.is_error
    assert [type(block) for block in result.content[:6]] == [
        EmbeddedResource,
        EmbeddedResource,
        ResourceLink,
        UnknownContent,
        UnknownContent,
        UnknownContent,
    ]
    for block in result.content[:6]:
        assert block.as_text().isprintable()
        assert len(block.as_text()) < 2500
    assert "content[3] of type resource can not be used: its data is no base64" in result.text
    assert "content[4] of type image can not be used" in result.text
    first = result.content[0]
    assert isinstance(first, EmbeddedResource)
    assert first.decoded() == b"#!/bin/sh\n"
    assert all(path.name.startswith(("s.", "state.db")) for path in files_in(tmp_path))


async def test_pb_124_a_large_blob_is_measured_before_it_is_decoded(tmp_path: Path) -> None:
    """45 MB of it: its size is told, and nothing is decoded that is over the limit."""
    image = {"type": "image", "data": "@fill@", "mimeType": "image/png"}
    result: dict[str, Any] = {"content": [image]}
    frame = json.dumps({"jsonrpc": "2.0", "id": CALL_ID, "result": result}, separators=(",", ":"))
    rules = (When("tools/call", Answer(result, frame_size=60_000_000 + len(frame) - 6)),)
    script = ScriptedServer(rules=rules, revisions=LEGACY)
    async with serving("stdio", tmp_path, script) as fleet:
        shown = await fleet.call("mcp__s__echo")
    (block,) = shown.content
    assert isinstance(block, Image)
    assert block.as_text() == "[image image/png, 45000 kB]"
    with pytest.raises(LocalError, match=r"45,000,000 bytes, over the limit of 33,554,432"):
        block.decoded()


# ------------------------------------------------------------------ progress


def said(token: Any, progress: Any = 1, **more: Any) -> Send:
    """One progress notification."""
    params = {"progressToken": token, "progress": progress, **more}
    return Send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def reporting(times: int, every: float, *more: Step) -> ScriptedServer:
    """A server whose calls take `times` times `every` seconds, and report each time."""
    steps = [step for n in range(times) for step in (Sleep(every), said(CALL_ID, n, total=times))]
    answer = Answer({"content": [{"type": "text", "text": "done"}]})
    return ScriptedServer(rules=(When("tools/call", *steps, *more, answer),), revisions=LEGACY)


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_pb_143_progress_extends_the_timeout_up_to_a_cap(how: str, tmp_path: Path) -> None:
    """Where the operator says so: a call that takes longer than its timeout succeeds."""
    script = reporting(12, 0.15)
    settings = {"request_timeout": 1.0, "progress_extends": 60.0}
    async with serving(how, tmp_path, script, **settings) as fleet:
        assert (await fleet.call("mcp__s__echo")).text == "done"


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_pb_143_there_is_a_hard_cap(how: str, tmp_path: Path) -> None:
    """A server that reports and never answers is given up."""
    script = reporting(1000, 0.05)
    settings = {"request_timeout": 1.0, "progress_extends": 1.3}
    async with serving(how, tmp_path, script, **settings) as fleet, asyncio.timeout(10):
        result = await fleet.call("mcp__s__echo")
    assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "within 1.3 s" in result.text


async def test_pb_143_without_that_it_extends_nothing(tmp_path: Path) -> None:
    """The timeout stays what it is, and no progress is asked for."""
    async with serving("stdio", tmp_path, reporting(1000, 0.02), request_timeout=1.0) as fleet:
        result = await fleet.call("mcp__s__echo")
    assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "within 1 s" in result.text


@pytest.mark.parametrize("how", ["stdio", "http"])
@pytest.mark.parametrize("settings", [{}, {"progress_extends": 60.0}])
async def test_pb_143_odd_progress_never_raises(
    how: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    """Unknown tokens, tokens of the other type, less than before, no total, a megabyte of words,
    before and after the answer: the call stands, and the next one too."""
    odd = (
        said(999),
        said(str(CALL_ID)),
        said(None),
        said(CALL_ID, 5, total=None),
        said(CALL_ID, 3),
        said(CALL_ID, "much"),
        said(CALL_ID, 6, message="x" * 1_000_000),
    )
    done = Answer({"content": [{"type": "text", "text": "done"}]})
    rules = (When("tools/call", *odd, done, said(CALL_ID, 7)),)
    script = ScriptedServer(rules=rules, revisions=LEGACY)
    async with serving(how, tmp_path, script, **settings) as fleet:
        assert (await fleet.call("mcp__s__echo")).text == "done"
        assert (await fleet.call("mcp__s__echo")).text == "done"
