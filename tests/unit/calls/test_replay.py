"""The one policy that says when a call may run again (S0-18)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.replay import MAX_ATTEMPTS, another_try, replayable, together
from lockgate.errors import Fate
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel

READER = ScriptedTool("reader", level=SideEffectLevel.READ_ONLY, destructive=True)
IDEMPOTENT = ScriptedTool("idempotent", idempotent=True)
PLAIN = ScriptedTool("plain", destructive=False)
TOOLS = (READER, IDEMPOTENT, PLAIN)


@pytest.mark.req("S0-18")
@pytest.mark.parametrize(
    ("tool", "same", "allowed"),
    [
        (READER, True, True),
        (READER, False, True),
        (IDEMPOTENT, True, True),
        (IDEMPOTENT, False, False),
        (PLAIN, True, False),
        (PLAIN, False, False),
    ],
)
def test_after_an_unknown_fate(tool: Tool, same: bool, allowed: bool) -> None:
    """READ_ONLY may run again; IDEMPOTENT within the same invocation; nothing else may."""
    again = another_try(tool, Fate.UNKNOWN, 1, same_invocation=same)
    assert again.allowed is allowed
    assert again.why


@pytest.mark.req("S0-18")
@pytest.mark.parametrize(("tool", "fate"), [*itertools.product(TOOLS, Fate)])
def test_one_further_try_at_most(tool: Tool, fate: Fate) -> None:
    """Whatever the tool and the fate, a call runs twice at most."""
    assert not another_try(tool, fate, MAX_ATTEMPTS, same_invocation=True).allowed


@pytest.mark.req("B-03")
@pytest.mark.parametrize("tool", TOOLS)
def test_what_was_not_sent_may_be_sent_again(tool: Tool) -> None:
    """A proof that nothing was sent makes a second try safe for every tool."""
    assert another_try(tool, Fate.NOT_SENT, 1, same_invocation=True).allowed
    assert another_try(tool, Fate.NOT_SENT, 1, same_invocation=False).allowed


@pytest.mark.parametrize(
    "kind",
    [
        ErrorKind.UNAUTHORIZED,
        ErrorKind.RATE_LIMITED,
        ErrorKind.DENIED,
        ErrorKind.INVALID_ARGUMENTS,
    ],
)
def test_what_would_be_refused_again_is_not_tried(kind: ErrorKind) -> None:
    """Where only time or a person helps, an immediate repeat is noise."""
    again = another_try(PLAIN, Fate.NOT_SENT, 1, same_invocation=True, kind=kind)
    assert not again.allowed


@pytest.mark.parametrize("tool", TOOLS)
def test_an_answer_is_an_answer(tool: Tool) -> None:
    """An error that was answered is never retried, read-only or not."""
    kind = ErrorKind.TOOL_ERROR
    assert not another_try(tool, Fate.ANSWERED, 1, same_invocation=True, kind=kind).allowed


@given(st.lists(st.sampled_from([Fate.NOT_SENT, Fate.UNKNOWN]), max_size=3), st.sampled_from(Fate))
def test_fates_together(before: list[Fate], last: Fate) -> None:
    """An answer settles a call; without one a single unknown attempt leaves it unknown."""
    whole = None
    for fate in [*before, last]:
        whole = together(whole, fate)
    if last is not Fate.ANSWERED and Fate.UNKNOWN in before:
        assert whole is Fate.UNKNOWN
    else:
        assert whole is last


def test_replayable_reads_idempotency_under_mutating_only() -> None:
    """READ_ONLY is replayable by its level; the second trait is not even read there."""
    assert replayable(READER)
    assert replayable(IDEMPOTENT)
    assert not replayable(PLAIN)
