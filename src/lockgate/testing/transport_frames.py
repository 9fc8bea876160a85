"""The transport contract: frames arrive whole, in order, whatever they hold."""

from __future__ import annotations

import asyncio
import json

from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer, Ask, Raw, Send, Shape, Sleep
from lockgate.testing.transport_bench import Bench, Check, call, require, text_of

MEGABYTE = 1 << 20


async def frames_keep_their_order(bench: Bench) -> None:
    """What one task sends arrives in that order, and so do the answers."""
    async with bench.open(ScriptedServer(ledger=bench.ledger.path)) as (link, receiver):
        for number in range(60):
            await link.send(call(number, at=number))
        await receiver.answer(59)
    sent = [entry.facts["arguments"]["at"] for entry in bench.ledger.entries("call")]
    require(sent == [*range(60)], f"frames arrived in the order {sent}")
    answered = [message["id"] for message in receiver.messages]
    require(answered == [*range(60)], f"answers arrived in the order {answered}")


async def concurrent_senders_never_mix(bench: Bench) -> None:
    """Frames of many tasks, larger than a pipe, are never cut into one another."""
    texts = {number: chr(0x41 + number % 26) * (10_000 * (number % 11)) for number in range(60)}
    async with bench.open(ScriptedServer(ledger=bench.ledger.path)) as (link, receiver):
        async with asyncio.TaskGroup() as group:
            for number, text in texts.items():
                group.create_task(link.send(call(number, text=text)))
        for number, text in texts.items():
            answer = text_of(await receiver.answer(number))
            require(json.loads(answer) == {"text": text}, f"call {number} got another answer")
    require(not bench.ledger.entries("garbage"), "the server received a frame that is none")
    require(len(bench.ledger.called) == 60, "the server received another number of calls")


async def large_frames_pass_both_ways(bench: Bench) -> None:
    """Some megabytes in one frame, in either direction, and the link goes on."""
    text = "가" * MEGABYTE
    async with bench.open(ScriptedServer()) as (link, receiver):
        await link.send(call(1, text=text))
        answer = json.loads(text_of(await receiver.answer(1)))
        require(answer == {"text": text}, "a large frame came back changed")
        await link.send(call(2))
        await receiver.answer(2)


async def large_frames_leave_the_loop_free(bench: Bench) -> None:
    """While a large frame is on its way, other tasks run."""
    loop = asyncio.get_running_loop()
    gaps = [0.0]

    async def tick() -> None:
        last = loop.time()
        while True:
            await asyncio.sleep(0)
            gaps.append(loop.time() - last)
            last = loop.time()

    server = ScriptedServer(rules=(When("tools/call", Answer(size=8 * MEGABYTE)),))
    async with bench.open(server) as (link, receiver):
        ticking = asyncio.create_task(tick())
        await link.send(call(1))
        await receiver.answer(1)
        ticking.cancel()
        await asyncio.wait((ticking,))
    require(max(gaps) < 2, f"the loop stood still for {max(gaps):.1f} s over a large frame")


async def a_frame_over_the_limit_is_thrown_away(bench: Bench) -> None:
    """The receiver is told its beginning and its size; the next frame is fine (PB-005)."""
    server = ScriptedServer(
        rules=(
            When("tools/call", Answer(frame_size=10_000), nth=1),
            When("tools/call", Answer(frame_size=10_001), nth=1),
        )
    )
    async with bench.open(server, frame_limit=10_000) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
        require(len(receiver.frames[0]) == 10_000, "a frame of just the limit was changed")
        await link.send(call(2))
        head, size = await receiver.too_large()
        require(size == 10_001, f"a frame of 10001 bytes over the limit is told as {size}")
        require(head.startswith(b'{"jsonrpc"'), "the beginning of the frame is another one")
        require(len(head) <= 4096, "more than 4 KiB of a frame over the limit are kept")
        await link.send(call(3))
        await receiver.answer(3)


async def whatever_is_no_frame_harms_nothing(bench: Bench) -> None:
    """Garbage before and between frames is handed on or left out; the frames arrive (PB-001)."""
    noise = b"Server version : 1.2\n\n   \n\xff\xfe\x00 not UTF-8\n{}\n[]\nnull\n"
    server = ScriptedServer(
        opening=(Raw(noise),), rules=(When("tools/call", Raw(noise), Answer(), Raw(noise)),)
    )
    async with bench.open(server) as (link, receiver):
        for number in range(3):
            await link.send(call(number))
            await receiver.answer(number)


async def the_server_may_speak_first(bench: Bench) -> None:
    """Frames come to the receiver from the opening on, asked for or not; requests too."""
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "가"}}
    server = ScriptedServer(
        opening=(Send(note), Ask("ping")), rules=(When("tools/call", Sleep(0.01), Answer()),)
    )
    async with bench.open(server) as (link, receiver):
        await receiver.next()
        await receiver.next()
        require(receiver.messages[0] == note, "the first frame is another one")
        require(receiver.messages[1]["method"] == "ping", "the second frame is another one")
        await link.send(call(1))
        await receiver.answer(1)


async def the_bytes_are_not_touched(bench: Bench) -> None:
    """A transport does not judge: odd bytes inside a frame arrive as they are (PB-011)."""
    shape = Shape(swap=((b"@", b"\x97\xb0\xa1\\ud800\x00\r"),))
    server = ScriptedServer(rules=(When("tools/call", Answer(text="<@>", shape=shape)),))
    async with bench.open(server) as (link, receiver):
        await link.send(call(1))
        frame = await receiver.next()
        require(b"<\x97\xb0\xa1\\ud800\x00\r>" in frame, "bytes inside a frame were changed")


FRAMES: tuple[Check, ...] = (
    frames_keep_their_order,
    concurrent_senders_never_mix,
    large_frames_pass_both_ways,
    large_frames_leave_the_loop_free,
    a_frame_over_the_limit_is_thrown_away,
    whatever_is_no_frame_harms_nothing,
    the_server_may_speak_first,
    the_bytes_are_not_touched,
)
