"""The proof that a call went down the road. Made only in `calls.invoke` (an AST test looks)."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.tools.context import ToolContext


@dataclass(frozen=True, slots=True)
class Permit:
    """Lets `Tool.execute` run once for the call it was made for (S0-17)."""

    context: ToolContext
