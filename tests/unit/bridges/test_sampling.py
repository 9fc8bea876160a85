"""A model for servers: what is asked about, what is refused, what it costs at most."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.agent.model import Hearing, ModelReply, ModelRequest, ToolCall, Usage, UserMessage
from lockgate.bridges.reception import Reception
from lockgate.bridges.sampling import Consent, Lines, ModelSampling, TerminalConsent
from lockgate.bridges.voice import Voice
from lockgate.calls.records import AskedRecord
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.services import Occasion, Refusal
from lockgate.mcp.host.settings import SamplingSettings
from lockgate.policy.approval import TakesTurns
from lockgate.testing.clock import FakeClock
from lockgate.testing.turns import turns

WHO = Occasion("files", "ask", "c1", attended=True)


class Person(Protocol):
    """What the fixture of that name can do."""

    device: Path

    def type(self, text: str | bytes) -> None: ...
    def sees(self) -> str: ...
    async def see(self, text: str) -> str: ...


class Kept:
    """Keeps records."""

    def __init__(self) -> None:
        self.records: list[AskedRecord] = []

    def asked(self, record: AskedRecord) -> None:
        self.records.append(record)


class Says:
    """A model that says one thing, and keeps what it was asked."""

    name = "a-model"

    def __init__(self, reply: ModelReply | Exception) -> None:
        self.said = reply
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        self.asked.append(request)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


class Agrees:
    """A person who says these things, one after the other, then yes; sees what they are shown."""

    def __init__(self, *said: bool) -> None:
        self.said = list(said)
        self.shown: list[str] = []

    async def __call__(self, lines: Lines) -> bool:
        self.shown.append("\n".join(lines(80)))
        return self.said.pop(0) if self.said else True


def _turn(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


def _params(**more: Any) -> dict[str, Any]:
    return {"messages": [_turn("Hello")], "maxTokens": 100, **more}


def _sampling(
    model: Says, consent: Agrees | None, kept: Kept | None = None, **settings: Any
) -> ModelSampling:
    clock = FakeClock()
    reception = Reception(
        kept or Kept(), time=clock, monotonic=clock, within=5, tell=lambda text: None
    )
    return ModelSampling(SamplingSettings("m", **settings), model, reception, consent, 5)


async def test_it_is_shown_before_and_after_and_then_given() -> None:
    """client/sampling: who asks, the system prompt and the messages; then the completion."""
    model, person, kept = Says(ModelReply("Hi.\n-- x", usage=Usage(output=7))), Agrees(), Kept()
    messages = [_turn("Hello\x1b[2J"), _turn("Yes?", "assistant"), _turn("Go on")]
    params = _params(messages=messages, systemPrompt="Be kind")
    result = await _sampling(model, person, kept)(params, WHO)
    assert result == {
        "role": "assistant",
        "content": {"type": "text", "text": "Hi.\n-- x"},
        "model": "a-model",
        "stopReason": "endTurn",
    }
    before, after = person.shown
    assert "-- a server wants a model to complete something --" in before
    assert "server     FILES\n" in before
    assert "model      a-model\n" in before
    assert "system prompt\n| Be kind\n" in before
    assert "user says\n| Hello\\x1b[2J\nassistant says\n| Yes?\nuser says\n| Go on\n" in before
    assert "| Hi.\n| -- x\n" in after
    (request,) = model.asked
    transcript, tools, instructions = request.transcript, request.tools, request.instructions
    assert transcript == (UserMessage("Hello\x1b[2J"), ModelReply("Yes?"), UserMessage("Go on"))
    assert (tools, instructions) == ((), "Be kind")
    (record,) = kept.records
    assert (record.mode, record.action, record.model, record.tokens) == (
        *("sampling", "accept", "a-model"),
        7,
    )


async def test_the_time_of_a_person_begins_when_they_can_be_asked() -> None:
    """While somebody else asks on their terminal, it does not run out."""
    free, person = asyncio.Event(), Agrees()

    class Desk(TakesTurns[Consent]):
        @asynccontextmanager
        async def turn(self) -> AsyncGenerator[Consent]:
            await free.wait()
            yield person

        async def __call__(self, lines: Lines) -> bool:
            raise AssertionError

    clock = FakeClock()
    reception = Reception(Kept(), time=clock, monotonic=clock, within=0, tell=lambda text: None)
    model = Says(ModelReply("Hi"))
    sampling = ModelSampling(SamplingSettings("m"), model, reception, Desk(), 0)
    asking = asyncio.ensure_future(sampling(_params(), WHO))
    await turns()
    free.set()
    async with asyncio.timeout(5):
        assert (await asking)["model"] == "a-model"


async def test_nothing_that_a_model_would_get_is_left_out() -> None:
    """However long it is: what is agreed to is what is sent."""
    person = Agrees()
    long = "\n".join(f"line {n} {'x' * 100}" for n in range(500))
    await _sampling(Says(ModelReply("Hi")), person)(_params(messages=[_turn(long)]), WHO)
    assert all(f"| line {n} " in person.shown[0] for n in range(500))


@pytest.mark.parametrize(("said", "asked"), [((False,), 0), ((True, False), 1)])
async def test_a_no_before_or_after_gives_nothing(said: tuple[bool, ...], asked: int) -> None:
    """-1, as the specification has it; what the model said stays here."""
    model, kept = Says(ModelReply("Hi")), Kept()
    with pytest.raises(Refusal, match="User rejected") as refused:
        await _sampling(model, Agrees(*said), kept)(_params(), WHO)
    assert refused.value.code == -1
    assert len(model.asked) == asked
    assert kept.records[0].action == "decline"


@pytest.mark.req("S0-09")
async def test_where_nobody_can_be_asked_it_is_refused() -> None:
    """Without anybody, and in a call that nobody attends."""
    model = Says(ModelReply("Hi"))
    for consent, occasion in ((None, WHO), (Agrees(), Occasion("files", attended=False))):
        with pytest.raises(Refusal, match="nobody is there"):
            await _sampling(model, consent)(_params(), occasion)
    assert model.asked == []


async def test_where_the_operator_says_so_nobody_is_asked() -> None:
    """`ask: false`, in unattended calls too."""
    model, person = Says(ModelReply("Hi")), Agrees()
    unattended = Occasion("files", attended=False)
    result = await _sampling(model, person, ask=False)(_params(), unattended)
    assert result["content"]["text"] == "Hi"
    assert person.shown == []


async def test_requests_are_limited_by_size_and_by_hour() -> None:
    """Each with a reason that a server can act on; nobody is asked about them."""
    model, person, kept = Says(ModelReply("Hi")), Agrees(), Kept()
    sampling = _sampling(model, person, kept, max_tokens=100, per_hour=2)
    with pytest.raises(Refusal, match="maxTokens may be 100 at most"):
        await sampling(_params(maxTokens=101), WHO)
    await sampling(_params(), WHO)
    with pytest.raises(Refusal, match="only 2 requests an hour"):
        await sampling(_params(), WHO)
    assert [record.reason for record in kept.records] == ["limit", None, "too_many"]
    assert len(model.asked) == 1


async def test_the_hour_may_be_counted_elsewhere() -> None:
    """By server, at the time of the wall: other processes have no other clock in common."""
    counted: list[tuple[str, int, float]] = []

    def sampled(server: str, most: int, now: float) -> bool:
        counted.append((server, most, now))
        return len(counted) > 1

    clock, model = FakeClock(), Says(ModelReply("Hi"))
    reception = Reception(
        Kept(), time=lambda: 7.0, monotonic=clock, within=5, tell=lambda text: None, sampled=sampled
    )
    sampling = ModelSampling(SamplingSettings("m", per_hour=3), model, reception, Agrees(), 5)
    await sampling(_params(), WHO)
    with pytest.raises(Refusal, match="only 3 requests an hour"):
        await sampling(_params(), WHO)
    assert counted == [(WHO.server, 3, 7.0)] * 2
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"messages": []}, "without messages"),
        ({"messages": [3]}, "neither of the user"),
        ({"messages": [_turn("x", "system")]}, "neither of the user"),
        ({"messages": [{"role": "user", "content": {"type": "image", "data": ""}}]}, "no text"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "no text"),
        ({"messages": [{"role": "user", "content": "text"}]}, "no text"),
        ({"messages": [_turn("x")] * 101}, "101 messages"),
        ({"messages": [_turn("x" * 100_001)]}, "characters"),
        ({"maxTokens": None}, "without a maxTokens"),
        ({"maxTokens": True}, "without a maxTokens"),
        ({"systemPrompt": 3}, "systemPrompt"),
    ],
)
async def test_what_can_not_be_completed_is_refused(more: dict[str, Any], why: str) -> None:
    """-32602: images, audio, results of tools, and what is malformed."""
    model = Says(ModelReply("Hi"))
    with pytest.raises(Refusal, match=why) as refused:
        await _sampling(model, Agrees())(_params(**more), WHO)
    assert refused.value.code == -32602
    assert model.asked == []


async def test_a_message_of_several_texts_is_one() -> None:
    """2025-11-25 has lists of blocks."""
    model = Says(ModelReply("Hi"))
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    await _sampling(model, Agrees())(_params(messages=[{"role": "user", "content": blocks}]), WHO)
    assert model.asked[0].transcript == (UserMessage("a\nb"),)


@pytest.mark.parametrize(
    ("reply", "more", "text", "why"),
    [
        (ModelReply("one STOP two"), {"stopSequences": ["STOP", 3, ""]}, "one ", "stopSequence"),
        (ModelReply("half a", cut_off=True), {}, "half a", "maxTokens"),
    ],
)
async def test_why_it_ended_is_said(
    reply: ModelReply, more: dict[str, Any], text: str, why: str
) -> None:
    """Where it had to stop, and where it was cut off."""
    result = await _sampling(Says(reply), Agrees())(_params(**more), WHO)
    assert (result["content"]["text"], result["stopReason"]) == (text, why)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            PeerError(
                "secret", peer="m", phase=Phase.REQUEST, fault=Fault.REFUSED, fate=Fate.ANSWERED
            ),
            "the model failed",
        ),
        (ModelReply("", (ToolCall("1", "rm", {}),)), "wanted tools"),
    ],
)
async def test_a_model_that_fails_is_told_without_its_words(said: Any, why: str) -> None:
    """What a provider says is not the server's to know."""
    with pytest.raises(Refusal, match=why) as refused:
        await _sampling(Says(said), Agrees())(_params(), WHO)
    assert "secret" not in refused.value.message


