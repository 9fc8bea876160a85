"""The proof that a call went down the road. Made only in `calls.invoke` (an AST test looks)."""

from __future__ import annotations

import msgspec

from lockgate.tools.context import ToolContext


class Permit(msgspec.Struct, frozen=True):
    """Lets `Tool.execute` run once for the call it was made for (S0-17)."""

    context: ToolContext
