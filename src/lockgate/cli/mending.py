"""What usually mends a server that is not there, in a line, by the kind of its failure. Pure.

The reason of the failure stands above the line and is the more exact of the two: where it may be
one of several things, the line names where to look and asserts none of them.
"""

from __future__ import annotations

from lockgate.errors import Fault
from lockgate.mcp.host.status import ServerStatus


def what_mends(status: ServerStatus, *, login: bool = False) -> str | None:
    """A line of advice, or None if the reason says all; `login`: a person logs in to the server."""
    if status.seconds_to_connect is not None and status.fault is Fault.TIMEOUT:
        return (
            "it was reached, and did not list all of its tools in time: a higher requestTimeout "
            "may do; if its list never ends, tell its maker"
        )
    if "://" in status.transport:
        return _at_an_address(status, login=login)
    match status.fault:
        case Fault.NOT_STARTED:
            return f"look at command, args and cwd of this server: {_get(status)}"
        case Fault.TIMEOUT:
            return (
                "it started and did not answer: does it speak MCP on stdin and stdout? "
                "A slow first start wants a higher requestTimeout"
            )
        case Fault.CLOSED:
            return "it ended by itself: run its command in a terminal to see all it says"
        case Fault.UNSUPPORTED:
            return "it speaks no revision that lockgate knows: update it"
        case Fault.MALFORMED:
            return "it does not speak MCP as it should: update it, or tell its maker"
        case _:
            return None


def _at_an_address(status: ServerStatus, *, login: bool) -> str | None:
    match status.fault:
        case Fault.NOT_CONNECTED:
            return f"look at url, tls and proxy of this server: {_get(status)}"
        case Fault.CLOSED:
            return (
                f"look at url and tls of this server: {_get(status)}; it may want https in place "
                "of http, or the other way round, or a certificate of yours (clientCert)"
            )
        case Fault.UNAUTHORIZED if login:
            return None  # the reason says what to do
        case Fault.UNAUTHORIZED:
            return (
                f"look at headers, auth and proxy of this server: {_get(status)}; for one "
                "that people log in to, add auth: oauth to its entry"
            )
        case Fault.TIMEOUT:
            return "it accepts connections and does not answer: a higher requestTimeout may do"
        case Fault.UNSUPPORTED:
            return "it speaks no revision that lockgate knows: update it"
        case Fault.REFUSED | Fault.MALFORMED:
            return (
                f"look at url and transport of this server: {_get(status)}; "
                "if they are right, tell its maker"
            )
        case _:
            return None


def _get(status: ServerStatus) -> str:
    return f"lockgate mcp get {status.name}"
