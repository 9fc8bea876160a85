"""Calls that a server takes as a task: the result is asked for until it is there.

The tasks extension of 2026-07-28 (io.modelcontextprotocol/tasks). The call was made once and is
never made again here: whatever goes wrong from then on, the fate of the call is UNKNOWN until the
server has said what became of the task. A task outlives its connection, so one that is lost is
waited for and the same task asked about again. docs/decisions/0039.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.journal import trace
from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.pause import Pause, pause
from lockgate.mcp.client.progress import ProgressListener
from lockgate.mcp.client.rounds import gathered
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound, standing
from lockgate.mcp.client.tasklistening import Ear
from lockgate.mcp.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Outgoing
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.negotiation import MISSING_CLIENT_CAPABILITY
from lockgate.mcp.protocol.tasks import CANCEL, EXTENSION, GET, UPDATE, Status, Task, read_task

logger = logging.getLogger(__name__)

AT_MOST: Final = 600.0
"""Seconds that a task may take in all, where nobody says how many."""
SHORTEST: Final = 0.2
LONGEST: Final = 60.0
"""Seconds between two looks, whatever the server wants."""
USUAL: Final = 1.0
GROWS: Final = 1.5
USUAL_AT_MOST: Final = 10.0
"""The same for a server that does not say: at first, how they grow, at most."""
TRIES: Final = 5
"""Looks in a row that may fail."""
ROUNDS: Final = 10
"""How often one task may ask for input."""
RESUMING: Final = 60.0
"""Seconds that a server which was lost may take to be there again."""
GRACE: Final = 5.0
"""Seconds in which a task that was cancelled for want of an answer may say that it is over."""
LAST_LOOK: Final = 0.5
"""Seconds before the end of the time in which a task is looked at once more."""

_NO_MORE: Final = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY})
"""Errors that mean that there is no such task, or nothing more to be learnt of it."""

Resume: TypeAlias = Callable[[ServerSession], Awaitable[ServerSession | None]]
"""Waits for the session that comes after this one, which was lost; None if none will."""


@dataclass(frozen=True, slots=True)
class Following:
    """How tasks are followed, by one client."""

    pause: Pause = pause
    clock: Callable[[], float] | None = None
    """Seconds; None is the loop's."""
    resume: Resume | None = None
    """None: what goes with its connection is lost."""


FOLLOWING: Final = Following()


