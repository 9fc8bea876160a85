"""Every point at which a call can go wrong, on every way, for every kind of tool (B-03).

`fault_table` says what has to come of each; the servers count what ran.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from fault_cases import PATIENT, VERDICTS, impatient, make
from fault_crowds import crowd, crowds
from fault_pipe_starts import REVISIONS, start_programs
from fault_points import OUTSIDE, PIPE, WIRE
from fault_stands import WAYS, Case
from fault_starts import start
from fault_table import ROWS, cases, expected
from random_faults import batches, drawn

SLOW = [at for at in ROWS if impatient(cases(*at)[0]) < PATIENT]
QUICK = [at for at in ROWS if at not in SLOW]


def _named(value: str) -> str:
    return value.replace(" ", "-")


@pytest.mark.parametrize(("way", "point"), QUICK, ids=_named)
@pytest.mark.req("B-03")
async def test_a_call_at_a_fault_point(way: str, point: str, tmp_path: Path) -> None:
    """It ends with the kind and the fate of the table; what may not run twice runs once at most,
    what may is tried again; nothing is left behind, and the next call works."""
    findings = await make(cases(way, point), tmp_path)
    assert [str(finding) for finding in findings if finding.faults] == []


@pytest.mark.parametrize("way", WAYS, ids=_named)
@pytest.mark.req("B-03")
async def test_a_call_that_only_the_time_ends(way: str, tmp_path: Path) -> None:
    """The same where nothing comes any more: it ends in its time. All such points, in turns."""
    slow = [case for at in SLOW if at[0] == way for case in cases(*at)]
    if way == "stdio":  # their processes take long to start; `scripts/faults` draws all kinds
        slow = [case for case in slow if case.tool in ("set", "add")]
    for number, batch in enumerate(batches(slow)):
        findings = await make(batch, tmp_path / f"{number}")
        assert [str(finding) for finding in findings if finding.faults] == []


def test_every_point_has_its_fate_on_every_way() -> None:
    """The table is whole: no point on no way is left to be guessed."""
    for way in WAYS:
        mine = {point for of, point in ROWS if of == way}
        if way in ("stdio", "memory"):
            missing = {*PIPE, *OUTSIDE} - mine
            allowed = {"refused", "restart before"}
            if way == "memory":
                allowed |= {"killed in the request", "closes its input"}
                allowed |= {"closes its input and answers"}
        else:
            missing = set(WIRE) - mine
            allowed = {point for point in WIRE if point.endswith("in the tail")}
            if way == "sse":
                allowed = {"garbage behind the answer", "a page for an answer"}
                allowed |= {"202 for an answer"}
        assert missing <= allowed
        assert mine >= {*(PIPE if way == "stdio" else ())}


@pytest.mark.req("B-03")
async def test_faults_at_random_places(tmp_path: Path) -> None:
    """A few of what `scripts/faults` makes: places within a part, sizes, two faults in a row."""
    chosen = [case for case in islice(drawn(20_261_130), 120) if impatient(case) == PATIENT]
    assert any(expected(case) is None for case in chosen)
    for number, batch in enumerate(batches(chosen)):
        findings = await make(batch, tmp_path / f"{number}")
        assert [str(finding) for finding in findings if finding.faults] == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["server/discover", "initialize", "tools/list"])
@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("stdio", "memory")], ids=_named)
@pytest.mark.req("S3-08")
async def test_a_start_that_meets_faults(way: str, method: str, tmp_path: Path) -> None:
    """Each point, at each request that a start is made of: the server is there or has failed within
    the bound, comes back when it is asked for, and leaves nothing behind."""
    assert await start(way, method, tuple(WIRE), tmp_path) == []


@pytest.mark.parametrize("era", REVISIONS)
@pytest.mark.req("S3-08", "B-03")
async def test_a_program_that_does_not_start_as_it_should(era: str, tmp_path: Path) -> None:
    """It can not be run, ends, says nothing, half of it or something else, at each step of its
    start: it has failed within the bound with its own fault and words, is there once it is mended
    and asked for, and leaves nothing behind."""
    assert await start_programs(era, tmp_path) == []


@pytest.mark.parametrize(("way", "fault"), crowds(), ids=_named)
@pytest.mark.req("B-03", "S3-24")
async def test_many_calls_that_are_under_way(way: str, fault: str, tmp_path: Path) -> None:
    """Of each kind of tool some: each ends as it does alone, none runs more often than it may, and
    none hangs."""
    assert await crowd(way, fault, tmp_path) == []


def test_the_same_seed_draws_the_same_cases() -> None:
    """A run is repeated by its seed, a case by its line."""
    first, again = list(islice(drawn(7), 200)), list(islice(drawn(7), 200))
    assert first == again != list(islice(drawn(8), 200))
    assert [Case.parse(str(case)) for case in first] == first


async def test_a_planted_second_run_is_seen(tmp_path: Path) -> None:
    """The servers count: a tool that may not run twice, declared as if it might, is told."""
    case = Case("http json modern", ("reset after it ran",), "add")
    planted = {**VERDICTS, "add": VERDICTS["set"]}
    (finding,) = await make([case], tmp_path, verdicts=planted)
    assert finding.faults[0] == "it ran twice"
    assert "has to be outcome_unknown (unknown), tried 1 times" in finding.faults[1]
