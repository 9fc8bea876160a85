"""Whether anybody is there, as far as the exchanges with one server over HTTP tell.

An address has no process whose end could be seen, and the link to it goes on whatever happens. So
each failure is asked what it says about the server: a connection that can not be made proves that
it is not there, exchanges that end without an answer one after the other make it likely, and any
answer shows that it is (docs/decisions/0032). Those that were under way together and end together
are one sign: that a machine in between was restarted is no more than that.
"""

from __future__ import annotations

from typing import Final

from lockgate.errors import Fate, Fault, PeerError
from lockgate.mcp.protocol.http_fate import Absence, absence, absence_by_status
from lockgate.mcp.transport.base import Receiver
from lockgate.mcp.transport.http_wire import HttpWire
from lockgate.web.failure import HttpFailure

SIGNS: Final = 3
"""Failures in a row, with no answer between them, after which a server counts as not there."""


class Presence:
    """What is known of the server of one link. Tells its receiver that it is not there: once, until
    it is heard again."""

    def __init__(self, wire: HttpWire, receiver: Receiver) -> None:
        self._wire = wire
        self._receiver = receiver
        self._signs = 0
        self._told = False
        self.now = 0
        """A number for this moment; to be kept by an exchange when it begins."""

    def heard(self, status: int) -> None:
        """Somebody answered; a gateway, where the status is one of those, in the server's place."""
        if absence_by_status(status) is Absence.NONE:
            self._signs, self._told = 0, False

    def broken(self, failure: HttpFailure, begun: int) -> PeerError:
        """The error for an exchange that was stopped on its way, which is noted; it `begun` then,
        by `now`."""
        error = self._wire.broken(failure)
        self._note(absence(failure.stage, failure.trouble), error, begun)
        return error

    def refused(self, status: int, error: PeerError, begun: int) -> PeerError:
        """The same error, of an exchange that was answered with this status; it is noted."""
        self._note(absence_by_status(status), error, begun)
        return error

    def _note(self, found: Absence, error: PeerError, begun: int) -> None:
        if found is Absence.NONE or self._told or self._wire.left:
            return
        if found is Absence.SIGN and begun != self.now:
            return  # it was under way when the last sign came
        self.now += 1
        self._signs += 1
        if found is Absence.SIGN and self._signs < SIGNS:
            return
        self._told = True
        often = f", {self._signs} times in a row" if found is Absence.SIGN else ""
        self._receiver.noticed(
            PeerError(
                f"{error}{often}",
                peer=error.peer,
                phase=error.phase,
                fault=Fault.NOT_CONNECTED,
                fate=Fate.NOT_SENT,
                retry_after=error.retry_after,
            )
        )
