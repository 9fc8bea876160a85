"""What is logged about a server: one bounded line each, and of what repeats only some."""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.journal import LIMIT, Journal
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.process.hidden import MARK, Hidden
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer, Raw


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=600))
def test_every_entry_is_one_bounded_line(caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Whatever the server sent: no line of it begins where one of ours does."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        journal = Journal("s")
        journal.noise("frame", f"sent {text}")
        journal.error(f"a listener failed on {text}")
        journal.debug(text)
    for record in caplog.records:
        assert record.message.startswith("s")
        assert record.message.isprintable()
        assert len(record.message) <= LIMIT + 3


def test_what_repeats_is_told_at_the_first_tenth_hundredth_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With how often it came; each kind is counted for itself."""
    journal = Journal("s")
    with caplog.at_level(logging.WARNING):
        for number in range(1, 1001):
            journal.noise("frame", f"sent {number}")
        journal.noise("answer", "answers nothing")
    assert [record.message for record in caplog.records] == [
        "s sent 1",
        "s sent 10 (10 times so far)",
        "s sent 100 (100 times so far)",
        "s sent 1000 (1000 times so far)",
        "s answers nothing",
    ]


async def test_noise_over_several_links_is_one_servers_noise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A server that is reached on a second link after the probe is warned about once; a secret in
    its noise is in no line of the log."""
    noise = Raw(b"\x1b[2Jusing abc123secret\nanswer [no]: \n")
    broken = When("server/discover", noise, Answer(error={"code": -1, "message": "x"}))
    server = LoopServer(
        ScriptedServer((), revisions=LEGACY, name="fake", opening=(noise,), rules=(broken,))
    )
    with caplog.at_level(logging.DEBUG, logger="lockgate"):
        session = await connect(
            server.transport(),
            peer="fake",
            client=ClientIdentity("test", "1"),
            request_timeout=5,
            hidden=Hidden(["abc123secret"]),
        )
        await session.close()
    said = [record for record in caplog.records if "sent something" in record.message]
    assert [record.levelno for record in said].count(logging.WARNING) == 1
    assert "abc123secret" not in caplog.text
    assert f"\\x1b[2Jusing {MARK}" in said[0].message
