"""One server of a manager: started, held, brought back when it is lost, and closed by one task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeAlias

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.subscriptions import Wanted
from lockgate.mcp.client.tools import ListedTools, ToolClient
from lockgate.mcp.host.admission import Admission
from lockgate.mcp.host.catalogue import Catalogue
from lockgate.mcp.host.condition import Condition, Means
from lockgate.mcp.host.events import unforged
from lockgate.mcp.host.line import Line
from lockgate.mcp.host.offerings import Offerings
from lockgate.mcp.host.seen import SeenServer
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerState, ServerStatus, in_brief
from lockgate.mcp.host.subscription import Subscription, announced
from lockgate.mcp.host.watch_keeping import Timing
from lockgate.mcp.protocol.jsonrpc import METHOD_NOT_FOUND
from lockgate.mcp.transport.base import Transport
from lockgate.process.hidden import NOTHING, Hidden
from lockgate.process.outlast import outlast

logger = logging.getLogger(__name__)

ROLL_CALL = 3600.0
"""Seconds between two looks at a server that is well."""
LIST_CHANGED: Final = "notifications/tools/list_changed"


class ServerHolder:
    """Holds one server.

    A server that was given up and answers late is closed, and nothing of it is used (S3-09). One
    that was in use and is lost comes back by the policy: the connection is made anew from the
    ground, its tools are listed and handed to the manager, and only then calls reach it (S3-17).
    """

    def __init__(
        self,
        settings: ServerSettings,
        transport: Transport,
        means: Means,
        adopt: Adopt,
        hidden: Hidden = NOTHING,
    ) -> None:
        """`adopt` takes over what `listing` holds now; `hidden` is what no reason and no line of
        the log may hold, see `Manager`."""
        self.settings = settings
        self.hidden = hidden
        self.session: ServerSession | None = None
        """The newest one whose tools were listed; None before there was one."""
        self.listing = ListedTools(())
        self.seen: SeenServer | None = None
        """What its tools are, or were when it was last there; set while they are registered."""
        self.catalogue = Catalogue(clock=means.clock, pause=means.pause, chance=means.chance)
        self.line = Line(settings.name, self.catalogue, means.pause)
        self.admission = Admission(settings, self.line, means.tracing)
        self.admitted = False
        """Whether its tools were registered; set by the manager."""
        self.condition = Condition(settings, means, hidden, self.line)
        timing = Timing(means.clock, means.pause, means.chance)
        self.offerings = Offerings(settings.name, timing, lambda: self.missing)
        """Its resources and prompts."""
        self._transport = transport
        self._means = means
        self._services = means.services(settings)
        self._adopt = adopt
        self._subscription: Subscription | None = None
        self._early = asyncio.Event()
        """Set when somebody asks for the server: no time is waited for then."""
        self._tasks: list[asyncio.Task[None]] = []
        """Its task, after those that still close what was given up."""

    @property
    def state(self) -> ServerState:
        return self.condition.state

    @property
    def missing(self) -> str | None:
        """Why the server is not there, in brief; None if it is, or is not meant to be."""
        if self.state.is_missing:
            return self.status().brief or self.state.value
        session = self.session
        if self.state is not ServerState.READY or session is None or session.connection.usable:
            return None
        # Lost this very moment: its task has not seen it yet.
        return in_brief(self.hidden.hide(str(session.connection.reason)))

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What is to be waited for when it was stopped."""
        return tuple(self._tasks)

    def begin(self) -> None:
        """Start the server's task."""
        name = f"lockgate server {self.settings.name}"
        task = asyncio.get_running_loop().create_task(self._hold(self.tasks), name=name)
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    async def wait_settled(self) -> None:
        """Wait until it is known what came of the newest try: ready, failed, or closed."""
        await self.condition.settled.wait()

    async def again(self) -> None:
        """Have it connected anew and now, whatever it is doing; `wait_settled` tells the outcome.

        One that is there is closed first: what is under way on it ends with an unknown fate.
        """
        state = self.state
        self.condition.asked_for()
        self._early.set()
        if state is ServerState.FAILED or state is ServerState.LAST_SEEN:
            self.begin()
        elif state is ServerState.READY and self.session is not None:
            await self.session.close()

    def recall(self, seen: SeenServer) -> None:
        """Take it for what it was when it was last there, in place of starting it."""
        if self.condition.settle(ServerState.LAST_SEEN):
            self.seen = seen

    def fail(self, reason: str, fault: Fault | None) -> None:
        """Give the server up, and close what there is of it. Does nothing unless it is in use."""
        if self.condition.settle(ServerState.FAILED, reason, fault):
            self.stop()

    def stop(self) -> None:
        """Begin to close, whatever the state. Idempotent; the tasks end when all is closed."""
        if self.state is ServerState.CONNECTING or self.state.has_tools:
            self.condition.settle(ServerState.CLOSED)
        for task in self._tasks:
            if not task.cancelling():  # a second one would cut the closing short
                task.cancel()

    # ------------------------------------------------------------------ its task

    async def _hold(self, before: Sequence[asyncio.Task[None]]) -> None:
        """The life of one server, over all its connections."""
        condition = self.condition
        try:
            if before:  # no two processes of one server at once
                await outlast(asyncio.ensure_future(_ended(before)))
            condition.begin()
            while True:
                self._early.clear()
                condition.trying()
                await self._life()
                if self.state is not ServerState.RECONNECTING:
                    break
                await self._means.pause(condition.wait, self._early)
        except Exception as error:
            logger.exception("%s: holding it failed in lockgate itself", self.settings.name)
            condition.settle(ServerState.FAILED, f"internal: {type(error).__name__}")
        finally:
            condition.settle(ServerState.CLOSED)
            self.offerings.end()
            self.line.end()

    async def _life(self) -> None:
        """One connection from its beginning to its end."""
        keepers: list[asyncio.Task[None]] = []
        session: ServerSession | None = None
        # The manager bounds the start of all servers itself, and says so.
        limit = self._means.limit if self.admitted else None
        try:
            async with asyncio.timeout(limit):
                session = await self._connected()
                if wanted := announced(session):
                    # Before the list is asked for: what changes after that is announced.
                    keepers.append(self._kept(self._listen(session, wanted)))
                await self._list(session, self.catalogue.begin())
            # Before it is in use: a call that comes at once may have to wait for the list.
            keepers.append(self._kept(self._keep(session)))
            keepers.append(self._kept(self.offerings.watching.keep(session)))
            if self._arrive(session):
                raise await _until_gone(session)
        except TimeoutError:
            self.condition.lost(self._late(limit), admitted=self.admitted)
        except PeerError as error:
            self.condition.lost(error, admitted=self.admitted)
        finally:
            self._subscription = None
            if session is not None:
                ending = self._ended(keepers, session)
                await outlast(asyncio.get_running_loop().create_task(ending))

    async def _ended(self, keepers: Sequence[asyncio.Task[None]], session: ServerSession) -> None:
        """End what goes on beside a connection, then the connection. Bounded."""
        for task in keepers:
            task.cancel()
        if keepers:
            await asyncio.wait(keepers)
        if not session.connection.lingers or self.state is not ServerState.RECONNECTING:
            await session.close()
            return
        closing = asyncio.get_running_loop().create_task(self._lingered(session))
        self._tasks.append(closing)
        closing.add_done_callback(self._tasks.remove)
        await asyncio.sleep(0)  # so that it has begun, and closes however soon it is cancelled

    async def _lingered(self, session: ServerSession) -> None:
        """Close a connection to a server that can not be reached any more once what is under way on
        it was answered or given up; the next try does not wait for that."""
        settings = self.settings
        try:
            within = max(settings.request_timeout, settings.progress_extends or 0.0)
            await session.connection.settled(within)
        finally:
            await session.close()

    async def _connected(self) -> ServerSession:
        means = self._means
        session = await connect(
            self._transport,
            peer=self.settings.name,
            client=means.client,
            request_timeout=self.settings.request_timeout,
            probe_patience=means.probe_patience,
            eras=means.eras,
            listeners=(self._hear, *map(unforged, means.listeners)),
            services=self._services,
            hidden=self.hidden,
        )
        self.condition.connected()
        session.connection.renewed.append(self._renewed)
        return session

    def _late(self, limit: float | None) -> PeerError:
        text = f"timeout: it was not connected again within {limit or 0:g} s"
        name = self.settings.name
        fate, fault = Fate.NOT_SENT, Fault.TIMEOUT
        return PeerError(text, peer=name, phase=Phase.CONNECT, fault=fault, fate=fate)

    def _kept(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Something that goes on beside the connection, for as long as it lasts."""
        name = f"lockgate server {self.settings.name} is kept"
        task = asyncio.get_running_loop().create_task(work, name=name)
        task.add_done_callback(self._defect)
        return task

    def _defect(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("%s: keeping it failed", self.settings.name, exc_info=error)

    async def _listen(self, session: ServerSession, wanted: Wanted) -> None:
        means = self._means
        self._subscription = Subscription(
            session,
            wanted,
            opened=self._opened,
            clock=means.clock,
            pause=means.pause,
            chance=means.chance,
        )
        await self._subscription.keep()

    async def _keep(self, session: ServerSession) -> None:
        await self.catalogue.keep(lambda covers: self._reread(session, covers))

    def _opened(self, granted: Wanted) -> None:
        """Changes may have been missed; while the list is read the first time, none can be."""
        if self.state is ServerState.READY:
            self.offerings.forget()
            if granted.tools:
                self.catalogue.want()

    def _renewed(self) -> None:
        """It has a new session, and may be another server; one whose list is unread is asked."""
        if not self.catalogue.unread:
            self.catalogue.announce()

    def _hear(self, server: str, method: str, params: Any) -> None:
        """The server notifies."""
        if method == LIST_CHANGED:
            self.catalogue.announce()
            return
        self.offerings.hear(method, params)
        if self._subscription is not None:
            self._subscription.hear(method, params)

    async def _list(self, session: ServerSession, covers: int) -> None:
        self.listing = listing = await _listed(session)
        self.catalogue.taken(covers, listing.ttl if session.revision.modern else None)

    async def _reread(self, session: ServerSession, covers: int) -> None:
        """Read the list once more, and have it taken over. Raises `PeerError`."""
        try:
            await self._list(session, covers)
        except PeerError as error:
            if self.state is ServerState.READY and session.connection.usable:
                level = logging.WARNING if self.catalogue.failure is None else logging.INFO
                logger.log(
                    level,
                    "MCP server %s: its tools can not be listed again, and stay as they are: %s",
                    self.settings.name,
                    in_brief(self.hidden.hide(str(error))),
                )
            raise
        if self.state is ServerState.READY:
            self._adopt(self)

    def _arrive(self, session: ServerSession) -> bool:
        """The server is there: have its tools taken over. Whether it is in use now."""
        if self.state is not ServerState.CONNECTING and self.state is not ServerState.RECONNECTING:
            return False
        self.session = session
        self.offerings.connected(session)
        refused = self._adopt(self)
        if refused is not None:
            self.condition.settle(ServerState.FAILED, refused)
            return False
        return self.condition.ready()

    def status(self) -> ServerStatus:
        """The server now."""
        session, admission, condition = self.session, self.admission, self.condition
        failure = self.catalogue.failure
        return ServerStatus(
            name=self.settings.name,
            state=self.state,
            required=self.settings.required,
            transport=self._transport.describe(),
            reason=condition.reason,
            fault=condition.fault,
            seconds=condition.seconds,
            seconds_to_connect=condition.seconds_to_connect,
            revision=None if session is None else session.revision.name,
            era=None if session is None else session.revision.era.value,
            server=None if session is None else _named(session),
            tools=admission.names,
            left_out=admission.left_out,
            changed=admission.changed,
            remarks=admission.remarks,
            seen=self.seen.seen if self.seen and self.state is ServerState.LAST_SEEN else None,
            generation=self.line.generation,
            tries=condition.tries,
            next_try=condition.next_try,
            circuit=condition.circuit,
            stale=None if failure is None else self.hidden.hide(str(failure)),
        )

    def __repr__(self) -> str:
        tools = len(self.admission.tools)
        return f"<ServerHolder {self.settings.name} {self.state.value}, {tools} tools>"


Adopt: TypeAlias = Callable[[ServerHolder], str | None]
"""Takes over what a holder's server lists now; returns why that can not be."""


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


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
