"""Whole lists of resources, templates and prompts: one set of guards for all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.pages import Listed
from lockgate.mcp.client.prompts import MAX_PROMPTS, PromptClient
from lockgate.mcp.client.resources import MAX_RESOURCES, MAX_TEMPLATES, ResourceClient
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer
from lockgate.testing.steps import Answer, Do, Message, Sleep, Step


@dataclass(frozen=True)
class Kind:
    """One kind of list."""

    method: str
    member: str
    key: str
    most: int
    ask: Callable[[ServerSession], Awaitable[Listed[Any]]]

    def entries(self, *names: str) -> list[dict[str, str]]:
        """Entries of these names."""
        return [{self.key: name} for name in names]

    def of(self, listed: Listed[Any]) -> list[str]:
        """The names in a list."""
        attribute = {"uriTemplate": "template"}.get(self.key, self.key)
        return [getattr(entry, attribute) for entry in listed.entries]


KINDS = [
    Kind("resources/list", "resources", "uri", MAX_RESOURCES, lambda s: ResourceClient(s).list()),
    Kind(
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        MAX_TEMPLATES,
        lambda s: ResourceClient(s).templates(),
    ),
    Kind("prompts/list", "prompts", "name", MAX_PROMPTS, lambda s: PromptClient(s).list()),
]


@pytest.fixture(params=KINDS, ids=[kind.method for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each of them."""
    return request.param


@pytest.fixture
def server() -> LoopServer:
    """A legacy server that has resources and prompts."""
    able: dict[str, Any] = {"resources": {}, "prompts": {}}
    return LoopServer(ScriptedServer((), revisions=LEGACY, name="fake", capabilities=able))


def _lists(server: LoopServer, kind: Kind, *pages: dict[str, Any]) -> None:
    """Answer with one page after the other; an `error` in a page is one."""
    left = iter(pages)

    async def next_page(message: Message) -> Answer:
        page = next(left)
        if "error" in page:
            return Answer(error={"code": page["error"], "message": "no"})
        return Answer(result=page)

    server.on(kind.method, Do(next_page))


