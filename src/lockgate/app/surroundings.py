"""What a gate takes from its process."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lockgate.bridges.voice import Voice
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.base import Transport
from lockgate.settings.config import Config


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a gate takes from its process, so that a test can give it another."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    cwd: Path = field(default_factory=Path.cwd)
    time: Callable[[], float] = clock.time
    monotonic: Callable[[], float] = clock.monotonic
    connect: Callable[[ServerSettings], Transport] | None = None
    """How a server is reached; None: by its endpoint."""
    voice: Voice = field(default_factory=Voice)
    """Who has the floor on the program's terminal: what is said with it waits while a person is
    asked."""
    reread: Callable[[], Config] | None = None
    """How a configuration that was read before the gate was opened is read again; None: where a
    file is opened, from that."""
