"""Senders that wait: in order, withdrawn without a trace, let go at the end."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.transport.sendqueue import SendQueue
from lockgate.testing.turns import turns


class Pipe:
    """Takes `room` frames and is full then."""

    def __init__(self) -> None:
        self.queue = SendQueue()
        self.room = 0
        self.written: list[int] = []
        self.queue.fill()

    async def send(self, number: int) -> None:
        if self.queue.standing:
            await self.queue.wait()
        self.written.append(number)
        self.room -= 1
        if self.room <= 0:
            self.queue.fill()
        self.queue.advance()

    def drain(self, room: int) -> None:
        self.room = room
        self.queue.drain()


@given(st.lists(st.tuples(st.sampled_from("sdc"), st.integers(0, 5)), max_size=40))
def test_order_is_kept_whatever_happens(moves: list[tuple[str, int]]) -> None:
    """Sending, draining and cancelling in any order: what is written is in the order of coming,
    nothing that was withdrawn is written, and nobody waits while there is room."""

    async def play() -> None:
        pipe = Pipe()
        sends: list[asyncio.Task[None]] = []
        for move, value in moves:
            if move == "s":
                sends.append(asyncio.create_task(pipe.send(len(sends))))
            elif move == "d":
                pipe.drain(value or 1)
            elif sends:
                sends[value % len(sends)].cancel()
            if value % 2:
                await turns(30)
        await turns(30)
        withdrawn = [number for number, task in enumerate(sends) if task.cancelled()]
        assert pipe.written == sorted(pipe.written)
        assert not set(withdrawn) & set(pipe.written)
        waiting = [task for task in sends if not task.done()]
        assert not waiting or pipe.room <= 0
        pipe.drain(1000)
        await turns(30)
        assert all(task.done() for task in sends)

    asyncio.run(play())


async def test_a_turn_that_is_not_used_is_passed_on() -> None:
    """Called and cancelled in the same moment: the next one is called instead."""
    pipe = Pipe()
    first, second = (asyncio.create_task(pipe.send(number)) for number in (1, 2))
    await turns(30)
    pipe.drain(1)
    first.cancel()
    await turns(30)
    assert (first.cancelled(), second.done(), pipe.written) == (True, True, [2])


async def test_all_are_let_go_when_it_is_dissolved() -> None:
    """Everyone returns and looks for himself."""
    queue = SendQueue()
    queue.fill()
    waiting = [asyncio.create_task(queue.wait()) for _ in range(3)]
    await turns(30)
    queue.dissolve()
    await asyncio.wait(waiting, timeout=5)
    assert all(task.done() and not task.cancelled() for task in waiting)
