"""The one ruling, against a table that is written out (PB-128, PB-130..133, S0-11..13, S0-19)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.host.pins import UNPINNED, PinState, Standing
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.settings import AnnotationTrust, Verdict
from lockgate.mcp.host.trust import resolve
from lockgate.mcp.protocol.claims import Claims, parse_claims
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

R, M = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
D, N = DestructiveBehavior.DESTRUCTIVE, DestructiveBehavior.NON_DESTRUCTIVE
IGNORE, TRUST = AnnotationTrust.IGNORE, AnnotationTrust.TRUST

VERDICTS = {
    "none": Verdict(),
    "read-only": Verdict(level=R),
    "mutating": Verdict(level=M),
    "mutating+D": Verdict(level=M, destructive=D),
    "mutating+N": Verdict(level=M, destructive=N),
    "D": Verdict(destructive=D),
    "N": Verdict(destructive=N),
    "read-only+N": Verdict(level=R, destructive=N),
}

TABLE = """
trust  readOnly destructive | none read-only mutating mutating+D mutating+N D  N  read-only+N
ignore -        -           | MD   R         MD       MD         MN         MD MN R
ignore -        true        | MD   R         MD       MD         MN         MD MN R
ignore -        false       | MD   R         MD       MD         MN         MD MN R
ignore true     -           | MD   R         MD       MD         MN         MD MN R
ignore true     true        | MD   R         MD       MD         MN         MD MN R
ignore true     false       | MD   R         MD       MD         MN         MD MN R
ignore false    -           | MD   R         MD       MD         MN         MD MN R
ignore false    true        | MD   R         MD       MD         MN         MD MN R
ignore false    false       | MD   R         MD       MD         MN         MD MN R
trust  -        -           | MD   R         MD       MD         MN         MD MN R
trust  -        true        | MD   R         MD       MD         MN         MD MN R
trust  -        false       | MN   R         MN       MD         MN         MD MN R
trust  true     -           | R    R         MD       MD         MN         MD MN R
trust  true     true        | R    R         MD       MD         MN         MD MN R
trust  true     false       | R    R         MN       MD         MN         MD MN R
trust  false    -           | MD   R         MD       MD         MN         MD MN R
trust  false    true        | MD   R         MD       MD         MN         MD MN R
trust  false    false       | MN   R         MN       MD         MN         MD MN R
"""
"""R: READ_ONLY and NON_DESTRUCTIVE, MD: MUTATING and DESTRUCTIVE, MN: MUTATING, NON_DESTRUCTIVE."""

HINT = {"-": None, "true": True, "false": False}


def _rows() -> list[tuple[AnnotationTrust, Claims, str, str]]:
    head, *lines = TABLE.strip().splitlines()
    verdicts = head.split("|")[1].split()
    rows: list[tuple[AnnotationTrust, Claims, str, str]] = []
    for line in lines:
        left, right = line.split("|")
        trust, read_only, destructive = left.split()
        claims = Claims(read_only=HINT[read_only], destructive=HINT[destructive])
        rows.extend(
            (AnnotationTrust(trust), claims, verdict, cell)
            for verdict, cell in zip(verdicts, right.split(), strict=True)
        )
    return rows


def _cell(ruling: Ruling) -> str:
    if ruling.level is R:
        assert ruling.destructive is N
        return "R"
    return "MD" if ruling.destructive is D else "MN"


@pytest.mark.req("S0-11")
@pytest.mark.req("S0-12")
@pytest.mark.req("S0-13")
def test_the_whole_matrix_is_as_the_table_says() -> None:
    """Verdict first, then the claim if trusted, then the worst: every combination, by the table."""
    rows = _rows()
    assert len(rows) == 18 * len(VERDICTS)
    ruled = [_cell(resolve(claims, trust, VERDICTS[v])) for trust, claims, v, _ in rows]
    assert ruled == [cell for *_, cell in rows]


IDEMPOTENT = [
    # trust, idempotentHint, verdict, IDEMPOTENT?
    (IGNORE, None, None, False),
    (IGNORE, True, None, False),
    (IGNORE, False, None, False),
    (TRUST, None, None, False),
    (TRUST, True, None, True),
    (TRUST, False, None, False),
    (IGNORE, True, IdempotencyBehavior.IDEMPOTENT, True),
    (IGNORE, None, IdempotencyBehavior.IDEMPOTENT, True),
    (TRUST, False, IdempotencyBehavior.IDEMPOTENT, True),
    (TRUST, True, IdempotencyBehavior.NON_IDEMPOTENT, False),
]


@pytest.mark.req("S0-19")
@pytest.mark.parametrize(("trust", "hint", "word", "expected"), IDEMPOTENT)
def test_idempotency_follows_the_same_order(
    trust: AnnotationTrust, hint: bool | None, word: IdempotencyBehavior | None, expected: bool
) -> None:
    """idempotentHint counts under TRUST only; the operator's word over it."""
    ruling = resolve(Claims(idempotent=hint), trust, Verdict(idempotent=word))
    assert (ruling.idempotent is IdempotencyBehavior.IDEMPOTENT) is expected


