"""A scripted server in the event loop: functions in its script, and what a test does meanwhile."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.errors import PeerError
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer, Do, Exit, Message, Raw, Send, Step


def serves(*steps: Step) -> LoopServer:
    """A server that does these steps about the method "x"."""
    return LoopServer(ScriptedServer(rules=(When("x", *steps),)))


@asynccontextmanager
async def talk(server: LoopServer) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
    """An open link."""
    receiver = RecordingReceiver()
    async with server.transport(grace=0.2).open(receiver) as link:
        yield link, receiver


def message(identity: int, method: str = "x", **params: Any) -> Outgoing:
    """A request."""
    body = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return Outgoing(json.dumps(body).encode())


async def test_a_function_gets_the_message_and_says_what_to_do() -> None:
    """One step, several or none; then the script goes on where it was."""

    async def choose(message: Message) -> Step | tuple[Step, ...] | None:
        match message["params"]:
            case {"want": "one"}:
                return Answer(result={"id": message["id"]})
            case {"want": "two"}:
                return (Raw(b"first\n"), Answer(result={"id": message["id"]}))
            case _:
                return None

    after = {"jsonrpc": "2.0", "method": "after"}
    async with talk(serves(Do(choose), Send(after))) as (link, receiver):
        said: list[list[Any]] = []
        for number, (want, frames) in enumerate((("one", 2), ("two", 3), ("nothing", 1))):
            await link.send(message(number, want=want))
            said.append([await receiver.next() for _ in range(frames)])
    answers = [{"jsonrpc": "2.0", "id": n, "result": {"id": n}} for n in (0, 1)]
    assert [json.loads(frame) for frame in said[0]] == [answers[0], after]
    assert said[1][0] == b"first"
    assert [json.loads(frame) for frame in said[1][1:]] == [answers[1], after]
    assert [json.loads(frame) for frame in said[2]] == [after]


async def test_a_function_holds_up_no_other_message() -> None:
    """It runs beside what is read next, and so does what it wants done."""
    gate = asyncio.Event()

    async def wait(message: Message) -> None:
        await gate.wait()

    async with talk(serves(Do(wait), Answer(result={}))) as (link, receiver):
        await link.send(message(1))
        await link.send(message(2, "ping"))
        await receiver.answer(2)
        gate.set()
        await receiver.answer(1)


async def test_a_function_may_end_the_connection() -> None:
    """By a step like any other."""

    async def leave(message: Message) -> Exit:
        return Exit()

    async with talk(serves(Do(leave))) as (link, receiver):
        await link.send(message(1))
        assert "the server ended" in str(await receiver.end())


async def test_a_function_that_fails_fails_the_server() -> None:
    """Not silently: the link ends, with what was raised as the cause."""

    async def fail(message: Message) -> None:
        raise ZeroDivisionError

    async with talk(serves(Do(fail))) as (link, receiver):
        await link.send(message(1))
        error = await receiver.end()
    assert "the server failed" in str(error)
    assert "ZeroDivisionError" in "".join(traceback.format_exception(error))


def test_a_function_can_not_be_given_to_a_process() -> None:
    """Refused when the arguments are made, with what to do instead."""

    async def nothing(message: Message) -> None:
        return

    for server in (
        ScriptedServer(rules=(When("x", Do(nothing)),)),
        ScriptedServer(opening=(Do(nothing),)),
        ScriptedServer(ending=(Do(nothing),)),
    ):
        with pytest.raises(ValueError, match="serve it in this event loop with LoopServer"):
            server.endpoint()
    with pytest.raises(TypeError, match="a script is JSON, and a object is not"):
        ScriptedServer(tools=(object(),)).endpoint()


async def test_functions_run_before_the_first_message_and_after_the_last() -> None:
    """There is no message then: they get an empty one."""
    seen: list[Message] = []

    async def see(message: Message) -> None:
        seen.append(message)

    server = LoopServer(ScriptedServer(opening=(Do(see),), ending=(Do(see), Exit())))
    async with talk(server) as (link, receiver):
        await link.send(message(1, "ping"))
        await receiver.answer(1)
    assert seen == [{}, {}]


async def test_a_rule_of_now_comes_first_on_open_connections_too() -> None:
    """The newest first; counts of the others go on as they were."""
    second = When("x", Answer(result={"n": "script"}), nth=2)
    server = LoopServer(ScriptedServer(rules=(second,)))
    async with talk(server) as (link, receiver):
        await link.send(message(1))
        assert (await receiver.answer(1))["error"]["code"] == -32601
        server.on("x", Answer(result={"n": "old"})).on("x", Answer(result={"n": "new"}), nth=1)
        for number, text in ((2, "new"), (3, "old")):
            await link.send(message(number))
            assert (await receiver.answer(number))["result"]["n"] == text
    async with talk(server) as (link, receiver):
        await link.send(message(4))
        assert (await receiver.answer(4))["result"]["n"] == "new"


async def test_a_new_rule_does_not_disturb_what_others_have_counted() -> None:
    """The script's rule for the second message still means the second."""
    server = serves()
    server.on("y", Answer(result={"second": True}), nth=2)
    async with talk(server) as (link, receiver):
        await link.send(message(1, "y"))
        await receiver.answer(1)
        server.on("z")
        await link.send(message(2, "y"))
        assert (await receiver.answer(2))["result"] == {"second": True}


