"""Several sessions of one runtime, and one terminal: its person has one question at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.bridges.elicitation import TerminalElicitation
from lockgate.bridges.sampling import TerminalConsent
from lockgate.bridges.terminal import TerminalApprover
from lockgate.bridges.voice import Voice
from lockgate.policy.approval import Answer, Question, TakesTurns
from lockgate.testing.turns import turns

PROMPT = "answer [no]: "


class Person(Protocol):
    """What the fixture of that name can do."""

    device: Path

    def type(self, text: str | bytes) -> None: ...
    def sees(self) -> str: ...
    async def see(self, text: str) -> str: ...


async def test_questions_of_several_sessions_are_put_one_at_a_time(
    person: Person, asking_about: Callable[..., Question]
) -> None:
    """In the order in which they came up; each shows its own call, an answer is that question's,
    and what streams meanwhile waits for all of them."""
    said: list[str] = []
    voice = Voice(said.append, said.append)
    approver = TerminalApprover(person.device, voice)
    questions = [
        asking_about(call_id=f"c{n}", session_id=f"s{n}", arguments={"repo_path": f"place-{n}"})
        for n in range(3)
    ]
    asked = [asyncio.ensure_future(approver(question)) for question in questions]
    for number, word in enumerate(("once", "no", "once")):
        shown = await person.see(PROMPT)
        assert [f"place-{n}" in shown for n in range(3)] == [n == number for n in range(3)]
        voice.go_on(f"{number}, ")
        await turns()
        assert PROMPT not in person.sees()
        assert said == []
        person.type(f"{word}\n")
        async with asyncio.timeout(10):
            reply = await asked[number]
        assert isinstance(reply, Answer)
        assert reply.approved is (word == "once")
        said.clear()


@pytest.mark.parametrize("kind", [TerminalApprover, TerminalElicitation, TerminalConsent])
async def test_whoever_asks_there_has_the_floor_when_its_turn_begins(
    kind: Callable[..., TakesTurns[Any]],
) -> None:
    """Whoever bounds an answer counts from there: what waits for the floor is seen by nobody."""
    voice = Voice(lambda text: None)
    asks, begun = kind(voice=voice), asyncio.Event()

    async def ask() -> None:
        async with asks.turn():
            begun.set()

    async with voice.asking():
        asking = asyncio.create_task(ask())
        await turns()
        assert not begun.is_set()
    async with asyncio.timeout(5):
        await asking
    assert begun.is_set()