@pytest.mark.req("S0-13")
@pytest.mark.parametrize("word", list(IdempotencyBehavior))
def test_a_verdict_on_idempotency_alone_makes_the_tool_mutating(word: IdempotencyBehavior) -> None:
    """Leniency is for claims: who says how a tool mutates has said that it does."""
    ruling = resolve(Claims(read_only=True), TRUST, Verdict(idempotent=word))
    assert ruling.level is M
    assert ruling.source == "verdict"
    assert "mutating" in ruling.reasons["level"]


@pytest.mark.req("S0-13")
def test_contradicting_verdicts_can_not_be_written() -> None:
    """READ_ONLY and DESTRUCTIVE from the operator is an error where it is written."""
    with pytest.raises(ValueError, match="read-only"):
        Verdict(level=R, destructive=D)


@pytest.mark.req("S0-13")
def test_a_contradicting_claim_is_read_only_in_behaviour_and_in_display() -> None:
    """PB-131: trusted readOnlyHint and destructiveHint both true is READ_ONLY NON_DESTRUCTIVE."""
    ruling = resolve(Claims(read_only=True, destructive=True), TRUST, None)
    assert repr(ruling) == "<Ruling READ_ONLY NON_DESTRUCTIVE NON_IDEMPOTENT SEQUENTIAL by claim>"
    assert ruling.reasons["destructive"] == "what is read-only can not destroy"
    assert "it claims to be read-only and destructive at once" in ruling.remarks


def test_a_ruling_that_contradicts_itself_can_not_be_made() -> None:
    """What `resolve` promises holds for the value itself."""
    with pytest.raises(ValueError, match="never read-only and destructive"):
        Ruling(
            R,
            D,
            IdempotencyBehavior.IDEMPOTENT,
            ConcurrencyBehavior.SEQUENTIAL,
            "claim",
            reasons={},
        )


@pytest.mark.req("S0-10")
@pytest.mark.parametrize("hint", ["true", 1, None, [], {}, 1.0])
def test_a_hint_that_is_no_boolean_lowers_nothing(hint: object) -> None:
    """Under TRUST a readOnlyHint of a wrong type counts as absent, and that is remarked upon."""
    claims = parse_claims({"readOnlyHint": hint})
    ruling = resolve(claims, TRUST, None)
    assert _cell(ruling) == "MD"
    assert ruling.source == "default"
    assert any("readOnlyHint" in remark for remark in ruling.remarks)


