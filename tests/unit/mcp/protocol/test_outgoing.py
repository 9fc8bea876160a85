"""Every frame that a client sends, against the schema of the revision it is sent in."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from lockgate.mcp.protocol import jsonrpc
from lockgate.mcp.protocol.eras import LATEST_LEGACY, LATEST_MODERN, REVISIONS, Era, Revision, known
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.protocol.outgoing import (
    ClientIdentity,
    Dialect,
    answer_request,
    discover,
    initialize,
    initialized,
)

SPEC = Path(__file__).parents[4] / "spec"
ME = ClientIdentity("lockgate", "1.2.3", "Lockgate")
LEGACY = [revision for revision in REVISIONS if revision.era is Era.LEGACY]
NAMES = [revision.name for revision in REVISIONS]


@functools.cache
def validator(revision: str, definition: str) -> Any:
    """A validator for one definition of one revision's schema."""
    schema = json.loads((SPEC / f"mcp-schema-{revision}.json").read_text("utf-8"))
    where = "$defs" if "$defs" in schema else "definitions"
    return jsonschema_rs.validator_for({**schema, "$ref": f"#/{where}/{definition}"})


def checked(made: Outgoing, revision: Revision, *definitions: str) -> dict[str, Any]:
    """The frame as a value, valid under each of the definitions."""
    frame = json.loads(made.payload)
    assert frame.get("id") == made.id
    assert frame.get("method") == made.method
    for definition in definitions:
        errors = [e.message for e in validator(revision.name, definition).iter_errors(frame)]
        assert errors == [], definition
    return frame


def dialect(name: str) -> tuple[Dialect, Revision]:
    """What to speak in the revision of that name."""
    revision = known(name)
    assert revision is not None
    return Dialect(revision, ME), revision


@pytest.mark.parametrize("id", [1, "a-1", 2**40])
@pytest.mark.parametrize("name", NAMES)
def test_requests_of_a_dialect_are_valid(name: str, id: jsonrpc.RequestId) -> None:
    """Listing, its next pages and calling, in every revision, with either kind of id."""
    speak, revision = dialect(name)
    for made, definition in (
        (speak.list_tools(id), "ListToolsRequest"),
        (speak.list_tools(id, ""), "ListToolsRequest"),
        (speak.list_tools(id, 'a "cursor" 한'), "ListToolsRequest"),
        (speak.call_tool(id, "t", {}), "CallToolRequest"),
        (speak.call_tool(id, "도구", {"a": [1, None, {"b": 2**64}]}), "CallToolRequest"),
    ):
        checked(made, revision, definition, "JSONRPCRequest", "ClientRequest")


@pytest.mark.req("S3-19")
@pytest.mark.parametrize("name", NAMES)
def test_requests_about_resources_and_prompts_are_valid(name: str) -> None:
    """In every revision that has them, as the clients make them."""
    speak, revision = dialect(name)
    reference = {"type": "ref/prompt", "name": "p"}
    argument: dict[str, Any] = {"ref": reference, "argument": {"name": "a", "value": ""}}
    if revision.completes_in_context:
        argument["context"] = {"arguments": {"b": "1"}}
    filters = {"promptsListChanged": True, "resourceSubscriptions": ["x:1"]}
    for method, params, definition in (
        ("resources/list", None, "ListResourcesRequest"),
        ("resources/list", {"cursor": ""}, "ListResourcesRequest"),
        ("resources/templates/list", None, "ListResourceTemplatesRequest"),
        ("resources/read", {"uri": "file:///a"}, "ReadResourceRequest"),
        ("prompts/list", None, "ListPromptsRequest"),
        ("prompts/get", {"name": "p", "arguments": {"a": "1"}}, "GetPromptRequest"),
        ("completion/complete", argument, "CompleteRequest"),
        ("resources/subscribe", {"uri": "file:///a"}, "SubscribeRequest"),
        ("resources/unsubscribe", {"uri": "file:///a"}, "UnsubscribeRequest"),
        ("subscriptions/listen", {"notifications": filters}, "SubscriptionsListenRequest"),
    ):
        if revision.modern and "ubscribeRequest" in definition:
            continue
        if not revision.modern and definition == "SubscriptionsListenRequest":
            continue
        made = speak.request(1, method, params)
        checked(made, revision, definition, "JSONRPCRequest", "ClientRequest")


@pytest.mark.parametrize("name", NAMES)
def test_a_call_carries_the_context_of_a_trace(name: str) -> None:
    """`traceparent` and `tracestate` in `_meta` without a prefix, beside what is there already;
    with nothing to carry the frame is the same, byte for byte (SEP-414)."""
    speak, revision = dialect(name)
    carried = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "tracestate": 'a=1,b="2"',
    }
    plain = speak.call_tool(1, "t", {"a": 1})
    assert speak.call_tool(1, "t", {"a": 1}, {}) == plain
    made = speak.call_tool(1, "t", {"a": 1}, carried)
    sent = checked(made, revision, "CallToolRequest", "JSONRPCRequest", "ClientRequest")["params"]
    before = json.loads(plain.payload)["params"]
    assert sent == {**before, "_meta": {**before.get("_meta", {}), **carried}}
    assert speak.call_tool(1, "t", {"a": 1}) == plain


