"""Where a tool comes from, for display, rules and audit. Nothing else branches on it (S0-11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.content import JSONObject
from lockgate.tools.fingerprint import Fingerprint


@dataclass(frozen=True, slots=True)
class Origin:
    """An opaque value that travels with a tool."""

    source: str
    """Who made the declaration: `local`, `builtin`, or `mcp`."""
    server: str | None
    """The configured name of the server it lives on; None for our own tools."""
    original_name: str
    """The name at its source; what the wire uses for a server's tool."""
    fingerprint: Fingerprint
    """What the definition was when it was registered."""
    claim: JSONObject | None = None
    """The raw `annotations` object of the server, kept verbatim; None for our own tools."""
    ruling: str = "declared"
    """What the traits follow: `declared` (our code), `default` (the worst case, nothing
    believed), `claim` (trusted annotations), `verdict` (the operator's word)."""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Per trait name (`level`, `destructive`, `idempotent`, `concurrent`, `interruptible`): why."""
    remarks: tuple[str, ...] = ()
    """What was odd about the claim or the schema, one sentence each."""
    unreviewed: bool = False
    """Whether it is another definition than the one that was pinned: until it is reviewed no word
    on it loosens anything (B-06)."""
