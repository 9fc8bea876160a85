"""Answers and what fits none: correlation, strays, what can not be read, noise."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import msgspec
import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsonrpc import request
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.steps import Answer, Do, Message, Raw


def _result(identity: Any, result: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result or {}}


@pytest.mark.req("S3-24")
async def test_answers_are_never_swapped(server: LoopServer, session: ServerSession) -> None:
    """PB-088: a hundred requests at once, answered in random order between notifications and
    pings: each caller gets its own answer, and the time is the longest, not the sum."""
    waiting: list[Message] = []
    shuffled = random.Random(88)  # noqa: S311 - an order, no secret

    async def answer(message: Message) -> None:
        waiting.append(message)
        if len(waiting) < 100:
            return
        shuffled.shuffle(waiting)
        for number, held in enumerate(waiting):
            text = held["params"]["n"] + "x" * 10_000
            await server.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            await server.say({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"})
            await server.say(_result(held["id"], {"text": text}))

    server.on("echo", Do(answer))
    connection = session.connection
    raws = await asyncio.gather(*(connection.request("echo", {"n": str(n)}) for n in range(100)))
    texts = [msgspec.json.decode(raw)["text"].rstrip("x") for raw in raws]
    assert texts == [str(n) for n in range(100)]
    for number in range(100):
        assert (await server.hears_answer(f"p{number}"))["result"] == {}


async def test_an_error_answer_is_told_with_code_words_and_data(
    server: LoopServer, session: ServerSession
) -> None:
    """A JSON-RPC error is REFUSED and ANSWERED; its words are cut to a bounded length."""
    words = "no such thing" + "!" * 10_000
    server.on("x", Answer(error={"code": -32001, "message": words, "data": {"why": 1}}))
    with pytest.raises(PeerError, match="no such thing") as caught:
        await session.connection.request("x")
    error = caught.value
    assert (error.fault, error.fate, error.phase) == (Fault.REFUSED, Fate.ANSWERED, Phase.REQUEST)
    assert (error.code, error.data, error.peer) == (-32001, {"why": 1}, "fake")
    assert len(str(error)) < 4200


async def test_a_late_answer_is_not_a_stray(
    server: LoopServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """What answers a request that was given up is known as late, not warned about."""
    server.on("slow")
    with pytest.raises(PeerError):
        await session.connection.request("slow", timeout=0.01)
    with caplog.at_level(logging.DEBUG):
        await server.say(_result(server.heard("slow")[0]["id"]))
        await session.connection.request("ping")
    assert [r.levelno for r in caplog.records if "late answer" in r.message] == [logging.DEBUG]
    assert not [r for r in caplog.records if r.levelno > logging.DEBUG]


@pytest.mark.req("B-03")
async def test_an_answer_that_is_cut_short_leaves_the_fate_unknown(
    server: LoopServer, session: ServerSession
) -> None:
    """It names its request, and what it was going to say nobody knows; one that is whole, and can
    not be read, was an answer."""

    def saying(text: bytes) -> Do:
        async def answer(message: Message) -> Raw:
            return Raw(b'{"jsonrpc":"2.0","id":%d,"result":{%b\n' % (message["id"], text))

        return Do(answer)

    server.on("x", saying(b'"content":[{"ty'))
    with pytest.raises(PeerError, match="truncated") as caught:
        await session.connection.request("x")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.UNKNOWN)
    server.on("y", saying(b'"content":[}}'))
    with pytest.raises(PeerError, match="not JSON") as caught:
        await session.connection.request("y")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)


async def test_an_id_of_another_type_is_told_at_once(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-038: `"2"` does not answer 2; the call fails with both ids long before its timeout."""

    async def answer(message: Message) -> Answer:
        return Answer(id=(str(message["id"]),), result={})

    server.on("x", Do(answer))
    with pytest.raises(PeerError, match=r"a string, where \d+, a number, was asked") as caught:
        await session.connection.request("x")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
    assert f"'{server.heard('x')[0]['id']}'" in str(caught.value)