@pytest.mark.req("S0-10")
@pytest.mark.parametrize("raw", [None, {}])
@pytest.mark.parametrize("trust", list(AnnotationTrust))
def test_no_annotations_need_no_special_case(raw: object, trust: AnnotationTrust) -> None:
    """The defaults of MCP equal ours: absent annotations are the worst case, believed or not."""
    ruling = resolve(parse_claims(raw), trust, None)
    assert (ruling.level, ruling.destructive) == (M, D)
    assert ruling.idempotent is IdempotencyBehavior.NON_IDEMPOTENT
    assert ruling.source == "default"
    assert ruling.remarks == ()


def test_reasons_say_what_was_claimed_and_whether_it_counts() -> None:
    """A person sees from the reasons alone why the traits are as they are (B-05)."""
    claims = Claims(read_only=True)
    believed = resolve(claims, TRUST, None).reasons
    assert believed["level"] == "the server claims readOnlyHint: true, and annotationTrust is trust"
    doubted = resolve(claims, IGNORE, None).reasons
    assert doubted["level"] == (
        "the server claims readOnlyHint: true, not believed because annotationTrust is ignore"
    )
    assert doubted["destructive"] == "no destructiveHint is claimed, so the worst is assumed"
    assert resolve(claims, TRUST, Verdict(level=M)).reasons["level"] == "the operator's verdict"
    assert set(believed) == {"level", "destructive", "idempotent", "concurrent"}


def test_only_the_operator_makes_a_tool_concurrent() -> None:
    """No hint speaks of concurrency, and a verdict on it alone changes no other axis."""
    verdict = Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)
    ruling = resolve(Claims(read_only=True, idempotent=True), TRUST, verdict)
    assert ruling.concurrent is ConcurrencyBehavior.CONCURRENT_SAFE
    assert (ruling.level, ruling.source) == (R, "claim")
    assert resolve(Claims(read_only=True), TRUST, None).concurrent is ConcurrencyBehavior.SEQUENTIAL


def test_the_strongest_source_is_named() -> None:
    """`source` names the operator if any of level, destructive, idempotent is the operator's."""
    claims = Claims(read_only=False, idempotent=True)
    assert resolve(claims, IGNORE, None).source == "default"
    assert resolve(claims, TRUST, None).source == "claim"
    assert resolve(claims, TRUST, Verdict(destructive=N)).source == "verdict"


_hints = st.sampled_from([None, True, False])
_claims = st.builds(
    Claims, read_only=_hints, destructive=_hints, idempotent=_hints, open_world=_hints
)


@st.composite
def _verdicts(draw: st.DrawFn) -> Verdict:
    level = draw(st.sampled_from([None, *SideEffectLevel]))
    allowed = [None, N] if level is R else [None, D, N]
    return Verdict(
        level,
        draw(st.sampled_from(allowed)),
        draw(st.sampled_from([None, *IdempotencyBehavior])),
        draw(st.sampled_from([None, *ConcurrencyBehavior])),
    )


def _traits(ruling: Ruling) -> tuple[object, ...]:
    return ruling.level, ruling.destructive, ruling.idempotent, ruling.concurrent


@pytest.mark.req("S0-12")
@given(_claims, _verdicts())
def test_what_is_ignored_changes_nothing(claims: Claims, verdict: Verdict) -> None:
    """PB-133: under IGNORE a tool is ruled as though it had claimed nothing at all."""
    ignored, silent = resolve(claims, IGNORE, verdict), resolve(Claims(), IGNORE, verdict)
    assert _traits(ignored) == _traits(silent)
    assert ignored.source == silent.source
    assert ignored.source != "claim"


@given(_claims)
def test_trust_only_ever_lowers(claims: Claims) -> None:
    """Without a verdict, IGNORE is the worst case on every axis, whatever is claimed."""
    assert _traits(resolve(claims, IGNORE, None)) == (
        M,
        D,
        IdempotencyBehavior.NON_IDEMPOTENT,
        ConcurrencyBehavior.SEQUENTIAL,
    )


