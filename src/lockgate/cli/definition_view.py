"""Definitions and their differences in print: a stranger's text, all of it, and made harmless."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from lockgate.app.pin_diff import FieldDiff, diff
from lockgate.app.review import ToolReview, claim_word, claims_all, hints
from lockgate.cli.waiting import when
from lockgate.mcp.host.pins import Standing
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.settings import Verdict
from lockgate.mcp.host.suggestion import Suggestion
from lockgate.settings.verdict_text import verdict_words
from lockgate.showing import folded, visible

_LABEL = 13


def columns() -> int:
    """How wide lines may be."""
    return min(shutil.get_terminal_size((80, 24)).columns, 120)


def standing_words(tool: ToolReview) -> str:
    """How a definition stands to its pin, in words."""
    match tool.state.standing:
        case Standing.SAME:
            return "as pinned"
        case Standing.CHANGED:
            return f"changed since it was pinned: {', '.join(tool.state.changed)}"
        case Standing.NEW:
            return "new: its server has pins, and it has none"
        case _:
            return "not pinned"


def ruling_words(ruling: Ruling) -> str:
    """What a tool may do by a ruling, in words: `mutating, destructive`."""
    if ruling.level.value == "read-only":
        return "read-only"
    more = ", idempotent" if ruling.idempotent.value == "idempotent" else ""
    return f"{ruling.level.value}, {ruling.destructive.value}{more}"


def verdict_text(verdict: Verdict | None) -> str:
    """A verdict on one line; `none` for none."""
    if verdict is None:
        return "none"
    return ", ".join(f"{key}: {word}" for key, word in verdict_words(verdict).items())


def diff_lines(tool: ToolReview, width: int, *, without: str = "") -> Iterator[str]:
    """What differs from the pin, field by field; the whole definition where there is none.

    `without` is a field that is left out, since it is told in other words.
    """
    for field in diff(tool.pinned, tool.now):
        if field.field == without:
            continue
        yield f"  {field.field}"
        for line in field.lines:
            # What goes on in a further line is marked, so that it is taken for no line of its own.
            mark = f"    {line[:1] or ' '} "
            yield from folded(visible(line[1:]), width, mark, f"    {line[:1] or ' '} | ")


def tool_lines(tool: ToolReview, width: int) -> Iterator[str]:
    """One tool for a reviewer: what differs, what it claims, what it seems, what is proposed."""
    told_below = tool.pinned is None and claims_all(tool.listed.claims)
    yield from diff_lines(tool, width, without="annotations" if told_below else "")
    sighting = tool.sighting
    if sighting is not None and sighting.since > sighting.first_seen:
        text = (
            f"{when(sighting.first_seen)}, with another definition; this one {when(sighting.since)}"
        )
        yield from _labelled("first seen", [text], width)
    yield from _labelled("claims", list(hints(tool.listed.claims)) or ["nothing"], width)
    for remark in tool.listed.claims.remarks:
        yield from _labelled("", [remark], width)
    suggestion = tool.suggestion
    seems = f"{suggestion.level.value}, {suggestion.destructive.value}"
    yield from _labelled("seems", [f"{seems}: {'; '.join(suggestion.reasons)}"], width)
    now = "left out" if tool.withheld else ruling_words(tool.ruling)
    if tool.verdict is not None:
        now += f" (your verdict: {verdict_text(tool.verdict)})"
    yield from _labelled("now", [now], width)
    yield from _labelled("proposed", [proposal_words(tool)], width)


def proposal_words(tool: ToolReview) -> str:
    """What accepting would write, and what would follow from it."""
    proposal = tool.proposal
    what = "pin it"
    if proposal.verdict is not None:
        what += f", with the verdict {verdict_text(proposal.verdict)}"
    then = f"then it is {ruling_words(tool.after)}"
    loosens = ". This lets more pass than now" if tool.loosens else ""
    why = f" ({'; '.join(proposal.reasons)})" if proposal.reasons else ""
    return f"{what}; {then}{why}{loosens}"


def review_row(tool: ToolReview) -> tuple[str, ...]:
    """One line of the table: name, pin, claims, guess, ruling now, proposal."""
    seems = tool.suggestion
    return (
        tool.listed.name,
        tool.state.standing.value,
        claim_word(tool.listed.claims),
        _guess_word(seems),
        "left out" if tool.withheld else _word(tool.ruling),
        _written(tool),
    )


def _guess_word(seems: Suggestion) -> str:
    return _word(seems) if seems.known else "unknown"


def _word(what: Ruling | Suggestion) -> str:
    return "read-only" if what.level.value == "read-only" else what.destructive.value


def _written(tool: ToolReview) -> str:
    if not tool.due:
        return "-"
    verdict = tool.proposal.verdict
    said = "pin" if verdict is None else _word(tool.after)
    return f"{said}, loosens" if tool.loosens else said


def review_data(tool: ToolReview) -> dict[str, Any]:
    """One tool for programs."""
    proposal = tool.proposal
    return {
        "tool": tool.listed.name,
        "standing": tool.state.standing.value,
        "changed": list(tool.state.changed),
        "digest": tool.now.fingerprint.digest,
        "pinned": None if tool.pinned is None else tool.pinned.fingerprint.digest,
        "diff": [_diff_data(field) for field in diff(tool.pinned, tool.now)] if tool.due else [],
        "firstSeen": None if tool.sighting is None else tool.sighting.first_seen,
        "claim": tool.listed.claims.raw,
        "suggestion": {
            "level": tool.suggestion.level.value,
            "destructive": tool.suggestion.destructive.value,
            "reasons": list(tool.suggestion.reasons),
            "known": tool.suggestion.known,
        },
        "verdict": None if tool.verdict is None else dict(verdict_words(tool.verdict)),
        "now": "left out" if tool.withheld else ruling_words(tool.ruling),
        "proposal": {
            "due": tool.due,
            "verdict": None if proposal.verdict is None else dict(verdict_words(proposal.verdict)),
            "then": ruling_words(tool.after),
            "loosens": tool.loosens,
            "reasons": list(proposal.reasons),
        },
    }


def _diff_data(field: FieldDiff) -> dict[str, Any]:
    return {"field": field.field, "lines": list(field.lines)}


def _labelled(label: str, texts: Sequence[str], width: int) -> Iterator[str]:
    first = f"  {label}".ljust(_LABEL)
    yield from folded(visible("; ".join(texts)), width, first, " " * _LABEL)
