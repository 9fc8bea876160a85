"""What a program that traces its calls gives to the tools of servers: the context they hand on."""

from __future__ import annotations

from typing import Protocol

from lockgate.mcp.client.tools import Carry
from lockgate.tools.context import ToolContext


class CallTracing(Protocol):
    """Knows the spans of the calls that are being made. Its methods never raise."""

    def carrier(self, context: ToolContext, revision: str, network: str) -> Carry | None:
        """What the requests of this call are to carry: `traceparent`, and `tracestate` if there is
        one, in the form of W3C Trace Context. None if the call has no span.

        `revision` is the protocol's, `network` the kind of way to the server. What is returned is
        asked once for each request that is made.
        """
        ...

    def refused(self, context: ToolContext, code: int) -> None:
        """Note the code with which the server refused the last request of the call."""
        ...
