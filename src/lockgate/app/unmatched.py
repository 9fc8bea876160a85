"""Rules and offers that name a tool which is not there: a door that someone believes shut.

A name of a server's tool can only be looked up once the server has answered, so this is asked after
the start, or of what was last seen, and says nothing of servers that are not known (PB-177).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from lockgate.app.finding import Finding
from lockgate.decision import Decision
from lockgate.hooks.declared.plan import DeclaredHook
from lockgate.hooks.hook import Hook
from lockgate.mcp.host.status import ServerStatus
from lockgate.rules.bind import bind
from lockgate.rules.offers import unmatched as unmatched_offers
from lockgate.rules.pattern import ToolPattern, parse_pattern
from lockgate.rules.rule import Rule, RuleSet
from lockgate.schema.spelling import nearest
from lockgate.settings.config import Config
from lockgate.tools.naming import server_prefix
from lockgate.tools.registry import Snapshot
from lockgate.tools.tool import Tool


def unmatched(
    config: Config, snapshot: Snapshot, statuses: Sequence[ServerStatus]
) -> tuple[Finding, ...]:
    """Each rule, offer and hook's matcher of `config` that names a tool which nobody has, or what
    no tool has.

    Of servers, those in `statuses` whose tools are registered are looked at; of local tools, those
    that a program gave, if it gave any. A tool that was left out has been told about and is no
    slip.
    """
    return tuple(_found(config, snapshot, {s.name: s for s in statuses}))


def _found(
    config: Config, snapshot: Snapshot, statuses: dict[str, ServerStatus]
) -> Iterator[Finding]:
    for rule in bind(config.rules, snapshot).unbound:
        word = rule.decision.name.lower()
        what, where = f'the {word} rule "{rule.text}"', rule.source or f"permissions.{word}"
        yield from _unbound(rule, what, where, snapshot, statuses)
    yield from _of_hooks(config.hooks, snapshot, statuses)
    for text in unmatched_offers(config.agent.offer, snapshot):
        what = f'the offer "{text}"'
        yield from _told(parse_pattern(text), what, "agent.offer", snapshot, statuses)


def unmatched_hooks(
    hooks: Iterable[Hook], snapshot: Snapshot, statuses: Sequence[ServerStatus]
) -> Iterator[Finding]:
    """As `unmatched`, of the matchers of hooks that a program gave, which have been read."""
    return _of_hooks(hooks, snapshot, {status.name: status for status in statuses})


def _of_hooks(
    hooks: Iterable[Hook | DeclaredHook], snapshot: Snapshot, statuses: dict[str, ServerStatus]
) -> Iterator[Finding]:
    for hook in hooks:
        matchers = RuleSet((hook.matcher,) if isinstance(hook.matcher, Rule) else ())
        for rule in bind(matchers, snapshot).unbound:
            what = f'the matcher "{rule.text}" of the hook {hook.name}'
            yield from _unbound(rule, what, hook.source or "hooks", snapshot, statuses)


def unmatched_tool(
    text: str, what: str, where: str, snapshot: Snapshot, statuses: Sequence[ServerStatus]
) -> Iterator[Finding]:
    """The finding that the pattern `text` names a tool which is not there, if that is so; `what`
    begins its sentence."""
    if unmatched_offers((text,), snapshot):
        known = {status.name: status for status in statuses}
        yield from _told(parse_pattern(text), what, where, snapshot, known)


def _unbound(
    rule: Rule, what: str, where: str, snapshot: Snapshot, statuses: dict[str, ServerStatus]
) -> Iterator[Finding]:
    pattern = ToolPattern(rule.server, rule.tool)
    meant = next((tool for tool in snapshot.tools if pattern.matches(tool)), None)
    if meant is None:
        yield from _told(pattern, what, where, snapshot, statuses)
    else:
        yield _unfit(rule, meant, what, where)


def _unfit(rule: Rule, tool: Tool, what: str, where: str) -> Finding:
    """Why a rule that names a tool says nothing of it."""
    name, holds = tool.name, rule.decision is not Decision.ALLOW
    if rule.pin is not None and tool.definition.origin.fingerprint.digest != rule.pin:
        return Finding(
            where,
            f"{what} is about another definition of {name}: it answers nothing",
            "take it out; what was answered for good is taken back by `lockgate grants revoke ID`, "
            "and `lockgate grants list` shows its ID",
        )
    effect = "it holds for every call of it" if holds else "it answers nothing"
    if rule.subject is not None:
        return Finding(where, f"{what} speaks of what {name} has not: {effect}")
    properties: object = tool.definition.input_schema.get("properties")
    known = sorted(cast("dict[str, object]", properties)) if isinstance(properties, dict) else []
    missing = ", ".join(p.name for p in rule.parameters if p.name not in known)
    hint = f"its arguments: {', '.join(known)}" if known else "it takes no arguments"
    return Finding(where, f"{what} names arguments that {name} has not ({missing}): {effect}", hint)


def _told(
    pattern: ToolPattern,
    what: str,
    where: str,
    snapshot: Snapshot,
    statuses: dict[str, ServerStatus],
) -> Iterator[Finding]:
    if pattern.tool is None:
        return  # a whole server that lists nothing
    names = {
        name: tool.name
        for tool in snapshot.tools
        if (origin := tool.definition.origin).server == pattern.server
        for name in (origin.original_name, tool.name)
    }
    if pattern.server is None:
        if not names:
            return
        place, see = "local tool", None
    else:
        status = statuses.get(pattern.server)
        if status is None or not status.state.has_tools:
            return
        if pattern.tool in {out.tool for out in status.left_out}:
            return
        prefix = server_prefix(pattern.server)
        names |= {name.removeprefix(prefix): name for name in names.values()}
        place, see = f"tool of server {pattern.server}", f"lockgate tools '{prefix}*'"
    near = dict.fromkeys(names[name] for name in nearest(pattern.tool, names))
    hint = f"did you mean {' or '.join(near)}?" if near else see and f"its tools: {see}"
    yield Finding(where, f"{what} matches no {place}", hint)
