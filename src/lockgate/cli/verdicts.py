"""How a tool's declaration and what stands for it are worded, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockgate.app.gate import Gate
from lockgate.calls.explain import Explanation
from lockgate.calls.refusals import Refuse
from lockgate.decision import Decision
from lockgate.tools.tool import Tool

NOW: Mapping[Decision, str] = {
    Decision.ALLOW: "runs",
    Decision.ASK: "asks",
    Decision.DENY: "refused",
}


def standing(gate: Gate, tool: Tool) -> Explanation:
    """What would happen to a call of `tool`, whatever its arguments."""
    return gate.explain(tool.name)


def row(tool: Tool, explained: Explanation) -> tuple[str, ...]:
    """One line of the table: name, level, destructive, idempotent, source of the verdict, now."""
    return (
        tool.name,
        tool.side_effect_level.value,
        "-" if tool.is_read_only else _yes(tool.is_destructive),
        "-" if tool.is_read_only else _yes(tool.is_idempotent),
        tool.definition.origin.ruling,
        now(explained),
    )


_WHY: Mapping[str, str] = {
    "above_ceiling": "ceiling",
    "not_offered": "not offered",
    "deny_rule": "rule",
    "address_refused": "never reached",
    "barred_path": "out of reach",
    "nobody_to_ask": "nobody to ask",  # which counts as no
}


def now(explained: Explanation) -> str:
    """`runs`, `asks`, or `refused` with the word for why."""
    word = NOW[explained.decision]
    if not isinstance(explained.verdict, Refuse):
        return word
    return f"{word}: {_WHY.get(explained.verdict.code, explained.verdict.code)}"


def as_data(tool: Tool, explained: Explanation) -> dict[str, Any]:
    """The same for programs, with claim, reasons and definition."""
    definition, origin = tool.definition, tool.definition.origin
    return {
        "name": tool.name,
        "server": origin.server,
        "originalName": origin.original_name,
        "title": definition.title,
        "description": definition.description,
        "level": tool.side_effect_level.value,
        "destructive": tool.is_destructive,
        "idempotent": tool.is_idempotent,
        "concurrency": tool.concurrency_behavior.value,
        "ruling": origin.ruling,
        "reasons": dict(origin.reasons),
        "remarks": list(origin.remarks),
        "claim": origin.claim,
        "fingerprint": origin.fingerprint.digest,
        "now": NOW[explained.decision],
        "why": [
            {"code": r.code, "text": r.text, "source": r.source}
            for r in (explained.steps[-1].reasons if explained.steps else ())
        ],
        "inputSchema": definition.input_schema,
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
