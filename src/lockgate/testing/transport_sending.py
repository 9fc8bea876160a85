"""The transport contract: what a sender may rely on, waiting, giving up, or too late."""

from __future__ import annotations

import asyncio

from lockgate.mcp.transport.base import Link
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Close, Deaf, Exit
from lockgate.testing.transport_bench import Bench, Check, call, not_sent, require, stuck

PAYLOAD = "x" * 65_536
SLOWLY = 8_000_000
"""Bytes a second: slow enough to be overtaken, quick enough for a test."""


async def a_full_link_makes_senders_wait(bench: Bench) -> None:
    """What is not read is bounded: sending does not pile up without end."""
    async with bench.open(ScriptedServer(opening=(Deaf(),))) as (link, _):
        sends = await stuck(lambda number: link.send(call(number, text=PAYLOAD)))
        sends[-1].cancel()
        await asyncio.wait(sends)


async def waiting_senders_keep_their_order(bench: Bench) -> None:
    """First come, first served, those who come while others wait included."""
    server = ScriptedServer(read_rate=SLOWLY, ledger=bench.ledger.path)
    async with bench.open(server) as (link, receiver):
        sends = await stuck(lambda number: link.send(call(number, text=PAYLOAD)))
        last = len(sends) + 5
        for number in range(len(sends), last):
            sends.append(asyncio.create_task(link.send(call(number, text=PAYLOAD))))
        await asyncio.gather(*sends)
        await receiver.answer(last - 1)
    order = [entry.facts["id"] for entry in bench.ledger.entries("call")]
    require(order == [*range(last)], f"frames of waiting senders arrived as {order}")


async def a_cancelled_waiting_sender_has_sent_nothing(bench: Bench) -> None:
    """Cancelled before its write began, a frame never arrives; the others do."""
    server = ScriptedServer(read_rate=SLOWLY, ledger=bench.ledger.path)
    async with bench.open(server) as (link, receiver):
        sends = await stuck(lambda number: link.send(call(number, text=PAYLOAD)))
        sends[-1].cancel()
        await asyncio.wait(sends)
        require(sends[-1].cancelled(), "the cancellation of a waiting sender was swallowed")
        last = len(sends)
        await link.send(call(last))
        for number in (*range(last - 1), last):
            await receiver.answer(number)
    arrived = [entry.facts["id"] for entry in bench.ledger.entries("call")]
    require(last - 1 not in arrived, "a frame that was withdrawn arrived")
    # In which order is another promise.
    require(sorted(arrived) == [*range(last - 1), last], f"of the others arrived {arrived}")


async def waiting_senders_are_let_go_at_the_end(bench: Bench) -> None:
    """When the link is closed, who still waits is told that nothing was sent."""
    sends: list[asyncio.Task[None]] = []
    async with bench.open(ScriptedServer(opening=(Deaf(),))) as (link, _):
        sends = await stuck(lambda number: link.send(call(number, text=PAYLOAD)))
    await not_sent(sends[-1], "waiting when the link is closed")


async def nothing_is_sent_after_the_end(bench: Bench) -> None:
    """After the server has hung up, and after leaving, send says NOT_SENT."""
    gone: Link
    async with bench.open(ScriptedServer(rules=(When("tools/call", Exit(3)),))) as (link, receiver):
        gone = link
        await link.send(call(1))
        await receiver.lost(1)
        await not_sent(link.send(call(2)), "after the server has hung up")
    await not_sent(gone.send(call(3)), "after leaving")


async def a_server_that_stops_listening_is_noticed(bench: Bench) -> None:
    """It may still speak; but a server that can not be sent to any more is no link (PB-024).

    A transport that can not see it makes senders wait instead.
    """
    server = ScriptedServer(rules=(When("tools/call", Close(0)),))
    async with bench.open(server) as (link, _):
        await link.send(call(1))
        waiting = asyncio.create_task(_fill(link))
        done, _ = await asyncio.wait((waiting,), timeout=1)
        if done:
            await not_sent(waiting, "to a server that has closed its input")
        else:
            waiting.cancel()
            await asyncio.wait((waiting,))


async def _fill(link: Link) -> None:
    for number in range(2, 2000):
        await link.send(call(number, text=PAYLOAD))
        await asyncio.sleep(0)


async def abandoning_says_whether_that_is_enough(bench: Bench) -> None:
    """`abandon` answers, and neither ends the link nor needs a request that exists."""
    async with bench.open(ScriptedServer()) as (link, receiver):
        told = {type(link.abandon(77)), type(link.abandon("77"))}
        require(told == {bool}, "abandon does not answer True or False")
        await link.send(call(1))
        await receiver.answer(1)
        require(len(link.last_words()) < 20_000, "the last words have no bound")


SENDING: tuple[Check, ...] = (
    a_full_link_makes_senders_wait,
    waiting_senders_keep_their_order,
    a_cancelled_waiting_sender_has_sent_nothing,
    waiting_senders_are_let_go_at_the_end,
    nothing_is_sent_after_the_end,
    a_server_that_stops_listening_is_noticed,
    abandoning_says_whether_that_is_enough,
)
