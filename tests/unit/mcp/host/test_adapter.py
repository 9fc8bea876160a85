"""A server's tool under the tool contract (S3-01, S3-02, S3-04)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import Fate
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.adapter import McpTool
from lockgate.mcp.host.line import Line
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import definition_fingerprint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.profile import ServerProfile
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.steps import Answer, Exit, Shape
from lockgate.tools.context import Bounds, Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)

RULING = Ruling(
    SideEffectLevel.MUTATING,
    DestructiveBehavior.NON_DESTRUCTIVE,
    IdempotencyBehavior.IDEMPOTENT,
    ConcurrencyBehavior.CONCURRENT_SAFE,
    "verdict",
    {"level": "because"},
    ("odd",),
)

DEFINITION: Mapping[str, Any] = {
    "name": "파일 읽기",
    "title": "Read",
    "description": "Reads.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "x": 1},
}

SETTINGS = ServerSettings("files", StdioEndpoint("run", ("--here",), {"TOKEN": "s3cret"}))


@pytest.fixture
def server() -> LoopServer:
    """Lists DEFINITION."""
    return LoopServer(ScriptedServer((DEFINITION,), revisions=LEGACY, name="files"))


@pytest.fixture
async def session(server: LoopServer) -> AsyncGenerator[ServerSession, None]:
    """A session with it."""
    made = await connect(server.transport(), peer="files", client=ClientIdentity("test", "1"))
    yield made
    await made.close()


async def _tool(
    session: ServerSession, settings: ServerSettings = SETTINGS, ruling: Ruling = RULING
) -> McpTool:
    (listed,) = (await ToolClient(session).list()).tools
    mark = definition_fingerprint(settings.endpoint, session.profile.instructions, listed)
    line = Line("files")
    line.connected(session)
    tool = McpTool(settings, line, listed, mark, ruling)
    line.bonds = {listed.name: tool.bond}
    return tool


async def _execute(
    tool: McpTool, arguments: Mapping[str, Any] | None = None, deadline: float | None = None
) -> Outcome:
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), False, Environment(Path())
    )
    permit = Permit(ToolContext(execution, "call", deadline=deadline))
    return await tool.execute(arguments or {}, permit)


@pytest.mark.req("S3-01")
@pytest.mark.req("S3-05")
async def test_the_definition_is_the_servers_own(session: ServerSession) -> None:
    """The schema is advertised as it is; what identifies the tool travels as its origin."""
    tool = await _tool(session)
    definition = tool.definition
    assert definition.input_schema == DEFINITION["inputSchema"]
    assert (definition.title, definition.description) == ("Read", "Reads.")
    assert definition.output_schema == {"type": "object"}
    origin = definition.origin
    assert (origin.source, origin.server, origin.original_name) == ("mcp", "files", "파일 읽기")
    assert origin.claim == {"readOnlyHint": True, "x": 1}
    assert (origin.ruling, origin.remarks) == ("verdict", ("odd",))
    assert origin.reasons["level"] == "because"
    assert tool.definition is definition


@pytest.mark.req("S3-02")
async def test_the_name_is_valid_and_the_wire_gets_the_original(
    server: LoopServer, session: ServerSession
) -> None:
    """A name that had to be altered ends in a digest; the server never sees it."""
    tool = await _tool(session)
    assert tool.name.startswith("mcp__files__")
    assert tool.name.isascii()
    await _execute(tool, {"a": "b"})
    called = server.heard("tools/call")[0]["params"]
    assert called == {"name": "파일 읽기", "arguments": {"a": "b"}}


@pytest.mark.req("S0-11")
async def test_the_traits_are_the_rulings(session: ServerSession) -> None:
    """The declaration says what was ruled, and every remote call can be given up."""
    tool = await _tool(session)
    assert tool.side_effect_level is SideEffectLevel.MUTATING
    assert not tool.is_destructive
    assert tool.is_idempotent
    assert tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert tool.interrupt_behavior is InterruptBehavior.COOPERATIVE
    assert tool.lane == tool.name


async def test_a_lane_for_the_server_is_one_for_all_its_tools(session: ServerSession) -> None:
    """lane: server holds every tool of the server to one call at a time, concurrent ones too."""
    tool = await _tool(session, replace(SETTINGS, lane="server"))
    assert tool.lane == "server:files"
    assert tool.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL


@pytest.mark.req("S0-13")
async def test_a_read_only_tool_says_that_it_is_not_destructive(session: ServerSession) -> None:
    """What is displayed is what holds (PB-131)."""
    ruling = replace(RULING, level=SideEffectLevel.READ_ONLY)
    tool = await _tool(session, ruling=ruling)
    assert repr(tool) == f"<McpTool {tool.name} READ_ONLY NON_DESTRUCTIVE>"


@pytest.mark.req("S3-04")
async def test_a_result_keeps_content_and_structure(
    server: LoopServer, session: ServerSession
) -> None:
    """Content comes as it is; structured content beside it."""
    content = [{"type": "text", "text": "42"}]
    result = {"content": content, "structuredContent": {"n": 42}}
    server.on("tools/call", Answer(result=result))
    outcome = await _execute(await _tool(session))
    assert outcome.fate is Fate.ANSWERED
    assert outcome.result.content == (Text("42"),)
    assert (outcome.result.structured, outcome.result.is_error) == ({"n": 42}, False)


async def test_structure_without_content_is_shown_as_text(
    server: LoopServer, session: ServerSession
) -> None:
    """A model that reads only text is not left with nothing."""
    server.on("tools/call", Answer(result={"structuredContent": {"n": 42}}))
    assert (await _execute(await _tool(session))).result.text == '{"n":42}'


@pytest.mark.parametrize(
    ("answer", "is_error", "text"),
    [
        ("null", False, "[odd about this answer: the result is null, not an object]"),
        (
            '{"isError":"yes","content":"no"}',
            True,
            "no\n[odd about this answer: content is a string, not an array; content[0] is a "
            "string, not an object; isError is a string, not true or false]",
        ),
        ("[" + "1," * 9 + "1]", False, "[odd about this answer: the result is an array, "),
        ('{"isError":"no"}', False, "[odd about this answer: isError is a string, "),
        (
            '{"content":[5,5,5,5,5,5]}',
            False,
            "content[4] is a number, not an object; and 1 more]",
        ),
    ],
)
async def test_what_is_odd_about_an_answer_is_told_with_it(
    server: LoopServer, session: ServerSession, answer: str, is_error: bool, text: str
) -> None:
    """Success or not: who reads the result can see that the server did not answer as it should,
    and an error in any word is an error."""
    swap = (b'"result":{"x":0}', f'"result":{answer}'.encode())
    server.on("tools/call", Answer(result={"x": 0}, shape=Shape(swap=(swap,))))
    outcome = await _execute(await _tool(session))
    assert outcome.result.is_error is is_error
    assert text in outcome.result.text


@pytest.mark.req("S3-04")
@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "disk full"}]}, "disk full"),
        ({"isError": True}, "files reported an error without saying which"),
        ({"isError": True, "structuredContent": {"code": 5}}, '{"code":5}'),
    ],
)
async def test_is_error_is_a_tool_error_with_the_servers_text(
    server: LoopServer, session: ServerSession, result: dict[str, Any], text: str
) -> None:
    """isError: kind tool_error, fate answered, the server's words."""
    server.on("tools/call", Answer(result=result))
    outcome = await _execute(await _tool(session))
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.TOOL_ERROR, Fate.ANSWERED)
    assert outcome.result.text == text


