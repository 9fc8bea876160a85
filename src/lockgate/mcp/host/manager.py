"""Many servers as tools: started together under one deadline, held, and closed (S3-06, S3-08).

One server's failure never harms another (S3-10). Registering is done here, at one place and in the
order of the configuration, once everything that was going to start has started: so the outcome
does not depend on which server was quicker, and here every ruling is made (S0-11).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from importlib.metadata import version
from typing import TypeAlias

from lockgate.errors import ConfigError, Fault, LocalError, Problem
from lockgate.mcp.client.connect import PROBE_PATIENCE
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.host.adapter import McpTool
from lockgate.mcp.host.holder import ServerHolder
from lockgate.mcp.host.pins import (
    NoPins,
    PinBook,
    PinState,
    Standing,
    pin_state,
    verdict_state,
    withheld,
)
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import SeenServer, SeenServers, recalled, sighted
from lockgate.mcp.host.settings import PinPolicy, ServerSettings, Verdict
from lockgate.mcp.host.status import LeftOutTool, ServerState, ServerStatus, StartReport
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.host.trust import resolve
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.results import ListedTool
from lockgate.mcp.transport.base import Transport
from lockgate.process.hidden import NOTHING, Hidden
from lockgate.schema.error import SchemaError
from lockgate.showing import visible
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.naming import server_tool_name
from lockgate.tools.registry import NameRefused, Registry
from lockgate.traits import ConcurrencyBehavior

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
        hidden: Callable[[ServerSettings], Iterable[str]] | None = None,
        tracing: CallTracing | None = None,
        pins: PinBook | None = None,
        seen: SeenServers | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Start nothing yet.

        `bound` is the seconds that `start` may take, by default the longest request timeout plus
        SPAWN_ALLOWANCE; `startup_budget` is the operator's lower one (S3-20). `listeners` hear the
        notifications of every server. `client` is who we say we are, by default lockgate and its
        version. `probe_patience` and `eras`: see `client.connect`. `clock` gives seconds, for
        timings only. `hidden` gives the values of a server that nothing said of it may hold, its
        secrets. `tracing` gives what calls carry of a trace. `pins` are the definitions that were
        reviewed; `seen` keeps servers as they were last seen, `now` says when that was, in seconds
        since 1970. Raises `ConfigError` for a name that comes twice (S3-11), and for a budget that
        is not over 0 or above the bound.
        """
        if bound is None:
            bound = max((s.request_timeout for s in servers), default=0.0) + SPAWN_ALLOWANCE
        _check(servers, bound, startup_budget)
        self._limit = bound if startup_budget is None else startup_budget
        who = client or ClientIdentity("lockgate", version("lockgate"))
        remembered: MutableMapping[str, Era] = {} if eras is None else eras
        self._holders = tuple(
            ServerHolder(
                settings,
                connect(settings),
                client=who,
                probe_patience=probe_patience,
                eras=remembered,
                listeners=listeners,
                clock=clock,
                hidden=NOTHING if hidden is None else Hidden(hidden(settings)),
            )
            for settings in servers
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._registry: Registry | None = None
        self._tracing = tracing
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
            status.name: status.brief or status.state.value
            for status in self.statuses
            if status.state is ServerState.FAILED
        }

    def seen(self, server: str) -> SeenServer | None:
        """What `server` lists, or listed when it was last there; None while its tools are not
        registered, whatever was done with each of them."""
        return next((h.seen for h in self._holders if h.settings.name == server), None)

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
        self._tasks = tuple(holder.begin() for holder in wanted)
        try:
            await self._settle()
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
            self._registry.withdraw(name for h in self._holders for name in h.tools)
        if not self._tasks:
            return
        _, stubborn = await asyncio.wait(self._tasks, timeout=CLOSING_BOUND)
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

    async def _settle(self) -> None:
        """Wait until every server is ready or has failed; give up those that are late."""
        try:
            async with asyncio.timeout(self._limit):
                for holder in self._holders:
                    await holder.wait_settled()
        except TimeoutError:
            text = f"timeout: it was not ready within {self._limit:g} s, the bound for all servers"
            for holder in self._holders:
                if holder.state is ServerState.CONNECTING:
                    holder.fail(text, Fault.TIMEOUT)

    def _registered(self, registry: Registry) -> StartReport:
        self._registry = registry
        for holder in self._holders:
            self._register(holder, registry)
        return self._report()

    def _register(self, holder: ServerHolder, registry: Registry) -> None:
        """Rule on each tool of a server that is there, or was, and let it in."""
        settings, session = holder.settings, holder.session
        if not holder.state.has_tools:
            return
        present = {tool.definition.origin.server for tool in registry.snapshot().tools}
        if settings.name in present:
            holder.fail("a server of that name is registered already", None)
            return
        if session is not None:
            holder.seen = sighted(settings, session.profile, holder.listing, self._now())
            if self._seen is not None:
                self._seen.keep(holder.seen, holder.hidden)
        if holder.seen is not None:
            self._admit(holder, session or holder.seen, holder.seen, registry)
        for out in holder.left_out:
            what = visible(f"{out.tool:.100} left out: {out.reason:.300}")
            logger.info("MCP server %s: tool %s", settings.name, what)

    def _admit(
        self,
        holder: ServerHolder,
        source: ServerSession | SeenServer,
        seen: SeenServer,
        registry: Registry,
    ) -> None:
        settings = holder.settings
        pinned = self._pins.pinned(settings.name)
        holder.left_out.extend(LeftOutTool(out.tool, out.reason) for out in seen.left_out)
        for listed in seen.tools:
            fingerprint = seen.fingerprints[listed.name]
            pin = pin_state(settings.pins, pinned, listed.name, fingerprint)
            if pin.standing is Standing.CHANGED:
                holder.changed.append(f"{listed.name} ({', '.join(pin.changed)})")
            reason = withheld(settings.pins, pin, settings.name)
            if reason is not None:
                holder.left_out.append(LeftOutTool(listed.name, reason))
                continue
            verdict = settings.verdicts.get(listed.name)
            ruling = self.rule(settings, listed, fingerprint, verdict, pin)
            tool = McpTool(settings, source, listed, fingerprint, ruling, self._tracing)
            try:
                registry.register(tool)
            except (NameRefused, SchemaError) as error:
                holder.left_out.append(LeftOutTool(listed.name, str(error)))
            else:
                holder.tools.append(tool.name)
        names = {listed.name for listed in seen.tools}
        holder.remarks.extend((*seen.remarks, *_unused(settings, seen.fingerprints)))
        if settings.pins is not PinPolicy.OFF and (gone := sorted(pinned.keys() - names)):
            holder.remarks.append(f"pinned, and not listed any more: {', '.join(gone)}")

    def _report(self) -> StartReport:
        unreachable: list[str] = []
        missing: list[str] = []
        for holder in self._holders:
            status = holder.status()
            if status.state.has_tools:
                missing.extend(_missing(holder.settings, status))
            elif status.required:
                reason = status.brief or status.state.value
                unreachable.append(f"required server {status.name} did not start: {reason}")
        return StartReport(self.statuses, tuple(unreachable), tuple(missing))

    def __repr__(self) -> str:
        states = ", ".join(f"{h.settings.name} {h.state.value}" for h in self._holders)
        return f"<Manager {states or 'without servers'}>"


