"""A scripted server over HTTP on a loopback port: the scripts of `script`, and faults of its own.

async with HttpServer(ScriptedServer(), stream=True) as server:
    server.on(status(503), message="tools/call", nth=1)
    transport = StreamableHttpTransport(server.endpoint(), peer="x", environ={})

Every byte is written by hand, so that it can be any byte. Needs no HTTP library.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.testing.http_heard import (
    JSON,
    Action,
    Gone,
    HttpExchange,
    HttpHeard,
    read_request,
)
from lockgate.testing.http_reply import Reply, Unasked
from lockgate.testing.script import ScriptedServer
from lockgate.testing.scripted_server import MODERN, VERSION, Conversation, decoded
from lockgate.testing.steps import Do, Message, encoded

if TYPE_CHECKING:  # it exists for the type checker alone, see there
    from lockgate.testing.scripted_server import Effect

PATIENCE = 10.0
"""Seconds after which what was not heard is not waited for any longer."""


@dataclass(slots=True)
class _Rule:
    action: Action
    method: str
    message: str | None
    nth: int | None
    count: int = 0


class HttpServer:
    """Serves one script, however many connections there are."""

    def __init__(
        self,
        script: ScriptedServer,
        *,
        stream: bool = False,
        sessions: bool = False,
        listening: bool = False,
        path: str = "/mcp",
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`stream`: answers are streams of events. `sessions`: `initialize` opens one, and what
        belongs to none is refused. `listening`: GET gives a stream. Other paths than `path` are
        answered 404."""
        self.heard: list[HttpHeard] = []
        """Every request, in order."""
        self.connections = 0
        self.hung_up: list[HttpHeard] = []
        """Those whose answer the client did not wait for."""
        self.sessions: list[str] = []
        """The sessions that are known now."""
        self._script = script.script()
        self._stream = stream
        self._has_sessions = sessions
        self._opened = 0
        self._listening = listening
        self._path = path
        self._host = host
        self._tls = tls
        self._rules: list[_Rule] = []
        self._talk = Conversation(self._script)
        self._listeners: list[HttpExchange] = []
        self._open: set[asyncio.Task[None]] = set()
        self._news = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._port = 0
        self._deaf = False
        self._ended = False

    # -------------------------------------------------------------- for tests

    @property
    def port(self) -> int:
        """Where it listens. Raises `RuntimeError` before it is open."""
        if not self._port:
            raise RuntimeError("the server was never open")
        return self._port

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def url(self) -> str:
        """Where it takes messages."""
        return self.origin + self._path

    def endpoint(self, **more: Any) -> HttpEndpoint:
        """How a client reaches it; `more` are fields of `HttpEndpoint`."""
        return HttpEndpoint(more.pop("url", self.url), **more)

    def on(
        self,
        action: Action,
        *,
        method: str = "POST",
        message: str | None = None,
        nth: int | None = None,
    ) -> Self:
        """From now on this goes before what was there: for requests of this HTTP method whose
        message has this method (None: any), only the n-th that fits if `nth` is given."""
        self._rules.insert(0, _Rule(action, method, message, nth))
        return self

    def told(self, message: str) -> list[HttpHeard]:
        """The requests so far whose message has that method."""
        return [heard for heard in self.heard if heard.message.get("method") == message]

    def asked(self, method: str) -> list[HttpHeard]:
        """The requests so far of that HTTP method."""
        return [heard for heard in self.heard if heard.method == method]

    async def wait_for(self, look: Callable[[], bool]) -> None:
        """Wait until this holds, which is looked at whenever something happens."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(look)

    async def say(self, message: Mapping[str, Any]) -> None:
        """Say something unasked, on every stream that is open for that."""
        data = b"data: " + json.dumps(message).encode() + b"\n\n"
        for listener in tuple(self._listeners):
            await listener.event(data)

    async def vanish(self) -> None:
        """Be gone as if the process had died: nobody listens, and every connection ends."""
        if self._server is not None:
            self._server.close()
        open_ = tuple(self._open)
        for task in open_:
            task.cancel()
        await asyncio.gather(*open_, return_exceptions=True)

    async def reappear(self) -> None:
        """Be there again, at the same address; sessions and all else are as they were."""
        self._server = await asyncio.start_server(
            self._accept, self._host, self._port, ssl=self._tls, limit=1 << 20
        )

    @property
    def listeners(self) -> int:
        """How many streams are open for what it says unasked."""
        return len(self._listeners)

    # -------------------------------------------------------------- serving

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, self._host, 0, ssl=self._tls, limit=1 << 20
        )
        self._port = int(self._server.sockets[0].getsockname()[1])
        try:
            await self._strand(self._talk.opening(), Unasked(self.say))
        except Gone:
            pass  # it ended at once, as it was told to
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._talk.ledger.close()

    def _end(self) -> None:
        """The whole server ends, as if its process did."""
        self._ended = True
        if self._server is not None:
            self._server.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection; its task is ours, as asyncio complains of its own when one is cancelled."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        rest = b""
        try:
            await self._tell()
            while not self._ended:
                if self._deaf:
                    await asyncio.Event().wait()
                heard = await read_request(reader, rest, number)
                self.heard.append(heard)
                await self._tell()
                rate: float = self._script["read_rate"]
                if rate:
                    await asyncio.sleep(len(heard.body) / rate)
                exchange = HttpExchange(heard, writer, self.by_script)
                rest = await self._answered(exchange, reader)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, Gone):
            pass
        finally:
            writer.close()
            self._end_others()

    async def _answered(self, exchange: HttpExchange, reader: asyncio.StreamReader) -> bytes:
        """Answer until that is done or the client has hung up; what came of the next request."""
        answering = asyncio.ensure_future(self._handle(exchange))
        watching = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((answering, watching), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                if not watching.result():
                    self.hung_up.append(exchange.heard)
                    await self._tell()
                    raise Gone
                await asyncio.wait((answering,))
            answering.result()
            return watching.result() if watching.done() else b""
        finally:
            answering.cancel()
            watching.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)

    async def _handle(self, exchange: HttpExchange) -> None:
        heard = exchange.heard
        for rule in self._rules:
            if rule.method != heard.method:
                continue
            if rule.message not in (None, heard.message.get("method")):
                continue
            rule.count += 1
            if rule.nth in (None, rule.count):
                await rule.action(exchange)
                return
        await self.by_script(exchange)

    async def by_script(self, exchange: HttpExchange) -> None:
        """What a server does that has no faults."""
        heard = exchange.heard
        if heard.target.partition("?")[0] != self._path:
            await exchange.answer(404, b"nothing here", {"content-type": "text/plain"})
        elif heard.method == "POST":
            await self._post(exchange)
        elif heard.method == "GET" and self._listening:
            await exchange.event(b": welcome\n\n")
            self._listeners.append(exchange)
            await self._tell()
            try:
                await exchange.silence()
            finally:
                self._listeners.remove(exchange)
        elif heard.method == "DELETE" and heard.headers.get("mcp-session-id") in self.sessions:
            self.sessions.remove(heard.headers["mcp-session-id"])
            await exchange.answer(200)
        else:
            await exchange.answer(405, headers={"allow": "POST"})

    async def _post(self, exchange: HttpExchange) -> None:
        heard = exchange.heard
        message = decoded(heard.body)
        refusal = self._refusal(heard, message or {})
        if refusal is not None:
            await exchange.answer(*refusal, {"content-type": JSON})
            return
        fields: dict[str, str] = {}
        if message and message.get("method") == "initialize" and self._has_sessions:
            self._opened += 1
            fields["mcp-session-id"] = f"session-{self._opened}"
            self.sessions.append(fields["mcp-session-id"])
        strand = self._talk.received(message, len(heard.body))
        await self._tell()
        if message is None or "id" not in message or "method" not in message:
            await exchange.answer(202)
            self._aside(strand or iter(()), Unasked(self.say))
            return
        reply = Reply(self.say, exchange, message["id"], self._stream, fields)
        await self._strand(strand or iter(()), reply)
        await reply.done()

    def _refusal(self, heard: HttpHeard, message: Message) -> tuple[int, bytes] | None:
        """What a strict server says to a request that it does not look into."""
        version = _version(message)
        if version is not None and any(name >= MODERN for name in self._script["revisions"]):
            wrong = _mismatch(heard.headers, message, version)
            return None if wrong is None else (400, _error(message.get("id"), -32020, wrong))
        if not self._has_sessions or message.get("method") == "initialize":
            return None
        session = heard.headers.get("mcp-session-id")
        if session is None:
            return 400, _error("server-error", -32600, "Bad Request: Missing session ID")
        if session not in self.sessions:
            return 404, _error("server-error", -32600, "Session not found")
        return None

    def _aside(self, strand: Iterator[Effect], reply: Reply | Unasked) -> None:
        """Go on with what a message makes the script do; its request was answered already, so
        that the next one may come over the same connection."""
        task = asyncio.create_task(self._follow(strand, reply))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _follow(self, strand: Iterator[Effect], reply: Reply | Unasked) -> None:
        try:
            await self._strand(strand, reply)
        except Gone:
            self._end_others()

    def _end_others(self) -> None:
        """Of a server that has ended all connections end."""
        if self._ended:
            for other in self._open:
                if other is not asyncio.current_task():
                    other.cancel()

    async def _strand(self, strand: Iterator[Effect], reply: Reply | Unasked) -> None:
        """Do what a message makes the script do."""
        for effect in strand:
            kind, *values = effect
            if kind == "sleep":
                await asyncio.sleep(values[0])
            elif kind == "reply":
                name = values[0]
                async with self._news:
                    await self._news.wait_for(lambda name=name: name in self._talk.replies)
            elif kind == "do":
                await self._act(values[0], values[1], reply, strand)
                return
            elif kind == "write":
                await reply.feed(values[0])
            elif kind in ("exit", "kill") or (kind, *values) == ("close", 1):
                self._end()
                raise Gone
            elif kind in ("deaf", "close"):
                self._deaf = True

    async def _act(
        self, step: Do, message: Message | None, reply: Reply | Unasked, rest: Iterator[Effect]
    ) -> None:
        wanted = await step.action(message or {})
        steps = wanted if isinstance(wanted, tuple) else () if wanted is None else (wanted,)
        made = self._talk.steps([encoded(each) for each in steps], message)
        await self._strand(chain(made, rest), reply)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


def _version(message: Message) -> str | None:
    """What a modern request says of itself."""
    value: Any = message
    for name in ("params", "_meta", VERSION):
        value = cast("Message", value).get(name) if isinstance(value, dict) else None
    return value


def _mismatch(headers: Mapping[str, str], message: Message, version: str) -> str | None:
    expected = {"mcp-protocol-version": version, "mcp-method": message.get("method")}
    for name, value in expected.items():
        if headers.get(name) != value:
            return f"Header mismatch: {name}"
    if message.get("method") == "tools/call" and "mcp-name" not in headers:
        return "Header mismatch: mcp-name"
    return None


def _error(identity: object, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()