@given(_claims, st.sampled_from(AnnotationTrust), _verdicts())
def test_the_operators_word_always_counts(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict
) -> None:
    """Whatever is claimed and believed, each field of a verdict is what the ruling says."""
    ruling = resolve(claims, trust, verdict)
    assert verdict.level in (None, ruling.level)
    assert verdict.destructive in (None, ruling.destructive)
    assert verdict.idempotent in (None, ruling.idempotent)
    assert verdict.concurrent in (None, ruling.concurrent)
    if verdict.level is None and (verdict.destructive or verdict.idempotent):
        assert ruling.level is M


@given(_claims, st.sampled_from(AnnotationTrust), _verdicts())
def test_read_only_is_never_destructive(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict
) -> None:
    """S0-13 for every input there is; openWorldHint declares nothing (S0-19)."""
    ruling = resolve(claims, trust, verdict)
    if ruling.level is R:
        assert ruling.destructive is N
        assert "READ_ONLY NON_DESTRUCTIVE" in repr(ruling)
    closed = Claims(claims.read_only, claims.destructive, claims.idempotent)
    assert _traits(resolve(closed, trust, verdict)) == _traits(ruling)


CHANGED = PinState(Standing.CHANGED, ("annotations", "description"))
PINS = [UNPINNED, PinState(Standing.NEW), PinState(Standing.SAME), CHANGED]


@pytest.mark.req("B-06")
@given(_claims, st.sampled_from(AnnotationTrust), _verdicts())
def test_a_changed_pin_never_makes_a_ruling_laxer(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict
) -> None:
    """Whatever is claimed, trusted and said: with a changed pin nothing passes that would not pass
    without one; what is strict in the verdict still counts."""
    without = resolve(claims, trust, verdict)
    changed = resolve(claims, trust, verdict, CHANGED)
    assert not changed.laxer_than(without)
    assert not changed.laxer_than(resolve(claims, IGNORE, None))
    strict = Verdict(level=M, destructive=D)
    assert resolve(claims, trust, strict, CHANGED).source == "verdict"


@pytest.mark.req("B-06")
@given(_claims, st.sampled_from(AnnotationTrust), _verdicts(), st.sampled_from(PINS[:3]))
def test_a_pin_that_holds_changes_no_trait(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict, pin: PinState
) -> None:
    """A pin is no trust: what is as it was reviewed, or was not, is ruled on as without pins."""
    assert _traits(resolve(claims, trust, verdict, pin)) == _traits(resolve(claims, trust, verdict))


@pytest.mark.req("B-06")
def test_a_changed_definition_says_so_in_every_reason_that_follows_from_it() -> None:
    """Who reads why a tool is destructive again reads that it changed, and in which fields."""
    said = Verdict(level=R, concurrent=ConcurrencyBehavior.CONCURRENT_SAFE)
    ruling = resolve(Claims(read_only=True), TRUST, said, CHANGED)
    assert repr(ruling) == "<Ruling MUTATING DESTRUCTIVE NON_IDEMPOTENT SEQUENTIAL by default>"
    assert ruling.reasons["level"].endswith("not believed because it changed since it was pinned")
    assert ruling.reasons["pin"] == "it changed since it was pinned: annotations, description"
    assert any("until it is reviewed" in remark for remark in ruling.remarks)
    assert any("only where it is strict" in remark for remark in ruling.remarks)


@given(_claims, st.sampled_from(AnnotationTrust), _verdicts(), _claims, _verdicts())
def test_laxer_is_told_by_the_traits_alone(
    claims: Claims, trust: AnnotationTrust, verdict: Verdict, others: Claims, other: Verdict
) -> None:
    """Laxer is irreflexive, and the worst case is laxer than nothing."""
    one, two = resolve(claims, trust, verdict), resolve(others, trust, other)
    assert not one.laxer_than(one)
    worst = resolve(Claims(), IGNORE, None)
    assert not worst.laxer_than(one)
    if _traits(one) != _traits(worst) and one.level is M:
        assert one.laxer_than(worst)
    if one.level is R and two.level is M:
        assert one.laxer_than(two)