def _check(servers: Sequence[ServerSettings], bound: float, budget: float | None) -> None:
    problems: list[Problem] = []
    names = [settings.name for settings in servers]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.append(
            Problem(f"the server name {name!r} is used more than once", path="mcp.servers")
        )
    if budget is not None and not 0 < budget <= bound:
        problems.append(
            Problem(
                f"startupBudget is {budget:g} s; it must be over 0 and at most {bound:g} s, the "
                "safety bound",
                path="mcp.startupBudget",
                hint="leave it out to use the safety bound",
            )
        )
    if problems:
        raise ConfigError(*problems)


def _missing(settings: ServerSettings, status: ServerStatus) -> list[str]:
    """What the operator expects of a server that did start, and it has not got (B-07)."""
    left_out = {out.tool: out.reason for out in status.left_out}
    missing: list[str] = []
    for expected in settings.expect_tools:
        if server_tool_name(settings.name, expected) in status.tools:
            continue
        why = left_out.get(expected)
        what = "is not listed by it" if why is None else f"was left out: {why}"
        missing.append(f"server {settings.name}: the expected tool {expected!r} {what}")
    return missing


def _unused(settings: ServerSettings, listed: Mapping[str, Fingerprint]) -> list[str]:
    """What the operator wrote for this server that has no effect; `listed` is by original name."""
    remarks = [
        f"the verdict for {name!r} applies to nothing: no such tool is listed"
        for name in settings.verdicts
        if name not in listed
    ]
    remarks.extend(
        f"the verdict for {name!r} was given for another definition, and loosens nothing"
        for name, verdict in settings.verdicts.items()
        if name in listed and verdict.pin not in (None, listed[name].digest)
    )
    if settings.lane == "server":
        remarks.extend(
            f"the verdict concurrent for {name!r} has no effect: lane is server"
            for name, verdict in settings.verdicts.items()
            if verdict.concurrent is ConcurrencyBehavior.CONCURRENT_SAFE
        )
    return remarks
