"""A scripted web site on a loopback port: every byte of its answers is the test's own.

async with Site() as site:
    site.on("/page", answer(200, "<p>Hello</p>", {"Content-Type": "text/html"}))
    ... ask for f"{site.address}/page" ...
    assert site.requests[0].headers["host"] == ...
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import TracebackType
from typing import Self, TypeAlias

PATIENCE = 5.0
"""Seconds after which what was not heard is not waited for any longer."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the site heard of one request."""

    method: str
    target: str
    """Path and query, as they stood in the first line."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name in lower case."""
    body: bytes = b""
    """As much of it as `Content-Length` says."""


Handler: TypeAlias = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
"""Writes the answer. The connection is closed when it returns; it is cancelled when the client has
hung up."""


def answer(
    status: int = 200, body: str | bytes = b"", headers: Mapping[str, str] | None = None
) -> Handler:
    """A whole answer. `Content-Length` is set unless `headers` name it or `Transfer-Encoding`."""
    data = body.encode() if isinstance(body, str) else body
    fields = {name.lower(): value for name, value in (headers or {}).items()}
    if not {"content-length", "transfer-encoding"} & fields.keys():
        fields["content-length"] = str(len(data))
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return raw(head.encode("utf-8") + b"\r\n" + data)


def redirect(target: str, status: int = 302) -> Handler:
    """A redirect to `target`, which is sent as it stands."""
    return answer(status, headers={"Location": target})


def raw(data: bytes) -> Handler:
    """These bytes and nothing else."""

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return handle


class Site:
    """Serves what it is told, remembers what it heard. Unknown paths are answered 404."""

    def __init__(self, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        """Everything it was asked, in order."""
        self.connections = 0
        """How many were made, with or without a request."""
        self._host = host
        self._tls = tls
        self._handlers: dict[str, Handler] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._change = asyncio.Condition()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """Where it listens. Raises `RuntimeError` before it is open."""
        if self._server is None:
            raise RuntimeError("the site is not open")
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    def on(self, path: str, handler: Handler) -> Self:
        """Answer `path`, whatever its query, with `handler`."""
        self._handlers[path] = handler
        return self

    async def heard(self, count: int) -> None:
        """Wait until `count` requests were heard."""
        async with asyncio.timeout(PATIENCE), self._change:
            await self._change.wait_for(lambda: len(self.requests) >= count)

    async def quiet(self) -> None:
        """Wait until no connection is open."""
        async with asyncio.timeout(PATIENCE), self._change:
            await self._change.wait_for(lambda: not self._open)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0, ssl=self._tls)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self._open.add(task)
        self.connections += 1
        try:
            request = _read(await reader.readuntil(b"\r\n\r\n"))
            size = int(request.headers.get("content-length", "0"))
            if size:
                request = replace(request, body=await reader.readexactly(size))
            async with self._change:
                self.requests.append(request)
                self._change.notify_all()
            path = request.target.partition("?")[0]
            handler = self._handlers.get(path, answer(404, "nothing here"))
            await _while_heard(asyncio.ensure_future(handler(request, writer)), reader)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client hung up, as tests have it do
        finally:
            writer.close()
            self._open.discard(task)
            async with self._change:
                self._change.notify_all()


async def _while_heard(answering: asyncio.Future[None], reader: asyncio.StreamReader) -> None:
    """Let an answer be written until it is done or the client has hung up."""
    listening = asyncio.ensure_future(reader.read())
    try:
        await asyncio.wait((answering, listening), return_when=asyncio.FIRST_COMPLETED)
    finally:
        listening.cancel()
        answering.cancel()
        await asyncio.gather(answering, listening, return_exceptions=True)


def _read(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines if line)
    return Request(method, target, {name.lower(): value.strip() for name, _, value in fields})
