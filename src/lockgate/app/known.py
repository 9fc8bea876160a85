"""What can be said of a configuration by the tools that its servers had when last seen (B-05)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from lockgate.app.agent_findings import known_agent_findings
from lockgate.app.finding import Finding
from lockgate.app.hook_findings import known_hook_findings
from lockgate.app.unmatched import unmatched
from lockgate.decision import Decision
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.pins import Standing, pin_state
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerStatus
from lockgate.rules.pattern import ToolPattern
from lockgate.rules.rule import Rule
from lockgate.settings.config import Config
from lockgate.showing import quoted
from lockgate.tools.naming import server_tool_name
from lockgate.tools.registry import Registered, Snapshot
from lockgate.tools.subject import SubjectKind
from lockgate.tools.tool import Tool

_PATHS: Final = ("path", "file", "dir", "folder", "uri")
_NAMED: Final = 3
"""Tools that are named before they are only counted."""


def known_findings(
    config: Config,
    snapshot: Snapshot,
    statuses: Sequence[ServerStatus],
    manager: Manager | None,
) -> tuple[Finding, ...]:
    """Everything found, of `tools_last_seen`. Servers of which nothing is known say nothing."""
    found = [
        *unmatched(config, snapshot, statuses),
        *_destructive(config, snapshot),
        *_past_our_tools(config, snapshot),
        *known_hook_findings(config, snapshot),
        *known_agent_findings(config, snapshot, statuses),
    ]
    if manager is not None:
        for settings in config.servers:
            found.extend(_of_server(config, settings, manager, snapshot))
    return tuple(found)


def _destructive(config: Config, snapshot: Snapshot) -> Iterator[Finding]:
    """Allow rules that name tools for which they do not answer (S0-08)."""
    for rule in config.rules.rules:
        if rule.decision is not Decision.ALLOW or rule.destructive or rule.server is None:
            continue
        pattern = ToolPattern(rule.server, rule.tool)
        meant = [tool for tool in snapshot.tools if pattern.matches(tool)]
        names = [tool.name for tool in meant if tool.is_destructive]
        if names:
            what = f'the allow rule "{rule.text}" does not answer for {_listed(names)}'
            yield Finding(
                rule.source or "permissions.allow",
                f"{what}, which can destroy",
                "such a rule names one tool, says destructive: true and what the arguments may be; "
                "or the tool needs a verdict: lockgate review " + rule.server,
            )


def _past_our_tools(config: Config, snapshot: Snapshot) -> Iterator[Finding]:
    """A rule that keeps files from tools of ours says nothing of a server's tool, which may read
    the same files: its arguments look like paths, and nobody is asked about its calls."""
    rules = config.rules.rules
    strict = next((r for r in rules if _keeps_files(r) and r.tool in config.builtin), None)
    if strict is None:
        return
    free = [
        tool.name
        for tool in snapshot.tools
        if tool.definition.origin.server is not None
        and _takes_paths(tool)
        and (tool.is_read_only or _named(rules, tool, Decision.ALLOW))
        and not _named(rules, tool, Decision.DENY, Decision.ASK)
    ]
    if free:
        yield Finding(
            strict.source or "permissions",
            f'the rule "{strict.text}" holds for tools of lockgate alone: {_listed(free)} may read '
            "the same files without a question",
            "roots and such rules say nothing of a server's tool; a deny rule of its own with "
            "path: does",
            note=True,
        )


def _keeps_files(rule: Rule) -> bool:
    """Whether it keeps tools of ours from files."""
    kind = None if rule.subject is None else rule.subject.kind
    return rule.decision is not Decision.ALLOW and kind is SubjectKind.PATH


def _takes_paths(tool: Tool) -> bool:
    """Whether an argument looks, by its name, as if it held a path."""
    properties: object = tool.definition.input_schema.get("properties")
    names = cast("dict[str, object]", properties) if isinstance(properties, dict) else ()
    return any(word in name.lower() for name in names for word in _PATHS)


def _named(rules: Sequence[Rule], tool: Tool, *decisions: Decision) -> bool:
    """Whether some rule about servers' tools with one of these decisions names it."""
    return any(
        rule.server is not None
        and rule.decision in decisions
        and ToolPattern(rule.server, rule.tool).matches(tool)
        for rule in rules
    )


def _of_server(
    config: Config, settings: ServerSettings, manager: Manager, snapshot: Snapshot
) -> Iterator[Finding]:
    seen = manager.seen(settings.name)
    if seen is None:
        return
    where = f"server {settings.name}"
    listed = {tool.name for tool in seen.tools}
    for tool in settings.verdicts:
        if tool not in listed:
            yield Finding(where, f"the verdict for {quoted(tool)} is about no tool that it lists")
    for tool in settings.expect_tools:
        if tool not in listed:
            yield Finding(where, f"the expected tool {quoted(tool)} is not listed by it")
    pins = config.pins.pinned(settings.name)
    review = f"to see how: lockgate pins diff {settings.name}"
    for tool in seen.tools:
        state = pin_state(settings.pins, pins, tool.name, seen.fingerprints[tool.name])
        if state.standing is Standing.CHANGED:
            what = ", ".join(state.changed)
            yield Finding(
                where, f"{quoted(tool.name)} changed since it was pinned ({what})", review
            )
        entry = snapshot.get(server_tool_name(settings.name, tool.name))
        if tool.claims.read_only and tool.claims.destructive and _open(settings, tool.name):
            yield Finding(
                where,
                f"{quoted(tool.name)} claims to be read-only and destructive at once"
                + (", and counts as read-only" if _is_read_only(entry) else ""),
                f"say what it is: verdicts: {{{quoted(tool.name)}: {{level: ...}}}}",
            )
    for tool in sorted(pins.keys() - listed):
        yield Finding(where, f"{quoted(tool)} is pinned, and not listed any more", review)


def _open(settings: ServerSettings, tool: str) -> bool:
    """Whether the operator said nothing of what a tool can do."""
    verdict = settings.verdicts.get(tool)
    return verdict is None or (verdict.level is None and verdict.destructive is None)


def _is_read_only(entry: Registered | None) -> bool:
    return entry is not None and entry.is_read_only


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
