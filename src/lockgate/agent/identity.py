"""What an agent is called in records: the same after a restart, so that it can be found again."""

from __future__ import annotations

import re
from typing import Final

from lockgate.errors import LocalError

_PART: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def agent_id(name: str, discriminator: str | None = None) -> str:
    """`agent:<name>`, or `agent:<name>:<discriminator>` where several of one name are told apart.

    Follows from its arguments alone. Each part is letters, digits, `.`, `_` and `-`, and begins
    with a letter or a digit; anything else raises `LocalError`.
    """
    parts = [name] if discriminator is None else [name, discriminator]
    for part in parts:
        if not _PART.fullmatch(part):
            raise LocalError(
                f"{part!r} can not be part of an agent's id: use letters, digits, '.', '_' and '-'"
            )
    return ":".join(("agent", *parts))
