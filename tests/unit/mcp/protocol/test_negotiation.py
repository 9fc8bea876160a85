"""Which revision to speak with a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.eras import (
    LATEST_LEGACY,
    LATEST_MODERN,
    REVISIONS,
    Era,
    Revision,
    known,
)
from lockgate.mcp.protocol.jsonrpc import Failure
from lockgate.mcp.protocol.negotiation import (
    TABLE,
    Common,
    Finding,
    Found,
    GiveUp,
    Initialize,
    Negotiation,
    Probe,
    Stage,
    Step,
    Use,
    Wait,
    advance,
    begin,
)


def revision(name: str) -> Revision:
    """A revision that is known."""
    found = known(name)
    assert found is not None
    return found


def walk(*findings: Finding) -> Step:
    """The step after the last of these findings."""
    now, step = begin()
    for finding in findings:
        now, step = advance(now, finding)
    return step


def refused(code: int, data: Any = None) -> Finding:
    """What an error answer is found to be."""
    return Finding.refused(Failure(1, code, "no", data))


def supports(*versions: str) -> Finding:
    """A refusal that lists versions."""
    return refused(-32022, {"supported": list(versions), "requested": "x"})


FALL_BACK = Finding(Found.ERROR)


def test_a_server_is_probed_first() -> None:
    """With the newest modern revision (2026-07-28, stdio: Backward Compatibility)."""
    assert begin()[1] == Probe(LATEST_MODERN)


def test_a_server_that_is_remembered_to_be_legacy_is_not_probed() -> None:
    """It is initialized at once, and if it ends the probe can not be to blame."""
    now, step = begin(Era.LEGACY)
    assert step == Initialize(LATEST_LEGACY)
    assert isinstance(advance(now, Finding(Found.EXITED))[1], GiveUp)
    assert begin(Era.MODERN) == begin()


def test_every_pair_that_can_occur_is_in_the_table() -> None:
    """Only an answer to `initialize` while probing is not: it was not asked for."""
    versioned = {Found.DISCOVERED, Found.INITIALIZED, Found.UNSUPPORTED}
    for stage in Stage:
        for found in Found:
            if (stage, found) == (Stage.PROBING, Found.INITIALIZED):
                continue
            keys = list(Common) if found in versioned else [None]
            assert all((stage, found, key) in TABLE for key in keys)


@pytest.mark.parametrize(
    ("versions", "step"),
    [
        (("2026-07-28",), Use(LATEST_MODERN)),
        (("2025-11-25", "2026-07-28", "2027-01-01"), Use(LATEST_MODERN)),
        (("2025-06-18", "2025-03-26"), Initialize(revision("2025-06-18"))),
        ((), Initialize(LATEST_LEGACY)),
    ],
)
def test_a_discovered_server_is_spoken_to_in_the_newest_common_revision(
    versions: tuple[str, ...], step: Step
) -> None:
    """A modern one at once, a legacy one by its handshake; no list at all is no modern answer."""
    assert walk(Finding(Found.DISCOVERED, versions)) == step


@pytest.mark.parametrize(
    "finding",
    [
        refused(-32601),
        refused(-32602),
        refused(-32600),
        refused(-32000),
        refused(0),
        refused(-32022),
        refused(-32022, {"supported": []}),
        refused(-32022, {"supported": "2026-07-28"}),
        refused(-32022, {"supported": [1]}),
        refused(-32602, "nothing"),
        Finding(Found.MALFORMED),
        Finding(Found.SILENT),
    ],
)
def test_whatever_is_no_modern_answer_means_initialize(finding: Finding) -> None:
    """Not keyed to a code, on the same link (PB-043)."""
    assert walk(finding) == Initialize(LATEST_LEGACY)


def test_a_server_that_dies_of_the_probe_is_initialized_on_a_new_link() -> None:
    """Once: if it dies again, that is the answer (PB-043)."""
    exited = Finding(Found.EXITED)
    assert walk(exited) == Initialize(LATEST_LEGACY, new_link=True)
    assert walk(exited, exited) == GiveUp("ended before it answered initialize")


def test_a_slow_server_that_dies_of_the_probe_gets_a_new_link_too() -> None:
    """The probe was given up on, and kills it while initialize is open."""
    silent, exited = Finding(Found.SILENT), Finding(Found.EXITED)
    assert walk(silent, exited) == Initialize(LATEST_LEGACY, new_link=True)
    assert isinstance(walk(silent, exited, exited), GiveUp)


@pytest.mark.parametrize("name", [r.name for r in REVISIONS if r is not LATEST_MODERN])
def test_an_older_version_that_is_known_is_used(name: str) -> None:
    """The server's choice, not ours (PB-041)."""
    answer = Finding(Found.INITIALIZED, (name,))
    assert walk(FALL_BACK, answer) == Use(revision(name))


@pytest.mark.parametrize("name", ["2099-01-01", "2025-11-26", "1900-01-01", "", "x" * 1000])
def test_an_unknown_version_is_refused_by_name(name: str) -> None:
    """The message names it and what is known; it is never assumed (PB-041)."""
    step = walk(FALL_BACK, Finding(Found.INITIALIZED, (name,)))
    assert isinstance(step, GiveUp)
    assert name[:40] in step.message
    assert "2025-11-25" in step.message
    assert len(step.message) < 300


