"""An explanation in print: the declaration, where it comes from, then the road step by step."""

from __future__ import annotations

import shutil
import textwrap
from typing import Any

import click

from lockgate.calls.explain import Explanation
from lockgate.cli.verdicts import NOW, now
from lockgate.cli.waiting import when
from lockgate.showing import visible
from lockgate.tools.subject import Subjects
from lockgate.tools.tool import Tool

_INDENT = 18
_HOOKS = "a hook objects, asks or rewrites the arguments: none was run for this"


def print_explanation(
    explained: Explanation, seen: float | None = None, left_out: str | None = None
) -> None:
    """Print it for a person, within the width of the terminal.

    `seen` is when the tool's server was last there, if it was not started for this: seconds since
    1970. `left_out` is why the tool of that name is not registered, if its server lists it.
    """
    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    _say("tool", [visible(explained.tool)], width)
    if explained.found is not None:
        for label, text in _declaration(explained.found):
            _say(label, [text], width)
    if left_out is not None:
        _say("note", [visible(left_out)], width)
    if seen is not None:
        _say("known", [f"as last seen {when(seen)}; to start the server: --online"], width)
    click.echo()
    for step in explained.steps:
        word = {"ALLOW": "ok", "ASK": "ask", "DENY": "no"}[step.decision.name]
        texts = [visible(str(reason)) for reason in step.reasons]
        _say(f"{step.name:<11} {word}", texts, width)
        # Each on one line, however long: to be compared and copied.
        for name, what in judged(explained.subjects) if step.name == "arguments" else ():
            click.echo(f"{'':<{_INDENT}}{name}: {visible(what)}")
    for name in explained.not_reached:
        _say(f"{name:<11} -", ["not reached"], width)
    click.echo()
    unless = f", unless {_HOOKS}" if explained.conditional else ""
    _say("so it", [f"{now(explained)}{unless}"], width)


def judged(subjects: Subjects) -> list[tuple[str, str]]:
    """What the paths, addresses and commands of a call were taken to be, with its arguments' words:
    for who typed them, and for no record."""
    found = [
        (name, path.real if path.real == path.lexical else f"{path.real}, as {path.lexical}")
        for name, path in subjects.paths
        if path.problem is None
    ]
    found += [(name, address.text) for name, address in subjects.urls if address.text]
    found.sort()
    for resolved in subjects.by_name.values():
        commands: tuple[Any, ...] = getattr(resolved, "commands", ())
        if len(commands) > 1:
            found += [
                (
                    f"command {number}",
                    " ".join(w.text + ("" if w.closed else "...") for w in command.words),
                )
                for number, command in enumerate(commands, 1)
            ]
    return found


def _declaration(tool: Tool) -> list[tuple[str, str]]:
    origin = tool.definition.origin
    where = (
        f"server {origin.server}, as {visible(origin.original_name)}"
        if origin.server
        else origin.source
    )
    level = tool.side_effect_level.value
    lines = [("from", where), ("level", _because(level, origin.reasons.get("level")))]
    if not tool.is_read_only:
        destructive = tool.destructive_behavior.value
        idempotent = tool.idempotency_behavior.value
        lines.append(("destructive", _because(destructive, origin.reasons.get("destructive"))))
        lines.append(("idempotent", _because(idempotent, origin.reasons.get("idempotent"))))
    lines.append(("ruling", origin.ruling))
    if (pin := origin.reasons.get("pin")) is not None:
        lines.append(("pin", visible(pin)))
    lines += [("note", visible(remark)) for remark in origin.remarks]
    return lines


def _because(word: str, reason: str | None) -> str:
    return f"{word}: {visible(reason)}" if reason else word


def _say(label: str, texts: list[str], width: int) -> None:
    for number, text in enumerate(texts):
        head = label if number == 0 else ""
        lines = textwrap.wrap(text, max(30, width - _INDENT)) or [""]
        for line in lines:
            click.echo(f"{head:<{_INDENT}}{line}".rstrip())
            head = ""


def explanation_data(
    explained: Explanation, seen: float | None = None, left_out: str | None = None
) -> dict[str, Any]:
    """The same for programs."""
    return {
        "lastSeen": seen,
        "leftOut": left_out,
        "tool": explained.tool,
        "decision": NOW[explained.decision],
        "steps": [
            {
                "name": step.name,
                "decision": step.decision.name.lower(),
                "reasons": [
                    {"code": r.code, "text": r.text, "source": r.source} for r in step.reasons
                ],
            }
            for step in explained.steps
        ],
        "judged": [{"name": name, "as": what} for name, what in judged(explained.subjects)],
        "notReached": list(explained.not_reached),
        # Those that are told before it is decided can make it stricter, or rewrite the arguments.
        "conditional": explained.conditional,
        "hooks": [{"code": r.code, "text": r.text, "source": r.source} for r in explained.hooks],
    }
