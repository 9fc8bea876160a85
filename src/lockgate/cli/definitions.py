"""The definitions that servers list: asked for now, or as they were last seen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

import click

from lockgate.app.narrowed import for_servers
from lockgate.app.review import ServerReview, review
from lockgate.app.servers import secrets_of, tools_last_seen
from lockgate.cli.opening import opened, settled_config
from lockgate.cli.options import find_layers
from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config

last_seen_option = click.option(
    "--last-seen", is_flag=True, help="Start nothing: take what was listed the last time."
)
"""`--last-seen`, as the parameter `last_seen`."""


class Definitions:
    """What servers list, each tool with its pin, its ruling and a proposal."""

    def __init__(self, config: Config, manager: Manager, reviews: list[ServerReview]) -> None:
        self.config = config
        self.manager = manager
        self.reviews = tuple(reviews)

    def settings(self, server: str) -> ServerSettings:
        """The configuration of a server that is there."""
        return next(s for s in self.config.servers if s.name == server)

    def secrets(self, server: str) -> tuple[str, ...]:
        """The values of a server's configuration that no file may hold."""
        return secrets_of(self.settings(server), os.environ)


async def definitions(
    config: Path | None,
    servers: Callable[[Config], Collection[str]],
    *,
    last_seen: bool,
) -> Definitions:
    """Look at servers, and close them again.

    `servers` picks them, of the configuration. Raises `ConfigError` for one that is not configured,
    `PeerError` for one that can not be started, and with `last_seen` `LocalError` for one of which
    nothing is known.
    """
    if last_seen:
        settings = settled_config(find_layers(config))
        settings = for_servers(settings, servers(settings))
        _, statuses, manager = tools_last_seen(
            settings, os.environ, time=time.time, monotonic=time.monotonic
        )
        failed = {s.name: s.reason or s.state.value for s in statuses if not s.state.has_tools}
        for name, reason in failed.items():
            raise LocalError(f"{name}: {reason}. Leave --last-seen out to start it")
        return _looked_at(settings, manager)
    layers = find_layers(config)
    wanted = servers(settled_config(layers))
    async with opened(config, tolerant=True, attended=False, tell=False, servers=wanted) as gate:
        for name, reason in gate.failed.items():
            raise PeerError(
                f"{name} can not be started: {reason}",
                peer=name,
                phase=Phase.CONNECT,
                fault=Fault.NOT_CONNECTED,
                fate=Fate.NOT_SENT,
            )
        return _looked_at(gate.config, gate.mcp)


def _looked_at(config: Config, manager: Manager | None) -> Definitions:
    if manager is None:
        raise LocalError("no servers are configured")
    found = (review(manager, config.pins, settings) for settings in config.servers)
    return Definitions(config, manager, [one for one in found if one is not None])
