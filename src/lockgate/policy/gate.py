"""The gate: when is a call asked about. Pure, and the only place that knows (S0-07, S0-08).

    asks(call) = (MUTATING and DESTRUCTIVE), or not exempt_at_or_below.permits(level),
                 or an ask rule says so

No setting silences DESTRUCTIVE; a question about it can only be answered.
"""

from __future__ import annotations

from typing import Final

from lockgate.decision import Decision, Reason
from lockgate.rules.opinion import RuleOpinion
from lockgate.tools.tool import Declared
from lockgate.traits import SideEffectLevel

# Before Python 3.12 looking up a member costs eight times as much as a name; every call compares.
_ASK: Final = Decision.ASK
_ALLOW: Final = Decision.ALLOW


def asks(
    tool: Declared, exempt: SideEffectLevel | None, opinion: RuleOpinion | None = None
) -> tuple[Reason, ...]:
    """Why a call of `tool` is asked about; empty if it is exempt.

    `exempt` is the setting `exemptAtOrBelow`: a level and everything it permits needs no question,
    unless the tool is destructive; None exempts nothing. `opinion` is what the rules say: an ask
    rule adds its question, an allow rule removes none (it can answer, see `answer_by_rule`).
    """
    asked = opinion is not None and opinion.decision is _ASK
    exempted = exempt is not None and exempt.permits(tool.side_effect_level)
    if exempted and not asked and not tool.is_destructive:
        return ()  # as nearly always
    reasons: list[Reason] = []
    if tool.is_destructive:
        why = tool.definition.origin.reasons.get("destructive")
        reasons.append(
            Reason("destructive", f"{tool.name} can overwrite, remove or invalidate things", why)
        )
    level = tool.side_effect_level
    if not exempted:
        line = "none" if exempt is None else exempt.value
        reasons.append(
            Reason(
                "not_exempt",
                f"{tool.name} is {level.value}, and calls are exempt at or below: {line}",
                "approvals.exemptAtOrBelow",
            )
        )
    if opinion is not None and asked:
        reasons.extend(opinion.reasons)
    return tuple(reasons)


def exemption(tool: Declared, exempt: SideEffectLevel) -> Reason:
    """The reason that goes with a call for which `asks` found none."""
    kind = "read-only" if tool.is_read_only else "mutating but not destructive"
    return Reason(
        "exempt",
        f"{tool.name} is {kind}, and calls are exempt at or below: {exempt._value_}",
        "approvals.exemptAtOrBelow",
    )


def answer_by_rule(opinion: RuleOpinion) -> Reason | None:
    """The allow rule that answers a question in a person's place, or None.

    Whether one may answer for a destructive tool is looked at where rules are judged (S0-08): the
    opinion is ALLOW only if it may.
    """
    return opinion.reasons[0] if opinion.decision is _ALLOW else None
