"""Whether a fetch may go on to where it is redirected.

The rules of the call decide, as they would about a call of its own. Where they say nothing, the
question that was answered for the first address reaches other pages of that host, and no other one:
a page that sends its reader elsewhere could take along what the first address held.
"""

from __future__ import annotations

from lockgate.decision import Decision, Reason
from lockgate.tools.context import ToolContext
from lockgate.tools.subject import ResolvedUrl
from lockgate.web.location import Location


class Redirects:
    """The redirects of one call."""

    def __init__(self, start: Location, context: ToolContext) -> None:
        self.left: Location | None = None
        """The redirect that was left to a call of its own, if one was."""
        self._start = start
        self._onward = context.subjects.onward
        self._attended = context.execution.attended

    def judge(self, at: Location) -> Reason | None:
        """None if it may be followed, or why not."""
        decision, reasons = self._rules(at)
        if decision is Decision.DENY:
            return reasons[0]
        if decision is Decision.ALLOW:
            return None
        if decision is None and self._same_site(at) and self._rules(self._start)[0] is None:
            return None
        self.left = at
        return reasons[0] if reasons else Reason("redirect_elsewhere", "no rule allows it")

    def _rules(self, at: Location) -> tuple[Decision | None, tuple[Reason, ...]]:
        if self._onward is None:
            return Decision.ASK, ()  # nothing is known of the rules: nobody goes anywhere
        address = ResolvedUrl(at.text, at.text, at.scheme, at.host, at.port, at.path)
        said = self._onward(address, attended=self._attended)
        return (None, ()) if said is None else (said.decision, said.reasons)

    def _same_site(self, at: Location) -> bool:
        start = self._start
        if at.host != start.host:
            return False
        upgraded = not start.named_port and not at.named_port and at.scheme == "https"
        return upgraded or (at.scheme, at.port) == (start.scheme, start.port)