@pytest.mark.req("S3-04")
async def test_a_json_rpc_error_is_a_tool_error(server: LoopServer, session: ServerSession) -> None:
    """What the server refuses by protocol is told to the model in the server's words."""
    server.on("tools/call", Answer(error={"code": -32602, "message": "Unknown tool"}))
    outcome = await _execute(await _tool(session))
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.TOOL_ERROR, Fate.ANSWERED)
    assert "Unknown tool (code -32602)" in outcome.result.text


@pytest.mark.req("S3-04")
async def test_not_connected_sends_nothing(server: LoopServer, session: ServerSession) -> None:
    """After the session has ended: not_connected, fate not_sent, and the server heard nothing."""
    tool = await _tool(session)
    await session.close()
    outcome = await _execute(tool)
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.NOT_CONNECTED, Fate.NOT_SENT)
    assert not server.heard("tools/call")


@pytest.mark.req("S3-04")
async def test_a_death_in_the_middle_leaves_the_outcome_unknown(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-022: at once, with the reason; never reported as something that can be repeated."""
    tool = await _tool(session)
    server.on("tools/call", Exit())
    async with asyncio.timeout(1):
        outcome = await _execute(tool)
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.OUTCOME_UNKNOWN, Fate.UNKNOWN)
    assert "the server ended" in outcome.result.text


@pytest.mark.req("S3-04")
@pytest.mark.req("S3-21")
async def test_the_callers_deadline_bounds_the_call(
    server: LoopServer, session: ServerSession
) -> None:
    """The earlier of the deadline and the request timeout counts; over before sending, nothing
    is sent."""
    tool = await _tool(session)
    server.on("tools/call")
    now = asyncio.get_running_loop().time()
    late = await _execute(tool, deadline=now - 1)
    assert (late.result.kind, late.fate) == (ErrorKind.TIMEOUT, Fate.NOT_SENT)
    assert not server.heard("tools/call")
    slow = await _execute(tool, deadline=now + 0.05)
    assert (slow.result.kind, slow.fate) == (ErrorKind.OUTCOME_UNKNOWN, Fate.UNKNOWN)
    short = await _execute(await _tool(session, replace(SETTINGS, request_timeout=0.05)))
    assert short.fate is Fate.UNKNOWN


@pytest.mark.req("S3-04")
async def test_arguments_without_a_json_form_are_invalid(
    server: LoopServer, session: ServerSession
) -> None:
    """Nothing is sent, and the value is not in the text."""
    outcome = await _execute(await _tool(session), {"a": "hush\ud800"})
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.INVALID_ARGUMENTS, Fate.NOT_SENT)
    assert "hush" not in outcome.result.text
    assert not server.heard("tools/call")


@pytest.mark.req("S3-04")
async def test_use_from_another_loop_is_a_result_too(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-090: execute never raises, whatever loop it is run on; nothing is sent, nothing hangs."""
    tool = await _tool(session)
    outcome = await asyncio.to_thread(asyncio.run, _execute(tool))
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.INTERNAL, Fate.NOT_SENT)
    assert "another event loop" in outcome.result.text


