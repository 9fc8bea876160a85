"""What a program's log and its start say of servers (B-06, B-07)."""

from __future__ import annotations

import logging

import pytest

from lockgate.app.servers import demand, warn
from lockgate.errors import ContractError, Fault, PeerError
from lockgate.mcp.host.status import LeftOutTool, ServerState, ServerStatus, StartReport

READY = ServerStatus("a", ServerState.READY, False, "stdio", changed=("t (title)", "u (name)"))
DOWN = ServerStatus(
    "b", ServerState.FAILED, True, "stdio", reason="it did not start", fault=Fault.CLOSED
)
CUT = ServerStatus(
    "c", ServerState.READY, False, "stdio", left_out=(LeftOutTool("x\x1b", "is no object"),)
)


@pytest.mark.req("B-06")
def test_each_start_says_once_which_tools_are_not_what_was_pinned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One line for each server, with the fields; beside what failed and what was left out."""
    with caplog.at_level(logging.WARNING):
        warn(StartReport((READY, DOWN, CUT)))
    assert [record.getMessage() for record in caplog.records] == [
        "MCP server b is not available: it did not start",
        "MCP server a: tools changed since they were pinned: t (title); u (name). To see how: "
        "lockgate pins diff a",
        "MCP server c: tools left out: x\\x1b",
    ]


@pytest.mark.req("B-07")
def test_what_is_relied_upon_ends_the_start() -> None:
    """A missing tool counts before a server that is not there; the optional ends nothing."""
    demand(StartReport((READY, CUT)))
    with pytest.raises(PeerError, match="b is down") as down:
        demand(StartReport((READY, DOWN), unreachable=("b is down",)))
    assert (down.value.peer, down.value.fault) == ("b", Fault.CLOSED)
    with pytest.raises(ContractError) as broken:
        demand(StartReport((READY, DOWN), ("b is down",), ("t is missing",)))
    assert broken.value.problems == ("t is missing", "b is down")
