"""Where the tools get resources from: whoever has servers hands one in (`app`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lockgate.content import Content, JSONObject
from lockgate.tools.context import ToolContext


@dataclass(frozen=True, slots=True)
class OfferedResource:
    """One resource, or a family of them. All words but `server` are a stranger's."""

    server: str
    """The configured name of its server."""
    uri: str
    """By which it is read; of a family the template (RFC 6570)."""
    name: str
    description: str = ""
    mime_type: str | None = None
    size: int | None = None
    """Bytes, as the server says."""
    variables: tuple[str, ...] | None = None
    """Of a family, what has to be put in; None: it is one resource."""


@dataclass(frozen=True, slots=True)
class OfferedResources:
    """What servers list."""

    resources: tuple[OfferedResource, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Servers of which it is not known what they have, each with its reason."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What came of reading one resource."""

    blocks: tuple[Content, ...] = ()
    """In the server's order; a stranger's."""
    remarks: tuple[str, ...] = ()
    """What was odd about them."""


class ResourceSource(Protocol):
    """Gives resources by server and URI."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The configured names, in order."""
        ...

    async def offered(self, server: str | None) -> OfferedResources:
        """What one server lists, or all of them. Servers fail in what is returned."""
        ...

    async def read(
        self, server: str, uri: str, *, timeout: float | None, context: ToolContext
    ) -> Contents:
        """Read one resource of a server that is configured; `timeout` in seconds, None is the
        server's own. `context` is of the call that it is read for, should the server want to ask
        something. Raises `PeerError`."""
        ...


def among(schema: JSONObject, source: ResourceSource) -> JSONObject:
    """A tool's schema that takes none but the servers there are: a call for another one is refused
    before anybody is asked about it (B-01), and the model sees their names."""
    if not source.servers:
        return schema
    properties = dict(schema["properties"])
    properties["server"] = {**properties["server"], "enum": list(source.servers)}
    return {**schema, "properties": properties}


class NoSource:
    """For a host without servers."""

    servers: tuple[str, ...] = ()

    async def offered(self, server: str | None) -> OfferedResources:
        """Nothing."""
        del server
        return OfferedResources()

    async def read(
        self, server: str, uri: str, *, timeout: float | None, context: ToolContext
    ) -> Contents:
        """Never called: no server is configured."""
        del server, uri, timeout, context
        return Contents()
