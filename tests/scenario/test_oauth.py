"""Logins with a real authorization server: FastMCP's and the official SDK's, over HTTP.

Everything a client does of OAuth is done against code that is not ours: registration, the page,
PKCE, codes, rotation of refresh tokens.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import secrets
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.oauth.store import CredentialStore
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.system_keyring import SystemKeyring
from lockgate.testing.clock import passing
from lockgate.testing.credentials import MemoryCredentials, PageLogin
from lockgate.testing.listening import free_port, running
from lockgate.testing.site import Site

HERE = Path(__file__).parent
PROGRAM, CLIENT = str(HERE / "oauth_program.py"), str(HERE / "oauth_client.py")


@asynccontextmanager
async def guarded_server(
    lasts: int = 3600, port: int | None = None, *issuer: str
) -> AsyncGenerator[str, None]:
    """The server, as a process; its origin. With an `issuer`, it takes the tokens of that one."""
    port = port or free_port()
    words = (sys.executable, PROGRAM, str(port), str(lasts), *issuer)
    async with running(*words, port=port) as url:
        yield url


def source(url: str, store: CredentialStore, login: PageLogin | None = None) -> OAuthTokens:
    """What gets tokens for it, by default without anybody."""
    return OAuthTokens(
        HttpEndpoint(f"{url}/mcp"),
        OAuthPlan(),
        peer="notes",
        store=store,
        environ={},
        login=login,
    )


@asynccontextmanager
async def client_of(url: str, tokens: OAuthTokens) -> AsyncGenerator[ToolClient, None]:
    """A session with it."""
    transport = StreamableHttpTransport(
        HttpEndpoint(f"{url}/mcp"), peer="notes", environ={}, tokens=tokens
    )
    session = await connect(transport, peer="notes", client=ClientIdentity("test", "1"))
    try:
        yield ToolClient(session)
    finally:
        await session.close()


async def turn(url: str, what: str) -> Mapping[str, Any]:
    """Turn something there; what was counted so far."""

    def ask() -> Mapping[str, Any]:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        try:
            connection.request("POST", f"/turn/{what}")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


async def burst(client: ToolClient, count: int) -> list[Any]:
    """So many calls at once; what each said."""
    calls = (client.call("add", {"number": number}) for number in range(count))
    return [result.structured for result in await asyncio.gather(*calls)]


def numbers(count: int) -> list[Any]:
    """What a whole burst says."""
    return [{"result": number} for number in range(count)]


async def test_a_person_logs_in_and_programs_go_on_with_it() -> None:
    """Registered, led through the page with PKCE, the code exchanged, and a call made; nobody is
    asked before, and the login outlives its program."""
    store = MemoryCredentials()
    async with guarded_server() as url:
        with pytest.raises(PeerError, match="lockgate mcp login notes"):
            async with client_of(url, source(url, store)):
                pass
        login = PageLogin()
        given = await source(url, store, login).log_in()
        assert given.scope == "notes:read"
        assert "code_challenge_method=S256" in login.asked[0]
        async with client_of(url, source(url, store)) as client:
            assert await burst(client, 3) == numbers(3)
        counts = await turn(url, "counts")
    assert counts == {"called": 3, "renewed": 0, "given": 1, "registered": 1}


async def test_tokens_that_end_in_a_burst_are_renewed_once() -> None:
    """Thirty calls, the tokens gone before them and again in the middle: each call runs once, and
    each time one renewal is made."""
    store = MemoryCredentials()
    async with guarded_server() as url:
        await source(url, store, PageLogin()).log_in()
        async with client_of(url, source(url, store)) as client:
            await turn(url, "expire")
            assert await burst(client, 30) == numbers(30)
            counts = await turn(url, "expire")
            assert (counts["called"], counts["renewed"]) == (30, 1)
            going = asyncio.ensure_future(burst(client, 30))
            await turn(url, "expire")
            assert await going == numbers(30)
            counts = await turn(url, "counts")
    assert counts["called"] == 60
    assert counts["renewed"] <= 3
    assert counts["given"] == 1


async def test_short_lived_tokens_are_renewed_before_they_are_refused() -> None:
    """Tokens that are good for two seconds; calls go on, one after the other."""
    store = MemoryCredentials()
    async with guarded_server(lasts=2) as url:
        await source(url, store, PageLogin()).log_in()
        async with client_of(url, source(url, store)) as client:
            async with asyncio.timeout(30):
                while (await turn(url, "counts"))["renewed"] < 2:
                    assert await burst(client, 1) == numbers(1)
                    await passing(0.2)  # the clock of a real server is waited for


@pytest.mark.parametrize("what", ["revoke", "forget"])
async def test_a_revoked_login_is_forgotten_and_can_be_made_again(what: str) -> None:
    """The refresh token, or the client with it, is known no more: calls say what to do, nothing of
    the old tokens is kept, and a new log-in helps."""
    store = MemoryCredentials()
    async with guarded_server() as url:
        await source(url, store, PageLogin()).log_in()
        async with client_of(url, source(url, store)) as client:
            await turn(url, what)
            await turn(url, "expire")
            with pytest.raises(PeerError, match="lockgate mcp login notes") as raised:
                await burst(client, 1)
            assert raised.value.fault is Fault.UNAUTHORIZED
            assert store.only.tokens is None
            await source(url, store, PageLogin()).log_in()
            assert await burst(client, 2) == numbers(2)
        counts = await turn(url, "counts")
    assert counts["called"] == 2
    assert counts["registered"] == (1 if what == "revoke" else 2)


async def test_a_server_that_moved_to_another_issuer_gets_nothing_of_the_old_one() -> None:
    """The same address names another authorization server now: the tokens are those of the old one,
    so it is said, and the new one hears nothing of them."""
    store, port = MemoryCredentials(), free_port()
    async with guarded_server(3600, port) as url:
        await source(url, store, PageLogin()).log_in()
    async with Site() as other, guarded_server(3600, port, other.address) as url:
        with pytest.raises(PeerError, match="nothing of them was sent there; log in") as raised:
            async with client_of(url, source(url, store)):
                pass
        assert raised.value.fault is Fault.UNAUTHORIZED
        assert other.address in str(raised.value)
        assert other.connections == 0
    assert store.only.tokens is not None


async def test_two_programs_at_once_renew_once(tmp_path: Path) -> None:
    """Two processes over one file, their tokens gone at the same moment: whoever comes second takes
    what the first one got. A refresh token is good for one use there, so a second renewal would
    have ended the login."""
    file = tmp_path / "credentials.json"
    store = KeptCredentials(
        file, new_id=lambda: secrets.token_hex(8), keyring=SystemKeyring(), kept_in="file"
    )
    async with guarded_server() as url:
        await source(url, store, PageLogin()).log_in()
        await turn(url, "expire")
        words = (sys.executable, CLIENT, f"{url}/mcp", str(file), "5")
        programs = [
            await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
            for _ in range(3)
        ]
        async with asyncio.timeout(60):
            said = await asyncio.gather(*(program.communicate() for program in programs))
        counts = await turn(url, "counts")
    assert [json.loads(out) for out, _ in said] == [numbers(5)] * 3
    assert counts == {"called": 15, "renewed": 1, "given": 1, "registered": 1}
