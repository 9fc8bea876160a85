"""The facts that a decision needs, gathered from where they are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Final

from msgspec.structs import replace

from lockgate.calls import refusals
from lockgate.calls.arguments import Taken
from lockgate.calls.asking import Asking
from lockgate.calls.attempts import near_readers
from lockgate.calls.call import Call
from lockgate.calls.decide import Facts, Given, Run, Verdict, admitted, decide
from lockgate.calls.declared import HOOK
from lockgate.calls.limit import Limit
from lockgate.calls.refusals import Refuse
from lockgate.calls.replay import replayable
from lockgate.calls.resolving import resolve
from lockgate.calls.unknowns import OpenUnknown, UnknownBook, scope_of
from lockgate.policy.grants import Grant, GrantBook, session_of
from lockgate.rules.bind import BoundRules, bind
from lockgate.rules.rule import RuleSet
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.result import ErrorKind
from lockgate.tools.subject import NO_SUBJECTS
from lockgate.traits import SideEffectLevel

_log: Final = logging.getLogger("lockgate.calls")


class Briefing:
    """Looks up what `decide` is to know, and decides."""

    def __init__(
        self,
        rules: RuleSet,
        exempt: SideEffectLevel | None,
        asking: Asking,
        grants: GrantBook,
        unknowns: UnknownBook,
        failed: Callable[[], Collection[str]],
        time: Callable[[], float],
        *,
        keeps: bool = False,
    ) -> None:
        """`keeps`: there is a book in which answers are kept for good."""
        self._rules = rules
        self._exempt = exempt
        self._asking = asking
        self._grants = grants
        self._unknowns = unknowns
        self._failed = failed
        self._time = time
        self._keeps = keeps
        self._limit: Limit | None = None
        self._bound: tuple[Snapshot, BoundRules] | None = None
        """The rules bound to the snapshot of the last call: nearly always that of the next."""

    def tighten(self, rules: RuleSet, exempt: SideEffectLevel | None, limit: Limit) -> None:
        """Decide by these from now on: for a reload alone, which sees that they are no looser."""
        self._rules, self._exempt, self._limit = rules, exempt, limit
        self._bound = None

    def limited(self, call: Call, snapshot: Snapshot) -> Call:
        """`call` within what a reload has left of its execution's bounds."""
        if self._limit is None:
            return call
        return replace(call, execution=self._limit.over(call.execution, snapshot))

    def within(self, bounds: Bounds, snapshot: Snapshot, *, entry: str) -> Bounds:
        """What a reload has left of `bounds`."""
        if self._limit is None:
            return bounds
        return self._limit.within(bounds, snapshot, entry=entry)

    def near_readers(
        self, call: Call, snapshot: Snapshot, registered: Registered
    ) -> tuple[str, ...]:
        """Names of shown tools of the same place that read, for looking what a call has done."""
        return near_readers(snapshot, self.limited(call, snapshot).execution.bounds, registered)

    def decide(
        self, call: Call, snapshot: Snapshot, taken: Taken, given: Given | None = None
    ) -> Verdict:
        """`calls.decide.decide` on today's facts. What can not be decided is refused."""
        try:
            if self._limit is not None:
                call = self.limited(call, snapshot)
            facts = self._facts(call, snapshot, taken, given)
            verdict = decide(call, snapshot, facts)
            if _asked_nobody(verdict):
                return verdict
            remembered = self._grants_for(call)
            return (
                decide(call, snapshot, replace(facts, grants=remembered)) if remembered else verdict
            )
        except Exception as error:  # noqa: BLE001 - what can not be decided is not run
            _log.error("deciding about call %s failed: %s", call.id, type(error).__name__)
            return refusals.undecided(snapshot.get(call.name), call.name, error)

    def again(
        self, call: Call, offered: Snapshot, today: Snapshot, taken: Taken, given: Given | None
    ) -> Verdict:
        """`decide` on the tools of `today` about a call that was made for those `offered` to it.

        A tool that means something else by now is not the one that was meant (S3-18), and what was
        answered about it does not count (B-06).
        """
        was, now = offered.get(call.name), today.get(call.name)
        if given is None and was is not None and was is not now:
            if now is None:
                return refusals.withdrawn(was)
            if now.definition.origin.fingerprint != was.definition.origin.fingerprint:
                return refusals.redefined(now)
        return self.decide(call, today, taken, given)

    def admitted(self, call: Call, snapshot: Snapshot, taken: Taken) -> Registered | None:
        """The tool of a call that hooks are told of; None for one that is refused before."""
        if taken.fault is not None:
            return None
        try:
            call = self.limited(call, snapshot)
            return admitted(call, snapshot, self._facts(call, snapshot, taken, None))
        except Exception:  # noqa: BLE001 - `decide` meets the same, and refuses
            return None

    def facts(self, call: Call, snapshot: Snapshot, taken: Taken) -> Facts:
        """All facts about `call`. Raises `LockgateError` if they can not be read."""
        facts = self._facts(call, snapshot, taken, None)
        return replace(facts, grants=self._grants_for(call))

    def _facts(self, call: Call, snapshot: Snapshot, taken: Taken, given: Given | None) -> Facts:
        """The facts but for the grants, which only a question needs."""
        if self._bound is None or self._bound[0] is not snapshot:
            self._bound = (snapshot, bind(self._rules, snapshot))
        registered = snapshot.get(call.name)
        unknowns: tuple[OpenUnknown, ...] = ()
        bound, execution = self._bound[1], call.execution
        subjects, attended = NO_SUBJECTS, execution.attended
        failed: Collection[str] = ()
        about = None
        if registered is None:
            failed = self._failed()
        else:
            if not replayable(registered):
                unknowns = self._unknowns.find(scope_of(execution), call.name)
            about = bound.about(registered.name)
            subjects = resolve(registered, about, call.arguments, execution.environment)
        # By position: names cost as much again for that many, and every call pays it.
        return Facts(
            bound,
            self._exempt,
            () if execution.entry == HOOK else self._asking.answerers(attended),
            (),
            unknowns,
            given,
            taken.fault,
            failed,
            subjects,
            self._time(),
            self._keeps and attended and execution.entry != HOOK,
            () if taken.heard is None else taken.heard.asks,
            (),
            about,
        )

    def _grants_for(self, call: Call) -> tuple[Grant, ...]:
        session = None if call.execution.entry == HOOK else session_of(call.execution)
        return () if session is None else self._grants.find(session, call.name)


def _asked_nobody(verdict: Verdict) -> bool:
    """Whether the decision fell without the question that a grant could answer."""
    if isinstance(verdict, Run):
        return verdict.answer is None
    return isinstance(verdict, Refuse) and verdict.kind is not ErrorKind.NOT_APPROVED
