"""What a server may be called, and what to call it instead (S3-11)."""

from __future__ import annotations

import re
import unicodedata

from lockgate.mcp.host.settings import SERVER_NAME

PATTERN = f"^{SERVER_NAME.pattern}$"
"""As it is shown to people."""


def is_server_name(name: str) -> bool:
    """Whether a server may be called this."""
    return SERVER_NAME.fullmatch(name) is not None


def suggest_name(name: str) -> str | None:
    """A valid name that resembles `name`, or None when nothing of it can be kept."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:48].rstrip("-")
    return words or None


def name_hint(name: str) -> str:
    """What to write instead of a name that is not valid."""
    wanted = "names match " + PATTERN
    suggestion = suggest_name(name)
    return f"{wanted}, for instance {suggestion or 'my-server'}"