async def test_what_was_heard_is_kept_and_can_be_waited_for() -> None:
    """On every connection, in order: requests by method and count, answers by id."""
    server = serves()
    for round in (1, 2):
        waiting = asyncio.create_task(server.hears("x", round))
        async with talk(server) as (link, receiver):
            await link.send(message(round, n=round))
            assert (await waiting)["params"] == {"n": round}
            await server.say({"jsonrpc": "2.0", "id": f"q{round}", "method": "ping"})
            asked = json.loads(await receiver.next())
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
            await link.send(Outgoing(json.dumps(reply).encode()))
            assert await server.hears_answer(f"q{round}") == reply
            await link.send(Outgoing(b"no JSON"))
    assert server.connections == 2
    assert [entry["id"] for entry in server.received] == [1, "q1", 2, "q2"]
    assert [entry["id"] for entry in server.heard("x")] == [1, 2]
    assert (server.answered("q3"), server.heard("y")) == ([], [])


async def test_what_is_never_heard_is_said_with_what_was() -> None:
    """Within the bound, as a failed assertion."""
    server = LoopServer(ScriptedServer(rules=(When("x", Answer(result={})),)), patience=0.01)
    async with talk(server) as (link, receiver):
        await link.send(message(1))
        await receiver.answer(1)
        with pytest.raises(AssertionError, match=r"y was not heard 1 times, but \['x'\]"):
            await server.hears("y")
        with pytest.raises(AssertionError, match="the answer to 7 was not heard"):
            await server.hears_answer(7)


async def test_bytes_are_said_as_they_are() -> None:
    """Any frame, at any moment, on the newest connection."""
    server = serves()
    async with talk(server) as (link, receiver):
        await link.send(message(1))
        await server.hears("x")
        await server.say(b"\xff no message")
        assert await receiver.next() == b"\xff no message"


async def test_hanging_up_ends_the_connection() -> None:
    """In the middle of what is going on."""
    server = serves()
    async with talk(server) as (link, receiver):
        await link.send(message(1))
        await server.hears("x")
        server.hang_up()
        assert "the server ended" in str(await receiver.end())


async def test_there_is_nobody_to_talk_to_before_and_after() -> None:
    """Two different errors; the second is the one that any server gets."""
    server = serves()
    with pytest.raises(RuntimeError, match="nobody has connected"):
        await server.say(b"x")
    with pytest.raises(RuntimeError, match="nobody has connected"):
        server.hang_up()
    async with talk(server) as (link, receiver):
        await link.send(message(1, "ping"))
        await receiver.answer(1)
    with pytest.raises(PeerError):
        await server.say(b"x")
