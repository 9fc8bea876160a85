"""What this side can be asked for, and how each revision wants that declared. No I/O.

Nothing is declared that is not handled: a server must not ask for what was not declared
(2026-07-28, basic/patterns/mrtr; 2025-11-25, basic/lifecycle).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from lockgate.mcp.protocol.eras import Revision

_NO_EXTENSIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class Capabilities(msgspec.Struct, frozen=True):
    """What a client handles beyond the plain answers to its own requests."""

    forms: bool = False
    """Elicitation by a form."""
    addresses: bool = False
    """Elicitation by an address that a person is asked to open."""
    sampling: bool = False
    """Completions by a model of this side's."""
    sampling_tools: bool = False
    """The same with tools that the server defines."""
    roots: bool = False
    """The directories it works in."""
    extensions: Mapping[str, Mapping[str, Any]] = _NO_EXTENSIONS
    """Extensions by their identifier, each with its settings; of revisions that have any."""

    def declared(self, revision: Revision) -> dict[str, Any]:
        """The members of `ClientCapabilities` in that revision, without what it does not know."""
        found: dict[str, Any] = {}
        if revision.elicits and revision.elicits_by_url:
            modes = {"form": self.forms, "url": self.addresses}
            if any(modes.values()):
                found["elicitation"] = {mode: {} for mode, there in modes.items() if there}
        elif revision.elicits and self.forms:
            found["elicitation"] = {}
        if self.sampling:
            tools = self.sampling_tools and revision.samples_with_tools
            found["sampling"] = {"tools": {}} if tools else {}
        if self.roots:
            found["roots"] = {}
        if self.extensions and revision.modern:
            found["extensions"] = {name: dict(held) for name, held in self.extensions.items()}
        return found


NONE = Capabilities()
"""A client that only asks."""
