"""The road of a call, performed: decided, asked about, recorded, run, recorded again.

The only module that makes a `Permit` and the only one that calls `Tool.execute`; whoever wants a
tool run comes through `Invoker` (S0-17).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec.structs import replace

from lockgate.calls import refusals
from lockgate.calls.arguments import Taken, copied_again, keyed, take
from lockgate.calls.asking import MAX_ROUNDS, NOT_APPROVERS, Asking, Deferred, Settled, given_up
from lockgate.calls.attempts import Attempts
from lockgate.calls.bookkeeping import Bookkeeping
from lockgate.calls.briefing import Briefing
from lockgate.calls.call import Call, Suspended
from lockgate.calls.consulting import Consulting, Ended, shown_after
from lockgate.calls.decide import Ask, Run, Verdict
from lockgate.calls.explain import Explanation, explain
from lockgate.calls.heard import with_context, without_marks
from lockgate.calls.keeping import Keeping, Redemption
from lockgate.calls.lanes import Lanes
from lockgate.calls.leash import Leash, Pulled, cancelled_from_outside
from lockgate.calls.limit import Limit
from lockgate.calls.outputs import checked
from lockgate.calls.recording import Recorder
from lockgate.calls.records import Ledger
from lockgate.calls.refusals import Refuse
from lockgate.calls.suspension import Settlement, TicketStore
from lockgate.calls.unknowns import UnknownBook
from lockgate.decision import Reason
from lockgate.errors import Fate, LocalError
from lockgate.hooks.registry import Hooks
from lockgate.policy.approval import LASTING, Answer, AnswerBook, Approver
from lockgate.policy.grants import GrantBook
from lockgate.rules.rule import RuleSet
from lockgate.tools.context import Bounds, Environment, ToolContext
from lockgate.tools.deadline import deadline_in
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

GRACE: Final = 0.25
"""Seconds that a tool has after its deadline to say itself what became of the call; it knows the
fate better than a cancellation tells."""

_DAY: Final = 86_400.0
_UNKNOWN: Final = Fate.UNKNOWN
_log: Final = logging.getLogger("lockgate.calls")


class Invoker:
    """Takes calls down the road. One for each runtime, used on its loop; it keeps nothing open.

    `current` gives the registry's snapshot of this moment: after an answer, which takes time, the
    call is decided again on it, so that what the person saw is what runs (B-01).
    """

    def __init__(
        self,
        *,
        rules: RuleSet,
        exempt: SideEffectLevel | None,
        attended: Sequence[Approver],
        unattended: Sequence[Approver],
        ledger: Ledger,
        grants: GrantBook,
        unknowns: UnknownBook,
        tickets: TicketStore,
        lanes: Lanes,
        current: Callable[[], Snapshot],
        failed: Callable[[], Collection[str]] = tuple,
        time: Callable[[], float],
        monotonic: Callable[[], float],
        new_id: Callable[[], str],
        digest_key: bytes,
        answer_within: float | None = 600.0,
        ticket_lifetime: float = 7 * _DAY,
        default_timeout: float | None = None,
        record_content: bool = False,
        answers: AnswerBook | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        """`failed` gives the servers that are not there; `time` is Unix time; `new_id` makes ticket
        names that can not be guessed; `digest_key` (16 to 64 bytes) keys the digests in records. In
        seconds: `answer_within` is each approver's limit, `ticket_lifetime` a suspended call's,
        `default_timeout` bounds the execution of a call that sets none (None: the tool's own).
        `record_content`: records hold the arguments, secrets masked. `answers` keeps what is
        answered for good; without it nothing is. `hooks` are told of calls."""
        self._digests = keyed(digest_key)
        self._hooks = hooks or Hooks()
        self._consulting = Consulting(self._hooks, self._digests)
        on_question = self._consulting.on_question
        self._asking = Asking(attended, unattended, answer_within, on_question)
        keeps = answers is not None
        self._briefing = Briefing(
            rules, exempt, self._asking, grants, unknowns, failed, time, keeps=keeps
        )
        self._recorder = Recorder(ledger, time, content=record_content)
        self._keeping = Keeping(grants, unknowns, tickets, time, new_id, ticket_lifetime, answers)
        self._books = Bookkeeping(self._recorder, self._keeping)
        self._tickets = tickets
        self._lanes = lanes
        self._current = current
        self._time = time
        self._monotonic = monotonic
        self._default_timeout = default_timeout

    async def invoke(self, call: Call, snapshot: Snapshot) -> ToolResult | Suspended:
        """Make `call`, with the names of `snapshot`. Never raises an `Exception`.

        Cancellation passes, and so does what ends a program (KeyboardInterrupt, SystemExit) if a
        tool or an approver raises it; the record is written all the same.

        The arguments are copied first: what is decided, asked about, recorded and run is that
        copy, whatever the caller does with its own.
        """
        taken = take(call.arguments, self._digests, call.fault)
        call = replace(call, arguments=taken.value)
        if call.interrupt is not None and call.interrupt.interrupted:
            return self._books.refused(
                call, taken, refusals.skipped(snapshot.get(call.name), call.name)
            )
        if self._hooks.any and self._consulting.is_asked(call):
            told = await self._consulted(call, taken, snapshot)
            if isinstance(told, Refuse):
                return await self._refused(call, taken, told)
            call, taken = told
        verdict = self._briefing.decide(call, snapshot, taken)
        return await self._follow(call, taken, snapshot, verdict)

    def explain(
        self, call: Call, snapshot: Snapshot, *, any_arguments: bool = False
    ) -> Explanation:
        """What `invoke` would do with `call`, and why. Runs nothing, asks nobody.

        With `any_arguments` it is about the tool, and the arguments are left aside. Raises
        `LockgateError` if what the session remembers can not be read.
        """
        taken = take(call.arguments, self._digests)
        call = self._briefing.limited(_with_arguments(call, taken), snapshot)
        facts = self._briefing.facts(call, snapshot, taken)
        if self._hooks.any:
            registered = self._briefing.admitted(call, snapshot, taken)
            if registered is not None:
                hooks = self._consulting.listed(call, registered, any_arguments=any_arguments)
                facts = replace(facts, would_hear=hooks)
        return explain(call, snapshot, facts, any_arguments=any_arguments)

    def tighten(self, rules: RuleSet, exempt: SideEffectLevel | None, limit: Limit) -> None:
        """Decide by these from the next decision on, those after an answer included.

        For a reload alone, which sees that they are no looser (`app.reload`). What was decided is
        decided."""
        self._briefing.tighten(rules, exempt, limit)

    def within(self, bounds: Bounds, snapshot: Snapshot, *, entry: str) -> Bounds:
        """What a reload has left of `bounds`: what is shown is what is executed (S0-06)."""
        return self._briefing.within(bounds, snapshot, entry=entry)

    async def resume(
        self,
        ticket: str,
        answer: Answer,
        snapshot: Snapshot,
        *,
        within: Bounds | None = None,
        environment: Environment | None = None,
        entry: str | None = None,
    ) -> ToolResult | Suspended:
        """Give `answer` to a suspended call and see it through, here and today (B-14).

        The call is decided anew on `snapshot` and today's rules, within its own bounds and
        `within`; the answer counts only for the definition and the arguments that were asked
        about. It runs in its own directories, and with `environment` for the rest (the pool of
        threads); `entry` is the road it comes back by. The ticket is used up, whatever comes of
        it, unless the record fails or a yes finds that the tool is not there. Raises `TicketGone`
        (a `LocalError`) for one that was never issued or is used up already, and other
        `LockgateError`s if the tickets can not be used.
        """
        if answer.approver in NOT_APPROVERS or type(answer.approved) is not bool:
            raise LocalError("a ticket is answered by an approver, with True or False")
        stored = self._tickets.get(ticket)
        call = stored.call(within, environment, entry)
        taken = take(call.arguments, self._digests)
        call = _with_arguments(call, taken)
        if (heard := stored.heard) is not None:
            taken = replace(taken, heard=heard)
        now = self._time()
        late = not now < stored.expires
        if late:
            answer = Answer(False, answer.approver)
        answer = stored.counted(answer)
        verdict = self._briefing.decide(call, snapshot, taken, stored.given(answer))
        # What is answered for good is kept, and granted, only once the ticket is used up.
        grant = None if answer.scope in LASTING else stored.grant(answer, now)
        redemption = Redemption(ticket, stored.question, Settlement(answer, now, grant))
        if isinstance(verdict, Refuse):
            verdict = stored.ended(verdict, answer, late=late)
        return await self._follow(call, taken, snapshot, verdict, redemption)

    async def _follow(
        self,
        call: Call,
        taken: Taken,
        snapshot: Snapshot,
        verdict: Verdict,
        ticket: Redemption | None = None,
    ) -> ToolResult | Suspended:
        """Do what the verdict says: ask if it says so, wait for the lane, run.

        `ticket` is the one whose answer is behind the verdict, and is still to be used up.
        """
        settled: Settled | Ask = verdict
        for _ in range(MAX_ROUNDS):
            if not isinstance(settled, Run):
                if ticket is not None:
                    self._keeping.use_up(ticket, settled)
                    ticket = None
                if isinstance(settled, Ask):
                    settled = await self._ask(call, taken, snapshot, settled)
                if isinstance(settled, Refuse):
                    return await self._refused(call, taken, settled)
                if isinstance(settled, Deferred):
                    return self._books.suspended(call, taken, settled)
            lane = settled.registered.lane
            if lane is not None and not self._lanes.take(lane):
                settled = await self._in_turn(lane, call, taken, snapshot, settled)
                if not isinstance(settled, Run):
                    continue
            try:
                unmade = self._books.unmade(call, taken, settled, ticket)
                if unmade is not None:
                    return unmade
                ended = await self._executed(call, taken, settled, resumed=ticket is not None)
            finally:
                if lane is not None:
                    self._lanes.release(lane)
            if not ended.hooks and taken.heard is None:
                return ended.result
            return await self._shown(call, taken, settled.registered, ended)
        return await self._refused(call, taken, given_up(settled))

    async def _consulted(
        self, call: Call, taken: Taken, snapshot: Snapshot
    ) -> Refuse | tuple[Call, Taken]:
        """Ask the hooks before a call, once: the call as they leave it, or their refusal."""
        registered = self._briefing.admitted(call, snapshot, taken)
        if registered is None:
            return call, taken  # it is refused anyway, and no hook hears of it
        try:
            told = await self._consulting.before(call, taken, registered)
        except BaseException:  # also a hook that ends the program: nothing was run
            self._books.cancelled(call, taken, registered)
            raise
        return told if isinstance(told, Refuse) else (_with_arguments(call, told), told)

    async def _refused(self, call: Call, taken: Taken, refuse: Refuse) -> ToolResult:
        """Write the refusal down, then tell hooks of it."""
        result = self._books.refused(call, taken, refuse)
        if self._hooks.any:
            await self._consulting.on_refusal(call, refuse)
        return result

    async def _shown(
        self, call: Call, taken: Taken, registered: Registered, ended: Ended
    ) -> ToolResult:
        """What the model is shown of a result, once hooks were told of it; outside of the lane,
        which a hook's own call may need."""
        result = with_context(ended.result, taken.context)
        if not ended.hooks:
            return result
        told: tuple[Reason, ...] = ()
        try:
            merged = await self._consulting.after(call, ended.hooks, ended.result)
            told = merged.reasons + merged.notes
            result = shown_after(result, merged, registered)
        finally:
            self._recorder.finished(call, result, ended.fate, ended.duration, ended.attempts, told)
        return result

    async def _ask(self, call: Call, taken: Taken, offered: Snapshot, ask: Ask) -> Settled:
        try:
            return await self._asking.settle(
                ask,
                call,
                lambda given: self._briefing.again(call, offered, self._current(), taken, given),
                lambda asked, answer: self._keeping.remember(call, asked.question, answer),
            )
        except BaseException:  # also an approver that ends the program: nothing was run
            self._books.cancelled(call, taken, ask.registered)
            raise

    async def _in_turn(
        self, lane: str, call: Call, taken: Taken, snapshot: Snapshot, run: Run
    ) -> Verdict:
        """Wait for the lane and decide again: the one before may have ended unknown (B-03).

        The lane is held exactly if the verdict is still to run. Nothing is recorded before it is:
        a call that never had its turn is not one whose outcome nobody knows.
        """
        held = False
        try:
            with Leash(interrupt=call.interrupt):
                await self._lanes.acquire(lane)
                held = True
        except asyncio.CancelledError:
            self._books.cancelled(call, taken, run.registered)
            raise
        if not held:
            return refusals.skipped(run.registered, call.name)
        today = snapshot if run.given is None else self._current()
        verdict = self._briefing.again(call, snapshot, today, taken, run.given)
        if isinstance(verdict, Run) and verdict.registered.lane != lane:
            verdict = refusals.tool_changed(verdict.registered, "the lane")
        if not isinstance(verdict, Run):
            self._lanes.release(lane)
        return verdict

    # ------------------------------------------------------------------ running

    async def _executed(self, call: Call, taken: Taken, run: Run, *, resumed: bool) -> Ended:
        """Run the tool and write down what came of it, also when cancelled; what hooks are to be
        told of first is written down after that."""
        registered = run.registered
        hooks = self._consulting.following(call, registered) if self._hooks.any else ()
        if run.settles:
            self._keeping.began(call, run)
        started = self._monotonic()
        attempts = Attempts(registered)
        result: ToolResult | None = None
        try:
            result = done = without_marks(await self._attempt(call, taken, run, attempts))
        finally:
            fate = attempts.fate
            if resumed or fate is _UNKNOWN:
                self._keeping.ended(call, registered, fate, resumed=resumed)
            duration = self._monotonic() - started
            if result is None or not hooks:
                self._recorder.finished(call, result, fate, duration, attempts.count)
        return Ended(done, fate, duration, attempts.count, hooks)

    async def _attempt(self, call: Call, taken: Taken, run: Run, attempts: Attempts) -> ToolResult:
        """Execute the tool, once more if that is known to do no harm."""
        registered, tool, interrupt = run.registered, run.registered.tool, call.interrupt
        timeout = self._default_timeout if call.timeout is None else call.timeout
        limit = None if timeout is None else deadline_in(timeout)
        token = interrupt if registered.interruptible else None
        # By position: names cost as much again for that many, and every call pays it.
        context = ToolContext(
            call.execution,
            call.id,
            interrupt,
            None if limit is None else limit.at,
            run.subjects,
            call.parent_call,
            call.progress,
            limit,
        )
        permit, begun = Permit(context), asyncio.get_running_loop().time()
        while True:
            outcome: Outcome | None = None
            pulled: Pulled | None = None
            attempts.begin()
            # A copy for each attempt: a tool may do with it what it likes.
            arguments = copied_again(taken.value)
            try:
                if limit is None and token is None:
                    outcome = await tool.execute(arguments, permit)
                else:
                    with Leash(limit=limit, grace=GRACE, interrupt=token) as leash:
                        outcome = await tool.execute(arguments, permit)
                    pulled = leash.pulled
            except asyncio.CancelledError:
                if cancelled_from_outside():
                    raise
            if pulled is None and (plain := attempts.answered(outcome)) is not None:
                return plain if registered.output_schema is None else checked(plain, registered)
            attempts.end(outcome, pulled)
            interrupted = interrupt is not None and interrupt.interrupted
            late = limit is not None and limit.over
            if interrupted or late or not attempts.again():
                unknown, today = attempts.fate is Fate.UNKNOWN, self._current
                look = self._briefing.near_readers(call, today(), registered) if unknown else ()
                return checked(attempts.result(look), registered)
            permit = Permit(replace(context, begun=begun))


def _with_arguments(call: Call, taken: Taken) -> Call:
    return replace(call, arguments=taken.value)
