"""Listing all tools of a server, and calling one."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.content import Text
from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import MAX_TOOLS, ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Do, Message


def _lists(server: LoopServer, *pages: dict[str, Any]) -> None:
    """Answer tools/list with one page after the other; an `error` in a page is one."""
    left = iter(pages)

    async def next_page(message: Message) -> Answer:
        page = next(left)
        if "error" in page:
            return Answer(error={"code": page["error"], "message": "no"})
        return Answer(result=page)

    server.on("tools/list", Do(next_page))


async def test_all_pages_are_read_and_cursors_sent_back_as_they_were(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-141: three pages of forty tools; spaces, quotes and Hangul in the cursor."""
    odd = ' a "b" 한글\n'
    pages = [
        {"tools": [tool(f"t{page}-{n}") for n in range(40)], "nextCursor": cursor}
        for page, cursor in enumerate(("c1", odd, None))
    ]
    _lists(server, *pages)
    listed = await ToolClient(session).list()
    assert [found.name for found in listed.tools] == [
        f"t{p}-{n}" for p in range(3) for n in range(40)
    ]
    asked = [message.get("params", {}).get("cursor") for message in server.heard("tools/list")]
    assert asked == [None, "c1", odd]
    assert listed.remarks == ()


async def test_a_page_that_fails_is_an_error_not_a_short_list(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-141: what was read of the list before is not taken for all of it."""
    _lists(server, {"tools": [tool("a")], "nextCursor": "2"}, {"error": -32603})
    with pytest.raises(PeerError) as caught:
        await ToolClient(session).list()
    assert (caught.value.fault, caught.value.code) == (Fault.REFUSED, -32603)


@pytest.mark.parametrize("result", [{}, {"tools": None}, {"tools": {}}])
async def test_a_page_without_tools_is_an_error(
    server: LoopServer, session: ServerSession, result: dict[str, Any]
) -> None:
    """No array of tools is no list; an empty list is one."""
    _lists(server, {"tools": [], "nextCursor": "2"}, result)
    with pytest.raises(PeerError, match="fake sent page 2 of its list of tools as") as caught:
        await ToolClient(session).list()
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)


@pytest.mark.parametrize(
    ("cursor", "requests", "remarked"),
    [
        (None, 1, False),
        ("", 2, True),
        ("same", 2, True),
        ("x" * 100_000, 2, True),
        (0, 1, True),
        (5, 1, True),
        ({}, 1, True),
    ],
)
async def test_every_cursor_ends_somewhere(
    server: LoopServer, session: ServerSession, cursor: Any, requests: int, remarked: bool
) -> None:
    """PB-140: the empty cursor is followed once, no cursor twice, a wrong type is the end."""
    server.on("tools/list", Answer(result={"tools": [tool("a")], "nextCursor": cursor}))
    listed = await ToolClient(session).list()
    assert [found.name for found in listed.tools] == ["a"]
    assert len(server.heard("tools/list")) == requests
    assert bool(listed.remarks) is remarked
    assert all(len(remark) < 300 for remark in listed.remarks)


async def test_a_list_that_never_ends_is_an_error(
    server: LoopServer, session: ServerSession
) -> None:
    """A server that always has another page is told apart from one with many."""

    async def endless(message: Message) -> Answer:
        return Answer(result={"tools": [], "nextCursor": str(message["id"])})

    server.on("tools/list", Do(endless))
    with pytest.raises(PeerError, match="does not end its list of tools in 1000 pages"):
        await ToolClient(session).list()


async def test_equal_repeats_are_one_tool_and_unequal_ones_believe_nothing(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-103: registered once; where definitions of one name differ, no claim counts."""
    claim = {"readOnlyHint": True}
    first = {"tools": [tool("a", annotations=claim), tool("b", annotations=claim)]}
    second = {"tools": [tool("a", annotations=claim), tool("b", description="another")]}
    _lists(server, {**first, "nextCursor": "2"}, second)
    listed = await ToolClient(session).list()
    same, disputed = listed.tools
    assert [(left.tool, left.reason) for left in listed.left_out] == [
        ("a second definition of b", "differs from the first, which is used without its claims")
    ]
    assert listed.remarks == ("listed more than once, each time the same: 'a'",)
    assert (same.name, same.claims.read_only, same.claims.remarks) == ("a", True, ())
    assert (disputed.name, disputed.description, disputed.claims.read_only) == ("b", "", None)
    assert disputed.claims.raw == claim
    assert "listed again with another definition" in disputed.claims.remarks[0]


@pytest.mark.req("S3-10")
async def test_one_bad_tool_leaves_the_others(server: LoopServer, session: ServerSession) -> None:
    """PB-107: each that can not be used is named, with the page where it has no name."""
    bad = [None, {"name": 5}, {"name": ""}, tool("s") | {"inputSchema": None}]
    _lists(server, {"tools": bad, "nextCursor": "2"}, {"tools": [*bad, tool("a")]})
    listed = await ToolClient(session).list()
    assert [found.name for found in listed.tools] == ["a"]
    names = [left.tool for left in listed.left_out]
    assert names == [
        *("tool 1", "tool 2", "tool 3", "s"),
        *("tool 1 of page 2", "tool 2 of page 2", "tool 3 of page 2"),
    ]


async def test_a_call_sends_the_original_name_and_arguments_as_they_are(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-100: whatever the name, the wire gets it; nothing is added to the arguments."""
    answer = Answer(result={"content": [{"type": "text", "text": "done"}]})
    server.on("tools/call", answer)
    result = await ToolClient(session).call("한글 도구\n", {"a": None, "b": [1, 2.5, "x"]})
    assert server.heard("tools/call")[0]["params"] == {
        "name": "한글 도구\n",
        "arguments": {"a": None, "b": [1, 2.5, "x"]},
    }
    assert result.content == (Text("done"),)


async def test_what_a_call_carries_is_asked_for_by_the_id_of_its_request(
    server: LoopServer, session: ServerSession
) -> None:
    """It goes into `_meta`; a carrier that has nothing leaves the request as it is."""
    asked: list[int] = []

    def carry(request: int) -> dict[str, str] | None:
        asked.append(request)
        return {"traceparent": "00-1-2-01"} if len(asked) == 1 else None

    server.on("tools/call", Answer(result={"content": []}))
    client = ToolClient(session)
    for _ in range(2):
        await client.call("t", {}, carry=carry)
    first, second = server.heard("tools/call")
    assert first["params"]["_meta"] == {"traceparent": "00-1-2-01"}
    assert "_meta" not in second["params"]
    assert asked == [first["id"], second["id"]]


async def test_an_error_result_is_a_result(server: LoopServer, session: ServerSession) -> None:
    """isError comes back as it is, with text and structured content."""
    content = [{"type": "text", "text": "disk full"}]
    result = {"content": content, "isError": True, "structuredContent": {"n": 1}}
    server.on("tools/call", Answer(result=result))
    called = await ToolClient(session).call("t", {})
    assert (called.is_error, called.structured) == (True, {"n": 1})


async def test_progress_does_not_extend_a_call(server: LoopServer, session: ServerSession) -> None:
    """PB-143, PB-144: progress of any kind is only told to listeners; the bound stays."""

    async def busy(message: Message) -> None:
        while True:
            progress = {"progressToken": message["id"], "progress": 1, "message": "x" * 1000}
            note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
            await server.say(note)

    server.on("tools/call", Do(busy))
    with pytest.raises(PeerError, match="timeout") as caught:
        await ToolClient(session).call("t", {}, timeout=0.05)
    assert caught.value.fate is Fate.UNKNOWN
    await server.hears("notifications/cancelled")


async def test_a_server_that_does_nothing_but_ask_is_given_up() -> None:
    """Its state goes back untouched, and not for ever (2026-07-28, basic/patterns/mrtr)."""
    discovered = {"supportedVersions": ["2026-07-28"], "ttlMs": 0}
    asks = {"resultType": "input_required", "requestState": "s"}
    rules = (
        When("server/discover", Answer(result=discovered)),
        When("tools/call", Answer(result=asks)),
    )
    server = LoopServer(ScriptedServer(rules=rules))
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="fake", client=client, request_timeout=5)
    with pytest.raises(PeerError, match="asked for input 10 times") as caught:
        await ToolClient(session).call("t", {})
    assert (caught.value.fault, caught.value.fate) == (Fault.UNSUPPORTED, Fate.ANSWERED)
    await session.close()


@pytest.mark.parametrize("size", [MAX_TOOLS + 5, MAX_TOOLS, 300])
async def test_tools_without_end_are_bounded(
    server: LoopServer, session: ServerSession, size: int
) -> None:
    """In one page or in many, usable or not: the first are used, in one remark for all others."""
    for part in (size, MAX_TOOLS // 2):
        names = [tool(f"t{n}") if n % 3 else {"name": ""} for n in range(MAX_TOOLS + 5)]
        pages = [
            {"tools": names[at : at + part], "nextCursor": str(at)}
            for at in range(0, len(names), part)
        ]
        pages[-1].pop("nextCursor")
        _lists(server, *pages)
        listed = await ToolClient(session).list()
        assert [found.name for found in listed.tools] == [
            f"t{n}" for n in range(MAX_TOOLS) if n % 3
        ]
        assert listed.remarks == (
            f"lists more than {MAX_TOOLS} tools: the first {MAX_TOOLS} are used, and the others "
            "are not looked at",
        )


async def test_just_as_many_tools_as_are_looked_at(
    server: LoopServer, session: ServerSession
) -> None:
    """Nothing is said where nothing is left out."""
    _lists(server, {"tools": [tool(f"t{n}") for n in range(MAX_TOOLS)]})
    listed = await ToolClient(session).list()
    assert (len(listed.tools), listed.remarks) == (MAX_TOOLS, ())
