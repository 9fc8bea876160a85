"""The servers of a gate: how they are reached, what is remembered of them, what is demanded."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lockgate.app.token_sources import TokenSources
from lockgate.errors import ContractError, Fate, Fault, PeerError, Phase
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.services import Services
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.mcp.host.condition import ServicesOf, serves_nothing
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerStatus, StartReport
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.process.hidden import Hidden
from lockgate.settings.config import Config
from lockgate.settings.masking import secrets_in
from lockgate.showing import visible
from lockgate.stores.last_seen import LastSeenFolder
from lockgate.tools.registry import Registry, Snapshot

_log: Final = logging.getLogger("lockgate.app")

_LAST_SEEN: Final = "servers"
"""The folder of the state directory that holds servers as they were last seen."""


def make_manager(
    config: Config,
    state_dir: Path,
    *,
    environ: Mapping[str, str],
    time: Callable[[], float],
    monotonic: Callable[[], float],
    connect: Callable[[ServerSettings], Transport] | None = None,
    listeners: Sequence[Listener] = (),
    tracing: CallTracing | None = None,
    services: ServicesOf = serves_nothing,
    tokens: TokenSources | None = None,
) -> Manager | None:
    """The servers of a configuration; None where none is configured, at no cost (S3-12).

    `connect` says how a server is reached; None: by its endpoint. `tokens` are the credentials of
    those over HTTP that their headers do not hold. `services` is what each may ask.
    """
    if not config.servers:
        return None
    secrets: dict[str, tuple[str, ...]] = {}

    def hidden(settings: ServerSettings) -> tuple[str, ...]:
        found = secrets.get(settings.name)
        if found is None:
            found = secrets[settings.name] = secrets_of(settings, environ)
        return found

    def source(settings: ServerSettings) -> TokenSource | None:
        return None if tokens is None else tokens.of(settings)

    def shielded(settings: ServerSettings) -> Hidden:
        of = source(settings)
        return Hidden(hidden(settings), None if of is None else of.learned)

    def serving(settings: ServerSettings) -> Services:
        found, plan = services(settings), settings.auth
        extension = plan.extension if isinstance(plan, OAuthPlan) else None
        if extension is None:
            return found
        return replace(found, extensions={**found.extensions, extension: {}})

    def by_endpoint(settings: ServerSettings) -> Transport:
        endpoint = settings.endpoint
        # Late: both bring the HTTP library along, which nobody needs without such a server.
        if isinstance(endpoint, SseEndpoint):
            from lockgate.mcp.transport.http_pool import connecting
            from lockgate.mcp.transport.legacy_sse import LegacySseTransport

            return LegacySseTransport(
                endpoint,
                peer=settings.name,
                environ=environ,
                connect=connecting(settings.request_timeout),
                opening=settings.request_timeout,
                hidden=hidden(settings),
                tokens=source(settings),
            )
        if isinstance(endpoint, HttpEndpoint):
            from lockgate.mcp.transport.http_pool import connecting
            from lockgate.mcp.transport.streamable_http import StreamableHttpTransport

            return StreamableHttpTransport(
                endpoint,
                peer=settings.name,
                environ=environ,
                connect=connecting(settings.request_timeout),
                hidden=hidden(settings),
                tokens=source(settings),
            )
        return StdioTransport(
            endpoint,
            peer=settings.name,
            environ=environ,
            hidden=hidden(settings),
        )

    return Manager(
        config.servers,
        connect=connect or by_endpoint,
        startup_budget=config.startup_budget,
        listeners=listeners,
        clock=monotonic,
        hidden=shielded,
        tracing=tracing,
        services=serving,
        pins=config.pins,
        seen=LastSeenFolder(state_dir / _LAST_SEEN),
        now=time,
    )


def secrets_of(settings: ServerSettings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of a server's configuration that nothing said of it, and no file, may hold."""
    endpoint = settings.endpoint
    if isinstance(endpoint, HttpEndpoint):
        addresses = (endpoint.url, endpoint.proxy or "")
        plan = settings.auth.secrets if isinstance(settings.auth, OAuthPlan) else ()
        return (*endpoint.secrets(), *plan, *secrets_in(addresses, {}, environ))
    return secrets_in(endpoint.args, endpoint.env, environ)


def tools_last_seen(
    config: Config,
    environ: Mapping[str, str],
    *,
    time: Callable[[], float],
    monotonic: Callable[[], float],
) -> tuple[Snapshot, tuple[ServerStatus, ...], Manager | None]:
    """The tools that the servers had when they were last there, ruled on anew; starts nothing.

    With them the servers, those of which nothing is known among them, and the manager that ruled.
    """
    registry = Registry()
    if config.state_dir is None:
        return registry.snapshot(), (), None
    manager = make_manager(
        config, config.state_dir, environ=environ, time=time, monotonic=monotonic
    )
    if manager is None:
        return registry.snapshot(), (), None
    report = manager.offline(registry)
    return registry.snapshot(), report.servers, manager


def warn(report: StartReport) -> None:
    """Say in the log what is not there: a program may never look at the report."""
    for name, reason in report.errors.items():
        _log.warning("MCP server %s is not available: %s", name, reason)
    for server in report.servers:
        if server.left_out:
            names = visible(", ".join(out.tool for out in server.left_out)[:200])
            _log.warning("MCP server %s: tools left out: %s", server.name, names)
        if server.change is not None:
            _log.warning("%s", server.change)


def demand(report: StartReport) -> None:
    """Stop the start for what the operator relies on and is not there (B-07).

    Raises `ContractError` for an expected tool, which counts first, and `PeerError` for a required
    server.
    """
    if report.missing:
        raise ContractError(*report.missing, *report.unreachable)
    if report.unreachable:
        down = next(s for s in report.servers if s.required and s.reason is not None)
        raise PeerError(
            "\n".join(report.unreachable),
            peer=down.name,
            phase=Phase.CONNECT,
            fault=down.fault or Fault.NOT_CONNECTED,
            fate=Fate.NOT_SENT,
        )
