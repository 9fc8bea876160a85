"""What of a configuration that was read again may be in force at once: what tightens, alone.

Pure. What loosens is told, item by item, and waits for a restart; so does everything that is made
when a gate is opened: servers, approvers, the model. A call that was refused or asked about before
is never allowed by a reload (a property test over `calls.decide` says so).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from lockgate.decision import Decision
from lockgate.hooks.declared.plan import DeclaredHook, ToolHandler
from lockgate.mcp.host.settings import ServerSettings
from lockgate.rules.pattern import ToolPattern, parse_pattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.settings.config import AgentSettings, ApprovalSettings, Config
from lockgate.traits import SideEffectLevel

_EXEMPT: Final = (None, SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING)
"""From asking about everything to asking about least."""
_COMPARED: Final = frozenset({"rules", "hooks", "hook_variables", "servers", "agent", "approvals"})
_MADE_OF: Final = frozenset({"sources", "state_dir", "answers", "project_dir"})
"""Fields that say where it was read from."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What came of reading a configuration again."""

    config: Config = field(repr=False)
    """What is in force now."""
    taken: tuple[str, ...] = ()
    """What is tighter, from the next call on; one sentence each, without a value."""
    loosens: tuple[str, ...] = ()
    """What would loosen: not taken, it waits for a restart."""
    waits: tuple[str, ...] = ()
    """What else has changed, and waits for a restart as well."""
    refused: str | None = None
    """Why hooks did not let it be taken; then nothing was."""

    @property
    def lines(self) -> tuple[str, ...]:
        """For people."""
        if self.refused is not None:
            return (f"nothing was taken: {self.refused}",)
        told = [f"in force: {one}" for one in self.taken]
        told += [f"NOT in force, waits for a restart: {one}" for one in self.loosens]
        told += [f"waits for a restart: {one}" for one in self.waits]
        return tuple(told) or ("nothing has changed",)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def compared(before: Config, now: Config) -> Reloaded:
    """What of `now` may be taken where `before` is in force."""
    taken: list[str] = []
    loosens: list[str] = []
    config = replace(
        before,
        rules=RuleSet(tuple(_rules(before.rules.rules, now.rules.rules, taken, loosens))),
        hooks=tuple(_hooks(before.hooks, now.hooks, taken, loosens)),
        hook_variables=tuple(dict.fromkeys((*before.hook_variables, *now.hook_variables))),
        agent=_agent(before.agent, now.agent, taken, loosens),
        approvals=_approvals(before.approvals, now.approvals, taken, loosens),
    )
    return Reloaded(config, tuple(taken), tuple(loosens), tuple(_others(before, now)))


# ------------------------------------------------------------------ rules


def _rules(
    before: Iterable[Rule], now: Iterable[Rule], taken: list[str], loosens: list[str]
) -> Iterator[Rule]:
    """Of allow rules those in both, of all others those in either."""
    old, new = ({_meaning(rule): rule for rule in rules} for rules in (before, now))
    for meaning, rule in old.items():
        if rule.decision is Decision.ALLOW and meaning not in new:
            sooner = _sooner(rule, new.values())
            if sooner is not None:
                taken.append(f"{_named(rule)} ends sooner")
                yield sooner
            elif any(_sooner(other, [rule]) is not None for other in new.values()):
                loosens.append(f"{_named(rule)} would end later")
                yield rule
            else:
                taken.append(f"{_named(rule)} is gone")
            continue
        again = new.get(meaning)
        if again is None:
            loosens.append(f"{_named(rule)} was taken out")
            yield rule
        else:  # as it was read first, where a path may have meant something else
            yield replace(rule, source=again.source, reason=again.reason)
    for meaning, rule in new.items():
        if meaning in old:
            continue
        if rule.decision is not Decision.ALLOW:
            taken.append(f"{_named(rule)} is new")
            yield rule
        elif all(_sooner(other, [rule]) is None for other in old.values()):
            gone = (other for of, other in old.items() if of not in new)
            if _sooner(rule, gone) is None:  # else it is told that the other would end later
                loosens.append(f"{_named(rule)} is new")


def _meaning(rule: Rule) -> tuple[object, ...]:
    """All that decides what a rule means: equal wherever it stands and why."""
    terms = (rule.when, rule.until, rule.destructive, rule.pin, rule.exact)
    return (rule.decision, rule.text, *terms)


def _sooner(rule: Rule, among: Iterable[Rule]) -> Rule | None:
    """The same allow rule with an earlier end."""
    for other in among:
        same = _meaning(replace(other, until=rule.until)) == _meaning(rule)
        if same and other.until is not None and (rule.until is None or other.until < rule.until):
            return other
    return None


def _named(rule: Rule) -> str:
    return f'the {rule.decision.name.lower()} rule "{rule.label}"'


# ------------------------------------------------------------------ hooks


