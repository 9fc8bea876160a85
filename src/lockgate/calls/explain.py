"""What would happen to a call and exactly why: the road's own steps, printed, with no effect."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockgate.calls.call import Call
from lockgate.calls.consulting import CONDITIONS, HOOK_CODES
from lockgate.calls.decide import ROAD, Ask, Facts, Step, Verdict, walk
from lockgate.calls.refusals import Refuse
from lockgate.decision import Decision, Reason
from lockgate.tools.origin import Origin
from lockgate.tools.registry import Snapshot
from lockgate.tools.subject import NO_SUBJECTS, Subjects
from lockgate.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A call's way down the road, without anything having happened."""

    tool: str
    """The name as the caller wrote it."""
    verdict: Verdict
    """Exactly what `invoke` would act on."""
    steps: tuple[Step, ...]
    """The steps taken, in order; the last one decided."""
    not_reached: tuple[str, ...]
    """Names of the steps that the decision came before."""
    found: Tool | None
    """The tool of that name, with its declaration; None if there is none, or none is shown."""
    subjects: Subjects = field(default=NO_SUBJECTS, repr=False)
    """What the call is about, as it was judged: for whoever is told the arguments anyway."""

    @property
    def decision(self) -> Decision:
        """ALLOW: it would run. ASK: approvers would be asked. DENY: it would be refused."""
        if isinstance(self.verdict, Refuse):
            return Decision.DENY
        return Decision.ASK if isinstance(self.verdict, Ask) else Decision.ALLOW

    @property
    def hooks(self) -> tuple[Reason, ...]:
        """The hooks that would be told of the call: before it (`hook_before`), before anybody is
        asked (`hook_question`), and of its result (`hook_after`). None of them was run."""
        return tuple(
            reason
            for step in self.steps
            if step.name == "hooks"
            for reason in step.reasons
            if reason.code in HOOK_CODES
        )

    @property
    def conditional(self) -> bool:
        """Whether the verdict holds only if no hook objects, asks or rewrites the arguments."""
        return any(reason.code in CONDITIONS for reason in self.hooks)

    @property
    def origin(self) -> Origin | None:
        """Claim, ruling and its reasons, for a tool that was found."""
        return None if self.found is None else self.found.definition.origin

    def __str__(self) -> str:
        width = max(map(len, ROAD))
        lines = [
            f"{step.name:<{width}}  {step.decision.name:<5}  "
            + f"\n{'':<{width + 9}}".join(map(str, step.reasons))
            for step in self.steps
        ]
        lines += [f"{name:<{width}}  -      not reached" for name in self.not_reached]
        return "\n".join(lines)


def explain(
    call: Call, snapshot: Snapshot, facts: Facts, *, any_arguments: bool = False
) -> Explanation:
    """Take `call` down the road on paper: runs nothing, asks nobody, records nothing.

    With `any_arguments` it is about the tool: the arguments are left aside.
    """
    verdict, steps = walk(call, snapshot, facts, any_arguments=any_arguments)
    if isinstance(verdict, Ask):
        asked = Reason("approvers", f"asked in turn: {', '.join(facts.answerers)}")
        steps = (*steps, Step(ROAD[len(steps)], Decision.ASK, (asked,)))
    subjects = NO_SUBJECTS if any_arguments else facts.subjects
    found = None if verdict.registered is None else verdict.registered.tool
    return Explanation(call.name, verdict, steps, ROAD[len(steps) :], found, subjects)