def test_an_answer_without_a_version_is_refused() -> None:
    """So is one that names a revision without a handshake."""
    assert isinstance(walk(FALL_BACK, Finding(Found.INITIALIZED)), GiveUp)
    step = walk(FALL_BACK, Finding(Found.INITIALIZED, ("2026-07-28",)))
    assert isinstance(step, GiveUp)
    assert "2026-07-28" in step.message


@pytest.mark.parametrize("code", [-32602, -32022, -32000])
def test_supported_versions_are_used_for_one_retry(code: int) -> None:
    """Whatever the code is; the second refusal is the last (PB-041)."""
    first = refused(code, {"supported": ["2024-11-05", "2025-03-26", "2030-01-01"]})
    assert walk(FALL_BACK, first) == Initialize(revision("2025-03-26"))
    again = walk(FALL_BACK, first, supports("2024-11-05"))
    assert isinstance(again, GiveUp)
    assert "2024-11-05" in again.message


def test_a_modern_refusal_of_the_probe_does_not_fall_back() -> None:
    """Nothing in common is refused by name; a legacy version in the list is initialized."""
    step = walk(supports("2027-01-01", "2028-01-01"))
    assert isinstance(step, GiveUp)
    assert "2027-01-01, 2028-01-01" in step.message
    assert walk(supports("2027-01-01", "2025-11-25")) == Initialize(LATEST_LEGACY)


def test_a_server_that_refuses_what_it_lists_is_asked_once_more() -> None:
    """It contradicts itself, or came up late: the official suite wants one more try. What else it
    lists goes first."""
    itself = supports("2026-07-28")
    assert walk(itself) == Probe(LATEST_MODERN)
    assert isinstance(walk(itself, itself), GiveUp)
    assert walk(supports("2026-07-28", "2025-06-18")) == Initialize(revision("2025-06-18"))
    legacy = supports("2025-11-25")
    assert walk(FALL_BACK, legacy) == Initialize(LATEST_LEGACY)
    assert isinstance(walk(FALL_BACK, legacy, legacy), GiveUp)


def test_a_modern_server_that_refuses_to_be_initialized_is_probed() -> None:
    """It says which versions it speaks (2026-07-28, versioning: Compatibility)."""
    assert walk(Finding(Found.SILENT), supports("2026-07-28")) == Probe(LATEST_MODERN)


@pytest.mark.parametrize("code", [-32020, -32021])
def test_other_modern_errors_are_final(code: int) -> None:
    """The server is modern, and what it wants can not be given."""
    step = walk(refused(code))
    assert isinstance(step, GiveUp)
    assert str(code) in step.message


@pytest.mark.parametrize("code", [-32020, -32021])
def test_a_server_that_refuses_to_be_initialized_as_only_modern_ones_do_is_probed(
    code: int,
) -> None:
    """It was slow to answer the first probe, such as one that waited for credentials; once."""
    silent = Finding(Found.SILENT)
    assert walk(silent, refused(code)) == Probe(LATEST_MODERN)
    assert isinstance(walk(silent, refused(code), silent, refused(code)), GiveUp)


@pytest.mark.parametrize(
    "finding",
    [refused(-32603), Finding(Found.MALFORMED, detail="null"), Finding(Found.SILENT)],
)
def test_a_handshake_that_fails_is_the_end(finding: Finding) -> None:
    """With what the server said."""
    step = walk(FALL_BACK, finding)
    assert isinstance(step, GiveUp)
    assert "initialize" in step.message


def test_a_late_answer_to_the_probe_counts_if_initialize_is_refused() -> None:
    """A slow modern server is asked both; one that can be initialized is (PB-033)."""
    silent = Finding(Found.SILENT)
    late = Finding(Found.DISCOVERED, ("2026-07-28",))
    assert walk(silent, late) == Wait()
    assert walk(silent, late, refused(-32601)) == Use(LATEST_MODERN)
    assert walk(silent, late, Finding(Found.INITIALIZED, ("2025-11-25",))) == Use(LATEST_LEGACY)
    for useless in (("2025-06-18",), ("2099-01-01",), ()):
        assert walk(silent, Finding(Found.DISCOVERED, useless)) == Wait()


VERSIONS = st.lists(
    st.sampled_from([*(r.name for r in REVISIONS), "2099-01-01", ""]), max_size=4
).map(tuple)


@given(st.lists(st.builds(Finding, st.sampled_from(Found), VERSIONS), max_size=12))
def test_every_negotiation_ends(findings: list[Finding]) -> None:
    """Within six requests, whatever a server does; only known revisions are ever used."""
    now, step = begin()
    asked = 1
    for finding in findings:
        if (now.stage, finding.found) == (Stage.PROBING, Found.INITIALIZED):
            continue
        now, step = advance(now, finding)
        if isinstance(step, Use):
            assert step.revision in REVISIONS
        if isinstance(step, Use | GiveUp):
            return
        asked += not isinstance(step, Wait)
    assert asked <= 6
    assert isinstance(now, Negotiation)
