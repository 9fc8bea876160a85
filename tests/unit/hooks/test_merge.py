"""Several hooks' words made one: the strictest counts, and no order changes what is decided."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.merge import Failure, Merged, merge
from lockgate.hooks.result import HookDecision, HookResult

ALLOW, ASK, DENY, DEFER = (
    HookDecision.ALLOW,
    HookDecision.ASK,
    HookDecision.DENY,
    HookDecision.DEFER,
)
PRE, POST = HookEvent.PRE_TOOL, HookEvent.POST_TOOL


async def nothing(told: HookInput) -> HookResult | None:
    """A hook that is never run here."""
    del told
    return None


def hook(name: str, event: HookEvent = PRE, *, denies: bool = False) -> Hook:
    """A hook of `event`."""
    return Hook(event, nothing, name, denies_on_error=denies, source=f"lockgate.yaml {name}")


def merged(*said: HookResult | Failure, event: HookEvent = PRE, denies: bool = False) -> Merged:
    """The merger of what hooks a, b, c, ... said."""
    names = "abcdefgh"
    pairs = [(hook(n, event, denies=denies), r) for n, r in zip(names, said, strict=False)]
    return merge(event, pairs)


results = st.builds(
    HookResult,
    st.sampled_from([None, DEFER, ALLOW, ASK, DENY]),
    st.text(max_size=5),
    st.none() | st.dictionaries(st.sampled_from("xy"), st.sampled_from([1, 1.0, True, "1"])),
    st.text(max_size=3),
)
said = st.lists(results | st.builds(Failure, st.just("X")), max_size=5)
STRICTNESS = [None, DEFER, ALLOW, ASK, DENY]


@given(said, st.randoms(use_true_random=False), st.booleans())
def test_no_order_changes_what_is_decided(
    all_of_them: list[Any], random: Any, denies: bool
) -> None:
    """Whichever hook was declared first, the same is decided for the same reasons, on the same
    arguments."""
    pairs = [(hook(f"h{n}", denies=denies), r) for n, r in enumerate(all_of_them)]
    mixed = list(pairs)
    random.shuffle(mixed)
    one, other = merge(PRE, pairs), merge(PRE, mixed)
    assert one.decision is other.decision
    assert set(one.reasons) == set(other.reasons)
    assert one.updated_input == other.updated_input
    assert sorted(one.failed) == sorted(other.failed)


@given(said, results | st.builds(Failure, st.just("X")), st.booleans())
def test_one_hook_more_never_makes_it_looser(some: list[Any], another: Any, denies: bool) -> None:
    """A further hook leaves the decision as strict, or makes it stricter."""
    fewer = merged(*some, denies=denies)
    more = merged(*some, another, denies=denies)
    assert STRICTNESS.index(more.decision) >= STRICTNESS.index(fewer.decision)


@given(said)
def test_the_strictest_word_counts_with_all_its_reasons(all_of_them: list[Any]) -> None:
    """The decision is at least as strict as any word, and has a reason from each that is as
    strict."""
    found = merged(*all_of_them)
    words = [r.decision for r in all_of_them if isinstance(r, HookResult)]
    top = max(words, key=STRICTNESS.index, default=None)
    assert STRICTNESS.index(found.decision) >= STRICTNESS.index(top)
    if top is DENY:
        named = {reason.text.split()[2] for reason in found.reasons}
        pairs = zip("abcdefgh", all_of_them, strict=False)
        assert named >= {n for n, r in pairs if isinstance(r, HookResult) and r.decision is DENY}


def test_reasons_name_the_hook_its_words_and_its_place() -> None:
    """What a record and a person read: which hook, what it said, where it is declared."""
    found = merged(HookResult(DENY, "no pushes on Friday"), HookResult(ASK, "sure?"))
    (reason,) = found.reasons
    assert reason.code == "hook_denies"
    assert reason.text == "the hook a denies it: no pushes on Friday"
    assert reason.source == "lockgate.yaml a"
    assert found.why == reason.text


def test_allow_is_no_more_than_no_objection() -> None:
    """Beside an ask it vanishes."""
    assert merged(HookResult(ALLOW), HookResult(ASK)).decision is ASK
    assert merged(HookResult(ALLOW), HookResult(DEFER)).decision is ALLOW


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {}, False),
    ],
)
def test_two_rewrites_count_only_if_they_are_one(
    one: dict[str, Any], other: dict[str, Any], agree: bool
) -> None:
    """Equal as JSON is one rewrite; anything else is a refusal that names both hooks, because
    neither call is the one that both wanted."""
    found = merged(HookResult(updated_input=one), HookResult(updated_input=other))
    if agree:
        assert found.updated_input == one
        assert not found.denied
    else:
        assert found.denied
        assert found.updated_input is None
        assert "a and b" in found.why


def test_a_denial_leaves_no_rewrite() -> None:
    """What is denied is denied with whatever arguments."""
    found = merged(HookResult(updated_input={"a": 1}), HookResult(DENY))
    assert found.denied
    assert found.updated_input is None


def test_two_replacements_of_an_output_withhold_it() -> None:
    """Each may have taken out what the other left in."""
    same, other = HookResult(updated_output="x"), HookResult(updated_output="y")
    assert merged(same, same, event=POST).updated_output == "x"
    found = merged(same, other, event=POST)
    assert found.denied
    assert found.updated_output is None


@pytest.mark.parametrize("event", [event for event in HookEvent if event is not PRE])
def test_a_rewrite_where_nothing_is_called_is_a_failure(event: HookEvent) -> None:
    """Only before a call can its arguments be rewritten."""
    found = merged(HookResult(updated_input={}), event=event)
    assert [name for name, _ in found.failed] == ["a"]
    assert found.updated_input is None


@pytest.mark.parametrize("event", [event for event in HookEvent if event is not POST])
def test_a_replaced_output_where_there_is_none_is_a_failure(event: HookEvent) -> None:
    """Only after a call there is one."""
    assert merged(HookResult(updated_output="x"), event=event).failed


@pytest.mark.parametrize(
    "result",
    [
        HookResult(reason=3),  # pyright: ignore[reportArgumentType] - what is tested
        HookResult(context=b"x"),  # pyright: ignore[reportArgumentType] - what is tested
        HookResult(updated_input=[1]),  # pyright: ignore[reportArgumentType] - what is tested
        HookResult(updated_input={"a": object()}),
    ],
)
def test_words_that_are_none_are_failures(result: HookResult) -> None:
    """An unknown word is not guessed at: it fails, and denies where failing denies."""
    assert merged(result).failed
    assert not merged(result).denied
    assert merged(result, denies=True).denied


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("event", list(HookEvent))
def test_a_failure_denies_only_where_it_says_so_and_something_is_decided(event: HookEvent) -> None:
    """By default a warning and on; with `denies_on_error` a denial, if the event decides at all."""
    soft = merged(Failure("TimeoutError"), event=event)
    assert not soft.denied
    assert soft.notes[0].code == "hook_failed"
    assert merged(Failure("X"), event=event, denies=True).denied is event.decides


@pytest.mark.parametrize("event", list(HookEvent))
def test_a_word_counts_only_where_the_event_decides(event: HookEvent) -> None:
    """Of what has happened already nothing can be denied."""
    assert merged(HookResult(DENY), event=event).denied is event.decides


@pytest.mark.parametrize(
    ("event", "decision"),
    [
        (PRE, ASK),
        (HookEvent.PERMISSION_REQUEST, ASK),
        (POST, DENY),
        (HookEvent.TURN_START, DENY),
        (HookEvent.SUBAGENT_START, DENY),
        (HookEvent.CONFIG_RELOAD, DENY),
    ],
)
def test_an_ask_where_nobody_is_asked_is_a_denial(event: HookEvent, decision: HookDecision) -> None:
    """A hook that wants somebody to look at it does not get a yes from nobody."""
    assert merged(HookResult(ASK), event=event).decision is decision


def test_contexts_are_joined_in_declared_order_and_bounded() -> None:
    """What hooks have to say to the model comes together; each of it has an end."""
    found = merged(HookResult(context="one"), HookResult(), HookResult(context="two"))
    assert found.context == "one\ntwo"
    long = merged(HookResult(DENY, reason="x" * 5000, context="y" * 50_000))
    assert len(long.why) < 1100
    assert len(long.context) < 20_100
