"""How the host waits between two tries: as the client does."""

from lockgate.mcp.client.pause import Pause, pause

__all__ = ["Pause", "pause"]