def _hooks(
    before: tuple[DeclaredHook, ...],
    now: tuple[DeclaredHook, ...],
    taken: list[str],
    loosens: list[str],
) -> Iterator[DeclaredHook]:
    """Those in either; where they differ in what their failure means, the stricter."""
    new, old = _by_key(now), _by_key(before)
    may_call = {_calls(hook) for hook in before}
    for key, hook in old.items():
        again = new.get(key)
        what = f"the hook {hook.name} ({hook.event.value})"
        if again is None:
            loosens.append(f"{what} was taken out")
        elif hook.denies_on_error and not again.denies_on_error:
            loosens.append(f"{what} no longer says onError: deny")
        elif again.denies_on_error and not hook.denies_on_error:
            taken.append(f"{what} says onError: deny")
            hook = replace(hook, denies_on_error=True)
        yield hook if again is None else replace(hook, source=again.source)
    for key, hook in new.items():
        if key in old:
            continue
        what = f"the hook {hook.name} ({hook.event.value})"
        if (tool := _calls(hook)) is not None and tool not in may_call:
            # Its declaration would be the answer to a call that is asked about now.
            loosens.append(f"{what} is new, and calls a tool that no hook called before")
        else:
            taken.append(f"{what} is new")
            yield hook


def _by_key(hooks: Iterable[DeclaredHook]) -> dict[tuple[object, ...], DeclaredHook]:
    """Each once. Several layers may declare the same one; its failure then denies if any says so,
    as it does where all of them run."""
    found: dict[tuple[object, ...], DeclaredHook] = {}
    for hook in hooks:
        first = found.setdefault(hook.key, hook)
        if hook.denies_on_error and not first.denies_on_error:
            found[hook.key] = hook
    return found


def _calls(hook: DeclaredHook) -> tuple[str, str] | None:
    handler = hook.handler
    return (handler.server, handler.tool) if isinstance(handler, ToolHandler) else None


# ------------------------------------------------------------------ agent, approvals


def _agent(
    before: AgentSettings, now: AgentSettings, taken: list[str], loosens: list[str]
) -> AgentSettings:
    ceiling = before.ceiling
    if now.ceiling is not ceiling:
        if ceiling.permits(now.ceiling):
            ceiling = now.ceiling
            taken.append(f"agent.ceiling is {ceiling.value}")
        else:
            loosens.append(f"agent.ceiling would be {now.ceiling.value}")
    offer = narrowed_offer(before.offer, now.offer)
    if not _same(offer, before.offer):
        taken.append("agent.offer is narrower")
    if not _same(offer, now.offer):
        loosens.append("agent.offer would be wider")
    return replace(
        before, ceiling=ceiling, offer=before.offer if _same(offer, before.offer) else offer
    )


def _same(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    return (one is None) is (other is None) and set(one or ()) == set(other or ())


def narrowed_offer(
    before: tuple[str, ...] | None, now: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """The patterns of what both offer. None is everything, an empty tuple nothing."""
    if before is None or now is None:
        return now if before is None else before
    old, new = ([(text, parse_pattern(text)) for text in texts] for texts in (before, now))
    kept = [text for text, one in old if any(_covers(other, one) for _, other in new)]
    kept += [text for text, one in new if any(_covers(other, one) for _, other in old)]
    return tuple(dict.fromkeys(kept))


def _covers(wide: ToolPattern, narrow: ToolPattern) -> bool:
    return wide.server == narrow.server and wide.tool in (None, narrow.tool)


def _approvals(
    before: ApprovalSettings, now: ApprovalSettings, taken: list[str], loosens: list[str]
) -> ApprovalSettings:
    old, new = before.exempt_at_or_below, now.exempt_at_or_below
    if _EXEMPT.index(new) < _EXEMPT.index(old):
        taken.append(f"approvals.exemptAtOrBelow is {_level(new)}")
        return replace(before, exempt_at_or_below=new)
    if new is not old:
        loosens.append(f"approvals.exemptAtOrBelow would be {_level(new)}")
    return before


def _level(level: SideEffectLevel | None) -> str:
    return "none" if level is None else level.value


# ------------------------------------------------------------------ the rest


def _others(before: Config, now: Config) -> Iterator[str]:
    yield from _servers(before.servers, now.servers)
    new = _by_key(now.hooks)
    for key, hook in _by_key(before.hooks).items():
        if key in new and new[key].timeout != hook.timeout:
            yield f"the timeout of the hook {hook.name} ({hook.event.value}) has changed"
    yield from _differing(before.agent, now.agent, {"ceiling", "offer"}, "agent.")
    yield from _differing(before.approvals, now.approvals, {"exempt_at_or_below"}, "approvals.")
    yield from _differing(before, now, _COMPARED | _MADE_OF, "")


def _servers(before: tuple[ServerSettings, ...], now: tuple[ServerSettings, ...]) -> Iterator[str]:
    old, new = ({server.name: server for server in servers} for servers in (before, now))
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield f"server {name} was taken out"
        elif name not in old:
            yield f"server {name} is new"
        elif old[name] != new[name]:
            yield f"server {name} has changed"


def _differing(before: Any, now: Any, without: Iterable[str], prefix: str) -> Iterator[str]:
    skipped = frozenset(without)
    for one in fields(before):
        if one.name not in skipped and getattr(before, one.name) != getattr(now, one.name):
            key = re.sub(r"_(.)", lambda match: match[1].upper(), one.name)
            yield f"{prefix}{key} has changed"
