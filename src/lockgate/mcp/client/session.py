"""A server that can be spoken to: the connection, and what was learnt while it was made."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.services import SERVES_NOTHING, Services
from lockgate.mcp.protocol.eras import Revision
from lockgate.mcp.protocol.profile import ServerProfile


@dataclass(frozen=True, slots=True)
class ServerSession:
    """What `connect` returns. Whoever holds it closes the connection."""

    connection: Connection
    revision: Revision
    """What is spoken, as agreed upon with the server."""
    profile: ServerProfile
    """What the server says of itself: name, version, capabilities, instructions."""
    mirrors: bool = False
    """Whether arguments have to be mirrored into headers where a tool's definition says so: the
    revision knows that, and the transport has headers."""
    services: Services = SERVES_NOTHING
    """What the server may ask for, and who answers it."""
    remarks: tuple[str, ...] = ()
    """What was odd about getting there, one sentence each."""

    @property
    def name(self) -> str:
        """The configured name of the server."""
        return self.connection.peer

    async def close(self) -> None:
        """Close the connection; see `Connection.close`."""
        await self.connection.close()
