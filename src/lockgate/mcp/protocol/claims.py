"""What a server claims of a tool: the annotations of its definition, read with suspicion.

Only the JSON values `true` and `false` count. Everything else, `null`, `"true"` and `1` among it,
counts as absent and is remarked upon (S0-10). What to make of a claim is decided elsewhere.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from lockgate.mcp.protocol.jsontext import kind_of

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Claims(msgspec.Struct, frozen=True):
    """The hints of one definition (2026-07-28, ToolAnnotations). None means: nothing claimed."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    title: str | None = None
    """A title for people; shown, decides nothing."""
    raw: Any = None
    """The `annotations` value as it came, for display; None if there was none."""
    remarks: tuple[str, ...] = ()
    """What did not count and why, one sentence each."""


NO_CLAIMS = Claims()
"""Of a tool without annotations."""


def parse_claims(raw: Any) -> Claims:
    """Read the `annotations` member of a decoded tool definition. Never raises.

    Absent (None) makes no claim and no remark; any other value that is not an object makes no
    claim and a remark. Unknown members are kept in `raw` and otherwise ignored.
    """
    if raw is None:
        return NO_CLAIMS
    if not isinstance(raw, dict):
        return Claims(raw=raw, remarks=(f"annotations is {kind_of(raw)}, not an object: ignored",))
    annotations = cast("dict[str, Any]", raw)
    remarks: list[str] = []
    hints: list[bool | None] = []
    for name in _HINTS:
        value = annotations.get(name)
        # `is`: in Python 1 == True, and neither 1 nor "true" is a JSON boolean.
        if value is True or value is False:
            hints.append(value)
            continue
        hints.append(None)
        if name in annotations:
            remarks.append(f"{name} is {kind_of(value)}, not true or false: counts as absent")
    title = annotations.get("title")
    if title is not None and not isinstance(title, str):
        remarks.append(f"annotations.title is {kind_of(title)}, not a string: counts as absent")
        title = None
    read_only, destructive, idempotent, open_world = hints
    return Claims(read_only, destructive, idempotent, open_world, title, raw, tuple(remarks))
