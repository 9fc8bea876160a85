"""72 real servers, replayed: each tool is registered or left out by name, and ruled upon."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.mcp.host.status import StartReport
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer, Exit
from lockgate.tools.naming import NAME
from lockgate.tools.registry import Registry
from lockgate.tools.tool import Tool
from lockgate.traits import ConcurrencyBehavior

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
SERVERS: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted(CORPUS.glob("*.json"))
}
UNANSWERING = {"apify", "aws-sns-sqs", "qdrant", "rootly", "slack-go"}
"""They never answered initialize, or ended before that."""
NO_LIST = {"mysql-benborla", "supabase"}
"""They ended at tools/list, or refused it."""


def _recorded(method: str, *answers: dict[str, Any]) -> tuple[When, ...]:
    """Say what the real server said, one answer after the other; asked once more, it ends."""
    rules: list[When] = []
    for answer in answers:
        if "_eof" in answer:
            rules.append(When(method, Exit(), nth=1))
        elif "result" in answer or "error" in answer:
            said = Answer(result=answer.get("result"), error=answer.get("error"))
            rules.append(When(method, said, nth=1))
        else:
            rules.append(When(method, nth=1))
    return (*rules, When(method, Exit()))


def _replay(name: str) -> ScriptedServer:
    recorded = SERVERS[name]
    probe = recorded.get("discover", {"_timeout": 1})
    modern = "2026-07-28" in probe.get("result", {}).get("supportedVersions", ())
    pages = recorded.get("tools_list_2026") if modern else None
    rules = (
        *_recorded("server/discover", probe),
        *_recorded("initialize", recorded["initialize"]),
        *_recorded("tools/list", *(pages or recorded.get("tools_list") or ())),
    )
    return ScriptedServer((), rules=rules, revisions=LEGACY, name=name)


@asynccontextmanager
async def _started(trust: AnnotationTrust) -> AsyncGenerator[tuple[StartReport, Registry], None]:
    servers = {name: LoopServer(_replay(name)) for name in SERVERS}
    settings = [
        ServerSettings(name, StdioEndpoint("x"), request_timeout=1.5, annotation_trust=trust)
        for name in SERVERS
    ]
    registry = Registry()
    manager = Manager(
        settings, connect=lambda of: servers[of.name].transport(grace=0.1), probe_patience=0.5
    )
    yield await manager.start(registry), registry
    await manager.close()


def _listed(name: str) -> list[dict[str, Any]]:
    recorded = SERVERS[name]
    pages = recorded.get("tools_list") or ()
    return [tool for page in pages for tool in page.get("result", {}).get("tools", ())]


def _claims(tool: Tool) -> dict[str, Any]:
    return dict(tool.definition.origin.claim or {})


@pytest.mark.req("S3-10")
@pytest.mark.req("S3-05")
async def test_every_listed_tool_is_registered_or_left_out_by_name() -> None:
    """None is lost, schemas are advertised as they came, names are valid, and the seven servers
    that can not be listed are named with a reason."""
    async with _started(AnnotationTrust.IGNORE) as (report, registry):
        assert set(report.failed) == UNANSWERING | NO_LIST
        assert all(report.errors.values())
        for status in report.servers:
            if status.name in report.failed:
                continue
            originals = [definition["name"] for definition in _listed(status.name)]
            left_out = [left.tool for left in status.left_out]
            assert len(status.tools) + len(left_out) == len(originals)
            assert set(left_out) <= set(originals)
            assert all(left.reason for left in status.left_out)
        tools = registry.snapshot().tools
        assert len(tools) > 1000
        for tool in tools:
            definition = tool.definition
            assert NAME.fullmatch(tool.name)
            server = definition.origin.server
            assert server is not None
            (source,) = [t for t in _listed(server) if t["name"] == definition.origin.original_name]
            assert definition.input_schema == source["inputSchema"]
            assert definition.description == source.get("description", "")
            assert tool.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL


@pytest.mark.req("S0-12")
async def test_under_ignore_every_real_tool_is_the_worst_case() -> None:
    """Whatever it claims: mutating, destructive, not idempotent, by default."""
    async with _started(AnnotationTrust.IGNORE) as (_, registry):
        ruled = Counter(
            (repr(tool).split(" ", 2)[2], tool.definition.origin.ruling)
            for tool in registry.snapshot().tools
        )
    assert set(ruled) == {("MUTATING DESTRUCTIVE NON_IDEMPOTENT>", "default")}


@pytest.mark.req("S0-13")
@pytest.mark.req("S0-19")
async def test_under_trust_every_real_tool_is_what_it_claims() -> None:
    """readOnlyHint sets the level, destructiveHint and idempotentHint the rest, read here from
    the raw annotations; the source is the claim exactly where one of the three is claimed."""
    async with _started(AnnotationTrust.TRUST) as (_, registry):
        tools = registry.snapshot().tools
    for tool in tools:
        claims = _claims(tool)
        reads = claims.get("readOnlyHint") is True
        assert tool.is_read_only is reads
        assert tool.is_destructive is (not reads and claims.get("destructiveHint") is not False)
        assert tool.is_idempotent is (not reads and claims.get("idempotentHint") is True)
        hints = ("readOnlyHint", "destructiveHint", "idempotentHint")
        claimed = any(claims.get(hint) is not None for hint in hints)
        assert tool.definition.origin.ruling == ("claim" if claimed else "default")
    assert any(tool.is_read_only for tool in tools)
    assert any(tool.is_destructive for tool in tools)
