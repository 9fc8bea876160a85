"""A hook's own call: answered by its declaration in accepted configuration, for one tool alone.

Such a call goes down the same road. The ceiling and deny rules hold for it; the declaration is the
answer to the gate's question, so nobody is asked, no grant counts, and no hook is told of it: its
depth is one. It does not answer what nobody could know when it was declared: an outcome that is
open, and a control file.
"""

from __future__ import annotations

from typing import Final

import msgspec

from lockgate.tools.tool import Declared

HOOK: Final = "hook"
"""The `Execution.entry` of a hook's own call, and the name of its answer in records."""


class DeclaredCall(msgspec.Struct, frozen=True):
    """What accepted configuration has a hook call. Made by `bridges.hook_caller` alone, of a
    declaration that was read there."""

    server: str
    tool: str
    """The original name."""
    source: str
    """File and key path of the declaration."""

    def names(self, tool: Declared) -> bool:
        """Whether it is exactly this tool."""
        origin = tool.definition.origin
        return origin.server == self.server and origin.original_name == self.tool
