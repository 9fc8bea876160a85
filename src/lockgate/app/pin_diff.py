"""What differs between a definition as it was pinned and as it is: field by field, in lines."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Final

from lockgate.settings.pins import DEFINITION, PinnedTool

_MAX_LINES: Final = 4_000
"""Lines of one field that are compared; more would take too long to be worth reading."""
_ORDER: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One field that is not what it was."""

    field: str
    lines: tuple[str, ...]
    """As a unified diff has them: ` ` for what stayed, `-` for what went, `+` for what came, `@@`
    between places. The text is a stranger's; whoever shows it makes it visible."""


def diff(before: PinnedTool | None, now: PinnedTool) -> tuple[FieldDiff, ...]:
    """The fields in which a definition differs from the pinned one; all of them without a pin."""
    if before is None:
        fields = [f for f in _ORDER if f in DEFINITION and now.text_of(f) not in (None, "")]
        return tuple(FieldDiff(field, _compared("", _text(now, field))) for field in fields)
    changed = before.fingerprint.changed(now.fingerprint)
    ordered = sorted(changed, key=lambda f: _ORDER.index(f) if f in _ORDER else len(_ORDER))
    return tuple(FieldDiff(field, _lines(field, before, now)) for field in ordered)


def _lines(field: str, before: PinnedTool, now: PinnedTool) -> tuple[str, ...]:
    if field == "endpoint" and before.command == now.command:
        return (f" {now.command}, with other arguments, or other names of variables",)
    return _compared(_text(before, field), _text(now, field))


def _compared(before: str, now: str) -> tuple[str, ...]:
    old, new = before.split("\n"), now.split("\n")
    if len(old) > _MAX_LINES or len(new) > _MAX_LINES:
        return (f"@@ {len(old)} lines became {len(new)}: too many to be compared @@",)
    found = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]
    lines = [line for line in found if line not in ("-", "+") or (before and now)]
    # The place of a lone change says nothing.
    return tuple(lines[1:] if sum(line.startswith("@@") for line in lines) == 1 else lines)


def _text(tool: PinnedTool, field: str) -> str:
    value = tool.text_of(field)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
