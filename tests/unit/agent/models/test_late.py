"""A model that is made in a thread when it is first asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from lockgate.agent.model import Hearing, Model, ModelReply, ModelRequest, UserMessage
from lockgate.agent.models.late import LateModel
from lockgate.agent.threads import WorkerThreads
from lockgate.errors import ConfigError, Fate, Fault, LocalError, PeerError, Problem

GO = ModelRequest([UserMessage("go")])
SECONDS = 10.0


class Made:
    """A model that counts how often it is asked and closed."""

    name = "a:x"

    def __init__(self) -> None:
        self.asked = 0
        self.closed = 0

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """How often it was asked."""
        self.asked += 1
        return ModelReply(str(self.asked))

    async def close(self) -> None:
        """Count it."""
        self.closed += 1


class Making:
    """Makes one model as soon as it may, and writes down in which threads it was called."""

    def __init__(self) -> None:
        self.model = Made()
        self.begun = threading.Event()
        self.may = threading.Event()
        self.threads: list[threading.Thread] = []
        self.fails: list[Exception] = []

    def __call__(self) -> Model:
        self.threads.append(threading.current_thread())
        self.begun.set()
        self.may.wait(SECONDS)
        if self.fails:
            raise self.fails.pop()
        return self.model


@pytest.fixture
async def threads() -> AsyncIterator[WorkerThreads]:
    """The pool of a runtime."""
    pool = WorkerThreads()
    yield pool
    await pool.close()


async def test_the_loop_goes_on_while_a_model_is_made(threads: WorkerThreads) -> None:
    """Servers ping and deadlines end meanwhile. It is made once, however many wait for it."""
    making = Making()
    late = LateModel("a:x", making, threads)
    assert (late.name, making.threads) == ("a:x", [])
    both = asyncio.gather(late.reply(GO), late.reply(GO))
    # Only a loop that is not held up comes to this line before it may be made.
    await asyncio.to_thread(making.begun.wait, SECONDS)
    assert not both.done()
    making.may.set()
    assert [reply.text for reply in await both] == ["1", "2"]
    assert (await late.reply(GO)).text == "3"
    (thread,) = making.threads
    assert thread is not threading.main_thread()
    await late.close()
    await late.close()
    assert making.model.closed == 1
    with pytest.raises(LocalError, match="closed"):
        await late.reply(GO)


async def test_who_gives_up_leaves_the_model_to_the_others(threads: WorkerThreads) -> None:
    """A cancellation passes at once."""
    making = Making()
    late = LateModel("a:x", making, threads)
    first, second = asyncio.ensure_future(late.reply(GO)), asyncio.ensure_future(late.reply(GO))
    await asyncio.to_thread(making.begun.wait, SECONDS)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    making.may.set()
    assert (await second).text == "1"
    assert len(making.threads) == 1


async def test_what_can_not_be_made_is_told_as_a_failure_of_it(threads: WorkerThreads) -> None:
    """With what to do, without the place in a configuration; the next reply tries again."""
    making = Making()
    making.may.set()
    making.fails.append(ConfigError(Problem("no such library", "agent.model", hint="get it")))
    late = LateModel("a:x", making, threads)
    with pytest.raises(PeerError) as caught:
        await late.reply(GO)
    assert str(caught.value) == "a:x: no such library: get it"
    assert (caught.value.fault, caught.value.fate) == (Fault.UNSUPPORTED, Fate.NOT_SENT)
    assert caught.value.__cause__ is None
    assert (await late.reply(GO)).text == "1"


async def test_it_has_its_time(threads: WorkerThreads) -> None:
    """Threads that are all taken, or a disk that hangs, hold nobody up for ever."""
    making = Making()
    late = LateModel("a:x", making, threads, within=0.01)
    with pytest.raises(PeerError, match=r"not loaded within 0\.01 s") as caught:
        await late.reply(GO)
    assert (caught.value.fault, caught.value.fate) == (Fault.TIMEOUT, Fate.NOT_SENT)
    making.may.set()


async def test_one_that_is_closed_while_it_is_made_is_not_asked(threads: WorkerThreads) -> None:
    """Nothing is opened that nobody would close."""
    making = Making()
    late = LateModel("a:x", making, threads)
    asking = asyncio.ensure_future(late.reply(GO))
    await asyncio.to_thread(making.begun.wait, SECONDS)
    await late.close()
    making.may.set()
    with pytest.raises(LocalError, match="closed"):
        await asking
    assert (making.model.asked, making.model.closed) == (0, 0)
