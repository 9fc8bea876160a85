"""What a reviewer is proposed: the stricter of claim and guess, and never a silent loosening."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.app.pin_diff import diff
from lockgate.app.review import (
    ADDS,
    DESTROYS,
    READS,
    Proposal,
    claim_word,
    propose,
)
from lockgate.mcp.client.tools import ListedTools
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import sighted
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.mcp.host.suggestion import Suggestion, suggest
from lockgate.mcp.protocol.claims import Claims
from lockgate.mcp.protocol.results import ListedTool, ServerProfile, read_tool
from lockgate.settings.pins import PinnedTool, pin_of
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

NOTHING = Claims()
LADDER = (READS, ADDS, DESTROYS)


def _ruling(verdict: Verdict) -> Ruling:
    return Ruling(
        verdict.level or SideEffectLevel.MUTATING,
        verdict.destructive or DestructiveBehavior.NON_DESTRUCTIVE,
        IdempotencyBehavior.NON_IDEMPOTENT,
        ConcurrencyBehavior.SEQUENTIAL,
        "default",
        {},
    )


WORST, ADDING, READING = _ruling(DESTROYS), _ruling(ADDS), _ruling(READS)
GETS, CREATES, DROPS, UNKNOWN = (suggest(n, {}) for n in ("get_x", "create_x", "drop_x", "foo"))


@pytest.mark.req("B-06")
@pytest.mark.parametrize(
    ("claims", "suggestion", "ruling", "verdict"),
    [
        (NOTHING, GETS, WORST, READS),
        (NOTHING, CREATES, WORST, ADDS),
        (NOTHING, DROPS, WORST, None),
        (NOTHING, UNKNOWN, WORST, None),
        (Claims(read_only=True), GETS, WORST, READS),
        (Claims(read_only=True), GETS, READING, None),
        (Claims(read_only=True), DROPS, READING, DESTROYS),
        (Claims(read_only=True), CREATES, READING, ADDS),
        (Claims(read_only=True), UNKNOWN, READING, None),
        (Claims(read_only=True), UNKNOWN, WORST, READS),
        (Claims(read_only=True, destructive=True), GETS, READING, DESTROYS),
        (Claims(read_only=False), GETS, WORST, None),
        (Claims(destructive=True), GETS, WORST, None),
        (Claims(destructive=False), GETS, WORST, ADDS),
        (Claims(destructive=False), DROPS, ADDING, DESTROYS),
    ],
)
def test_the_proposal_is_the_stricter_of_claim_and_guess(
    claims: Claims, suggestion: Suggestion, ruling: Ruling, verdict: Verdict | None
) -> None:
    """None where what is ruled anyway is just that; a claim alone where the name says nothing."""
    found = propose(claims, None, suggestion, ruling)
    assert found.verdict == verdict
    assert found.reasons


def test_your_own_verdict_stands_and_a_doubt_is_told() -> None:
    """What the operator said of a tool's effect is not proposed away."""
    assert propose(NOTHING, READS, GETS, READING) == Proposal(None, ("your verdict stands",))
    doubted = propose(NOTHING, READS, DROPS, READING)
    assert doubted.verdict is None
    assert 'but its name says "drop"' in doubted.reasons


def test_what_you_said_of_other_things_is_kept_in_a_new_verdict() -> None:
    """A verdict on concurrency alone leaves the effect open, and goes into what is proposed."""
    said = Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)
    found = propose(NOTHING, said, GETS, WORST).verdict
    assert found == Verdict(
        SideEffectLevel.READ_ONLY,
        concurrent=ConcurrencyBehavior.CONCURRENT_SAFE,
    )


_tri = st.none() | st.booleans()
_claims = st.builds(Claims, _tri, _tri)


@given(_claims, st.sampled_from([GETS, CREATES, DROPS]), st.sampled_from([WORST, ADDING, READING]))
def test_a_proposal_is_never_laxer_than_claim_or_guess(
    claims: Claims, suggestion: Suggestion, ruling: Ruling
) -> None:
    """Whatever is ruled now: what would be ruled is as strict as both say, where both say."""
    found = propose(claims, None, suggestion, ruling).verdict
    rung = 2 if ruling is WORST else 1 if ruling is ADDING else 0
    after = LADDER.index(found) if found is not None else rung
    guess = {GETS: 0, CREATES: 1, DROPS: 2}[suggestion]
    words = {"nothing": 0, "read-only": 0, "non-destructive": 1, "destructive": 2}
    assert after >= guess
    assert after >= words.get(claim_word(claims), 2)


def _pin(
    instructions: str | None = None, args: tuple[str, ...] = (), **fields: object
) -> PinnedTool:
    tool = read_tool({"name": "t", "inputSchema": {"type": "object"}, **fields})
    assert isinstance(tool, ListedTool)
    endpoint = StdioEndpoint("serve", args)
    profile = ServerProfile(instructions=instructions)
    seen = sighted(ServerSettings("s", endpoint), profile, ListedTools((tool,)), 1.0)
    return pin_of(seen, endpoint, tool)


@pytest.mark.req("B-06")
def test_a_difference_is_told_field_by_field_in_lines() -> None:
    """Only what changed, in the order in which a definition is read; a schema line by line."""
    before = _pin(description="One.\nTwo.\nThree.", annotations={"readOnlyHint": True})
    schema = {"type": "object", "properties": {"force": {"type": "boolean"}}}
    now = _pin(description="One.\n2.\nThree.", inputSchema=schema, annotations=None)
    found = {field.field: field.lines for field in diff(before, now)}
    assert list(found) == ["description", "inputSchema", "annotations"]
    assert found["description"] == (" One.", "-Two.", "+2.", " Three.")
    assert '+    "force": {' in found["inputSchema"]
    assert found["annotations"] == ("-{", '-  "readOnlyHint": true', "-}")
    assert diff(before, before) == ()


def test_without_a_pin_the_whole_definition_is_told() -> None:
    """Every field that says something, each line as one that came."""
    found = {field.field: field.lines for field in diff(None, _pin(description="One.\nTwo."))}
    assert found["description"] == ("+One.", "+Two.")
    assert list(found) == ["description", "inputSchema"]


def test_of_how_a_server_is_reached_only_the_command_is_told() -> None:
    """Other arguments are told as such; they may hold secrets."""
    before, now = _pin(args=("--key", "first-secret")), _pin("Hi.", args=("--key", "second"))
    found = {field.field: field.lines for field in diff(before, now)}
    assert found["endpoint"] == (" serve, with other arguments, or other names of variables",)
    assert found["instructions"] == ("+Hi.",)
    assert "secret" not in str(found)


def test_what_is_too_long_to_compare_is_counted() -> None:
    """A field of a hundred thousand lines costs no minute."""
    (field,) = diff(_pin(description="x\n" * 100_000), _pin(description="y\n" * 100_000))
    assert field.lines == ("@@ 100001 lines became 100001: too many to be compared @@",)
