"""What servers say in `notifications/message`, in our log."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.mcp.client import serverlog
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.journal import LIMIT, Journal
from lockgate.mcp.client.serverlog import BURST, ServerLog
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.process.hidden import MARK, Hidden
from lockgate.testing.clock import FakeClock
from lockgate.testing.loop_server import LoopServer

SECRET = "correct-horse-battery"  # noqa: S105 - a made-up one, to be looked for
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["level", "logger", "data"]) | st.text(), inner)
    ),
)


def said(
    caplog: pytest.LogCaptureFixture, *params: Any, hidden: Hidden | None = None
) -> list[tuple[int, str]]:
    """The lines of these messages, with their levels."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG, serverlog.__name__):
        log = ServerLog(Journal("s", hidden or Hidden()), FakeClock())
        for each in params:
            log(each)
    return [(r.levelno, r.message) for r in caplog.records if r.name == serverlog.__name__]


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("debug", logging.DEBUG),
        ("info", logging.INFO),
        ("notice", logging.INFO),
        ("warning", logging.WARNING),
        ("error", logging.ERROR),
        ("critical", logging.CRITICAL),
        ("alert", logging.CRITICAL),
        ("emergency", logging.CRITICAL),
        ("verbose", logging.INFO),
        (None, logging.INFO),
        ([], logging.INFO),
    ],
)
def test_each_level_has_its_own(caplog: pytest.LogCaptureFixture, word: Any, level: int) -> None:
    """The eight of the specification; of any other word INFO."""
    assert said(caplog, {"level": word, "data": "hello"}) == [(level, "s says: hello")]


@pytest.mark.parametrize(
    ("params", "line"),
    [
        ({"logger": "db", "data": "slow"}, "s says (db): slow"),
        ({"logger": 5, "data": {"a": [1, None]}}, 's says: {"a": [1, null]}'),
        ({}, "s says: null"),
        (None, "s says: null"),
        ([1], "s says: [1]"),
        ("bare", "s says: bare"),
    ],
)
def test_whatever_was_said_is_a_line(
    caplog: pytest.LogCaptureFixture, params: Any, line: str
) -> None:
    """Text as it is, all else as JSON; odd params are shown for what they are."""
    assert said(caplog, params) == [(logging.INFO, line)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY)
def test_every_message_is_one_bounded_line(caplog: pytest.LogCaptureFixture, params: Any) -> None:
    """Nothing raises, nothing breaks a line, nothing hides in one."""
    ((_, line),) = said(caplog, params)
    assert line.startswith("s says")
    assert line.isprintable()
    assert len(line) <= LIMIT + 2


def test_a_large_message_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    """Of many megabytes the beginning is looked at."""
    wide = {str(n): {str(m): ["x" * 5000] * 50 for m in range(50)} for n in range(50)}
    for data in ("x" * 20_000_000, ["x" * 20_000_000], wide):
        ((_, line),) = said(caplog, {"data": data})
        assert len(line) <= LIMIT + 2


@pytest.mark.parametrize(
    "data",
    [
        f"the password is {SECRET}",
        {"at": f"https://x?key={SECRET}"},
        "x" * 380 + SECRET,
        "x" * 1195 + SECRET,
        f"\x1b[1m{SECRET[:9]}\n  {SECRET[9:]}",
    ],
)
def test_configured_secrets_are_hidden(caplog: pytest.LogCaptureFixture, data: Any) -> None:
    """A server that prints what it was started with: in any form, also where it is cut."""
    ((_, line),) = said(caplog, {"data": data}, hidden=Hidden([SECRET]))
    assert SECRET[:5] not in line
    assert MARK in line or len(line) >= LIMIT - 20


def test_what_is_named_like_a_secret_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever's it is: its length is shown."""
    ((_, line),) = said(
        caplog, {"data": {"user": "ada", "apiKey": "abc", "deep": [{"token": "t"}]}}
    )
    assert "ada" in line
    assert "abc" not in line
    assert line.count("masked") == 2


def test_a_flood_is_told_as_how_many_there_were(caplog: pytest.LogCaptureFixture) -> None:
    """A burst is logged whole; of what is more, as many lines a second as fit."""
    clock = FakeClock()
    with caplog.at_level(logging.INFO, serverlog.__name__):
        log = ServerLog(Journal("s"), clock)
        for number in range(BURST + 50):
            log({"data": number})
        assert len(caplog.records) == BURST
        clock.advance(0.15)
        log({"data": "after"})
        log({"data": "at once"})
    assert len(caplog.records) == BURST + 1
    assert caplog.records[-1].message == "s says: after (50 more before this, left out)"


def test_what_nobody_wants_costs_no_room(caplog: pytest.LogCaptureFixture) -> None:
    """Messages below the level of the log do not use up the lines of those above."""
    with caplog.at_level(logging.WARNING, serverlog.__name__):
        log = ServerLog(Journal("s"), FakeClock())
        for _ in range(2 * BURST):
            log({"level": "debug", "data": "x"})
        log({"level": "error", "data": "y"})
    assert [r.message for r in caplog.records] == ["s says: y"]


async def test_a_connection_logs_its_servers_messages(
    server: LoopServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Without anybody having asked for it, under the configured name, secrets hidden."""
    client = ClientIdentity("test", "1")
    with caplog.at_level(logging.INFO, serverlog.__name__):
        session = await connect(
            server.transport(), peer="mine", client=client, hidden=Hidden([SECRET])
        )
        params = {"level": "warning", "data": SECRET}
        await server.say({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        await session.connection.request("ping")
        await session.close()
    assert (logging.WARNING, f"mine says: {MARK}") in [
        (r.levelno, r.message) for r in caplog.records
    ]
