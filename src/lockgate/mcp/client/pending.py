"""Requests that wait for their answer: who is given which, and what fits nobody.

An answer belongs to the request with the same id of the same type; ids are numbers that only
rise, so that an answer which comes after its request was given up is known as late, and one to an
id that was never used as a stray (PB-038, PB-039). Answers are never swapped (S3-24).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.failures import Failures
from lockgate.mcp.client.journal import Journal, trace
from lockgate.mcp.client.progress import Tracked
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.protocol.jsonrpc import Failure, RequestId, Response
from lockgate.mcp.protocol.progress import Progress, read_progress

ASKED_FOR: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""What a server may need input for (2026-07-28, basic/patterns/mrtr: Supported Requests)."""

Answer: TypeAlias = Raw | Failure
"""The JSON text of a result, not decoded, or the peer's error."""


class Waiting(msgspec.Struct):
    """One request under way, as its waiter, its answer and the clock share it."""

    method: str
    answer: asyncio.Future[Answer | PeerError | None]
    """What came; an error if none can come any more; None when time is up."""
    sender: asyncio.Task[Any] | None
    """The task that waits until its frame can be written; None once that is done."""
    due: float
    """Loop time at which it is given up."""
    tracked: Tracked | None = None
    """Whom its progress concerns, if anybody."""
    about: Occasion | None = None
    """What the server may ask for meanwhile, where that is known in more than the method."""
    bound: Bound | None = None
    """The caller's own, which is held with it."""
    _cut_off: int | None = None
    _held: int = 0
    """How many times its clock is held."""
    _left: float = 0.0
    """Seconds that were left when that began."""

    @property
    def can_need_input(self) -> bool:
        """Whether a server may ask this side for something to answer it."""
        return self.about is not None or self.method in ASKED_FOR

    def settle(self, what: Answer | PeerError | None) -> None:
        """Set the answer; the first one counts."""
        if not self.answer.done():
            self.answer.set_result(what)

    def time_is_up(self) -> None:
        """Called by the clock. Whoever still waits for room can only be told by cancelling it."""
        self.due = math.inf  # told once
        if self.sender is None:
            self.settle(None)
        else:
            self._cut_off = self.sender.cancelling()
            self.sender.cancel()

    def heard(self, progress: Progress, now: float) -> None:
        """There is progress. Raises what the listener raises."""
        if self.tracked is not None and not self.answer.done():
            if self.due < math.inf:
                self.due = self.tracked.due(now, self.due)
            self.tracked.tell(progress)

    def hold(self, now: float) -> None:
        """Its time stands still until it is let go as often: a person is being asked."""
        if not self._held and self.due < math.inf:
            self._left, self.due = self.due - now, math.inf
            self._held = 1
        elif self._held:
            self._held += 1
        if self.bound is not None:
            self.bound.hold()

    def release(self, now: float) -> float:
        """Let it go; the time at which it is due from now on."""
        if self._held:
            self._held -= 1
            if not self._held:
                self.due = now + self._left
        if self.bound is not None:
            self.bound.release()
        return self.due

    def left(self, now: float) -> float:
        """Seconds until it is given up, were it let go now."""
        return self._left if self._held else self.due - now

    def cut_off(self) -> bool:
        """Whether the cancellation that has arrived is the clock's alone, and takes it back."""
        before, task = self._cut_off, self.sender
        return before is not None and task is not None and task.uncancel() <= before


