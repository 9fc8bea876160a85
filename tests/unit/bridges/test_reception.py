"""Between servers and whoever answers them: what is refused, what is bounded, what is on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import structs

from lockgate.bridges.reception import IN_SECONDS, MAX_QUESTIONS, Reception
from lockgate.calls.records import AskedRecord
from lockgate.mcp.client.services import Elicit, Occasion, Refusal
from lockgate.mcp.protocol.elicitation import ElicitAnswer, Elicitation, read_elicitation
from lockgate.policy.approval import TakesTurns
from lockgate.testing.clock import FakeClock
from lockgate.testing.turns import turns

WHO = Occasion("files", "ask", "c1", attended=True)
YES = ElicitAnswer.accept({})


class Kept:
    """Keeps records, or has no room for any."""

    def __init__(self, *, room: bool = True) -> None:
        self.records: list[AskedRecord] = []
        self.room = room
        self.said: list[str] = []

    def asked(self, record: AskedRecord) -> None:
        if not self.room:
            raise OSError(28, "No space left on device")
        self.records.append(record)

    @property
    def actions(self) -> list[tuple[str, str | None]]:
        return [(record.action, record.reason) for record in self.records]


def _reception(kept: Kept, clock: FakeClock | None = None, within: float | None = 5) -> Reception:
    clock = clock or FakeClock()
    return Reception(kept, time=clock, monotonic=clock, within=within, tell=kept.said.append)


def _saying(answer: ElicitAnswer | BaseException) -> Elicit:
    async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return elicit


def _form(**fields: Any) -> Elicitation:
    schema = {"properties": fields}
    return read_elicitation({"message": "m", "requestedSchema": schema})


def _address(url: str) -> Elicitation:
    return read_elicitation({"mode": "url", "message": "m", "url": url})


@pytest.mark.parametrize(
    "answer", [YES, ElicitAnswer.decline(), ElicitAnswer.cancel()], ids=lambda a: a.action.value
)
async def test_what_is_said_is_on_record_and_given(answer: ElicitAnswer) -> None:
    """Each of the three, told apart."""
    kept = Kept()
    assert await _reception(kept).elicits(_saying(answer))(_form(), WHO) is answer
    assert kept.actions == [(answer.action.value, None)]
    (record,) = kept.records
    assert (record.server, record.tool, record.call, record.mode) == ("files", "ask", "c1", "form")


@pytest.mark.req("B-02")
async def test_an_answer_that_can_not_be_recorded_is_not_given() -> None:
    """The server learns nothing that no record knows of; whoever is there is told."""
    kept = Kept(room=False)
    with pytest.raises(Refusal, match="could not be recorded"):
        await _reception(kept).elicits(_saying(YES))(_form(), WHO)
    assert kept.said == [
        "files asked something, and the answer could not be recorded: it is not given (OSError)"
    ]


@pytest.mark.parametrize(
    ("error", "action"),
    [(Refusal(-1, "no"), "refuse"), (RuntimeError("x"), "failed"), (TimeoutError(), "failed")],
)
async def test_what_fails_is_on_record_and_passed_on(error: Exception, action: str) -> None:
    """Also where there is no room for a record: nothing is given then anyway."""
    for room in (True, False):
        kept = Kept(room=room)
        with pytest.raises(type(error)):
            await _reception(kept).elicits(_saying(error))(_form(), WHO)
        assert kept.actions == ([(action, None)] if room else [])


async def test_a_question_that_is_withdrawn_is_on_record() -> None:
    """Cancellation passes, whatever becomes of the record."""

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    for room in (True, False):
        kept = Kept(room=room)
        asking = asyncio.ensure_future(_reception(kept).elicits(forever)(_form(), WHO))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert kept.actions == ([("withdrawn", None)] if room else [])


@pytest.mark.req("S0-09")
async def test_a_person_has_so_long() -> None:
    """Then nobody answered."""

    async def forever(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    kept = Kept()
    answer = await _reception(kept, within=0.01).elicits(forever)(_form(), WHO)
    assert answer == ElicitAnswer.cancel()
    assert kept.actions == [("cancel", "expired")]


async def test_their_time_begins_when_the_question_can_be_put() -> None:
    """Where one question is put at a time, the others wait, and do not run out."""
    free = asyncio.Event()

    class Desk(TakesTurns[Elicit]):
        @asynccontextmanager
        async def turn(self) -> AsyncGenerator[Elicit]:
            await free.wait()
            yield _saying(YES)

        async def __call__(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
            raise AssertionError

    asking = asyncio.ensure_future(_reception(Kept(), within=0).elicits(Desk())(_form(), WHO))
    await turns()
    free.set()
    async with asyncio.timeout(5):
        assert await asking == YES


async def test_each_server_has_so_many_questions_in_a_while() -> None:
    """More are put to nobody; another server has its own, and time gives new ones."""
    kept, clock = Kept(), FakeClock()
    elicit = _reception(kept, clock).elicits(_saying(YES))
    for _ in range(MAX_QUESTIONS):
        assert await elicit(_form(), WHO) is YES
    assert await elicit(_form(), WHO) == ElicitAnswer.cancel()
    assert kept.actions[-1] == ("cancel", "too_many")
    assert await elicit(_form(), Occasion("other")) is YES
    clock.advance(IN_SECONDS)
    assert await elicit(_form(), WHO) is YES


async def test_secrets_are_not_asked_for_in_the_words_over_a_form() -> None:
    """Where the field itself says nothing, they are what a person goes by."""
    kept = Kept()
    asked = structs.replace(
        _form(answer={"type": "string"}), message="Your GitHub password, please"
    )
    with pytest.raises(Refusal, match="must not ask for secrets"):
        await _reception(kept).elicits(_saying(YES))(asked, WHO)
    assert kept.actions == [("refuse", "secret")]


async def test_secrets_are_not_asked_for_in_forms() -> None:
    """Nobody is asked; the reason is for the person, the server and the record."""
    kept = Kept()
    with pytest.raises(Refusal, match="must not ask for secrets") as refused:
        await _reception(kept).elicits(_saying(YES))(_form(api_key={"type": "string"}), WHO)
    assert refused.value.code == -32602
    assert kept.actions == [("refuse", "secret")]
    assert 'in the field "api_key" of a form: refused' in kept.said[0]


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://Example.com:8443/secret?x=1", "example.com:8443"), ("nothing", None)],
)
async def test_of_an_address_the_host_is_on_record(url: str, host: str | None) -> None:
    """Not what stands behind it, which may be a secret."""
    kept = Kept()
    await _reception(kept).elicits(_saying(ElicitAnswer.accept()))(_address(url), WHO)
    (record,) = kept.records
    assert (record.mode, record.host) == ("address", host)
