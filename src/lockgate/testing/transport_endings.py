"""The transport contract: every end is told once, and leaves nothing."""

from __future__ import annotations

import asyncio

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer, Close, Exit, Kill, Send, Sleep
from lockgate.testing.transport_bench import Bench, Check, ContractViolation, call, require

STUBBORN = ScriptedServer(ignores_eof=True, ignores_sigterm=True)


async def leaving_tells_the_receiver(bench: Bench) -> None:
    """We hang up: `closed`, in the phase of closing, and not another frame."""
    late = Send({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    server = ScriptedServer(ending=(late,))
    async with bench.open(server) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
    require(receiver.errors[0].phase is Phase.CLOSE, "closing by us is not told as such")
    require(len(receiver.frames) == 1, "a frame arrived after we had hung up")


async def a_server_that_hangs_up_is_noticed(bench: Bench) -> None:
    """It ends in the middle of a call, which fails at once, with a reason: alone, or with all."""
    for step in (Exit(3), Kill(9), Close(1)):
        server = ScriptedServer(rules=(When("tools/call", step),))
        async with bench.open(server) as (link, receiver):
            await link.send(call(1))
            error = await receiver.lost(1, timeout=5)
            require(error.fault is Fault.CLOSED, f"a hang-up is told as {error.fault}")
            require(error.phase is not Phase.CLOSE, "a hang-up is told as closing by us")
            require(error.fate is Fate.UNKNOWN, f"what it may have heard has fate {error.fate}")
            require(bool(str(error)), "a hang-up is told without a reason")


async def a_server_that_ends_at_once_is_noticed(bench: Bench) -> None:
    """It ends before it was spoken to: opening fails, or sending, or `closed` comes at once."""
    receiver = RecordingReceiver()
    try:
        async with bench.reach(ScriptedServer(opening=(Exit(1),))).open(receiver) as link:
            await link.send(call(1))
            await receiver.lost(1, timeout=10)
    except PeerError:
        require(len(receiver.errors) < 2, "what has ended was closed more than once")


async def what_was_said_before_the_end_arrives(bench: Bench) -> None:
    """An answer that was written right before the end is not lost (PB-008)."""
    server = ScriptedServer(rules=(When("tools/call", Answer(size=200_000), Exit(0)),))
    async with bench.open(server) as (link, receiver):
        await link.send(call(1))
        await receiver.answer(1)
        try:
            await link.send(call(2))
            await receiver.lost(2)
        except PeerError as error:
            require(error.fate is Fate.NOT_SENT, f"after the end send says {error.fate}")


async def a_stubborn_server_is_ended(bench: Bench) -> None:
    """Leaving is bounded, whatever the server thinks of it."""
    async with asyncio.timeout(10):
        async with bench.open(STUBBORN) as (link, receiver):
            await link.send(call(1))
            await receiver.answer(1)


async def an_error_inside_passes_through(bench: Bench) -> None:
    """What the body raises comes out as it is, after everything is closed."""
    try:
        async with bench.open(ScriptedServer()):
            raise LookupError("from inside")
    except LookupError:
        return
    raise ContractViolation("an error of the body was swallowed")


async def a_cancelled_owner_leaves_nothing(bench: Bench) -> None:
    """Cancelled with the link open, and once more while it closes: all is closed all the same."""
    before = Belongings.now()
    inside = asyncio.Event()

    async def own() -> None:
        async with bench.open(STUBBORN) as (link, receiver):
            await link.send(call(1))
            await receiver.answer(1)
            inside.set()
            await asyncio.Event().wait()

    owner = asyncio.create_task(own())
    async with asyncio.timeout(20):
        await inside.wait()
        owner.cancel()
        await asyncio.sleep(0.02)
        owner.cancel()
        await asyncio.wait((owner,))
    require(owner.cancelled(), "the cancellation of the owner did not pass through")
    left = await left_since(before)
    require(not left, f"a cancelled owner left {', '.join(left)}")


async def a_cancelled_opening_leaves_nothing(bench: Bench) -> None:
    """Cancelled at any moment of opening, nothing stays, and the cancellation passes through."""
    for delay in (0, 1, 2, 3, 5, 8):
        before = Belongings.now()
        opening = asyncio.create_task(_open_and_wait(bench))
        for _ in range(delay):
            await asyncio.sleep(0)
        opening.cancel()
        async with asyncio.timeout(10):
            await asyncio.wait((opening,))
        require(opening.cancelled(), "the cancellation of an opening was swallowed")
        left = await left_since(before)
        require(not left, f"an opening cancelled after {delay} turns left {', '.join(left)}")


async def _open_and_wait(bench: Bench) -> None:
    async with bench.reach(ScriptedServer()).open(RecordingReceiver()):
        await asyncio.Event().wait()


async def many_rounds_stay_flat(bench: Bench) -> None:
    """Opening and closing again and again gathers nothing."""
    before = Belongings.now()
    server = ScriptedServer(rules=(When("tools/call", Sleep(0.001), Answer()),))
    for number in range(10):
        async with bench.open(server) as (link, receiver):
            await link.send(call(number))
            await receiver.answer(number)
        left = await left_since(before)
        require(not left, f"round {number + 1} left {', '.join(left)}")


async def a_transport_opens_many_links(bench: Bench) -> None:
    """One transport, opened twice at once, is two servers that know nothing of each other."""
    transport = bench.reach(ScriptedServer(rules=(When("tools/call", Exit(0), nth=2),)))
    first, second = RecordingReceiver(), RecordingReceiver()
    async with transport.open(first) as one, transport.open(second) as two:
        await one.send(call(1))
        await first.answer(1)
        await one.send(call(2))
        await first.lost(2)
        await two.send(call(1))
        await second.answer(1)
        require(not second.errors, "the end of one link ended another")


ENDINGS: tuple[Check, ...] = (
    leaving_tells_the_receiver,
    a_server_that_hangs_up_is_noticed,
    a_server_that_ends_at_once_is_noticed,
    what_was_said_before_the_end_arrives,
    a_stubborn_server_is_ended,
    an_error_inside_passes_through,
    a_cancelled_owner_leaves_nothing,
    a_cancelled_opening_leaves_nothing,
    many_rounds_stay_flat,
    a_transport_opens_many_links,
)