@pytest.mark.parametrize("name", NAMES)
def test_a_cancellation_is_valid(name: str) -> None:
    """With and without a reason; the id keeps its type."""
    speak, revision = dialect(name)
    for id in (1, "1"):
        for made in (speak.cancelled(id), speak.cancelled(id, "too slow")):
            frame = checked(
                made, revision, "CancelledNotification", "JSONRPCNotification", "ClientNotification"
            )
            assert frame["params"]["requestId"] == id
            assert type(frame["params"]["requestId"]) is type(id)


@pytest.mark.parametrize("revision", LEGACY, ids=lambda r: r.name)
def test_the_handshake_is_valid(revision: Revision) -> None:
    """`initialize` offers the revision and carries no version header: nothing is agreed yet."""
    made = initialize(1, ME, revision)
    frame = checked(made, revision, "InitializeRequest", "JSONRPCRequest", "ClientRequest")
    assert frame["params"] == {
        "protocolVersion": revision.name,
        "capabilities": {},
        "clientInfo": {"name": "lockgate", "version": "1.2.3", "title": "Lockgate"},
    }
    assert made.headers == ()
    done = initialized(revision)
    checked(done, revision, "InitializedNotification", "JSONRPCNotification", "ClientNotification")
    assert done.headers == revision.headers("notifications/initialized")


def test_the_probe_is_valid() -> None:
    """`server/discover` in the modern revision."""
    made = discover("p", ME, LATEST_MODERN)
    checked(made, LATEST_MODERN, "DiscoverRequest", "JSONRPCRequest", "ClientRequest")


MODERN_REQUESTS: list[Callable[[Dialect], Outgoing]] = [
    lambda d: d.list_tools(1),
    lambda d: d.list_tools(1, "c"),
    lambda d: d.call_tool(1, "t", {}),
    lambda d: d.request(1, "prompts/list"),
    lambda d: d.request(1, "prompts/list", {"cursor": "c"}),
    lambda d: discover(1, ME, d.revision),
]


@pytest.mark.parametrize("make", MODERN_REQUESTS)
def test_every_modern_request_says_who_asks_and_in_which_revision(
    make: Callable[[Dialect], Outgoing],
) -> None:
    """2026-07-28, basic: per-request protocol fields. Capabilities are stated, if empty."""
    made = make(Dialect(LATEST_MODERN, ME))
    assert json.loads(made.payload)["params"]["_meta"] == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {
            "name": "lockgate",
            "version": "1.2.3",
            "title": "Lockgate",
        },
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    assert dict(made.headers)["Mcp-Method"] == made.method


@pytest.mark.parametrize("revision", LEGACY, ids=lambda r: r.name)
def test_legacy_requests_carry_no_meta(revision: Revision) -> None:
    """The session remembers who asks."""
    speak = Dialect(revision, ME)
    for made in (speak.list_tools(1), speak.call_tool(1, "t", {}), speak.request(1, "ping")):
        assert b"_meta" not in made.payload


def test_a_call_names_its_tool_beside_the_body() -> None:
    """On transports that have headers, encoded where it has to be."""
    speak = Dialect(LATEST_MODERN, ME)
    assert dict(speak.call_tool(1, "echo", {}).headers)["Mcp-Name"] == "echo"
    assert dict(speak.call_tool(1, "도구", {}).headers)["Mcp-Name"].startswith("=?base64?")
    assert "Mcp-Name" not in dict(speak.list_tools(1).headers)


def test_a_title_is_sent_only_if_there_is_one() -> None:
    """No null goes out."""
    nobody = ClientIdentity("n", "1")
    for made in (initialize(1, nobody, LATEST_LEGACY), discover(1, nobody, LATEST_MODERN)):
        assert b"null" not in made.payload
        assert b"title" not in made.payload


@pytest.mark.parametrize("revision", LEGACY, ids=lambda r: r.name)
def test_a_ping_is_answered_and_everything_else_refused(revision: Revision) -> None:
    """Also roots/list: a server left waiting can stay alive for a minute (PB-048)."""
    pong = answer_request(jsonrpc.Request("p1", "ping"))
    response = "JSONRPCResultResponse" if revision is LATEST_LEGACY else "JSONRPCResponse"
    assert checked(pong, revision, response)["result"] == {}
    for method in ("roots/list", "sampling/createMessage", "elicitation/create", "x" * 5000):
        refused = answer_request(jsonrpc.Request(0, method))
        error = "JSONRPCErrorResponse" if revision is LATEST_LEGACY else "JSONRPCError"
        frame = checked(refused, revision, error)
        assert frame["error"]["code"] == -32601
        assert len(refused.payload) < 400
