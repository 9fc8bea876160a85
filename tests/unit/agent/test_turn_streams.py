"""What is told of a reply while it is written, and what is kept of one that does not end well."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from lockgate.agent.events import CallStarted, Event, ModelText, ModelWrites, TurnFinished
from lockgate.agent.model import Hearing, ModelReply, ModelRequest, ToolCall, UserMessage
from lockgate.agent.run import RunStatus
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.testing.model import FakeModel, answers_in, asking
from lockgate.testing.provider_rules import refusals_of
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken
from lockgate.traits import SideEffectLevel


class Writer:
    """Writes the words of each reply one by one; before a third one it stops, for ever, or to
    raise."""

    name = "writer"

    def __init__(self, replies: Sequence[ModelReply], ends: Exception | None = None) -> None:
        self._replies = list(replies)
        self._ends = ends
        self.stuck = asyncio.Event()
        self.heard: list[bool] = []

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The next one."""
        self.heard.append(heard is not None)
        reply = self._replies.pop(0)
        for number, word in enumerate(reply.text.split(" ")):
            if number == 2:
                self.stuck.set()
                if self._ends is not None:
                    raise self._ends
                await asyncio.Event().wait()
            if heard is not None:
                heard(word if number == 0 else f" {word}")
        return reply


def look() -> ScriptedTool:
    """A tool that reads."""
    return ScriptedTool("look", level=SideEffectLevel.READ_ONLY, concurrent=True)


LOOKS = ModelReply("I look", (ToolCall("1", "look", {}),))
LONG = ModelReply("and then I do")


def told(events: Sequence[Event]) -> list[str]:
    """What was said, in order with the calls."""
    words: list[str] = []
    for event in events:
        match event:
            case ModelWrites(text=text):
                words.append(f"+{text}")
            case ModelText(text=text):
                words.append(text)
            case CallStarted(tool=tool):
                words.append(f"*{tool}")
            case _:
                pass
    return words


async def test_text_is_told_piece_by_piece_and_then_whole(tmp_path: Path) -> None:
    """In order with the calls; what is kept is the whole."""
    events: list[Event] = []
    async with Workbench(tmp_path, [look()]) as bench:
        agent = bench.agent(Writer([LOOKS, ModelReply("All well")]))
        assert (await agent.run("go", sink=events.append)).answered
    assert told(events) == ["+I", "+ look", "I look", "*look", "+All", "+ well", "All well"]
    assert agent.transcript[1] == LOOKS


async def test_nobody_is_told_anything_if_nobody_watches(tmp_path: Path) -> None:
    """A model is not made to stream for it."""
    model = Writer([LOOKS, ModelReply("All well")])
    async with Workbench(tmp_path, [look()]) as bench:
        assert (await bench.agent(model).run("go")).answered
    assert model.heard == [False, False]


async def test_an_interrupt_in_the_middle_of_a_reply_keeps_nothing_of_it(tmp_path: Path) -> None:
    """What was seen of it was shown; the session goes on from what was said before."""
    events: list[Event] = []
    token, model = InterruptToken(), Writer([LOOKS, LONG])
    async with Workbench(tmp_path, [look()]) as bench:
        agent = bench.agent(model)
        turn = asyncio.create_task(agent.run("go", interrupt=token, sink=events.append))
        async with asyncio.timeout(10):
            await model.stuck.wait()
            token.interrupt()
            result = await turn
    assert result.status is RunStatus.INTERRUPTED
    assert told(events)[-2:] == ["+and", "+ then"]
    assert len(result.transcript) == 3
    assert refusals_of(result.transcript) == []
    assert (result.text, events[-1]) == (
        "I look",
        TurnFinished(RunStatus.INTERRUPTED, "interrupted"),
    )


@pytest.mark.parametrize("interrupted", [False, True])
async def test_a_stream_that_fails_keeps_nothing_of_its_reply(
    tmp_path: Path, interrupted: bool
) -> None:
    """The turn ends with the fault; with an interrupt if that is what broke the connection."""
    token = InterruptToken()

    lost = PeerError(
        "the stream broke", peer="p", phase=Phase.REQUEST, fault=Fault.CLOSED, fate=Fate.UNKNOWN
    )
    model = Writer([LOOKS, LONG], lost)

    def sink(event: Event) -> None:
        if interrupted and event == ModelWrites(" then"):
            token.interrupt()

    async with Workbench(tmp_path, [look()]) as bench:
        result = await bench.agent(model).run("go", interrupt=token, sink=sink)
    expected = RunStatus.INTERRUPTED if interrupted else RunStatus.MODEL_FAILED
    assert result.status is expected
    assert len(result.transcript) == 3
    assert refusals_of(result.transcript) == []


@pytest.mark.parametrize("reply", [ModelReply(""), ModelReply(" \n"), ModelReply("", cut_off=True)])
async def test_a_reply_that_says_nothing_is_not_kept(tmp_path: Path, reply: ModelReply) -> None:
    """No provider takes a message without text and calls; the next turn can follow."""
    async with Workbench(tmp_path, [look()]) as bench:
        agent = bench.agent(FakeModel([asking("look"), reply]))
        result = await agent.run("go")
        assert refusals_of(result.transcript) == []
        assert (await agent.run("and now?")).text == "done"
    assert isinstance(agent.transcript[3], UserMessage)


async def test_a_long_session_copies_no_message(tmp_path: Path) -> None:
    """What the model is shown of the past is the very same messages, each time: a session grows by
    what was said in it, and by what is kept of long results."""
    replies = ["x" * 5_000_000] * 20
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY, replies=replies)
    model = FakeModel([step for _ in range(20) for step in (asking("look"), ModelReply("ok"))])
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(model)
        for _ in range(20):
            assert (await agent.run("go")).answered
    shown = [each.transcript for each in model.seen]
    for earlier, later in pairwise(shown):
        assert all(a is b for a, b in zip(earlier, later, strict=False))
    assert len(agent.transcript) == 20 * 4
    kept = sum(len(each.result.text) for each in answers_in(agent.transcript))
    assert kept < 20 * 101_000
