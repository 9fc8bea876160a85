"""What a server lists, and what of it is registered, as what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import AnnotationTrust, Verdict
from lockgate.mcp.host.status import ServerState
from lockgate.policy.ceiling import refusal, whole
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Shape
from lockgate.tools.context import Bounds, Environment, Execution, ToolContext
from lockgate.tools.naming import NAME, server_tool_name
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registry
from lockgate.tools.result import Outcome
from lockgate.traits import ConcurrencyBehavior, DestructiveBehavior, SideEffectLevel

MakeManager = Callable[..., Manager]

TRUST = {"annotation_trust": AnnotationTrust.TRUST}


def _names(registry: Registry) -> list[str]:
    return [tool.name for tool in registry.snapshot().tools]


async def _execute(registry: Registry, name: str) -> Outcome:
    entry = registry.snapshot().get(name)
    assert entry is not None
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), False, Environment(Path())
    )
    return await entry.tool.execute({}, Permit(ToolContext(execution, "call")))


ODD_NAMES = [
    *("admin.tools.list", "user/update", "한글도구", "has space", "", "a" * 200, "x;rm -rf"),
    *("__init__", "UPPER_case", "tool\nname"),
]


@pytest.mark.req("S3-02")
async def test_every_name_is_valid_and_the_server_gets_its_own(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-100: offered names match what models accept, or the tool is left out by name; the wire
    always gets the original."""
    server = LoopServer(ScriptedServer(tuple(tool(name) for name in ODD_NAMES), revisions=LEGACY))
    report = await managed({"s": server}).start(registry)
    (status,) = report.servers
    assert [left.reason for left in status.left_out] == ["has an empty name"]
    assert len(_names(registry)) == len(ODD_NAMES) - 1
    for name in _names(registry):
        assert NAME.fullmatch(name)
        await _execute(registry, name)
    called = [message["params"]["name"] for message in server.heard("tools/call")]
    assert called == [name for name in ODD_NAMES if name]


async def test_a_clash_leaves_the_later_tool_out_by_name(
    managed: MakeManager, registry: Registry
) -> None:
    """Two originals that come to one name: the first stays; what the registry holds is never
    replaced, whoever holds it."""
    altered = server_tool_name("s", "x.y").removeprefix("mcp__s__")
    server = LoopServer(ScriptedServer((tool("x.y"), tool(altered), tool("z"))))
    (status,) = (await managed({"s": server}).start(registry)).servers
    assert status.tools == (f"mcp__s__{altered}", "mcp__s__z")
    (left,) = status.left_out
    assert left.tool == altered
    assert "is held by the tool 'x.y' of server 's'" in left.reason
    await _execute(registry, status.tools[0])
    assert server.heard("tools/call")[0]["params"]["name"] == "x.y"


@pytest.mark.req("S3-11")
async def test_a_server_whose_name_is_taken_is_reported_failed(
    managed: MakeManager, registry: Registry
) -> None:
    """A duplicate at registration: the holder is untouched and goes on working."""
    first, second = LoopServer(ScriptedServer((tool("t"),))), ScriptedServer((tool("t"), tool("u")))
    await managed({"s": first}).start(registry)
    report = await managed({"s": second, "other": ScriptedServer((tool("v"),))}).start(registry)
    assert report.failed == ("s",)
    assert report.errors["s"] == "a server of that name is registered already"
    assert _names(registry) == ["mcp__s__t", "mcp__other__v"]
    await _execute(registry, "mcp__s__t")
    assert len(first.heard("tools/call")) == 1


SCHEMAS: list[tuple[str, Any, bool]] = [
    # inputSchema (... for none), registered?
    ("missing", ..., True),
    ("null", None, False),
    ("empty", {}, True),
    ("only-dialect", {"$schema": "http://json-schema.org/draft-07/schema#"}, True),
    ("plain", {"type": "object"}, True),
    ("array", [], False),
    ("string", "object", False),
    ("true", True, False),
    ("nullable", {"type": ["object", "null"]}, True),
    ("upper", {"type": "OBJECT"}, False),
    ("of-string", {"type": "string"}, False),
    ("list-of-properties", {"type": "object", "properties": [1, 2]}, False),
    ("required-string", {"type": "object", "required": "x"}, False),
    ("any-of", {"anyOf": [{"type": "object"}, {"type": "object", "required": ["a"]}]}, True),
    ("dangling", {"type": "object", "properties": {"s": {"$ref": "#/$defs/Missing"}}}, True),
    ("bad-type", {"type": "object", "properties": {"a": {"type": "strng"}}}, False),
    ("unknown-dialect", {"$schema": "https://example.org/mine", "type": "object"}, True),
    (
        "draft-04",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "http://example.org/x",
            "type": "object",
            "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}},
        },
        True,
    ),
    (
        "draft-07-tuple",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"t": {"type": "array", "items": [{"type": "string"}]}},
            "dependencies": {"a": ["b"]},
        },
        True,
    ),
]


def _deep(levels: int) -> bytes:
    """More than an encoder would nest."""
    return b'{"type":"object","properties":{"p":' * levels + b"{}" + b"}}" * levels


