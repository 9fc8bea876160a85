"""The transport contract catches what it is there to catch: each planted violation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing, RequestId
from lockgate.mcp.transport.base import Link, Receiver, Transport
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer
from lockgate.testing.transports import (
    CONTRACT,
    Check,
    ContractViolation,
    fails_to_open,
    hold,
)

Plant: TypeAlias = Callable[[Link, Receiver], tuple[Link, Receiver]]


class Wrapper:
    """A link and its receiver, passed through unless a subclass spoils it."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.link: Link | None = None

    async def send(self, message: Outgoing) -> None:
        if self.link is not None:
            await self.link.send(message)

    def abandon(self, request: RequestId) -> bool:
        return False

    @property
    def mirrors(self) -> bool:
        return False

    def last_words(self) -> str:
        return ""

    def failed(self, request: RequestId, error: PeerError) -> None:
        self.receiver.failed(request, error)

    def refused(self, request: RequestId, answer: Failure) -> None:
        self.receiver.refused(request, answer)

    def frame(self, data: bytes) -> None:
        self.receiver.frame(data)

    def oversized(self, head: bytes, size: int, limit: int) -> None:
        self.receiver.oversized(head, size, limit)

    def noticed(self, error: PeerError) -> None:
        self.receiver.noticed(error)

    def closed(self, error: PeerError) -> None:
        self.receiver.closed(error)


class ClosesTwice(Wrapper):
    def closed(self, error: PeerError) -> None:
        self.receiver.closed(error)
        self.receiver.closed(error)


class NeverCloses(Wrapper):
    def closed(self, error: PeerError) -> None:
        pass


class TouchesBytes(Wrapper):
    def frame(self, data: bytes) -> None:
        self.receiver.frame(data.replace(b"\xb0", b"?"))


class WrongFate(Wrapper):
    def closed(self, error: PeerError) -> None:
        self.receiver.closed(_error(Fate.NOT_SENT))


class PilesUp(Wrapper):
    """Takes every frame at once and sends it some time."""

    async def send(self, message: Outgoing) -> None:
        if self.link is not None:
            sending = asyncio.create_task(self.link.send(message))
            sending.add_done_callback(lambda done: done.cancelled() or done.exception())


class SendsLate(Wrapper):
    """Sends what was withdrawn."""

    async def send(self, message: Outgoing) -> None:
        if self.link is not None:
            await asyncio.shield(self.link.send(message))


class SendsToNobody(Wrapper):
    """Says that all is well after the end."""

    async def send(self, message: Outgoing) -> None:
        try:
            await super().send(message)
        except PeerError:
            pass


class Reorders(Wrapper):
    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver)
        self.held: bytes | None = None

    def frame(self, data: bytes) -> None:
        if self.held is None:
            self.held = data
        else:
            self.receiver.frame(data)
            self.receiver.frame(self.held)
            self.held = None

    def closed(self, error: PeerError) -> None:
        if self.held is not None:
            self.receiver.frame(self.held)
        self.receiver.closed(error)


class LeavesATask(Wrapper):
    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver)
        self.task = asyncio.get_running_loop().create_task(asyncio.Event().wait())


PLANTED: tuple[tuple[type[Wrapper], str], ...] = (
    (ClosesTwice, "leaving_tells_the_receiver"),
    (NeverCloses, "leaving_tells_the_receiver"),
    (TouchesBytes, "the_bytes_are_not_touched"),
    (WrongFate, "leaving_tells_the_receiver"),
    (PilesUp, "a_full_link_makes_senders_wait"),
    (SendsLate, "a_cancelled_waiting_sender_has_sent_nothing"),
    (SendsToNobody, "nothing_is_sent_after_the_end"),
    (Reorders, "frames_keep_their_order"),
    (LeavesATask, "many_rounds_stay_flat"),
)


class Spoilt:
    """A transport over memory with something planted in it."""

    def __init__(self, inner: Transport, plant: type[Wrapper]) -> None:
        self._inner = inner
        self._plant = plant

    def open(self, receiver: Receiver) -> AbstractAsyncContextManager[Link]:
        return self._open(receiver)

    def describe(self) -> str:
        return "spoilt"

    @asynccontextmanager
    async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
        wrapper = self._plant(receiver)
        async with self._inner.open(wrapper) as link:
            wrapper.link = link
            yield wrapper


def named(name: str) -> Check:
    """A check by its name."""
    return next(check for check in CONTRACT if getattr(check, "__name__", "") == name)


@pytest.mark.parametrize(("plant", "name"), [(Wrapper, "frames_keep_their_order")])
async def test_a_wrapper_alone_breaks_nothing(
    plant: type[Wrapper], name: str, tmp_path: Path
) -> None:
    """What is planted is what is caught, not the wrapping."""
    await hold(named(name), _reach(plant), tmp_path)


@pytest.mark.parametrize(
    ("plant", "name"), PLANTED, ids=lambda value: getattr(value, "__name__", "")
)
async def test_a_planted_violation_is_caught(
    plant: type[Wrapper], name: str, tmp_path: Path
) -> None:
    """By the check that is there for it."""
    with pytest.raises((ContractViolation, TimeoutError)):
        await hold(named(name), _reach(plant), tmp_path)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_opening_where_it_must_fail_is_caught() -> None:
    """A transport that opens, or that fails as if something had been sent."""
    with pytest.raises(ContractViolation, match="was reached"):
        await fails_to_open(LoopServer(ScriptedServer()).transport())

    class Failing(Spoilt):
        @asynccontextmanager
        async def _open(self, receiver: Receiver) -> AsyncGenerator[Link, None]:
            raise _error(Fate.UNKNOWN)
            yield Wrapper(receiver)

    with pytest.raises(ContractViolation, match="fate"):
        await fails_to_open(Failing(LoopServer(ScriptedServer()).transport(), Wrapper))


def test_every_check_says_what_it_checks() -> None:
    """The suite is read by those who write transports."""
    assert all(check.__doc__ for check in CONTRACT)
    assert len({getattr(check, "__name__", "") for check in CONTRACT}) == len(CONTRACT) > 20


def _reach(plant: type[Wrapper]) -> Callable[..., Transport]:
    def reach(server: ScriptedServer, *, frame_limit: int = LIMIT) -> Transport:
        return Spoilt(LoopServer(server).transport(grace=0.05, frame_limit=frame_limit), plant)

    return reach


def _error(fate: Fate) -> PeerError:
    return PeerError("x", peer="x", phase=Phase.CONNECT, fault=Fault.CLOSED, fate=fate)


def test_a_receiver_counts_what_comes_too_late() -> None:
    """Calls after `closed` are counted, and so is a second `closed`."""
    receiver = RecordingReceiver()
    receiver.closed(_error(Fate.UNKNOWN))
    receiver.frame(b"x")
    receiver.closed(_error(Fate.UNKNOWN))
    assert (receiver.late, len(receiver.errors)) == (2, 2)
