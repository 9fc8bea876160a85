"""What a server was when it was last there: enough to make its tools again without it (B-05).

Kept are definitions and claims, never rulings: offline the manager rules on them anew, by the same
function, so what is shown without a server is what would be shown with it (S0-11). Of how it is
reached only a hash is kept: arguments may hold secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from lockgate.mcp.client.tools import ListedTools
from lockgate.mcp.endpoint import Endpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.protocol.results import LeftOut, ListedTool, ServerProfile
from lockgate.process.hidden import Hidden
from lockgate.tools.fingerprint import Fingerprint, canonical_digest, fingerprint


@dataclass(frozen=True, slots=True)
class Sighting:
    """When a tool was seen, and as what."""

    first: str
    """The digest of its fingerprint when it was first seen."""
    first_seen: float
    """Seconds since 1970, like the others."""
    digest: str
    """The digest when it was last seen."""
    since: float
    """Since when it is that."""
    last_seen: float


@dataclass(frozen=True, slots=True)
class SeenServer:
    """One server as it was last seen."""

    name: str
    endpoint: str
    """`endpoint_digest` of how it was reached."""
    seen: float
    """When its tools were listed, in seconds since 1970."""
    instructions: str | None
    tools: tuple[ListedTool, ...]
    """In the server's order."""
    left_out: tuple[LeftOut, ...] = ()
    """What could not be used of its list."""
    remarks: tuple[str, ...] = ()
    """What was odd about it and its list."""
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict[str, Fingerprint])
    """Of each of `tools`, by original name."""
    sightings: Mapping[str, Sighting] = field(default_factory=dict[str, Sighting])
    """By original name, also of tools that it lists no more."""


class SeenServers(Protocol):
    """Keeps servers as they were last seen."""

    def last(self, server: str) -> SeenServer | None:
        """The server of that name; None if it was never seen, or what was kept is unusable."""
        ...

    def keep(self, seen: SeenServer, hidden: Hidden) -> None:
        """Keep it in place of what was kept before, unless it holds a value that is `hidden`.

        Never raises: at worst nothing is kept.
        """
        ...


def endpoint_digest(endpoint: Endpoint) -> str:
    """The hash of how a server is reached, as fingerprints cover it."""
    return canonical_digest(endpoint.identity())


def definition_fingerprint(
    endpoint: Endpoint, instructions: str | None, listed: ListedTool
) -> Fingerprint:
    """What a definition was: all that a model or a person may have judged it by (B-06)."""
    return _fingerprints(endpoint_digest(endpoint), instructions, (listed,))[listed.name]


def _fingerprints(
    endpoint: str, instructions: str | None, tools: Iterable[ListedTool]
) -> dict[str, Fingerprint]:
    """Of every tool of one server, by name; `endpoint` is its digest."""
    common = {"endpoint": endpoint, "instructions": canonical_digest(instructions)}
    return {
        listed.name: fingerprint(
            {
                "name": listed.name,
                "title": listed.title,
                "description": listed.description,
                "inputSchema": listed.input_schema,
                "outputSchema": listed.output_schema,
                "annotations": listed.claims.raw,
            },
            common,
        )
        for listed in tools
    }


def sighted(
    settings: ServerSettings, profile: ServerProfile, listing: ListedTools, now: float
) -> SeenServer:
    """A server that is there, as it is kept for when it is not."""
    endpoint = endpoint_digest(settings.endpoint)
    prints = _fingerprints(endpoint, profile.instructions, listing.tools)
    return SeenServer(
        settings.name,
        endpoint,
        now,
        profile.instructions,
        listing.tools,
        listing.left_out,
        (*profile.remarks, *listing.remarks),
        prints,
        {name: Sighting(p.digest, now, p.digest, now, now) for name, p in prints.items()},
    )


def recalled(seen: SeenServer | None, endpoint: Endpoint) -> SeenServer | str:
    """A server as it was last there, with its fingerprints; else why that can not be used."""
    if seen is None:
        return "not started, and nothing is known of it from before"
    if seen.endpoint != endpoint_digest(endpoint):
        return "not started, and what starts it has changed since it was last there"
    prints = _fingerprints(seen.endpoint, seen.instructions, seen.tools)
    return replace(seen, fingerprints=prints)


def remembering(before: SeenServer | None, now: SeenServer) -> SeenServer:
    """`now` with what is known of its tools from `before`, the same server at an earlier time."""
    sightings = dict(before.sightings) if before is not None else {}
    for tool, new in now.sightings.items():
        old = sightings.get(tool)
        if old is not None:
            since = old.since if old.digest == new.digest else new.since
            new = Sighting(old.first, old.first_seen, new.digest, since, new.last_seen)
        sightings[tool] = new
    return replace(now, sightings=sightings)