@pytest.mark.req("S3-05")
@pytest.mark.req("S3-10")
async def test_a_schema_that_is_none_leaves_its_tool_out_by_name(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-106, 107, 108, 110, 111, 113: each odd schema has its rule, and no tool harms another;
    what is registered is advertised as the server wrote it."""
    tools: list[Any] = [None, {"name": 5}]
    for name, schema, _ in SCHEMAS:
        definition = tool(name)
        if schema is ...:
            del definition["inputSchema"]
        else:
            definition["inputSchema"] = schema
        tools.append(definition)
    tools.extend([tool("deep", inputSchema="DEEP"), tool("last")])

    listing = Answer(result={"tools": tools}, shape=Shape(swap=((b'"DEEP"', _deep(600)),)))
    server = ScriptedServer(rules=(When("tools/list", listing),), revisions=LEGACY)
    (status,) = (await managed({"s": server}).start(registry)).servers
    assert status.state is ServerState.READY
    expected = [name for name, _, fine in SCHEMAS if fine] + ["last"]
    assert status.tools == tuple(f"mcp__s__{name}" for name in expected)
    reasons = {left.tool: left.reason for left in status.left_out}
    refused = {name for name, _, fine in SCHEMAS if not fine}
    assert set(reasons) == {"tool 1", "tool 2", "deep", *refused}
    assert "deep" in reasons["deep"]
    for name, schema, fine in SCHEMAS:
        entry = registry.snapshot().get(f"mcp__s__{name}")
        if fine and entry is not None:
            wanted = {"type": "object"} if schema is ... else schema
            assert entry.tool.definition.input_schema == wanted


@pytest.mark.req("S0-12")
async def test_trust_in_one_server_never_carries_to_another(
    managed: MakeManager, registry: Registry
) -> None:
    """PB-130: the same claim by two servers, one trusted: hidden below a read-only ceiling and
    destructive for one, read-only for the other, and each says whose word that is."""
    claim = tool("drop_all", annotations={"readOnlyHint": True})
    servers = {"a": ScriptedServer((claim,)), "b": ScriptedServer((claim,))}
    await managed(servers, {"b": TRUST}).start(registry)
    doubted, believed = registry.snapshot().tools
    assert (doubted.side_effect_level, doubted.is_destructive) == (SideEffectLevel.MUTATING, True)
    assert (believed.is_read_only, believed.is_destructive) == (True, False)
    bounds = whole(SideEffectLevel.READ_ONLY)
    hidden = refusal(doubted, bounds)
    assert hidden is not None
    assert hidden.code == "above_ceiling"
    assert refusal(believed, bounds) is None
    assert (doubted.definition.origin.ruling, believed.definition.origin.ruling) == (
        "default",
        "claim",
    )
    assert doubted.definition.origin.claim == believed.definition.origin.claim


@pytest.mark.parametrize("trust", list(AnnotationTrust))
async def test_names_never_lower_a_level(
    managed: MakeManager, registry: Registry, trust: AnnotationTrust
) -> None:
    """PB-132: what a tool is called, or says of itself in words, is no claim."""
    names = ("get_and_delete", "list_users", "read_file", "search")
    server = ScriptedServer(tuple(tool(name, "Read-only. Safe.") for name in names))
    await managed({"s": server}, {"s": {"annotation_trust": trust}}).start(registry)
    for held in registry.snapshot().tools:
        assert held.is_destructive
        assert refusal(held, whole(SideEffectLevel.READ_ONLY)) is not None


@pytest.mark.req("S0-11")
async def test_the_operators_verdict_reaches_the_tool_by_its_original_name(
    managed: MakeManager, registry: Registry
) -> None:
    """Over claim and trust; the origin says that it is the operator's."""
    claim = {"readOnlyHint": True}
    server = ScriptedServer((tool("이동", annotations=claim), tool("b", annotations=claim)))
    verdicts = {
        "이동": Verdict(
            destructive=DestructiveBehavior.DESTRUCTIVE,
            concurrent=ConcurrencyBehavior.CONCURRENT_SAFE,
        )
    }
    await managed({"s": server}, {"s": {**TRUST, "verdicts": verdicts}}).start(registry)
    moved, other = registry.snapshot().tools
    assert (moved.is_destructive, other.is_read_only) == (True, True)
    assert moved.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert other.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL
    assert moved.definition.origin.ruling == "verdict"


async def test_what_the_operator_wrote_in_vain_is_remarked_upon(
    managed: MakeManager, registry: Registry
) -> None:
    """A verdict for a tool that is not listed, and concurrency under one lane for all."""
    verdicts = {
        "gone": Verdict(level=SideEffectLevel.READ_ONLY),
        "t": Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE),
    }
    settings = {"s": {"verdicts": verdicts, "lane": "server"}}
    report = await managed({"s": ScriptedServer((tool("t"),))}, settings).start(registry)
    assert report.servers[0].remarks == (
        "the verdict for 'gone' applies to nothing: no such tool is listed",
        "the verdict concurrent for 't' has no effect: lane is server",
    )


@pytest.mark.req("S0-10")
async def test_odd_claims_and_lists_are_remarked_upon_where_they_belong(
    managed: MakeManager, registry: Registry
) -> None:
    """What is odd about a tool is with the tool, what is odd about the list with the server."""
    odd = tool("t", annotations={"readOnlyHint": "true"})
    listing = Answer(result={"tools": [odd], "nextCursor": 5})
    server = ScriptedServer(rules=(When("tools/list", listing),), revisions=LEGACY)
    (status,) = (await managed({"s": server}, {"s": TRUST}).start(registry)).servers
    assert status.remarks == ("nextCursor is a number, not a string: the list ends here",)
    (held,) = registry.snapshot().tools
    assert held.is_destructive
    assert any("readOnlyHint" in remark for remark in held.definition.origin.remarks)