class PendingRequests:
    """The open requests of one connection, and the clock that gives them up.

    One timer serves them all: nearly every request is answered long before its time is up, and a
    timer of its own, set and taken back, costs as much as writing the frame.
    """

    __slots__ = (
        *("_clock", "_failures", "_journal", "_last", "_next_look", "_open", "_questions"),
        *("_stray", "strays"),
    )

    def __init__(self, failures: Failures, journal: Journal | None = None) -> None:
        self._failures = failures
        self._journal = journal or Journal(failures.peer)
        self._open: dict[RequestId, Waiting] = {}
        self._questions: list[tuple[frozenset[RequestId], Callable[[], None] | None]] = []
        """What a server asks, by the requests that each can be about."""
        self._last = 0
        self._clock: asyncio.TimerHandle | None = None
        self._next_look = math.inf
        self.strays = 0
        """How much has come that answered nothing."""
        self._stray = ""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def answers(self) -> list[asyncio.Future[Answer | PeerError | None]]:
        """What is waited for now."""
        return [waiting.answer for waiting in self._open.values()]

    def next_id(self) -> int:
        """An id that was never used on this connection; the first is 1, so 0 is never ours."""
        self._last += 1
        return self._last

    def stray(self, before: int) -> str | None:
        """What came last that answered nothing, for the message of a request that times out; None
        if nothing has since there were so many `strays`."""
        return self._stray if self.strays > before else None

    def add(self, identity: int, waiting: Waiting) -> None:
        """Let it be settled by whatever answers `identity`, or by the clock."""
        self._open[identity] = waiting
        if waiting.due < self._next_look:
            self._look_at(waiting.due)

    def drop(self, identity: int) -> None:
        """Stop waiting; an answer that comes later is late."""
        self._take(identity)

    def answered(self, message: Response) -> None:
        """A result came."""
        waiting = self._open.pop(message.id, None)
        if self._questions:
            self._look_at_questions()
        if waiting is None:
            self._unknown(message.id)
        elif not waiting.answer.done():
            waiting.answer.set_result(message.result)

    def refused(self, message: Failure) -> None:
        """An error came."""
        if message.id is None:
            self._note(f"error without an id received: {message.message[:200]} ({message.code})")
            return
        waiting = self._take(message.id)
        if waiting is None:
            self._unknown(message.id)
        else:
            waiting.settle(message)

    def failed(self, identity: RequestId, error: PeerError) -> None:
        """No answer can come any more to this request alone."""
        waiting = self._take(identity)
        if waiting is not None:
            waiting.settle(error)

    def progressed(self, params: Any) -> None:
        """A progress notification came, of whatever request and however odd (PB-143)."""
        progress = read_progress(params)
        if isinstance(progress, str):
            self._journal.noise("progress", f"sent progress that {progress}, ignored")
            return
        waiting = self._open.get(progress.token)
        if waiting is None or waiting.tracked is None:
            self._journal.debug(f"progress of {str(progress.token)[:80]} ignored: nobody waits")
            return
        try:
            waiting.heard(progress, asyncio.get_running_loop().time())
        except Exception as error:  # noqa: BLE001 - foreign code, its failure is its own
            self._journal.error(f"a listener failed on progress: {trace(error)}")

    def occasions(self, peer: str) -> list[Occasion]:
        """What is open now that a server may ask something for."""
        return [one.about or Occasion(peer) for one in self._open.values() if one.can_need_input]

    @contextmanager
    def held(self, moot: Callable[[], None] | None = None) -> Generator[None]:
        """While this is entered the time of the requests that are open now stands still.

        For a server's question to a person: waiting for a person is not the server's time (S3-21).
        It can be about one of those requests, and about none that is made later; `moot` is called
        once none of those that it can be about is open any more.
        """
        loop = asyncio.get_running_loop()
        waiting = tuple(self._open.values())
        about = frozenset(id for id, one in self._open.items() if one.can_need_input)
        question = (about, moot)
        if moot is not None and about:
            self._questions.append(question)
        for one in waiting:
            one.hold(loop.time())
        try:
            yield
        finally:
            if question in self._questions:
                self._questions.remove(question)
            due = min((one.release(loop.time()) for one in waiting), default=math.inf)
            if due < self._next_look:
                self._look_at(due)

    def unreadable(self, identity: RequestId, fault: Fault, why: str, *, cut: bool = False) -> None:
        """An answer came that can not be used, or the beginning of one, `cut` short; the one who
        waits is told at once."""
        waiting = self._take(identity)
        if waiting is None:
            self._unknown(identity)
        else:
            error = self._failures.unusable_answer(waiting.method, fault, why, cut=cut)
            waiting.settle(error)

    def fail_all(self, reason: PeerError) -> None:
        """No answer can come any more, for this reason.

        What was written may have been acted on, so the fate is UNKNOWN.
        """
        for identity, waiting in tuple(self._open.items()):
            waiting.settle(self._failures.unanswered(waiting.method, reason))
            if waiting.sender is None:  # else the clock goes on for whoever waits for room
                del self._open[identity]
        if not self._open:
            self._look_at(math.inf)

    def _take(self, identity: RequestId) -> Waiting | None:
        waiting = self._open.pop(identity, None)
        if self._questions:
            self._look_at_questions()
        return waiting

    def _look_at_questions(self) -> None:
        """Those that nothing which is open can be about are moot."""
        for about, moot in tuple(self._questions):
            if moot is not None and about.isdisjoint(self._open):
                moot()

    def _look_at(self, due: float) -> None:
        """Set the timer to this time, and to no other."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
        self._next_look = due
        if due < math.inf:
            self._clock = asyncio.get_running_loop().call_at(due, self._look)

    def _look(self) -> None:
        """Give up what is due, and look again when the next one is."""
        due = max(self._next_look, asyncio.get_running_loop().time())
        for waiting in tuple(self._open.values()):
            if waiting.due <= due:
                waiting.time_is_up()
        self._look_at(min((waiting.due for waiting in self._open.values()), default=math.inf))

    def _unknown(self, identity: RequestId) -> None:
        if isinstance(identity, str):
            twin = int(identity) if identity.isdecimal() and len(identity) < 20 else 0
            waiting = self._take(twin)
            if waiting is not None:
                error = self._failures.mistaken_id(waiting.method, identity, twin)
                self._journal.noise("id", f"is misunderstood: {error}")
                waiting.settle(error)
                return
        elif 0 < identity <= self._last:
            self._journal.debug(f"late answer to request {identity} ignored")
            return
        self._note(f"response with unknown id {str(identity)[:80]} received")

    def _note(self, text: str) -> None:
        self.strays += 1
        self._stray = self._journal.line(text)
        self._journal.noise("answer", f"answers nothing: {text}")
