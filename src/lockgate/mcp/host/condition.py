"""How one server is doing: its state, why, since when, and how far it is with coming back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.client.services import SERVES_NOTHING, Services
from lockgate.mcp.host.events import SERVER_STATE, tell
from lockgate.mcp.host.line import Line
from lockgate.mcp.host.pause import Pause
from lockgate.mcp.host.reconnect import Circuit, ReconnectPolicy, Recovery
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.status import ServerState, in_brief
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.protocol.eras import Era
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.process.hidden import Hidden

logger = logging.getLogger(__name__)

HOPELESS: Final = frozenset({Fault.NOT_STARTED, Fault.UNAUTHORIZED})
"""What another try will hardly mend: somebody has to do something first."""


ServicesOf: TypeAlias = Callable[[ServerSettings], Services]
"""Says what a server may ask for; called once for each server, before it is started."""


def serves_nothing(settings: ServerSettings) -> Services:
    """Nothing."""
    del settings
    return SERVES_NOTHING


@dataclass(frozen=True, slots=True)
class Means:
    """What all servers of a manager are held with."""

    client: ClientIdentity
    probe_patience: float
    eras: MutableMapping[str, Era]
    listeners: Sequence[Listener]
    clock: Callable[[], float]
    pause: Pause
    chance: Callable[[], float]
    limit: float
    """Seconds that one try to reconnect may take, spawning and listing included."""
    policy: ReconnectPolicy | None
    """None: what is lost stays lost until somebody asks for it."""
    tracing: CallTracing | None = None
    services: ServicesOf = serves_nothing
    """What each server may ask of this side."""


class Condition:
    """The state of one server. Changes are logged, and told to the listeners once it was in use."""

    def __init__(self, settings: ServerSettings, means: Means, hidden: Hidden, line: Line) -> None:
        """`hidden` is what no reason and no line of the log may hold."""
        self.state = ServerState.CONNECTING
        self.reason: str | None = None
        self.fault: Fault | None = None
        self.settled = asyncio.Event()
        """Set when it is known what came of the newest try."""
        self._settings = settings
        self._means = means
        self._clock = means.clock
        self._hidden = hidden
        self._line = line
        self._recovery = Recovery()
        self._asked_for = False
        """Whether somebody wants the next try, whatever the policy says."""
        self._next_try: float | None = None
        self._begun: float | None = None
        self._connected: float | None = None
        self._ready: float | None = None
        self._settled_at: float | None = None

    def begin(self) -> None:
        """It is being started."""
        if self.state is not ServerState.CONNECTING:
            self._move(ServerState.CONNECTING, None, None)
        self._begun, self._settled_at = self._clock(), None

    def trying(self) -> None:
        """A try begins."""
        self._recovery = self._recovery.trying()
        self._next_try, self._asked_for = None, False

    def connected(self) -> None:
        """It was agreed with; its tools are not listed yet."""
        self._connected = self._clock()

    def asked_for(self) -> None:
        """Somebody wants it back: failures before count no more, an outcome is waited for."""
        self._recovery, self._asked_for = Recovery(), True
        self.settled.clear()

    def ready(self) -> bool:
        """It is in use from now on, if that is still possible. Whether it is."""
        self._ready = self._clock()
        return self.settle(ServerState.READY)

    def lost(self, error: PeerError, *, admitted: bool) -> None:
        """A connection ended, or could not be made. Only a server that was `admitted` comes back
        by itself."""
        policy, ready = self._means.policy, self._ready
        self._ready = None
        if not admitted or (policy is None and not self._asked_for):
            self.settle(ServerState.FAILED, str(error), error.fault)
            return
        if policy is None:
            self.settle(ServerState.RECONNECTING, str(error), error.fault)
            return
        lasted = 0.0 if ready is None else self._clock() - ready
        self._recovery = self._recovery.failed(
            policy, lasted=lasted, hopeless=error.fault in HOPELESS
        )
        wait = self._recovery.wait(policy, self._means.chance(), error.retry_after or 0.0)
        self._next_try = self._clock() + wait
        self.settle(ServerState.RECONNECTING, str(error), error.fault)

    def settle(
        self, state: ServerState, reason: str | None = None, fault: Fault | None = None
    ) -> bool:
        """Change the state if that is still possible. Whether it was."""
        before = self.state
        if before is ServerState.FAILED or before is ServerState.CLOSED:
            return False
        if before is ServerState.CONNECTING:
            self._stop_clock()
        if state in (ServerState.FAILED, ServerState.RECONNECTING):
            if before is ServerState.CONNECTING and self._begun is not None:
                reason = f"{reason} (after {self.seconds:.1f} s)"
            reason = self._hidden.hide(reason or "")
        self._move(state, reason, fault)
        self._log(before)
        if self._line.generation and state is not ServerState.CLOSED:
            self._tell()
        return True

    @property
    def wait(self) -> float:
        """Seconds until the next try; 0 if none is waited for."""
        return 0.0 if self._next_try is None else max(0.0, self._next_try - self._clock())

    @property
    def next_try(self) -> float | None:
        """The same, None if none is waited for."""
        waits = self.state is ServerState.RECONNECTING and self._next_try is not None
        return self.wait if waits else None

    @property
    def tries(self) -> int:
        """Connections that failed, or did not last, in a row; 0 for a server that is there."""
        return 0 if self.state is ServerState.READY else self._recovery.failures

    @property
    def circuit(self) -> Circuit:
        """How the server is treated by the policy; CLOSED without one."""
        policy = self._means.policy
        return Circuit.CLOSED if policy is None else self._recovery.circuit(policy)

    @property
    def seconds(self) -> float:
        """From the start until it was settled, or until now."""
        if self._begun is None:
            return 0.0
        until = self._clock() if self._settled_at is None else self._settled_at
        return until - self._begun

    @property
    def seconds_to_connect(self) -> float | None:
        """Of that, until it was agreed with."""
        return None if self._connected is None else self._connected - (self._begun or 0.0)

    def _stop_clock(self) -> None:
        """It is known what came of the start; how long it took is not, if the clock fails."""
        try:
            self._settled_at = self._clock()
        except Exception:  # noqa: BLE001 - a program's clock must not hide the outcome
            self._begun = None

    def _move(self, state: ServerState, reason: str | None, fault: Fault | None) -> None:
        before, self.state, self.reason, self.fault = self.state, state, reason, fault
        is_lost = before is ServerState.READY and state is ServerState.RECONNECTING
        if state is not ServerState.CONNECTING and not is_lost:  # no try has ended then
            self.settled.set()

    def _log(self, before: ServerState) -> None:
        """Who starts servers is told by the report; what happens later nobody would know."""
        name, reason = self._settings.name, in_brief(self.reason or "")
        if self.state is ServerState.FAILED:
            level = logging.INFO if before is ServerState.CONNECTING else logging.WARNING
            logger.log(level, "MCP server %s: %s", name, reason)
        elif self.state is ServerState.READY and before is ServerState.RECONNECTING:
            logger.warning("MCP server %s: it is there again", name)
        elif self.state is ServerState.RECONNECTING:
            text = f"{reason}; trying again in {self.wait:.1f} s"
            if self.circuit is not Circuit.OPEN:
                level = logging.WARNING if before is ServerState.READY else logging.INFO
                logger.log(level, "MCP server %s: %s", name, text)
            elif self._settings.required:
                logger.error("required MCP server %s does not come back: %s", name, text)
            else:
                logger.warning("MCP server %s does not come back: %s", name, text)

    def _tell(self) -> None:
        params = {
            "state": self.state.value,
            "circuit": self.circuit.value,
            "tries": self.tries,
            "next_try": self.next_try,
            "generation": self._line.generation,
        }
        tell(self._means.listeners, self._settings.name, SERVER_STATE, params)

    def __repr__(self) -> str:
        return f"<Condition {self._settings.name} {self.state.value}>"