async def test_an_id_written_as_a_float_is_the_same_number(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-038: `2.0` is the JSON number 2."""

    async def answer(message: Message) -> Raw:
        return Raw(b'{"jsonrpc":"2.0","id":%d.0,"result":{"ok":1}}\n' % message["id"])

    server.on("x", Do(answer))
    assert msgspec.json.decode(await session.connection.request("x")) == {"ok": 1}


async def test_a_timeout_hints_at_answers_that_fitted_nobody(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-039: a server that answers everything with id 0 is found out from the message."""
    server.on("x", Answer(id=(0,), result={}))
    with pytest.raises(PeerError, match="response with unknown id 0 received"):
        await session.connection.request("x", timeout=0.05)


async def test_what_came_before_a_request_is_no_hint_about_it(
    server: LoopServer, session: ServerSession
) -> None:
    """An answer that fitted nobody says nothing of a request that was made later."""
    server.on("x", Answer(id=(99999,), result={}))
    server.on("silent")
    with pytest.raises(PeerError, match="unknown id 99999 received"):
        await session.connection.request("x", timeout=0.05)
    with pytest.raises(PeerError, match=r"\(timeout\)$"):
        await session.connection.request("silent", timeout=0.05)


async def test_an_error_without_an_id_is_hinted_at(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-039: an error for nobody in particular shows in the message of what then times out."""
    server.on("x", Answer(id=(None,), error={"code": -32600, "message": "bad request"}))
    with pytest.raises(PeerError, match=r"error without an id received: bad request \(-32600\)"):
        await session.connection.request("x", timeout=0.05)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (b'{"jsonrpc":"2.0","id":%d,"result":{"text":"a \xb0\xa1 b"}}', "not valid UTF-8"),
        (b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 3000 + b"]" * 3000 + b"}", "nested"),
        (b'{"jsonrpc":"2.0","id":%d,"result":{"a":}}', "not JSON"),
    ],
)
async def test_an_answer_that_can_not_be_read_fails_its_own_call_only(
    server: LoopServer, session: ServerSession, frame: bytes, why: str
) -> None:
    """PB-011, PB-111: the one who waits is told why at once, and the connection lives on."""

    async def answer(message: Message) -> Raw:
        return Raw(frame % message["id"] + b"\n")

    server.on("bad", Do(answer)).on("other")
    other = asyncio.create_task(session.connection.request("other"))
    held = await server.hears("other")
    with pytest.raises(PeerError, match=f"fake.*{why}") as caught:
        await session.connection.request("bad")
    assert (caught.value.fault, caught.value.fate) == (Fault.MALFORMED, Fate.ANSWERED)
    await server.say(_result(held["id"], {"fine": True}))
    assert msgspec.json.decode(await other) == {"fine": True}


async def test_an_answer_over_the_limit_fails_its_own_call_only(server: LoopServer) -> None:
    """PB-005: above the cap the call fails with the cap named, and the connection lives on."""
    server.on("big", Answer(result={"text": "x" * 10_000}))
    server.on("small", Answer(result={"ok": 1}))
    connection = Connection(server.transport(frame_limit=5000), peer="fake", request_timeout=5)
    await connection.open()
    with pytest.raises(PeerError, match=r"over the limit of 5,000 bytes for one frame") as caught:
        await connection.exchange(lambda id: request(id, "big"))
    assert (caught.value.fault, caught.value.fate) == (Fault.TOO_LARGE, Fate.ANSWERED)
    assert await connection.exchange(lambda id: request(id, "small"))
    await connection.close()


async def test_noise_harms_nobody_and_is_logged_with_the_server(
    server: LoopServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """PB-001, PB-002: what is no message is skipped and logged, cut, with the server's name."""
    server.on("slow")
    call = asyncio.create_task(session.connection.request("slow"))
    asked = await server.hears("slow")
    noise = [b"Server version : 1.2", b'{"level":"info"}', b"42", b"null", b"[]", b'"ready"']
    with caplog.at_level(logging.DEBUG):
        for line in [*noise, b"y" * 100_000]:
            await server.say(line)
        await server.say(_result(asked["id"]))
        await call
    lines = [r for r in caplog.records if "fake sent something" in r.message]
    assert len(lines) == len(noise) + 1
    assert [r.levelno for r in lines].count(logging.WARNING) == 1
    assert max(len(r.message) for r in lines) < 500
