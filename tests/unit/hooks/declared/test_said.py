"""One contract: what counts as an answer of a hook, and that everything else is a failure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.hooks.declared.said import MAX_ANSWER, MAX_CONTEXT, read_answer, result_of
from lockgate.hooks.event import HookEvent
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.merge import MAX_REASON, merge
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.testing.hook import ScriptedHook

PRE, POST = HookEvent.PRE_TOOL, HookEvent.POST_TOOL


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("word", list(HookDecision))
def test_each_decision_is_honoured(word: HookDecision) -> None:
    """allow, deny, ask and defer, with a reason and context."""
    said = {"decision": word.value, "reason": "because", "additionalContext": "more"}
    assert read_answer(json.dumps(said), PRE, due=True) == HookResult(word, "because", None, "more")


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("text", ["", "  \n", "{}", '{"id": 3, "reason": "x"}'])
def test_an_answer_without_a_decision_means_nothing(text: str) -> None:
    """The hook only did something."""
    assert read_answer(text, PRE, due=True) == HookResult()


def test_text_is_no_answer_where_none_is_due() -> None:
    """A program may print what it likes; what begins as an object has to be one."""
    assert read_answer("checked 3 files", PRE, due=False) == HookResult()
    for text, due in (("checked 3 files", True), ("[1]", True), ("{oops", False), ("3", True)):
        with pytest.raises(HookFailure):
            read_answer(text, PRE, due=due)


def test_rewrites_have_their_event() -> None:
    """`updatedInput` before a call, `updatedOutput` after it; elsewhere it is a failure."""
    rewritten = result_of({"decision": "allow", "updatedInput": {"a": 1}}, PRE)
    assert rewritten.updated_input == {"a": 1}
    replaced = result_of({"decision": "defer", "updatedOutput": "x"}, POST)
    assert replaced.updated_output == "x"
    for event in HookEvent:
        if event is not PRE:
            with pytest.raises(HookFailure, match="only pre_tool"):
                result_of({"decision": "allow", "updatedInput": {}}, event)
        if event is not POST:
            with pytest.raises(HookFailure, match="only post_tool"):
                result_of({"decision": "allow", "updatedOutput": ""}, event)


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    "said",
    [
        {"decision": "approve"},
        {"decision": "Deny"},
        {"decision": None},
        {"decision": True},
        {"decision": ["deny"]},
        {"decision": "deny", "reason": 3},
        {"decision": "defer", "additionalContext": ["x"]},
        {"decision": "allow", "updatedInput": [1]},
        {"updatedInput": {"a": 1}},
        {"additionalContext": "x"},
    ],
)
def test_what_can_not_be_read_is_a_failure(said: dict[str, Any]) -> None:
    """An unknown word, another type, what says something only beside a decision."""
    with pytest.raises(HookFailure):
        result_of(said, PRE)


def test_null_is_a_key_that_is_not_there() -> None:
    """Programs write out all they know of."""
    said = {"decision": "deny", "reason": None, "updatedInput": None, "updatedOutput": None}
    assert result_of(said, HookEvent.TURN_START) == HookResult(HookDecision.DENY)


def test_sizes_are_bounded() -> None:
    """A large answer is a failure; long texts are cut, and how much is said, once."""
    with pytest.raises(HookFailure, match=str(MAX_ANSWER)):
        read_answer(b" " * (MAX_ANSWER + 1), PRE, due=False)
    said = {"decision": "deny", "reason": "r" * (MAX_REASON + 5), "additionalContext": "c" * 10_007}
    result = result_of(said, PRE)
    assert result.context == "c" * MAX_CONTEXT + " [and 7 characters more]"
    merged = merge(PRE, [(ScriptedHook().on(PRE, name="h"), result)])
    assert merged.why == f"the hook h denies it: {'r' * MAX_REASON} [and 5 characters more]"
    assert merged.context == result.context


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_whatever_comes_is_read_or_fails(data: bytes) -> None:
    """Nothing but a result or a `HookFailure`, whose text holds nothing of what was said."""
    for due in (True, False):
        told = ""
        try:
            read_answer(data, PRE, due=due)
        except HookFailure as error:
            told = str(error)
        assert told == "" or told.startswith(("its ", "it answered "))


def test_what_is_nested_too_deep_is_no_json() -> None:
    """A bottomless answer is a failure like any other."""
    with pytest.raises(HookFailure, match="no JSON"):
        read_answer('{"a":' * 20_000 + "1" + "}" * 20_000, PRE, due=True)
