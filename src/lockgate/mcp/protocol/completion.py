"""What a server suggests for an argument that a person is typing. No I/O.

2026-07-28, server/utilities/completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from lockgate.mcp.protocol.jsontext import Unreadable, decode_noted, kind_of

COMPLETE_ARGUMENT: Final = "completion/complete"
MAX_VALUES: Final = 100
"""Suggestions in one answer, by the specification."""


class Completed(msgspec.Struct, frozen=True):
    """Suggestions, the likeliest first. A stranger's words."""

    values: tuple[str, ...] = ()
    total: int | None = None
    """How many there are in all; None if the server does not say."""
    has_more: bool = False
    """Whether there are more than these."""
    remarks: tuple[str, ...] = ()


def prompt_reference(name: str) -> Mapping[str, str]:
    """The `ref` of a prompt's argument."""
    return {"type": "ref/prompt", "name": name}


def resource_reference(template: str) -> Mapping[str, str]:
    """The `ref` of a template's variable, the template as its server wrote it."""
    return {"type": "ref/resource", "uri": template}


def parse_completion(raw: bytes | msgspec.Raw) -> Completed:
    """Read the answer to `completion/complete`. Raises `Unreadable` if it is no JSON object.

    Missing suggestions are none; what is no text among them does not count; of more than
    `MAX_VALUES` the first are taken.
    """
    value, remarks = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    held = cast("dict[str, Any]", value).get("completion")
    if not isinstance(held, dict):
        remarks += (f"completion is {kind_of(held)}, not an object: nothing is suggested",)
        return Completed(remarks=remarks)
    fields = cast("dict[str, Any]", held)
    listed = fields.get("values")
    if not isinstance(listed, list):
        remarks += (f"values is {kind_of(listed)}, not an array: nothing is suggested",)
        listed = []
    given = cast("list[Any]", listed)
    values = tuple(one for one in given[:MAX_VALUES] if isinstance(one, str))
    if len(values) < len(given[:MAX_VALUES]):
        remarks += ("values holds what is no string: left out",)
    if len(given) > MAX_VALUES:
        remarks += (f"of {len(given)} suggestions the first {MAX_VALUES} are taken",)
    total = fields.get("total")
    total = total if type(total) is int and total >= 0 else None
    more = fields.get("hasMore") is True or len(given) > MAX_VALUES
    return Completed(values, total, more, remarks)
