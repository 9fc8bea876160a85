"""One server of a manager: started, held, and closed by one task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, MutableMapping, Sequence

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ListedTools, ToolClient
from lockgate.mcp.host.seen import SeenServer
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import LeftOutTool, ServerState, ServerStatus, in_brief
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.jsonrpc import METHOD_NOT_FOUND
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.base import Transport
from lockgate.process.hidden import NOTHING, Hidden

logger = logging.getLogger(__name__)

ROLL_CALL = 3600.0
"""Seconds between two looks at a server that is well."""


class ServerHolder:
    """Holds one server. Its state changes once to READY, FAILED or LAST_SEEN, then never back.

    So a server that was given up and answers late is closed, and nothing of it is used (S3-09).
    """

    def __init__(
        self,
        settings: ServerSettings,
        transport: Transport,
        *,
        client: ClientIdentity,
        probe_patience: float,
        eras: MutableMapping[str, Era],
        listeners: Sequence[Listener],
        clock: Callable[[], float],
        hidden: Hidden = NOTHING,
    ) -> None:
        """`hidden` is what no reason and no line of the log may hold; see `Manager`."""
        self.settings = settings
        self.session: ServerSession | None = None
        """Set while READY, and after that for the tools that were made from it."""
        self.listing = ListedTools(())
        self.seen: SeenServer | None = None
        """What its tools are, or were when it was last there; set while they are registered."""
        self.tools: list[str] = []
        """Registered names; filled by the manager."""
        self.left_out: list[LeftOutTool] = []
        self.changed: list[str] = []
        self.remarks: list[str] = []
        self._transport = transport
        self._client = client
        self._probe_patience = probe_patience
        self._eras = eras
        self._listeners = listeners
        self._clock = clock
        self.hidden = hidden
        self._state = ServerState.CONNECTING
        self._reason: str | None = None
        self._fault: Fault | None = None
        self._begun: float | None = None
        self._connected: float | None = None
        self._settled_at: float | None = None
        self._settled = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def state(self) -> ServerState:
        return self._state

    def begin(self) -> asyncio.Task[None]:
        """Start the server's task."""
        self._begun = self._clock()
        name = f"lockgate server {self.settings.name}"
        self._task = asyncio.get_running_loop().create_task(self._hold(), name=name)
        return self._task

    async def wait_settled(self) -> None:
        """Wait until the server is ready, has failed, or is closed."""
        await self._settled.wait()

    def recall(self, seen: SeenServer) -> None:
        """Take it for what it was when it was last there, in place of starting it."""
        if self._settle(ServerState.LAST_SEEN, None, None):
            self.seen = seen

    def fail(self, reason: str, fault: Fault | None) -> None:
        """Give the server up, and close what there is of it. Does nothing unless it is in use."""
        if self._settle(ServerState.FAILED, reason, fault):
            self.stop()

    def stop(self) -> None:
        """Begin to close, whatever the state. Idempotent; the task ends when all is closed."""
        if self._state is ServerState.CONNECTING or self._state.has_tools:
            self._settle(ServerState.CLOSED, None, None)
        # A second cancellation would cut the closing short.
        if self._task is not None and not self._stopping:
            self._stopping = True
            self._task.cancel()

    async def _hold(self) -> None:
        """The life of one server."""
        session: ServerSession | None = None
        try:
            session = await connect(
                self._transport,
                peer=self.settings.name,
                client=self._client,
                request_timeout=self.settings.request_timeout,
                probe_patience=self._probe_patience,
                eras=self._eras,
                listeners=self._listeners,
                hidden=self.hidden,
            )
            self._connected = self._clock()
            self.listing = await _listed(session)
            self.session = session
            if self._settle(ServerState.READY, None, None):
                lost = await _until_gone(session)
                self._settle(ServerState.FAILED, str(lost), lost.fault)
        except PeerError as error:
            self._settle(ServerState.FAILED, str(error), error.fault)
        except Exception as error:
            logger.exception("%s: starting it failed in lockgate itself", self.settings.name)
            self._settle(ServerState.FAILED, f"internal: {type(error).__name__}", None)
        finally:
            self._stopping = True
            self._settle(ServerState.CLOSED, None, None)
            if session is not None:
                await session.close()

    def _settle(self, state: ServerState, reason: str | None, fault: Fault | None) -> bool:
        """Change the state if that is still possible. Whether it was."""
        before = self._state
        if before is ServerState.FAILED or before is ServerState.CLOSED:
            return False
        if before is ServerState.CONNECTING:
            self._settled_at = self._clock()
        if state is ServerState.FAILED:
            if before is ServerState.CONNECTING and self._begun is not None:
                reason = f"{reason} (after {self._seconds():.1f} s)"
            reason = self.hidden.hide(reason or "")
            # Who starts servers is told by the report; that one is lost later, nobody would know.
            level = logging.INFO if before is ServerState.CONNECTING else logging.WARNING
            logger.log(level, "MCP server %s: %s", self.settings.name, in_brief(reason))
        self._state, self._reason, self._fault = state, reason, fault
        self._settled.set()
        return True

    def status(self) -> ServerStatus:
        """The server now."""
        session = self.session
        connected = self._connected
        return ServerStatus(
            name=self.settings.name,
            state=self._state,
            required=self.settings.required,
            transport=self._transport.describe(),
            reason=self._reason,
            fault=self._fault,
            seconds=self._seconds(),
            seconds_to_connect=None if connected is None else connected - (self._begun or 0.0),
            revision=None if session is None else session.revision.name,
            era=None if session is None else session.revision.era.value,
            server=None if session is None else _named(session),
            tools=tuple(self.tools),
            left_out=tuple(self.left_out),
            changed=tuple(self.changed),
            remarks=tuple(self.remarks),
            seen=self.seen.seen if self.seen and self._state is ServerState.LAST_SEEN else None,
        )

    def _seconds(self) -> float:
        if self._begun is None:
            return 0.0
        until = self._clock() if self._settled_at is None else self._settled_at
        return until - self._begun

    def __repr__(self) -> str:
        return f"<ServerHolder {self.settings.name} {self._state.value}, {len(self.tools)} tools>"


async def _until_gone(session: ServerSession) -> PeerError:
    """Wait for the end of the connection; returns why it ended.

    The loop holds tasks only weakly. Without a timer of the loop's in this wait, a program that
    drops its manager has it collected in the middle of its work, instead of closed with the loop.
    """
    while True:
        try:
            async with asyncio.timeout(ROLL_CALL):
                return await session.connection.wait_gone()
        except TimeoutError:
            continue


async def _listed(session: ServerSession) -> ListedTools:
    """The server's tools. One that says it has none, and knows no such method, has none."""
    try:
        return await ToolClient(session).list()
    except PeerError as error:
        if error.code == METHOD_NOT_FOUND and not session.profile.can("tools"):
            return ListedTools((), remarks=("it has no tools",))
        raise


def _named(session: ServerSession) -> str | None:
    profile = session.profile
    words = [word for word in (profile.title or profile.name, profile.version) if word]
    return " ".join(words) or None
