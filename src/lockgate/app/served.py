"""Resources of MCP servers for the tools over them, which know no servers."""

from __future__ import annotations

from lockgate.builtin.resources.source import Contents, OfferedResource, OfferedResources
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.resources import Resources
from lockgate.tools.context import ToolContext


class ServedResources:
    """Hands the resources of a manager's servers to `ListResources` and `ReadResource`."""

    def __init__(self, manager: Manager) -> None:
        """The manager may be started later."""
        self._servers = tuple(settings.name for settings in manager.configured)
        self._resources = Resources(manager)

    @property
    def servers(self) -> tuple[str, ...]:
        """The configured names, in order."""
        return self._servers

    async def offered(self, server: str | None) -> OfferedResources:
        """What one server lists, or all of them: single resources first, then templates."""
        listed = await self._resources.list(server)
        templates = await self._resources.templates(server)
        found = [
            OfferedResource(
                one.server,
                one.uri,
                one.title or one.name,
                one.description or "",
                one.mime_type,
                one.size,
            )
            for one in listed
        ]
        found += [
            OfferedResource(
                one.server,
                one.template,
                one.title or one.name,
                one.description or "",
                one.mime_type,
                variables=one.variables,
            )
            for one in templates
        ]
        return OfferedResources(tuple(found), {**templates.failed, **listed.failed})

    async def read(
        self, server: str, uri: str, *, timeout: float | None, context: ToolContext
    ) -> Contents:
        """Read one resource, for no longer than the server may take anyway."""
        result = await self._resources.read(
            server,
            uri,
            timeout=timeout,
            attended=context.execution.attended,
            call_id=context.call_id,
            bound=context.limit,
        )
        return Contents(result.contents, result.remarks)
