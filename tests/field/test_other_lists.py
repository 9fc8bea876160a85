"""Field cases of lists, for what is listed besides tools: resources, their templates, prompts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.pages import Listed
from lockgate.mcp.client.prompts import PromptClient
from lockgate.mcp.client.resources import ResourceClient
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When
from lockgate.testing.steps import Answer, Sleep

ODD = ' page "2" 둘\t'
REVISIONS = pytest.mark.parametrize("revisions", [LEGACY, MODERN], ids=["legacy", "modern"])


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the lists."""

    method: str
    members: str
    """Where a page has its entries."""
    read: Callable[[ServerSession], Any]
    """Reads the whole list."""

    def page(self, number: int, count: int = 40, **more: Any) -> dict[str, Any]:
        """A page of that many entries, as each kind has them."""
        names = [f"{number}-{each}" for each in range(count)]
        entries = [
            {"name": name, "uri": f"memo://{name}", "uriTemplate": f"memo://{name}/{{x}}"}
            for name in names
        ]
        return {self.members: entries, "resultType": "complete", **more}


KINDS = (
    Kind("resources/list", "resources", lambda session: ResourceClient(session).list()),
    Kind(
        "resources/templates/list",
        "resourceTemplates",
        lambda session: ResourceClient(session).templates(),
    ),
    Kind("prompts/list", "prompts", lambda session: PromptClient(session).list()),
)
OF_EACH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.members)


@asynccontextmanager
async def session_with(
    *rules: When, revisions: tuple[str, ...]
) -> AsyncGenerator[tuple[ServerSession, LoopServer]]:
    """A session with a server that has tools, resources and prompts."""
    able: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
    server = LoopServer(ScriptedServer(rules=rules, revisions=revisions, capabilities=able))
    me = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="s", client=me)
    try:
        yield session, server
    finally:
        await session.close()


@REVISIONS
@OF_EACH
async def test_pb_141_all_pages_or_an_error(kind: Kind, revisions: tuple[str, ...]) -> None:
    """Three pages, the last one slow: all of them, each cursor byte for byte. A page that fails
    fails the list: never a silently short one."""
    pages = (kind.page(1, nextCursor=ODD), kind.page(2, nextCursor="3"), kind.page(3))
    failing = Answer(error={"code": -32603, "message": "no"})
    rules = (
        When(kind.method, Answer(pages[0]), nth=1),
        When(kind.method, Answer(pages[1]), nth=1),
        When(kind.method, Sleep(0.1), Answer(pages[2]), nth=1),
        When(kind.method, Answer(pages[0]), nth=1),
        When(kind.method, failing, nth=1),
    )
    async with session_with(*rules, revisions=revisions) as (session, server):
        listed: Listed[Any] = await kind.read(session)
        assert len(listed.entries) == 120
        asked = server.heard(kind.method)
        cursors = [message.get("params", {}).get("cursor") for message in asked]
        assert cursors == [None, ODD, "3"]
        with pytest.raises(PeerError, match="-32603"):
            await kind.read(session)


@OF_EACH
@pytest.mark.parametrize("cursor", ["", None, 0, 5, {}, "c" * 100_000])
async def test_pb_140_every_cursor_ends(kind: Kind, cursor: Any) -> None:
    """Whatever nextCursor is, the list ends; what is odd is remarked."""
    rule = When(kind.method, Answer(kind.page(1, 1, nextCursor=cursor)))
    async with session_with(rule, revisions=MODERN) as (session, _):
        listed: Listed[Any] = await kind.read(session)
        assert len(listed.entries) == 1
        assert bool(listed.remarks) is (cursor is not None)


@OF_EACH
async def test_pb_047_a_feature_that_is_not_there_is_only_noted(kind: Kind) -> None:
    """Declared, and the method is not known: an empty list with a remark. Any other error is the
    error of that list. Tools work as before."""
    rules = [
        When(kind.method, Answer(error={"code": code, "message": "no"}), nth=1)
        for code in (-32601, -32603)
    ]
    async with session_with(*rules, revisions=LEGACY) as (session, _):
        listed: Listed[Any] = await kind.read(session)
        assert listed.entries == ()
        assert kind.method in listed.remarks[0]
        with pytest.raises(PeerError, match="-32603"):
            await kind.read(session)
        assert [tool.name for tool in (await ToolClient(session).list()).tools] == ["echo"]
