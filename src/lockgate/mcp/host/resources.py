"""The resources of every server, for a program: named by server and URI, never by URI alone.

What a server says here is a stranger's: make it `visible` before a person sees it. Reading by this
interface is the program's own doing and asks no gate; for a model there are tools (S3-19).
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing

from lockgate.errors import LocalError
from lockgate.mcp.client.resources import RESOURCES
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.host.found import Found, OfServers
from lockgate.mcp.host.offerings import Offerings
from lockgate.mcp.host.watch import Watch
from lockgate.mcp.protocol.completion import Completed
from lockgate.mcp.protocol.resources import ListedResource, ListedTemplate, ReadResult


class Resource(ListedResource, frozen=True, kw_only=True):
    """One resource and whose it is."""

    server: str
    """The configured name of its server."""


class ResourceTemplate(ListedTemplate, frozen=True, kw_only=True):
    """One template and whose it is."""

    server: str
    """The configured name of its server."""


class Resources(OfServers):
    """Resources of the servers of a manager."""

    async def list(self, server: str | None = None) -> Found[Resource]:
        """What `server` lists; None: what all of them do.

        A server that fails is in `failed` of what is returned, and raises nothing. Raises
        `LocalError` for a name that no server has.
        """
        return await self._all(server, RESOURCES, Offerings.resources, Resource)

    async def templates(self, server: str | None = None) -> Found[ResourceTemplate]:
        """The same for templates; `expand` of each makes the URI of a resource."""
        return await self._all(server, RESOURCES, Offerings.templates, ResourceTemplate)

    async def read(
        self,
        server: str,
        uri: str,
        *,
        timeout: float | None = None,
        attended: bool | None = None,
        call_id: str | None = None,
        bound: Bound | None = None,
    ) -> ReadResult:
        """The contents of one resource, which need not be listed.

        `timeout` in seconds, at most the server's request timeout, which None is. `attended` is for
        this once what it is for all; `call_id` the call that it is read for, should the server want
        to ask; `bound` is one of the caller's own that stands still then. Raises `PeerError`, with
        the server's own `code` where it refuses: no such resource is -32602, of older servers
        -32002. Raises `LocalError` for a name that no server has.
        """
        must_be_text(uri=uri)
        must_be_time(timeout)
        occasion = Occasion(
            server,
            call_id=call_id,
            attended=self._attended if attended is None else attended,
            resource=uri,
        )
        offerings = self._of(server)
        return await offerings.read(uri, timeout=timeout, occasion=occasion, bound=bound)

    async def complete(
        self,
        server: str,
        template: str,
        variable: str,
        value: str = "",
        context: Mapping[str, str] | None = None,
    ) -> Completed:
        """What `server` suggests for a variable of its template, of which `value` is typed so far;
        `context` are the variables that have their values. Raises as `read` does."""
        must_be_text(template=template, variable=variable, value=value)
        must_be_text(**(context or {}))
        completion = self._of(server).completion
        return await completion.for_template(template, variable, value, context)

    @asynccontextmanager
    async def watch(self, server: str, uri: str) -> AsyncGenerator[Watch]:
        """Be told when a resource changes; entered once the server knows.

        async with resources.watch("files", "file:///a.txt") as updates:
            async for update in updates: ...

        It lasts over lost connections: after one there is an update that is `missed`. Raises as
        `read` does, and `PeerError` too for a server that does not tell of changes.
        """
        must_be_text(uri=uri)
        with closing(await self._of(server).watch(uri)) as watch:
            yield watch


def must_be_text(**values: object) -> None:
    """Raise `LocalError` naming the first of these that is no string."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise LocalError(f"{name} must be str, not {type(value).__name__}")


def must_be_time(timeout: object) -> None:
    """Raise `LocalError` unless it is None or seconds over 0."""
    numbers = (int, float)
    if timeout is not None and not (
        isinstance(timeout, numbers) and not isinstance(timeout, bool) and 0 < timeout < math.inf
    ):
        raise LocalError("timeout must be a number of seconds over 0; None is the server's own")
