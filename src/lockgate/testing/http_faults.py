"""What can go wrong with an exchange over HTTP, for `HttpServer.on`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from lockgate.testing.http_heard import Action, HttpExchange


def status(
    code: int,
    body: str | bytes | Mapping[str, Any] = b"",
    headers: Mapping[str, str] | None = None,
) -> Action:
    """This status; a mapping is sent as JSON, with the type for it unless `headers` name one."""
    fields = {name.lower(): value for name, value in (headers or {}).items()}
    if isinstance(body, Mapping):
        fields.setdefault("content-type", "application/json")
        body = json.dumps(body)
    data = body.encode() if isinstance(body, str) else body

    async def act(exchange: HttpExchange) -> None:
        await exchange.answer(code, data, fields)

    return act


def redirect(code: int, target: str) -> Action:
    """A redirect to `target`, which is sent as it stands."""
    return status(code, headers={"location": target})


def page(title: str = "Welcome", code: int = 200) -> Action:
    """A page for people."""
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>…</body></html>"
    return status(code, text, {"content-type": "text/html; charset=utf-8"})


def raw(data: bytes, *, stay: bool = False) -> Action:
    """These bytes; then the end of the connection, or silence if it is to `stay`."""

    async def act(exchange: HttpExchange) -> None:
        await exchange.write(data)
        if stay:
            await exchange.silence()
        exchange.hang_up()

    return act


def events(*texts: str, then: str = "end") -> Action:
    """A stream of these texts, lines as they are; `then` its "end", "hang up", "reset" or "stay".

    `@id@` becomes the id of the request.
    """

    async def act(exchange: HttpExchange) -> None:
        identity = json.dumps(exchange.heard.message.get("id"))
        await exchange.event(b"")
        for text in texts:
            await exchange.event(text.replace("@id@", identity).encode())
        if then == "end":
            await exchange.end()
        elif then == "stay":
            await exchange.silence()
        elif then == "reset":
            exchange.reset()
        else:
            exchange.hang_up()

    return act


def reset() -> Action:
    """The request is read, and the connection reset."""

    async def act(exchange: HttpExchange) -> None:
        exchange.reset()

    return act


def stall() -> Action:
    """The request is read, and nothing follows."""

    async def act(exchange: HttpExchange) -> None:
        await exchange.silence()

    return act


def truncated(body: bytes, *, of: int) -> Action:
    """The beginning of a JSON body that was announced as `of` bytes; then the connection ends."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {of}\r\n\r\n"
    return raw(head.encode() + body)


def slowly(seconds: float) -> Action:
    """What the script says, after a while."""

    async def act(exchange: HttpExchange) -> None:
        await asyncio.sleep(seconds)
        await exchange.as_scripted()

    return act
