"""How tools are called: what a name may be, and the one that a server's tool is registered under.

The registered name is what models, rules and people use; the wire always gets the original (S3-02).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from lockgate.schema.spelling import nearest

MAX_NAME = 64
"""Characters that every model provider accepts in a tool's name."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a registered name may be; to be matched in full."""

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_HASH_DIGITS = 8


def is_tool_name(name: str) -> bool:
    """Whether a tool may be registered under `name`."""
    return NAME.fullmatch(name) is not None


def is_reserved(name: str) -> bool:
    """Whether only a server's tool may be called `name`: rules about servers go by it."""
    return name.startswith("mcp__")


def server_prefix(server: str) -> str:
    """What the registered names of all tools of `server` begin with.

    Unambiguous, because a server's name holds no underscore (S3-11).
    """
    return f"mcp__{server}__"


def server_of(name: str) -> str | None:
    """The server whose tool would be registered under `name`; None for a name of another kind."""
    if not is_reserved(name):
        return None
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return server if server and tool else None


def server_tool_name(server: str, original: str) -> str:
    """The registered name of a server's tool: `mcp__<server>__<tool>` wherever that is valid.

    A name that has to be altered (a character outside `[A-Za-z0-9_-]`, empty, or over 64 in all)
    gets `_` for each such character and ends in `_` and 8 hexadecimal digits of the original's
    SHA-256. So it depends on nothing but its arguments, least of all on the order of a list. Where
    the server's own name does not fit whole, the digits cover it too. The result is always valid
    for a `server` that matches `SERVER_NAME`.
    """
    prefix = server_prefix(server)
    plain = prefix + original
    if original and NAME.fullmatch(plain):
        return plain
    room = MAX_NAME - _HASH_DIGITS - 1
    hashed = original if len(prefix) <= room else plain
    digits = hashlib.sha256(hashed.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{_NOT_ALLOWED.sub('_', plain)[:room]}_{digits}"


def near_tool_names(name: str, among: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """What the caller of an unknown tool may have meant, the nearest first.

    `among` is what the caller is shown: a hidden name is never suggested. A name counts as near by
    its spelling, or when it ends in `name` after a double underscore (`git_log` for
    `mcp__git__git_log`).
    """
    names = tuple(among)
    wanted = name.strip().casefold()
    by_tail = sorted(n for n in names if wanted and n.casefold().endswith("__" + wanted))
    by_spelling = nearest(name, names, limit=limit)
    return tuple(dict.fromkeys((*by_spelling, *by_tail)))[:limit]
