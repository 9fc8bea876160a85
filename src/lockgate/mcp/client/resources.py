"""The resources of one server: list them and their templates, read one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lockgate.errors import PeerError
from lockgate.mcp.client.asking import ask, require
from lockgate.mcp.client.pages import Kind, Listed, malformed, whole_list
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.protocol.jsonrpc import INVALID_PARAMS
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.resources import (
    LIST_RESOURCES,
    LIST_TEMPLATES,
    READ_RESOURCE,
    RESOURCE_NOT_FOUND,
    ListedResource,
    ListedTemplate,
    ReadResult,
    parse_read_result,
    parse_resources_page,
    parse_templates_page,
)

RESOURCES: Final = "resources"
"""The capability."""
MAX_RESOURCES: Final = 10_000
"""Resources of one server that are looked at; a directory of files can be long."""
MAX_TEMPLATES: Final = 2_000

_RESOURCES: Final = Kind(LIST_RESOURCES, "resources", parse_resources_page, MAX_RESOURCES)
_TEMPLATES: Final = Kind(LIST_TEMPLATES, "resource templates", parse_templates_page, MAX_TEMPLATES)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read."""

    result: ReadResult
    ttl: float
    """Seconds for which it may be shown again without being asked for: 0 unless its server says
    so, and for what came of a question to a person (2026-07-28, Caching)."""


class ResourceClient:
    """Resources over one session. Holds no state; any number of tasks may use it."""

    __slots__ = ("_session",)

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    @property
    def offered(self) -> bool:
        """Whether the server declares that it has resources. One that does not is not asked."""
        return self._session.profile.can(RESOURCES)

    async def list(self) -> Listed[ListedResource]:
        """The whole list, page by page; see `whole_list`. Raises `PeerError`."""
        return await whole_list(self._session, _RESOURCES, RESOURCES, lambda found: found.uri)

    async def templates(self) -> Listed[ListedTemplate]:
        """The same for templates."""
        return await whole_list(self._session, _TEMPLATES, RESOURCES, lambda found: found.template)

    async def read(
        self,
        uri: str,
        *,
        timeout: float | None = None,
        occasion: Occasion | None = None,
        bound: Bound | None = None,
    ) -> Reading:
        """Read one resource by its URI, which goes out as it is.

        A server that asks for input first gets it from the session's `services`, told of
        `occasion`; `bound`, the caller's own, stands still meanwhile. Raises `PeerError`, also for
        what can not be read; `is_not_found` tells whether there is no such resource.
        """
        session = self._session
        require(session, RESOURCES)
        asked = await ask(
            session,
            READ_RESOURCE,
            {"uri": uri},
            name=uri,
            occasion=occasion or Occasion(session.name, resource=uri),
            timeout=timeout,
            bound=bound,
        )
        try:
            result = parse_read_result(asked.result, uri)
        except Unreadable as problem:
            raise malformed(session, f"answered with {problem.reason}") from None
        fresh = session.revision.modern and not asked.rounds
        return Reading(result, (result.ttl_ms or 0) / 1000 if fresh else 0.0)


def is_not_found(error: PeerError) -> bool:
    """Whether a server says by its error that it has no such resource (2026-07-28,
    server/resources: Error Handling; earlier revisions have a code of their own)."""
    return error.code in (INVALID_PARAMS, RESOURCE_NOT_FOUND)
