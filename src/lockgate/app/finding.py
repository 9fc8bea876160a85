"""One thing that a configuration says and that will not do what it looks like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is allowed and will not do what it looks like."""

    where: str
    """The file and key it is about, or the server."""
    text: str
    hint: str | None = None
    note: bool = False
    """Whether it is to be known rather than mended: nothing in the configuration takes it away."""
