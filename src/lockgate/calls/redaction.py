"""Arguments as a record may hold them, if the operator turns content on."""

from __future__ import annotations

from typing import Any, Final, cast

from lockgate.showing import looks_secret, masked

MAX_TEXT: Final = 4000
"""Characters of one text that a record holds; of what is cut it says how much."""
MAX_ITEMS: Final = 200
"""Members of one list or object that a record holds."""
LEFT_OUT: Final = "[left out]"
"""The key under which a record says how many members of an object it leaves out."""


def redacted(arguments: dict[str, Any]) -> dict[str, Any]:
    """A copy of `arguments`, plain JSON, for a record.

    What stands under a name that usually holds a secret is masked whole, at any depth. A secret
    in the middle of a text, such as in a command line, can not be told from the text.
    """
    return cast("dict[str, Any]", _redacted(arguments))


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) <= MAX_TEXT:
            return value
        return f"{value[:MAX_TEXT]}[cut, {len(value) - MAX_TEXT} more characters]"
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        kept: dict[str, Any] = {
            name[:MAX_TEXT]: masked(item) if looks_secret(name) else _redacted(item)
            for name, item in list(members.items())[:MAX_ITEMS]
        }
        if len(members) > MAX_ITEMS:
            kept[LEFT_OUT] = len(members) - MAX_ITEMS
        return kept
    if isinstance(value, list):
        items = cast("list[Any]", value)
        listed = [_redacted(item) for item in items[:MAX_ITEMS]]
        if len(items) > MAX_ITEMS:
            listed.append(f"[{len(items) - MAX_ITEMS} more left out]")
        return listed
    return value
