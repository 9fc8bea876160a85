"""Tokens that need no person, from an authorization server of Authlib's making."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.oauth.plan import (
    ClientCredentials,
    EnterpriseManaged,
    Grant,
    OAuthPlan,
)
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.credentials import MemoryCredentials
from lockgate.testing.listening import free_port, running

PROGRAM = str(Path(__file__).parent / "authority_program.py")
SOMEBODY = "somebody-is-here"
SECRET = "secret-of-the-program"  # noqa: S105 - of a server on loopback


@dataclass(frozen=True, slots=True)
class Running:
    """Both servers, as one process."""

    issuer: str
    server: HttpEndpoint
    key: str
    """The private key of the client that signs, PEM."""

    async def call(self, grant: Grant, *scopes: str) -> object:
        """One call by a grant; what it said."""
        tokens = OAuthTokens(
            self.server,
            OAuthPlan(grant, scopes=scopes, issuer=self.issuer),
            peer="there",
            store=MemoryCredentials(),
            environ={},
        )
        transport = StreamableHttpTransport(self.server, peer="there", environ={}, tokens=tokens)
        session = await connect(transport, peer="there", client=ClientIdentity("test", "1"))
        try:
            return (await ToolClient(session).call("add", {"number": 7})).structured
        finally:
            await session.close()

    async def counts(self) -> dict[str, Any]:
        """What was asked for, and called."""

        def ask() -> dict[str, Any]:
            host = self.issuer.removeprefix("http://")
            connection = http.client.HTTPConnection(host, timeout=10)
            try:
                connection.request("GET", "/counts")
                return json.loads(connection.getresponse().read())
            finally:
                connection.close()

        return await asyncio.to_thread(ask)


@asynccontextmanager
async def authority(folder: Path, scopes: str = "read") -> AsyncGenerator[Running, None]:
    """The program, once it listens."""
    made = rsa.generate_private_key(65537, 2048)
    key = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)
    port, server_port = free_port(), free_port()
    words = (sys.executable, PROGRAM, str(port), str(server_port), str(folder / "public.pem"))
    async with running(*words, scopes, port=port) as issuer:
        yield Running(issuer, HttpEndpoint(f"http://127.0.0.1:{server_port}/mcp"), key)


async def test_a_secret_a_key_and_an_organisation(tmp_path: Path) -> None:
    """Each gets a token for the server and makes its call; the key never leaves, the secret goes in
    the header alone."""
    async with authority(tmp_path) as there:
        secret = ClientCredentials("program", SECRET)
        assert await there.call(secret, "read") == {"result": 7}
        signed = ClientCredentials("signer", private_key=there.key)
        assert await there.call(signed, "read") == {"result": 7}
        managed = EnterpriseManaged(
            "employer",
            SECRET,
            identity_provider=f"{there.issuer}/identity",
            identity_client_id="us",
            identity_token=SOMEBODY,
        )
        assert await there.call(managed, "read") == {"result": 7}
        counts = await there.counts()
    assert counts["called"] == [7, 7, 7]
    by_secret, by_key, exchange, by_assertion = counts["asked"]
    assert set(by_secret) == {"grant_type", "resource", "scope"}
    assert by_secret["resource"] == there.server.url
    assert there.key not in str(by_key)
    assert exchange["audience"] == there.issuer
    assert by_assertion["grant_type"].endswith("jwt-bearer")


async def test_what_the_server_needs_is_asked_for_and_added(tmp_path: Path) -> None:
    """Without a word of the operator the scopes are the server's; with too small a word they are
    added at the refusal."""
    async with authority(tmp_path, "read write") as there:
        grant = ClientCredentials("program", SECRET)
        assert await there.call(grant) == {"result": 7}
        assert await there.call(grant, "read") == {"result": 7}
        counts = await there.counts()
    assert [each["scope"] for each in counts["asked"]] == ["read write", "read", "read write"]
    assert counts["called"] == [7, 7]


async def test_a_wrong_secret_is_told_once(tmp_path: Path) -> None:
    """In the words of the authorization server, without the secret."""
    async with authority(tmp_path) as there:
        with pytest.raises(PeerError, match="invalid_client") as raised:
            await there.call(ClientCredentials("program", "another-secret-than-that"))
        assert "another-secret" not in str(raised.value)
        other = rsa.generate_private_key(65537, 2048)
        pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        with pytest.raises(PeerError, match="invalid_client"):
            await there.call(ClientCredentials("signer", private_key=pem))
        counts = await there.counts()
    assert len(counts["asked"]) == 2
    assert counts["called"] == []