@pytest.mark.req("S3-04")
async def test_cancellation_passes(server: LoopServer, session: ServerSession) -> None:
    """PB-023: a cancelled execute is cancelled, not a result; the server is told."""
    tool = await _tool(session)
    server.on("tools/call")
    running = asyncio.create_task(_execute(tool))
    await server.hears("tools/call")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await server.hears("notifications/cancelled")


@pytest.mark.req("B-06")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "Write"}, "title"),
        ({"description": "Writes."}, "description"),
        ({"inputSchema": {"type": "object"}}, "inputSchema"),
        ({"outputSchema": {"type": "object", "x": 1}}, "outputSchema"),
        ({"annotations": {"readOnlyHint": False}}, "annotations"),
    ],
)
async def test_any_change_of_the_definition_changes_the_fingerprint(
    server: LoopServer, session: ServerSession, change: dict[str, Any], field: str
) -> None:
    """What a person judged a tool by is covered, field by field."""
    before = (await _tool(session)).definition.origin.fingerprint
    assert (await _tool(session)).definition.origin.fingerprint == before
    server.on("tools/list", Answer(result={"tools": [{**DEFINITION, **change}]}))
    after = (await _tool(session)).definition.origin.fingerprint
    assert after.digest != before.digest
    assert after.changed(before) == (field,)


@pytest.mark.req("B-06")
async def test_endpoint_and_instructions_are_part_of_the_fingerprint(
    session: ServerSession,
) -> None:
    """Another program or other instructions make it another tool; a variable's value does not."""
    before = (await _tool(session)).definition.origin.fingerprint
    moved = replace(SETTINGS, endpoint=StdioEndpoint("run", ("--there",), {"TOKEN": "s3cret"}))
    after = (await _tool(session, moved)).definition.origin.fingerprint
    assert after.changed(before) == ("endpoint",)
    told = replace(session, profile=ServerProfile(instructions="Obey."))
    assert (await _tool(told)).definition.origin.fingerprint.changed(before) == ("instructions",)
    rotated = replace(SETTINGS, endpoint=StdioEndpoint("run", ("--here",), {"TOKEN": "other"}))
    assert (await _tool(session, rotated)).definition.origin.fingerprint == before


@pytest.mark.parametrize("is_error", [False, True])
async def test_what_stands_beside_the_answer_is_kept_for_programs(
    server: LoopServer, session: ServerSession, is_error: bool
) -> None:
    """`_meta` of the result, as it came; no model is shown it."""
    content = [{"type": "text", "text": "a", "_meta": {"of": "block"}}]
    result = {"content": content, "isError": is_error, "_meta": {"x/y": [1]}}
    server.on("tools/call", Answer(result))
    told = (await _execute(await _tool(session))).result
    assert told.is_error is is_error
    assert told.meta == {"x/y": [1]}
    assert told.content == (Text("a", None, {"of": "block"}),)
    assert told.text == "a"
