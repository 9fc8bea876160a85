"""What servers say of themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.mcp.protocol.results import (
    Discovered,
    Initialized,
    ServerProfile,
    Unreadable,
    parse_discover,
    parse_initialize,
)

INFO = {"name": "srv", "version": "1.0", "title": "Server"}
PROFILE = ServerProfile("srv", "1.0", "Server", {"tools": {}}, "Use me.")


def test_an_answer_to_initialize() -> None:
    """Version, name, capabilities and instructions."""
    answer: dict[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": INFO,
        "instructions": "Use me.",
    }
    assert parse_initialize(json.dumps(answer).encode()) == Initialized("2025-11-25", PROFILE)
    assert PROFILE.can("tools")
    assert not PROFILE.can("prompts")


@pytest.mark.parametrize("where", ["_meta", "top"])
def test_an_answer_to_discover(where: str) -> None:
    """The name is in `_meta` (2026-07-28, per-response protocol fields); beside it is read too."""
    named = {"_meta": {"io.modelcontextprotocol/serverInfo": INFO}}
    answer: dict[str, Any] = {
        "supportedVersions": ["2026-07-28", "2025-11-25"],
        "capabilities": {"tools": {}},
        "instructions": "Use me.",
        "ttlMs": 5,
        **(named if where == "_meta" else {"serverInfo": INFO}),
    }
    versions = ("2026-07-28", "2025-11-25")
    assert parse_discover(json.dumps(answer).encode()) == Discovered(versions, PROFILE, 5)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"protocolVersion": 5, "capabilities": [], "serverInfo": "x", "instructions": {}},
        {"protocolVersion": None, "serverInfo": {"name": 1, "version": 2}},
    ],
)
def test_what_is_missing_or_malformed_counts_as_absent(answer: Any) -> None:
    """The version is then None, for the negotiation to judge."""
    found = parse_initialize(json.dumps(answer).encode())
    server = found.server
    assert found.version is None
    assert (server.name, server.version, server.capabilities) == (None, None, {})
    assert bool(server.remarks) is bool(answer)


@pytest.mark.parametrize(
    ("listed", "versions"),
    [(None, ()), ("2026-07-28", ()), ([], ()), ([1, "2026-07-28", None], ("2026-07-28",))],
)
def test_versions_that_are_no_strings_are_left_out(listed: Any, versions: Any) -> None:
    """A server that answers anything with some object names no versions."""
    assert parse_discover(json.dumps({"supportedVersions": listed}).encode()).versions == versions


@pytest.mark.parametrize("raw", [b"null", b"[]", b'"ok"', b"{"])
def test_an_answer_that_is_no_object_can_not_be_read(raw: bytes) -> None:
    """Both raise the one error there is."""
    for parse in (parse_initialize, parse_discover):
        with pytest.raises(Unreadable):
            parse(raw)
