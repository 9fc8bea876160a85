"""Many servers as tools: started together under one deadline, held, and closed (S3-06, S3-08).

One server's failure never harms another (S3-10). Registering is done here, at one place and in the
order of the configuration, once everything that was going to start has started: so the outcome
does not depend on which server was quicker, and here every ruling is made (S0-11).
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias

from lockgate.errors import Fault, LocalError
from lockgate.mcp.client.connect import PROBE_PATIENCE
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.host.condition import Means, ServicesOf, serves_nothing
from lockgate.mcp.host.events import TOOLS_CHANGED, tell
from lockgate.mcp.host.expectations import check, missing
from lockgate.mcp.host.holder import ServerHolder
from lockgate.mcp.host.offerings import Offerings
from lockgate.mcp.host.pause import Pause, pause
from lockgate.mcp.host.pins import NoPins, PinBook, PinState, verdict_state
from lockgate.mcp.host.reconnect import ReconnectPolicy
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import SeenServer, SeenServers, recalled, sighted
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.mcp.host.status import ServerState, ServerStatus, StartReport
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.host.trust import resolve
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import ListedTool
from lockgate.mcp.transport.base import Transport
from lockgate.process.hidden import NOTHING, Hidden
from lockgate.showing import visible
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.registry import Registry
from lockgate.version import VERSION

logger = logging.getLogger(__name__)

MakeTransport: TypeAlias = Callable[[ServerSettings], Transport]
"""How a configured server is reached."""

SPAWN_ALLOWANCE = 30.0
"""Seconds on top of the longest request timeout that starting all servers may take (S3-08)."""
CLOSING_BOUND = 15.0
"""Seconds that closing waits for a server before it says that it could not be closed."""


class Manager:
    """The MCP servers of one runtime. `start` once, `close` as often as you like."""

    def __init__(
        self,
        servers: Sequence[ServerSettings],
        *,
        connect: MakeTransport,
        bound: float | None = None,
        startup_budget: float | None = None,
        listeners: Sequence[Listener] = (),
        client: ClientIdentity | None = None,
        probe_patience: float = PROBE_PATIENCE,
        eras: MutableMapping[str, Era] | None = None,
        clock: Callable[[], float] = time.monotonic,
        hidden: Callable[[ServerSettings], Iterable[str] | Hidden] | None = None,
        tracing: CallTracing | None = None,
        pins: PinBook | None = None,
        seen: SeenServers | None = None,
        now: Callable[[], float] = time.time,
        reconnect: ReconnectPolicy | None = ReconnectPolicy(),  # noqa: B008 - a frozen value
        chance: Callable[[], float] = random.random,
        pause: Pause = pause,
        services: ServicesOf = serves_nothing,
    ) -> None:
        """Start nothing yet.

        `bound` is the seconds that `start` may take, by default the longest request timeout plus
        SPAWN_ALLOWANCE; `startup_budget` is the operator's lower one (S3-20). `listeners` hear the
        notifications of every server. `client` is who we say we are, by default lockgate and its
        version. `probe_patience` and `eras`: see `client.connect`. `clock` gives seconds, for
        timings only. `hidden` gives the values of a server that nothing said of it may hold, its
        secrets. `tracing` gives what calls carry of a trace. `pins` are the definitions that were
        reviewed; `seen` keeps servers as they were last seen, `now` says when that was, in seconds
        since 1970. `reconnect` says how a server that was lost comes back by itself; None: it does
        not. `chance` gives numbers from 0 to 1 for its jitter, `pause` waits. `services` says what
        each server may ask of this side. Raises `ConfigError` for a name that comes twice (S3-11),
        and for a budget that is not over 0 or above the bound.
        """
        if bound is None:
            bound = max((s.request_timeout for s in servers), default=0.0) + SPAWN_ALLOWANCE
        check(servers, bound, startup_budget)
        self._limit = bound if startup_budget is None else startup_budget
        who = client or ClientIdentity("lockgate", VERSION)
        means = Means(
            client=who,
            probe_patience=probe_patience,
            eras={} if eras is None else eras,
            listeners=tuple(listeners),
            clock=clock,
            pause=pause,
            chance=chance,
            limit=self._limit,
            policy=reconnect,
            tracing=tracing,
            services=services,
        )
        self._holders = tuple(
            ServerHolder(
                settings,
                connect(settings),
                means,
                self._adopt,
                NOTHING if hidden is None else _hidden(hidden(settings)),
            )
            for settings in servers
        )
        self._listeners = means.listeners
        self._clock = clock
        self._look_at = math.inf
        """When the first list gets too old, by the clock."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._registry: Registry | None = None
        self._pins: PinBook = NoPins() if pins is None else pins
        self._seen = seen
        self._now = now
        self._used = False
        self._closing = False

    @property
    def configured(self) -> tuple[ServerSettings, ...]:
        """What it was made of, in the order of the configuration."""
        return tuple(holder.settings for holder in self._holders)

    @property
    def statuses(self) -> tuple[ServerStatus, ...]:
        """Every server now, in the order of the configuration."""
        return tuple(holder.status() for holder in self._holders)

    @property
    def failed(self) -> Mapping[str, str]:
        """The servers that are not there now: configured name to the reason in brief."""
        return {
            holder.settings.name: reason
            for holder in self._holders
            if (reason := holder.missing) is not None
        }

    def seen(self, server: str) -> SeenServer | None:
        """What `server` lists, or listed when it was last there; None while its tools are not
        registered, whatever was done with each of them."""
        return next((h.seen for h in self._holders if h.settings.name == server), None)

    def offerings(self, server: str) -> Offerings:
        """What `server` offers beside its tools. Raises `LocalError` for a name that is none,
        before `start`, and on another loop."""
        if self._loop is None or self._loop is not asyncio.get_running_loop():
            raise LocalError("servers are asked on the event loop that their manager started on")
        for holder in self._holders:
            if holder.settings.name == server:
                return holder.offerings
        known = ", ".join(holder.settings.name for holder in self._holders)
        raise LocalError(f"no server is called {visible(server)[:80]!r}; there is {known}")

    def rule(
        self,
        settings: ServerSettings,
        listed: ListedTool,
        fingerprint: Fingerprint,
        verdict: Verdict | None,
        pin: PinState,
    ) -> Ruling:
        """What is ruled on a tool with this verdict and pin.

        The one place (S0-11): by it every definition is ruled on that is registered. It can also be
        asked what would be ruled if a person said so; nothing is registered by it.
        """
        pin = verdict_state(verdict, pin, fingerprint)
        return resolve(listed.claims, settings.annotation_trust, verdict, pin)

    async def start(self, registry: Registry, *, recall: bool = False) -> StartReport:
        """Start every server at once and register the tools of those that did start in time.

        With `recall` a server is not started whose tools are known from the last time, if it is
        reached as it was then: those are registered, and answer not_connected. Returns at the
        deadline at the latest; what is given up then is closed in the background, and `close` waits
        for it. Servers fail in the report, not by an exception. Cancelled, all is closed. Raises
        `LocalError` if it was called before, or the manager is closed meanwhile.
        """
        self._begin()
        self._loop = asyncio.get_running_loop()
        wanted = [h for h in self._holders if not (recall and self._recalled(h) is None)]
        for holder in wanted:
            holder.begin()
        try:
            await self._settle(self._holders)
            if self._closing:
                raise LocalError("the manager was closed while it was starting")
            return self._registered(registry)
        except BaseException:
            await self.close()
            raise

    def offline(self, registry: Registry) -> StartReport:
        """Register the tools that every server had when it was last there, and start nothing.

        They are ruled on as by `start`; calls to them answer not_connected. A server that was never
        there, or is reached otherwise since, is FAILED with that reason. Raises `LocalError` if the
        manager was used before.
        """
        self._begin()
        for holder in self._holders:
            reason = self._recalled(holder)
            if reason is not None:
                holder.fail(reason, None)
        return self._registered(registry)

    def turn_begins(self) -> None:
        """A piece of work is about to look at the tools: lists that are too old by now are read
        again, beside it (2026-07-28, Caching). Costs next to nothing otherwise."""
        now = self._clock()
        if now < self._look_at:
            return
        for holder in self._holders:
            holder.catalogue.look(now)
        self._look_at = min((h.catalogue.stale_at for h in self._holders), default=math.inf)

    async def reconnect(
        self, name: str | None = None, *, failed_only: bool = True
    ) -> tuple[ServerStatus, ...]:
        """Have servers connected anew and now; returns how each of them is doing then.

        `name` is one server, None all. With `failed_only` those that are there are left alone;
        without it they are closed first, and what is under way on them ends with an unknown fate.
        Their tools are listed and compared before a call reaches them, and a turn that is under way
        keeps its own. Takes at most as long as `start` may; who is late then is given up, unless it
        comes back by itself. Raises `LocalError` for a name that is none, before `start`, after
        `close`, and on another loop.
        """
        if self._registry is None or self._loop is None or self._closing:
            raise LocalError("servers are connected anew while their manager is started")
        if self._loop is not asyncio.get_running_loop():
            raise LocalError("the manager belongs to another event loop: use it where it started")
        chosen = [h for h in self._holders if name in (None, h.settings.name)]
        if name is not None and not chosen:
            known = ", ".join(h.settings.name for h in self._holders)
            raise LocalError(f"no server is called {name!r}; there is {known}")
        wanted = [h for h in chosen if h.missing is not None or not failed_only]
        await self._settle(wanted, [holder.again() for holder in wanted])
        return tuple(holder.status() for holder in chosen)

    async def close(self) -> None:
        """Close every server and wait until nothing is left. Idempotent; any task may.

        Registered tools are withdrawn. What goes wrong with one server is logged and the others
        still close; never raises but for a wrong loop.
        """
        if self._loop is not None and self._loop is not asyncio.get_running_loop():
            raise LocalError("the manager belongs to another event loop: close it where it started")
        self._closing = True
        for holder in self._holders:
            holder.stop()
        if self._registry is not None:
            self._registry.withdraw(name for h in self._holders for name in h.admission.names)
        tasks = [task for holder in self._holders for task in holder.tasks]
        if not tasks:
            return
        _, stubborn = await asyncio.wait(tasks, timeout=CLOSING_BOUND)
        for task in stubborn:
            logger.error("%s could not be closed in %g s", task.get_name(), CLOSING_BOUND)

    def _begin(self) -> None:
        if self._used or self._closing:
            raise LocalError("a manager is started once: make a new one")
        self._used = True

    def _recalled(self, holder: ServerHolder) -> str | None:
        """Take a server for what it was when it was last there; else why that can not be."""
        settings = holder.settings
        last = None if self._seen is None else self._seen.last(settings.name)
        seen = recalled(last, settings.endpoint)
        if isinstance(seen, str):
            return seen
        holder.recall(seen)
        return None

    async def _settle(
        self, holders: Sequence[ServerHolder], first: Sequence[Coroutine[Any, Any, None]] = ()
    ) -> None:
        """Wait until each is ready or has failed, after `first`; give up those that are late."""
        try:
            async with asyncio.timeout(self._limit):
                await asyncio.gather(*first)
                for holder in holders:
                    await holder.wait_settled()
        except TimeoutError:
            text = f"timeout: it was not ready within {self._limit:g} s, the bound for all servers"
            for holder in holders:
                if holder.state is ServerState.CONNECTING:
                    holder.fail(text, Fault.TIMEOUT)

    def _registered(self, registry: Registry) -> StartReport:
        self._registry = registry
        for holder in self._holders:
            if holder.state.has_tools and (refused := self._adopt(holder)) is not None:
                holder.fail(refused, None)
        return self._report()

    def _adopt(self, holder: ServerHolder) -> str | None:
        """Take over what a server lists now; why not, if that can not be."""
        registry = self._registry
        if registry is None or self._closing:
            return None  # it is registered with all others, or never
        settings, session = holder.settings, holder.session
        if not holder.admitted:
            present = {tool.definition.origin.server for tool in registry.snapshot().tools}
            if settings.name in present:
                return "a server of that name is registered already"
        if session is not None:
            holder.seen = sighted(settings, session.profile, holder.listing, self._now())
            if self._seen is not None:
                self._seen.keep(holder.seen, holder.hidden)
            holder.line.connected(session)
            self._look_at = min(self._look_at, holder.catalogue.stale_at)
        if holder.seen is not None:
            self._admit(holder, holder.seen, registry)
        return None

    def _admit(self, holder: ServerHolder, seen: SeenServer, registry: Registry) -> None:
        """Register what it lists, and tell what of it is new since it was there before."""
        settings, admission, first = holder.settings, holder.admission, not holder.admitted
        before = None if first else (admission.left_out, admission.changed)
        change = admission.admit(seen, self._pins.pinned(settings.name), self.rule, registry)
        holder.admitted = True
        if before is None or admission.left_out != before[0]:
            for out in admission.left_out:
                what = visible(f"{out.tool:.100} left out: {out.reason:.300}")
                logger.info("MCP server %s: tool %s", settings.name, what)
        if before is None or not change:
            return
        logger.info("MCP server %s: its tools are others now: %s", settings.name, change)
        status = holder.status()
        for sentence in missing(settings, status):
            logger.warning("%s", sentence)
        if status.change is not None and admission.changed != before[1]:
            logger.warning("%s", status.change)
        params = {
            "added": list(change.added),
            "removed": list(change.removed),
            "changed": list(change.changed),
        }
        tell(self._listeners, settings.name, TOOLS_CHANGED, params)

    def _report(self) -> StartReport:
        unreachable: list[str] = []
        absent: list[str] = []
        for holder in self._holders:
            status = holder.status()
            if status.state.has_tools:
                absent.extend(missing(holder.settings, status))
            elif status.required:
                reason = status.brief or status.state.value
                unreachable.append(f"required server {status.name} did not start: {reason}")
        return StartReport(self.statuses, tuple(unreachable), tuple(absent))

    def __repr__(self) -> str:
        states = ", ".join(f"{h.settings.name} {h.state.value}" for h in self._holders)
        return f"<Manager {states or 'without servers'}>"


def _hidden(values: Iterable[str] | Hidden) -> Hidden:
    return values if isinstance(values, Hidden) else Hidden(values)
