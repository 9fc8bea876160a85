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
from lockgate.testing.memory_server import SILENCE, MemoryServer, Message, RpcError
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


class Recorded:
    """Says what the real server said."""

    def __init__(self, server: MemoryServer, *answers: dict[str, Any]) -> None:
        self._server = server
        self._answers = list(answers)

    async def __call__(self, message: Message) -> Any:
        recorded = self._answers.pop(0)
        if "error" in recorded:
            error = recorded["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        if "_eof" in recorded:
            self._server.hang_up()
        if "result" not in recorded:
            return SILENCE
        return recorded["result"]


def _replay(name: str) -> MemoryServer:
    recorded = SERVERS[name]
    server = MemoryServer(name=name)
    probe = recorded.get("discover", {"_timeout": 1})
    modern = "2026-07-28" in probe.get("result", {}).get("supportedVersions", ())
    pages = recorded.get("tools_list_2026") if modern else None
    server.on("server/discover", Recorded(server, probe))
    server.on("initialize", Recorded(server, recorded["initialize"]))
    server.on("tools/list", Recorded(server, *(pages or recorded.get("tools_list") or ())))
    return server


@asynccontextmanager
async def _started(trust: AnnotationTrust) -> AsyncGenerator[tuple[StartReport, Registry], None]:
    servers = {name: _replay(name) for name in SERVERS}
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
