"""A request that was not made because of where it would have gone."""

from __future__ import annotations

from lockgate.decision import Reason
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.web.location import Location


class WebRefused(PeerError):
    """This side refused to connect, or to follow a redirect. The peer did nothing wrong.

    `fate` is NOT_SENT if it is the first address that was refused, and ANSWERED if a redirect was:
    then the requests before it have been made.
    """

    def __init__(self, reason: Reason, at: Location, *, redirected: bool) -> None:
        what = f"the redirect to {at.shown} is not followed" if redirected else at.shown
        super().__init__(
            f"{what}: {reason.text}",
            peer=at.host,
            phase=Phase.CONNECT,
            fault=Fault.NOT_CONNECTED,
            fate=Fate.ANSWERED if redirected else Fate.NOT_SENT,
        )
        self.reason = reason
        """Code and sentence. The codes of this package: `address_refused`, `redirect_downgrade`,
        `redirect_limit`, `redirect_unreadable`; any other is of whoever judged the redirect."""
        self.at = at
        """The address that was refused; of an unreadable redirect, the one that it came from."""