class TaskCall:
    """One call that was taken as a task."""

    def __init__(
        self,
        session: ServerSession,
        occasion: Occasion,
        following: Following,
        *,
        timeout: float | None = None,
        at_most: float | None = None,
        progress: ProgressListener | None = None,
        bound: Bound | None = None,
    ) -> None:
        """`timeout` in seconds bounds each look, None is the server's request timeout; `at_most`
        all of it, None is `AT_MOST`. `progress` is told the seconds so far and the server's words
        at each look. Waiting for a person is not counted, and `bound` stands still meanwhile."""
        self._session = session
        self._occasion = occasion
        self._following = following
        self._clock = following.clock or asyncio.get_running_loop().time
        self._timeout = timeout
        self._progress = progress
        self._bound = bound
        self._limit = AT_MOST if at_most is None else at_most
        self._last_look = min(LAST_LOOK, self._limit / 4)
        self._begun = self._clock()
        self._due = self._begun + self._limit
        self._usual = USUAL
        self._id = ""
        self._news = asyncio.Event()
        """Set when the server says that something has changed."""
        self._never = asyncio.Event()
        self._ear: Ear | None = None
        self._given: dict[str, Any] = {}
        """What was answered, by the key of the question: each is asked once."""
        self._unsent: set[str] = set()
        """The keys of which it is not known that the server has the answer."""
        self._rounds = 0

    async def result(self, created: Raw) -> Raw:
        """The JSON text of the call's result; `created` is the answer it got.

        Raises `PeerError`: what the server says of a task that failed or that it cancelled itself
        (fate ANSWERED), else with fate UNKNOWN. The server is told to cancel a task that is given
        up, and is not waited for.
        """
        if EXTENSION not in self._session.services.extensions:
            raise self._failed(Fault.UNSUPPORTED, "took the call as a task, unasked")
        try:
            task = read_task(created)
        except Unreadable as problem:
            what = f"took the call as a task that can not be asked about: it is {problem.reason}"
            raise self._failed(Fault.MALFORMED, what) from None
        self._id = task.id
        try:
            if task.status.over and task.result is None and task.error is None:
                task = await self._look()
            while not task.status.over:
                self._tell(task)
                if task.requests:
                    ended = await self._supply(task)
                    if ended is not None:
                        task = ended
                        break
                await self._wait(task)
                task = await self._look()
            return self._outcome(task)
        except asyncio.CancelledError:
            self._dismiss()
            raise
        finally:
            if self._ear is not None:
                await self._ear.close()

    # -------------------------------------------------------------- waiting and looking

    async def _wait(self, task: Task) -> None:
        """Until the next look. Raises `PeerError` when the time is up."""
        if task.poll_ms is None:
            wanted, self._usual = self._usual, min(self._usual * GROWS, USUAL_AT_MOST)
        else:
            wanted = min(max(task.poll_ms / 1000, SHORTEST), LONGEST)
        now = self._clock()
        if task.ttl_ms is not None and now >= self._begun + task.ttl_ms / 1000 + wanted:
            kept = f"is kept for {task.ttl_ms / 1000:g} s, which are over"
            raise self._given_up(f"took the call as a task that {kept}")
        if self._due - now <= self._last_look:
            what = f"did not finish the call, which it took as a task, within {self._limit:g} s"
            raise self._given_up(f"{what} (timeout)")
        if self._ear is None:
            self._ear = Ear.of(self._session, self._id, self._news, wanted)
        await self._following.pause(min(wanted, self._due - now - self._last_look / 2), self._news)
        self._news.clear()

    async def _look(self) -> Task:
        """How the task stands now. Raises `PeerError` (UNKNOWN) when that can not be learnt."""
        tried = 0
        while True:
            tried += 1
            fault, after = Fault.MALFORMED, SHORTEST * 2**tried
            try:
                task = read_task(await self._ask(GET))
            except Unreadable as problem:
                why = f"it is {problem.reason}"
            except PeerError as error:
                fault, why = error.fault, str(error)
                after = max(after, min(error.retry_after or 0.0, LONGEST))
                if error.code in _NO_MORE or fault is Fault.UNAUTHORIZED:
                    raise self._lost(fault, why, error) from error
                if not self._session.connection.usable and tried < TRIES:
                    await self._resume(error)
                    continue
            else:
                if task.id == self._id:
                    return task
                why = "it is another task"
            if tried >= TRIES or self._clock() + after >= self._due:
                self._dismiss()
                raise self._lost(fault, why)
            await self._following.pause(after, self._never)

    async def _ask(self, method: str, params: Mapping[str, Any] | None = None) -> Raw:
        """One request about the task. Raises `PeerError` with whatever fate, and `Unwritable`."""
        connection = self._session.connection
        limit = connection.request_timeout if self._timeout is None else self._timeout
        left = max(self._due - self._clock(), self._last_look / 2)
        return await connection.ask(self._maker(method, params), timeout=min(limit, left))

    def _maker(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> Callable[[int], Outgoing]:
        dialect, held = self._session.connection.dialect, {"taskId": self._id, **(params or {})}
        return lambda id: dialect.request(id, method, held, name=self._id)

    async def _resume(self, error: PeerError) -> None:
        """Go on in the session that comes after the one that was lost. Raises `PeerError`."""
        resume, after = self._following.resume, None
        patience = min(RESUMING, self._due - self._clock())
        if resume is not None and patience > 0:
            try:
                async with asyncio.timeout(patience):
                    after = await resume(self._session)
            except TimeoutError:
                pass
        if after is None or EXTENSION not in after.services.extensions or not after.revision.modern:
            raise self._lost(error.fault, str(error), error) from error
        if self._ear is not None:
            await self._ear.close()
            self._ear = None
        self._session = after

    def _tell(self, task: Task) -> None:
        if self._progress is None:
            return
        try:
            self._progress(round(self._clock() - self._begun, 1), None, task.words)
        except Exception as error:  # noqa: BLE001 - foreign code, its failure is its own
            logger.error("%s: a listener failed on progress: %s", self._session.name, trace(error))

    # -------------------------------------------------------------- what it asks

    async def _supply(self, task: Task) -> Task | None:
        """Answer what it asks and was not answered yet; the task, if that had to end it."""
        new = tuple(request for request in task.requests if request.key not in self._given)
        try:
            if new:
                self._rounds += 1
                if self._rounds > ROUNDS:
                    what = f"asked for input {ROUNDS} times in one task and does not stop"
                    raise self._failed(Fault.UNSUPPORTED, what)
                self._given.update(await self._gathered(new))
                self._unsent.update(request.key for request in new)
            wanted = [one.key for one in task.requests if one.key in self._unsent]
            if wanted:
                given = {key: self._given[key] for key in wanted}
                await self._ask(UPDATE, {"inputResponses": given})
                self._unsent.difference_update(wanted)
        except Unwritable:
            what = "asks for input, and what it was to get has no JSON form"
            return await self._abandoned(self._failed(Fault.UNSUPPORTED, what))
        except PeerError as error:
            sent = self._unsent and error.fault is not Fault.REFUSED
            if sent:
                return None  # it is sent once more if the server still asks
            return await self._abandoned(error)
        return None

    async def _gathered(self, requests: tuple[Any, ...]) -> Mapping[str, Any]:
        begun = self._clock()
        try:
            with standing(self._bound):
                return await gathered(requests, self._session.services, self._occasion)
        finally:
            self._due += self._clock() - begun

    async def _abandoned(self, error: PeerError) -> Task:
        """Cancel a task that does not get what it asks for; returns it if it is over all the same.

        Raises the error, with fate ANSWERED if the server says that it was cancelled.
        """
        task: Task | None = None
        try:
            async with asyncio.timeout(GRACE):
                await self._ask(CANCEL)
                while task is None or not task.status.over:
                    if task is not None:
                        await self._following.pause(SHORTEST, self._news)
                    task = read_task(await self._ask(GET))
        except (TimeoutError, PeerError, Unreadable):
            task = None
        if task is not None and task.status is not Status.CANCELLED:
            return task
        fate = Fate.UNKNOWN if task is None else Fate.ANSWERED
        cancelled = "it was told to cancel the task" if task is None else "the task was cancelled"
        raise self._failed(error.fault, f"{_bare(error, self._session)}; {cancelled}", fate=fate)

    # -------------------------------------------------------------- the end

    def _outcome(self, task: Task) -> Raw:
        if task.error is not None:
            return self._session.connection.result_of(task.error)
        if task.status is Status.COMPLETED and task.result is not None:
            return task.result
        if task.status is Status.CANCELLED:
            hidden, words = self._session.connection.hidden, task.words or ""
            words = hidden.hide(words[:1000], cut_after=len(words) > 1000)
            words = f": {words}" if words else ""
            what = f"took the call as a task, and cancelled it{words}"
            raise self._failed(Fault.REFUSED, what, fate=Fate.ANSWERED)
        what = f"says that the call, which it took as a task, has {task.status.value}, and not how"
        raise self._failed(Fault.MALFORMED, what, fate=Fate.ANSWERED)

    def _given_up(self, what: str) -> PeerError:
        self._dismiss()
        return self._failed(Fault.TIMEOUT, f"{what}; it was told to cancel it")

    def _dismiss(self) -> None:
        """Tell the server that nobody wants the task any more. Waits for nothing."""
        connection = self._session.connection
        connection.tasks.dismiss(self._maker(CANCEL), connection.request_timeout)

    def _lost(self, fault: Fault, why: str, error: PeerError | None = None) -> PeerError:
        what = f"took the call as a task, and what became of it can not be learnt: {why}"
        return self._failed(fault, what, error=error)

    def _failed(
        self,
        fault: Fault,
        what: str,
        *,
        fate: Fate = Fate.UNKNOWN,
        error: PeerError | None = None,
    ) -> PeerError:
        """Never NOT_SENT, whatever became of a later request, and final: the call itself was made,
        and a second one would be a second task beside a first that may be at work yet."""
        name = self._session.name
        return PeerError(
            self._session.connection.hidden.hide(f"{name} {what}"),
            peer=name,
            phase=Phase.REQUEST,
            fault=fault,
            fate=fate,
            code=None if error is None else error.code,
            data=None if error is None else error.data,
            final=True,
        )


def _bare(error: PeerError, session: ServerSession) -> str:
    """What an error says, without the name of the server at its beginning."""
    return str(error).removeprefix(f"{session.name} ")
