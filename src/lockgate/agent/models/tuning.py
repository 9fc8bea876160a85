"""How models of providers are to write: the few settings that most of them share."""

from __future__ import annotations

from typing import Literal

import msgspec


class Tuning(msgspec.Struct, frozen=True):
    """What is not set is left to the provider. A model leaves aside what it does not have."""

    max_tokens: int | None = None
    """How long one reply may be, what was thought included."""
    thinking: bool | Literal["minimal", "low", "medium", "high"] | None = None
    """Whether to think before writing, and how hard."""


PLAIN = Tuning()
"""Everything is left to the provider."""
