"""An approver that puts one question at a time: its time begins when the question can be seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from lockgate.policy.approval import Answer, Question, Reply, Scope, TakesTurns
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ErrorKind

MakeRoad = Callable[..., Road]
Put = Callable[[Question], Awaitable[Reply]]


class Desk(TakesTurns[Put]):
    """Somebody who says yes at once, once the desk is free."""

    name = "desk"
    scopes = frozenset({Scope.ONCE})

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.questions: list[Question] = []

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Put]:
        await self.free.wait()
        yield self._put

    async def _put(self, question: Question) -> Reply:
        self.questions.append(question)
        return Answer(True, self.name)

    async def __call__(self, question: Question) -> Reply:
        async with self.turn() as put:
            return await put(question)


@pytest.mark.req("S0-09")
async def test_no_time_runs_out_before_the_question_can_be_put(make_road: MakeRoad) -> None:
    """While others are asked there, a question waits, and is answered by nobody."""
    desk, tool = Desk(), ScriptedTool("remove")
    road = make_road([tool], attended=[desk], answer_within=0)
    running = asyncio.create_task(road.invoke(road.call("remove")))
    await turns()
    assert not running.done()
    desk.free.set()
    async with asyncio.timeout(5):
        result = await running
    assert (result.is_error, len(tool.runs)) == (False, 1)


async def test_a_question_whose_turn_ends_while_it_waits_is_never_put(make_road: MakeRoad) -> None:
    """An interrupt ends the wait, and the question with it."""
    desk, token = Desk(), InterruptToken()
    road = make_road([ScriptedTool("remove")], attended=[desk])
    running = asyncio.create_task(road.invoke(road.call("remove", interrupt=token)))
    await turns()
    token.interrupt()
    async with asyncio.timeout(5):
        result = await running
    desk.free.set()
    await turns()
    assert (result.kind, desk.questions) == (ErrorKind.SKIPPED, [])


async def test_a_turn_that_can_not_be_had_is_a_failed_approver(make_road: MakeRoad) -> None:
    """Whatever goes wrong there is a no."""

    class Broken(Desk):
        @asynccontextmanager
        async def turn(self) -> AsyncGenerator[Put]:
            raise OSError("no desk")
            yield self._put

    road = make_road([ScriptedTool("remove")], attended=[Broken()])
    result = await road.invoke(road.call("remove"))
    assert result.reason == "approver_failed"
