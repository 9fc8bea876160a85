"""How a server over HTTP is reached: through proxies, over TLS, or not at all."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from lockgate.errors import Fate, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.jsonrpc import Outgoing, request
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer
from lockgate.testing.transports import fails_to_open


def call(number: int) -> Outgoing:
    """A call of `echo`."""
    return request(number, "tools/call", {"name": "echo", "arguments": {}})


async def asked(endpoint: HttpEndpoint) -> None:
    """One call over a link of its own."""
    receiver = RecordingReceiver()
    transport = StreamableHttpTransport(endpoint, peer="there", environ={})
    async with transport.open(receiver) as link:
        await link.send(call(1))
        await receiver.answer(1)


@pytest.fixture
def authority() -> trustme.CA:
    """Nobody knows it unless told to."""
    return trustme.CA()


@pytest.fixture
def known(authority: trustme.CA, tmp_path: Path) -> Path:
    """Its certificate as a file."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def tls_of(authority: trustme.CA, name: str) -> ssl.SSLContext:
    """What a server proves that name with."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - half typed
    return context


async def test_a_certificate_of_ones_own_authority_is_accepted(
    authority: trustme.CA, known: Path
) -> None:
    """With `ca_file`; calls over TLS work like others."""
    async with HttpServer(ScriptedServer(), tls=tls_of(authority, "127.0.0.1")) as server:
        await asked(server.endpoint(ca_file=known))
        assert server.url.startswith("https:")


@pytest.mark.parametrize("name", ["127.0.0.1", "other.test"])
async def test_who_can_not_prove_the_name_is_sent_nothing(
    authority: trustme.CA, known: Path, name: str
) -> None:
    """Of an unknown authority, or with another name: NOT_SENT, and not a byte of the message."""
    async with HttpServer(ScriptedServer(), tls=tls_of(authority, name)) as server:
        more = {} if name == "127.0.0.1" else {"ca_file": known}
        with pytest.raises(PeerError, match="could not prove who it is") as caught:
            await asked(server.endpoint(**more))
        assert caught.value.fate is Fate.NOT_SENT
        assert server.heard == []


async def test_a_client_certificate_is_shown_to_who_asks_for_it(
    authority: trustme.CA, known: Path, tmp_path: Path
) -> None:
    """Certificate and key in files of their own; without them the server lets nobody in."""
    certificate = authority.issue_cert("client.test")
    cert, key = tmp_path / "client.pem", tmp_path / "client.key"
    certificate.cert_chain_pems[0].write_to_path(str(cert))
    certificate.private_key_pem.write_to_path(str(key))
    context = tls_of(authority, "127.0.0.1")
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)  # pyright: ignore[reportUnknownMemberType] - half typed
    async with HttpServer(ScriptedServer(), tls=context) as server:
        await asked(server.endpoint(ca_file=known, client_cert=cert, client_key=key))
        with pytest.raises(PeerError):
            await asked(server.endpoint(ca_file=known))
        assert len(server.heard) == 1


async def test_a_file_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    """Missing, or no certificate: opening fails before anything is sent."""
    broken = tmp_path / "broken.pem"
    broken.write_text("nothing")
    for file, why in ((tmp_path / "gone.pem", "no such file"), (broken, "no certificate")):
        endpoint = HttpEndpoint("https://127.0.0.1/", ca_file=file)
        error = await fails_to_open(StreamableHttpTransport(endpoint, peer="x", environ={}))
        assert str(file) in str(error)
        assert why in str(error)
        assert error.phase is Phase.CONNECT


async def test_a_proxy_carries_every_request() -> None:
    """The absolute address goes to it, and its password as a header of its own."""
    async with HttpServer(ScriptedServer()) as proxy:
        port = proxy.port

        async def act(exchange: HttpExchange) -> None:
            await exchange.answer(
                200, b'{"jsonrpc":"2.0","id":1,"result":{}}', {"content-type": "application/json"}
            )

        proxy.on(act)
        endpoint = HttpEndpoint("http://nowhere.invalid/mcp", proxy=f"http://u:pw@127.0.0.1:{port}")
        receiver = RecordingReceiver()
        transport = StreamableHttpTransport(endpoint, peer="there", environ={})
        async with transport.open(receiver) as link:
            await link.send(call(1))
            await receiver.answer(1)
        heard = proxy.heard[0]
        assert heard.target == "http://nowhere.invalid/mcp"
        assert heard.headers["host"] == "nowhere.invalid"
        assert heard.headers["proxy-authorization"] == "Basic dTpwdw=="
        assert "authorization" not in heard.headers


async def test_the_environment_is_what_was_handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the process counts by itself."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    receiver = RecordingReceiver()
    async with HttpServer(ScriptedServer()) as server:
        transport = StreamableHttpTransport(server.endpoint(), peer="there", environ={})
        async with transport.open(receiver) as link:
            await link.send(call(1))
            await receiver.answer(1)


async def test_a_stalled_connect_does_not_hold_up_the_end() -> None:
    """Leaving while a connection is being made ends it at once; nothing was sent."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fill = [socket.socket() for _ in range(3)]
        for each in fill:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        receiver = RecordingReceiver()
        endpoint = HttpEndpoint(f"http://127.0.0.1:{port}/")
        transport = StreamableHttpTransport(endpoint, peer="there", environ={})
        async with asyncio.timeout(3):
            async with transport.open(receiver) as link:
                sending = asyncio.create_task(link.send(call(1)))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        with pytest.raises(PeerError) as caught:
            await sending
        assert caught.value.fate is Fate.NOT_SENT
        for each in fill:
            each.close()
