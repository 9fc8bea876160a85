"""The official SDK's models as an oracle: the same frames mean the same, or a reason is given.

Where they differ on purpose, a test says so and why; all of it is measured on mcp-types 2.3.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types
import pydantic
import pytest

from lockgate.mcp.protocol.claims import parse_claims
from lockgate.mcp.protocol.eras import LATEST_LEGACY, LATEST_MODERN, Era, Revision
from lockgate.mcp.protocol.jsonrpc import Response, decode
from lockgate.mcp.protocol.outgoing import ClientIdentity, Dialect, discover, initialize
from lockgate.mcp.protocol.results import (
    parse_call_result,
    parse_discover,
    parse_initialize,
    parse_tools_page,
)

CORPUS = sorted((Path(__file__).parents[3] / "data" / "corpus").glob("*.json"))
SERVERS: dict[str, dict[str, Any]] = {p.stem: json.loads(p.read_text("utf-8")) for p in CORPUS}
ANSWERING = [name for name, server in SERVERS.items() if "discover" in server]
ME = ClientIdentity("lockgate", "1.0")


def raw(message: dict[str, Any]) -> Any:
    """The result of a recorded answer, by our decoder."""
    incoming = decode(json.dumps(message).encode())
    assert isinstance(incoming, Response)
    return incoming.result


@pytest.mark.parametrize("name", ANSWERING)
def test_servers_say_the_same_of_themselves(name: str) -> None:
    """Version, name, capabilities, instructions: in both eras."""
    server = SERVERS[name]
    ours = parse_initialize(raw(server["initialize"]))
    theirs = mcp_types.InitializeResult.model_validate(server["initialize"]["result"])
    assert ours.version == theirs.protocol_version
    assert ours.server.name == theirs.server_info.name
    assert ours.server.version == theirs.server_info.version
    assert ours.server.instructions == theirs.instructions
    assert ours.server.can("tools") is (theirs.capabilities.tools is not None)
    if "result" in server["discover"]:
        modern = mcp_types.DiscoverResult.model_validate(server["discover"]["result"])
        found = parse_discover(raw(server["discover"]))
        assert list(found.versions) == modern.supported_versions
        assert found.server.instructions == modern.instructions
        assert found.ttl_ms == modern.ttl_ms


@pytest.mark.parametrize("name", ANSWERING)
def test_tools_are_the_same(name: str) -> None:
    """Names, texts, schemas and claims of every real tool."""
    for message in SERVERS[name].get("tools_list", ()):
        if "result" not in message:
            continue
        ours = parse_tools_page(raw(message))
        theirs = mcp_types.ListToolsResult.model_validate(message["result"])
        assert ours.next_cursor == theirs.next_cursor
        for mine, other in zip(ours.tools, theirs.tools, strict=True):
            assert (mine.name, mine.title) == (other.name, other.title)
            assert mine.description == (other.description or "")
            assert mine.input_schema == other.input_schema
            assert mine.output_schema == other.output_schema
            hints = other.annotations or mcp_types.ToolAnnotations()
            assert mine.claims.read_only == hints.read_only_hint
            assert mine.claims.destructive == hints.destructive_hint
            assert mine.claims.idempotent == hints.idempotent_hint
            assert mine.claims.open_world == hints.open_world_hint


RESULTS: list[dict[str, Any]] = [
    {"content": []},
    {"content": [{"type": "text", "text": "a"}], "isError": True},
    {"content": [], "structuredContent": {"a": [1]}, "resultType": "complete"},
    {
        "content": [
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "u:1", "name": "n", "size": 3},
            {"type": "resource", "resource": {"uri": "u:1", "text": "t"}},
            {"type": "resource", "resource": {"uri": "u:1", "blob": "AA=="}},
        ]
    },
]


@pytest.mark.parametrize("result", RESULTS)
def test_results_are_the_same(result: dict[str, Any]) -> None:
    """Error or not, the structure, and block by block what it is."""
    ours = parse_call_result(json.dumps(result).encode())
    theirs = mcp_types.CallToolResult.model_validate(result)
    assert ours.is_error is bool(theirs.is_error)
    assert ours.structured == theirs.structured_content
    assert ours.remarks == ()
    names = {
        "TextContent": "Text",
        "ImageContent": "Image",
        "AudioContent": "Audio",
        "ResourceLink": "ResourceLink",
        "EmbeddedResource": "EmbeddedResource",
    }
    mine = [type(block).__name__ for block in ours.content]
    assert mine == [names[type(block).__name__] for block in theirs.content]


@pytest.mark.parametrize("revision", [LATEST_MODERN, LATEST_LEGACY], ids=lambda r: r.name)
def test_the_sdk_reads_what_is_sent(revision: Revision) -> None:
    """As the request that was meant, with the parameters that were meant."""
    speak = Dialect(revision, ME)
    call = mcp_types.CallToolRequest.model_validate_json(speak.call_tool(1, "t", {"a": 1}).payload)
    assert (call.params.name, call.params.arguments) == ("t", {"a": 1})
    listing = mcp_types.ListToolsRequest.model_validate_json(speak.list_tools(1, "c").payload)
    assert listing.params is not None
    assert listing.params.cursor == "c"
    if revision.era is Era.LEGACY:
        hello = mcp_types.InitializeRequest.model_validate_json(initialize(1, ME, revision).payload)
        assert hello.params.protocol_version == revision.name
    else:
        probe = mcp_types.DiscoverRequest.model_validate_json(discover(1, ME, revision).payload)
        assert probe.params is not None


# ---------------------------------------------------------------- where we differ, and why


def test_the_sdk_believes_hints_that_are_no_booleans() -> None:
    """Under trust a writing tool would become read-only by `"true"` or 1 (S0-10)."""
    hints = {"readOnlyHint": "true", "idempotentHint": 1}
    theirs = mcp_types.ToolAnnotations.model_validate(hints)
    assert (theirs.read_only_hint, theirs.idempotent_hint) == (True, True)
    ours = parse_claims(hints)
    assert (ours.read_only, ours.idempotent) == (None, None)


@pytest.mark.parametrize(
    "result", [{"content": [{"type": "future"}]}, {"content": None}, {"content": [None]}]
)
def test_the_sdk_loses_the_whole_result_over_one_block(result: dict[str, Any]) -> None:
    """The tool has run; what can be read of its answer is worth more than an exception."""
    with pytest.raises(pydantic.ValidationError):
        mcp_types.CallToolResult.model_validate(result)
    assert not parse_call_result(json.dumps(result).encode()).is_error


@pytest.mark.parametrize("schema", [None, True, []])
def test_the_sdk_loses_all_tools_over_one_schema(schema: Any) -> None:
    """One malformed tool never takes down the others (S3-10)."""
    tools = [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": schema}]
    with pytest.raises(pydantic.ValidationError):
        mcp_types.ListToolsResult.model_validate({"tools": tools})
    page = parse_tools_page(json.dumps({"tools": tools}).encode())
    assert [tool.name for tool in page.tools] == ["a"]
    assert [left.tool for left in page.left_out] == ["b"]
