"""What failures over HTTP mean for the message that was carried."""

from __future__ import annotations

import pytest

from lockgate.errors import Fate, Fault
from lockgate.mcp.protocol.http_fate import (
    ANSWERED,
    BROKEN,
    MAX_RETRY_AFTER,
    ODD,
    Absence,
    Odd,
    absence,
    absence_by_status,
    answers,
    by_status,
    retry_after,
)
from lockgate.mcp.transport.base import SessionEnded
from lockgate.web.failure import Stage, Trouble

DATE = "Mon, 30 Nov 2026 17:00:00 GMT"


@pytest.mark.req("B-03")
def test_every_stage_and_every_trouble_has_a_fate() -> None:
    """The table is whole: nothing that stops an exchange is left to be guessed."""
    assert set(BROKEN) == {(stage, trouble) for stage in Stage for trouble in Trouble}
    assert set(ODD) == set(Odd)


@pytest.mark.parametrize("trouble", Trouble)
@pytest.mark.req("B-03")
def test_what_was_not_begun_was_not_sent(trouble: Trouble) -> None:
    """Before the first byte nothing was sent, whatever the trouble; after it nobody knows."""
    for stage in Stage:
        fault, fate = BROKEN[stage, trouble]
        assert fate is (Fate.NOT_SENT if stage is Stage.CONNECTING else Fate.UNKNOWN)
        assert fault in (Fault.NOT_CONNECTED, Fault.TIMEOUT, Fault.CLOSED, Fault.MALFORMED)


@pytest.mark.parametrize("trouble", Trouble)
@pytest.mark.req("S3-17")
def test_what_says_that_nobody_is_there(trouble: Trouble) -> None:
    """A connection that can not be made proves it. To be hung up on without a word is a sign, and
    so is a gateway's 502, 503 or 504. A time that ran out later, a garbled answer and a failing
    server are none."""
    for stage in Stage:
        found = absence(stage, trouble)
        if trouble is Trouble.CLOSED:
            begun = stage in (Stage.READING_HEAD, Stage.READING_BODY)
            assert found is (Absence.NONE if begun else Absence.SIGN)
        else:
            assert found is (Absence.PROOF if stage is Stage.CONNECTING else Absence.NONE)
    signs = [code for code in range(100, 600) if absence_by_status(code) is not Absence.NONE]
    assert signs == [502, 503, 504]
    assert all(absence_by_status(code) is Absence.SIGN for code in signs)


@pytest.mark.parametrize(
    ("status", "fault", "fate"),
    [
        (301, Fault.REFUSED, Fate.ANSWERED),
        (400, Fault.REFUSED, Fate.ANSWERED),
        (401, Fault.UNAUTHORIZED, Fate.NOT_SENT),
        (403, Fault.UNAUTHORIZED, Fate.NOT_SENT),
        (404, Fault.REFUSED, Fate.ANSWERED),
        (405, Fault.REFUSED, Fate.ANSWERED),
        (407, Fault.UNAUTHORIZED, Fate.NOT_SENT),
        (408, Fault.REFUSED, Fate.UNKNOWN),
        (429, Fault.RATE_LIMITED, Fate.NOT_SENT),
        (500, Fault.REFUSED, Fate.UNKNOWN),
        (502, Fault.REFUSED, Fate.UNKNOWN),
        (503, Fault.REFUSED, Fate.UNKNOWN),
        (504, Fault.REFUSED, Fate.UNKNOWN),
        (599, Fault.REFUSED, Fate.UNKNOWN),
    ],
)
@pytest.mark.req("B-03")
def test_a_status_means_what_it_proves(status: int, fault: Fault, fate: Fate) -> None:
    """401, 403 and 429 prove that nobody acted; a server that fails proves nothing."""
    assert by_status(status) == (fault, fate)


@pytest.mark.req("B-03")
def test_a_session_that_ended_proves_that_nothing_was_done() -> None:
    """404 of a session counts as not sent."""
    error = SessionEnded("gone", peer="x")
    assert (error.fault, error.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)


def test_an_error_in_a_body_answers_unless_the_status_says_more() -> None:
    """A gateway's error without an id answers nothing for the server behind it."""
    assert answers(400, own_id=False)
    assert answers(404, own_id=False)
    assert answers(500, own_id=True)
    assert not answers(502, own_id=False)
    for status in ANSWERED:
        assert not answers(status, own_id=True)


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("0", "", 0.0),
        ("7", "", 7.0),
        (" 120 ", "", 120.0),
        ("99999999999999999999", "", MAX_RETRY_AFTER),
        ("Mon, 30 Nov 2026 17:00:30 GMT", DATE, 30.0),
        ("Mon, 30 Nov 2026 16:00:00 GMT", DATE, 0.0),
        ("Mon, 30 Nov 2099 16:00:00 GMT", DATE, MAX_RETRY_AFTER),
        ("Mon, 30 Nov 2026 17:00:30 GMT", "", None),
        ("Mon, 30 Nov 2026 17:00:30", DATE, None),
        ("soon", DATE, None),
        ("-1", "", None),
        ("1.5", "", None),
        ("٣", "", None),
        ("", DATE, None),
    ],
)
def test_a_wanted_pause_is_read_and_bounded(value: str, date: str, seconds: float | None) -> None:
    """Seconds, or a date against the date of the same answer; never our own clock."""
    assert retry_after(value, date) == seconds
