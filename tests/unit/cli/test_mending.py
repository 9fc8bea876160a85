"""The line of `lockgate doctor` that says what to do: it names no cause that may not be one."""

from __future__ import annotations

import pytest

from lockgate.cli.mending import what_mends
from lockgate.errors import Fault
from lockgate.mcp.host.status import ServerState, ServerStatus

FAR, NEAR = "http://127.0.0.1:1/mcp", "stdio"


def status(fault: Fault, transport: str, connected: float | None = None) -> ServerStatus:
    """A server that is not there, for that reason."""
    return ServerStatus(
        "s",
        ServerState.FAILED,
        False,
        transport,
        "s: why",
        fault,
        seconds_to_connect=connected,
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.NOT_CONNECTED, ("url, tls and proxy",)),
        (Fault.CLOSED, ("url and tls", "https", "clientCert")),
        (Fault.UNAUTHORIZED, ("headers, auth and proxy", "auth: oauth")),
        (Fault.REFUSED, ("url and transport",)),
        (Fault.MALFORMED, ("url and transport",)),
        (Fault.UNSUPPORTED, ("no revision that lockgate knows",)),
        (Fault.TIMEOUT, ("does not answer", "requestTimeout")),
    ],
)
def test_every_failure_at_an_address_has_a_place_to_look_at(
    fault: Fault, words: tuple[str, ...]
) -> None:
    """Also one that hung up, which a wrong scheme and a missing certificate look like."""
    told = what_mends(status(fault, FAR))
    assert told is not None
    assert all(word in told for word in words), told


def test_a_login_is_told_by_the_reason() -> None:
    """Nothing is said twice."""
    assert what_mends(status(Fault.UNAUTHORIZED, FAR), login=True) is None


@pytest.mark.parametrize("transport", [FAR, NEAR])
def test_a_list_without_an_end_is_not_taken_for_silence(transport: str) -> None:
    """A server that was reached did answer."""
    told = what_mends(status(Fault.TIMEOUT, transport, connected=0.1))
    assert told is not None
    assert "did not list all of its tools" in told
    assert "not answer" not in told
