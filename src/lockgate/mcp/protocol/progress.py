"""`notifications/progress`: how far the answer to a request is.

2026-07-28, basic/patterns/progress; 2025-11-25, basic/utilities/progress.

The token of a request is its id: unique among those that are open, and a number, so that the
string `"1"` is another one (PB-143). What is odd about a number, such as one that falls, is handed
on: it is nobody's but the server's.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from lockgate.mcp.protocol.jsonrpc import RequestId
from lockgate.mcp.protocol.jsontext import kind_of

PROGRESS: Final = "notifications/progress"
KEY: Final = "progressToken"
"""The key in the `_meta` of a request that asks for them (2025-11-25, RequestParams), and in
theirs."""
MAX_MESSAGE: Final = 1000
"""Characters of a message that are kept."""


class Progress(msgspec.Struct, frozen=True):
    """One notification."""

    token: RequestId
    progress: float
    """So far, in whatever the server counts. It should rise each time."""
    total: float | None = None
    """In all; None if that is not known."""
    message: str | None = None
    """In words, cut; a stranger's, with whatever is in it."""


def read_progress(params: Any) -> Progress | str:
    """Read the params of a notification; else what they are, as the end of a sentence that begins
    "sent progress that". Never raises. An odd total or message counts as absent.
    """
    if type(params) is not dict:
        return f"is {kind_of(params)}, not an object"
    fields = cast("dict[str, Any]", params)
    token = fields.get(KEY)
    if type(token) is float and token.is_integer():
        token = int(token)
    if type(token) is not int and type(token) is not str:
        return f"has {kind_of(token)} for a token"
    progress = _number(fields.get("progress"))
    if progress is None:
        return f"is {kind_of(fields.get('progress'))}, not a number"
    message = fields.get("message")
    if isinstance(message, str):
        message = message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"
    else:
        message = None
    return Progress(token, progress, _number(fields.get("total")), message)


def _number(value: Any) -> float | None:
    """A double; None for all else, an integer that is beyond them too."""
    if type(value) is not int and type(value) is not float:
        return None
    try:
        return float(value)
    except OverflowError:
        return None