# ------------------------------------------------------------------ on a terminal


@asynccontextmanager
async def _asked(person: Person) -> AsyncGenerator[asyncio.Task[bool]]:
    consent = TerminalConsent(Voice(lambda text: None), person.device)
    task = asyncio.ensure_future(consent(lambda width: iter(["a question", "-" * width])))
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("keys", "agreed"),
    [(b"y\n", True), (b"YES\n", True), (b"\n", False), (b"maybe\n", False), (b"\x03", False)],
)
async def test_only_a_yes_is_a_yes(person: Person, keys: bytes, agreed: bool) -> None:
    """Everything unclear means no."""
    async with _asked(person) as task:
        seen = await person.see("answer [no]: ")
        assert "a question\n" in seen
        person.type(keys)
        async with asyncio.timeout(10):
            assert await task is agreed


async def test_of_a_long_question_the_length_is_said(person: Person) -> None:
    """What is above may be out of sight."""
    consent = TerminalConsent(Voice(lambda text: None), person.device)
    task = asyncio.ensure_future(consent(lambda width: iter(["x"] * 50)))
    assert "50 lines above belong to this question\n" in await person.see("answer [no]: ")
    person.type("n\n")
    async with asyncio.timeout(10):
        assert await task is False


async def test_a_withdrawn_question_says_so(person: Person) -> None:
    """The call was given up."""
    async with _asked(person) as task:
        await person.see("answer [no]: ")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "[the question is withdrawn]" in person.sees()
