"""A configured secret that a server says back in an error is shown in no error of ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.failures import MAX_WORDS
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.process.hidden import MARK, Hidden
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer
from lockgate.testing.steps import Answer

HEADER = "Bearer aVeryLongToken/0123456789"
WORDS = {"code": -32001, "message": f"own {HEADER}"}


@pytest.fixture(params=[LEGACY, MODERN], ids=["legacy", "modern"])
def server(request: pytest.FixtureRequest) -> LoopServer:
    """One of each era."""
    return LoopServer(ScriptedServer((), revisions=request.param, name="fake"))


@pytest.fixture
async def session(server: LoopServer) -> AsyncGenerator[ServerSession]:
    """A session with it, where that secret is hidden."""
    who = ClientIdentity("test", "1")
    found = await connect(
        server.transport(), peer="fake", client=who, request_timeout=5, hidden=Hidden((HEADER,))
    )
    try:
        yield found
    finally:
        await found.close()


async def _told(session: ServerSession, method: str) -> str:
    tools = ToolClient(session)
    by = {"tools/call": lambda: tools.call("t", {}), "tools/list": tools.list}
    ask = by.get(method, lambda: session.connection.request(method, {}))
    with pytest.raises(PeerError) as caught:
        await ask()
    return str(caught.value)


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    "method", ["tools/call", "tools/list", "resources/read", "prompts/get", "tasks/get"]
)
async def test_an_error_that_says_a_secret_back_is_told_without_it(
    server: LoopServer, session: ServerSession, method: str
) -> None:
    """Whatever was asked; the rest of its words stays."""
    server.on(method, Answer(error=WORDS))
    told = await _told(session, method)
    assert HEADER not in told
    assert f"answered with an error: own {MARK} (code -32001)" in told


async def test_a_secret_is_not_left_over_where_words_are_cut(
    server: LoopServer, session: ServerSession
) -> None:
    """Of one that the bound of a message cuts in two, the first half is no more shown."""
    long = f"{'x' * (MAX_WORDS - 20)} {HEADER}"
    server.on("tools/call", Answer(error={"code": -32001, "message": long}))
    assert HEADER[:8] not in await _told(session, "tools/call")


async def test_an_id_that_is_a_secret_is_not_told(
    server: LoopServer, session: ServerSession
) -> None:
    """What a timeout says of answers to nobody is no way around it."""
    server.on("x", Answer(id=(HEADER,), result={}))
    with pytest.raises(PeerError, match="unknown id") as caught:
        await session.connection.request("x", timeout=0.2)
    assert HEADER not in str(caught.value)