@pytest.mark.req("S3-19")
async def test_pb_141_all_pages_are_read_and_cursors_sent_back_as_they_were(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """PB-141: pages of forty; spaces, quotes and Hangul in the cursor, byte for byte."""
    odd = ' a "b" \ud55c\uae00\n'
    names = [[f"x{page}:{number}" for number in range(40)] for page in range(3)]
    _lists(
        server,
        kind,
        *(
            {kind.member: kind.entries(*names[page]), "nextCursor": cursor}
            for page, cursor in enumerate(("c1", odd, None))
        ),
    )
    listed = await kind.ask(session)
    assert kind.of(listed) == [name for page in names for name in page]
    asked = [message.get("params", {}).get("cursor") for message in server.heard(kind.method)]
    assert asked == [None, "c1", odd]
    assert (listed.remarks, listed.left_out) == ((), ())


@pytest.mark.req("S3-19")
async def test_pb_141_a_page_that_fails_is_an_error_not_a_short_list(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """PB-141: what was read before is not taken for all of it."""
    first = {kind.member: kind.entries("x:1"), "nextCursor": "2"}
    _lists(server, kind, first, {"error": -32603})
    with pytest.raises(PeerError) as caught:
        await kind.ask(session)
    assert (caught.value.fault, caught.value.code) == (Fault.REFUSED, -32603)


async def test_a_page_that_is_none_is_an_error(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """With the number of the page, and as an answer that came."""
    _lists(server, kind, {kind.member: [], "nextCursor": "2"}, {kind.member: None})
    with pytest.raises(PeerError, match=f"page 2 of its list of .*null as its {kind.member}") as c:
        await kind.ask(session)
    assert (c.value.fault, c.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)


@pytest.mark.parametrize(("cursor", "requests", "remarked"), [("", 2, True), ("same", 2, True)])
async def test_every_cursor_ends_somewhere(
    server: LoopServer,
    session: ServerSession,
    kind: Kind,
    cursor: str,
    requests: int,
    remarked: bool,
) -> None:
    """PB-140: the empty cursor is followed once, no cursor twice; a name twice is one."""
    result = {kind.member: kind.entries("x:1"), "nextCursor": cursor}
    server.on(kind.method, Answer(result=result))
    listed = await kind.ask(session)
    assert kind.of(listed) == ["x:1"]
    assert len(server.heard(kind.method)) == requests
    assert bool(listed.remarks) is remarked
    assert any("the first counts: 'x:1'" in remark for remark in listed.remarks)


async def test_a_list_without_an_end_is_an_error_and_a_long_one_is_cut(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """A stranger is not to spend this side's time and memory without an end."""

    async def endless(message: Message) -> Answer:
        return Answer(result={kind.member: [], "nextCursor": str(message["id"])})

    server.on(kind.method, Do(endless))
    with pytest.raises(PeerError, match=r"does not end its list of .* in 1000 pages"):
        await kind.ask(session)
    many = kind.entries(*(f"x:{number}" for number in range(kind.most + 1)))
    server.on(kind.method, Answer(result={kind.member: many, "nextCursor": "2"}))
    listed = await kind.ask(session)
    assert len(listed.entries) == kind.most
    assert "others are not looked at" in listed.remarks[0]


async def test_a_list_that_trickles_is_not_waited_for_without_end(kind: Kind) -> None:
    """Each page comes in its time, and there is always another one."""
    able: dict[str, Any] = {"resources": {}, "prompts": {}}
    slow = LoopServer(ScriptedServer((), revisions=LEGACY, name="fake", capabilities=able))

    async def trickle(message: Message) -> tuple[Step, ...]:
        return Sleep(0.02), Answer(result={kind.member: [], "nextCursor": str(message["id"])})

    slow.on(kind.method, Do(trickle))
    client = ClientIdentity("test", "1")
    session = await connect(slow.transport(), peer="fake", client=client, request_timeout=0.05)
    try:
        with pytest.raises(PeerError, match=r"does not end its list of .* within 0.5 s") as caught:
            await kind.ask(session)
        assert caught.value.fault is Fault.TIMEOUT
    finally:
        await session.close()


@pytest.mark.req("S3-19")
async def test_pb_047_a_server_without_the_capability_has_none_and_is_not_asked(
    kind: Kind,
) -> None:
    """PB-047: nothing is sent; and one that declares it and knows no such method has none too."""
    without = LoopServer(ScriptedServer((), revisions=LEGACY, name="fake"))
    client = ClientIdentity("test", "1")
    session = await connect(without.transport(), peer="fake", client=client, request_timeout=5)
    try:
        assert await kind.ask(session) == Listed()
        assert without.heard(kind.method) == []
    finally:
        await session.close()


@pytest.mark.req("S3-19")
async def test_pb_047_a_method_that_is_not_found_is_an_empty_list(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """PB-047: only noted. An internal error is an error, whatever is declared."""
    listed = await kind.ask(session)
    assert listed.entries == ()
    assert f"knows no {kind.method}" in listed.remarks[0]
    server.on(kind.method, Answer(error={"code": -32603, "message": "oops"}))
    with pytest.raises(PeerError, match="oops"):
        await kind.ask(session)


async def test_a_list_is_good_for_as_long_as_its_shortest_page(
    server: LoopServer, session: ServerSession, kind: Kind
) -> None:
    """In seconds (2026-07-28, Caching: Interaction with Pagination)."""
    _lists(
        server,
        kind,
        {kind.member: kind.entries("x:1"), "nextCursor": "2", "ttlMs": 9000},
        {kind.member: kind.entries("x:2"), "ttlMs": 2000},
    )
    assert (await kind.ask(session)).ttl == 2.0
