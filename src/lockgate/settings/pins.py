"""The reviewed definitions of a project: what its file of pins holds (B-06).

For each tool there is its fingerprint and, so that a change can be read, what the fingerprint was
taken of. Of how a server is reached there is a hash and the command: arguments may hold secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lockgate.mcp.endpoint import Endpoint
from lockgate.mcp.host.seen import SeenServer
from lockgate.mcp.protocol.results import ListedTool
from lockgate.tools.fingerprint import Fingerprint

DEFINITION: Final = ("annotations", "description", "inputSchema", "outputSchema", "title")
"""The fields of a fingerprint that a tool has for itself, besides its name."""
SHARED: Final = ("endpoint", "instructions")
"""Those that it has from its server."""
FIELDS: Final = tuple(sorted((*DEFINITION, *SHARED, "name")))
"""All of them."""


@dataclass(frozen=True, slots=True)
class PinnedTool:
    """One definition as somebody accepted it."""

    name: str
    fingerprint: Fingerprint
    definition: Mapping[str, Any]
    """The values of `DEFINITION`."""
    instructions: str | None
    """What the server told models at that time."""
    command: str
    """What started the server at that time, without its arguments; of one that is not started its
    address, without what is secret in it."""

    def text_of(self, field: str) -> object:
        """The value of a field of the fingerprint, as far as it is kept: of the endpoint the
        command alone."""
        match field:
            case "name":
                return self.name
            case "instructions":
                return self.instructions
            case "endpoint":
                return self.command
            case _:
                return self.definition.get(field)


@dataclass(frozen=True, slots=True)
class Pins:
    """A whole file of them; a `mcp.host.pins.PinBook`."""

    servers: Mapping[str, Mapping[str, PinnedTool]] = field(
        default_factory=dict[str, Mapping[str, PinnedTool]]
    )
    """By server, then by original name."""

    def pinned(self, server: str) -> Mapping[str, Fingerprint]:
        """What was accepted of the tools of `server`."""
        return {name: tool.fingerprint for name, tool in self.servers.get(server, {}).items()}

    def of(self, server: str) -> Mapping[str, PinnedTool]:
        """The same with their texts."""
        return self.servers.get(server, {})

    def accepting(self, server: str, tools: Mapping[str, PinnedTool | None]) -> Pins:
        """These pins, with `tools` of `server` instead of what there was; None takes one out."""
        kept = {**self.of(server), **tools}
        present = {name: tool for name, tool in kept.items() if tool is not None}
        servers = {name: held for name, held in self.servers.items() if name != server}
        return Pins({**servers, server: present} if present else servers)

    def __len__(self) -> int:
        return sum(map(len, self.servers.values()))


def pin_of(seen: SeenServer, endpoint: Endpoint, listed: ListedTool) -> PinnedTool:
    """The pin of one tool that `seen` lists, as it is there."""
    identity = endpoint.identity()
    return PinnedTool(
        listed.name,
        seen.fingerprints[listed.name],
        {
            "annotations": listed.claims.raw,
            "description": listed.description,
            "inputSchema": listed.input_schema,
            "outputSchema": listed.output_schema,
            "title": listed.title,
        },
        seen.instructions,
        str(identity.get("command") or identity.get("url") or ""),
    )
