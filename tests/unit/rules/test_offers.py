"""Offers: which tools an execution is shown at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError
from lockgate.policy.ceiling import narrow, shown, whole
from lockgate.rules.offers import bind_offer, unmatched
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Bounds
from lockgate.tools.registry import Registry, Snapshot
from lockgate.traits import SideEffectLevel


def some_tools() -> Snapshot:
    """Two of ours and two servers'."""
    registry = Registry()
    registry.register_all(
        [
            ScriptedTool("Read"),
            ScriptedTool("Grep"),
            ScriptedTool("read.file", server="files"),
            ScriptedTool("write", server="files"),
            ScriptedTool("git_log", server="git"),
        ]
    )
    return registry.snapshot()


TOOLS = some_tools()
FILES = frozenset(name for name in TOOLS.entries if name.startswith("mcp__files"))


def test_no_offer_is_everything_and_an_empty_one_is_nothing() -> None:
    """Absent means all that is registered; an empty list was written by someone."""
    assert bind_offer(None, TOOLS) is None
    assert bind_offer([], TOOLS) == frozenset()


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["Read"], {"Read"}),
        (["mcp__files__*"], FILES),
        (["mcp__files"], FILES),
        (["mcp__files__write", "Grep"], {"mcp__files__write", "Grep"}),
        (["Nothing", "Read"], {"Read"}),
        (["mcp__nobody__*"], set[str]()),
    ],
)
def test_an_offer_is_the_registered_names_it_means(patterns: list[str], names: set[str]) -> None:
    """By name, by server, by either name of a server's tool."""
    assert bind_offer(patterns, TOOLS) == names


def test_an_original_name_is_offered_under_the_registered_one() -> None:
    """What is shown is what can be called."""
    offer = bind_offer(["mcp__files__read.file"], TOOLS)
    assert offer is not None
    (name,) = offer
    assert name in TOOLS
    assert name != "mcp__files__read.file"


def test_what_matches_nothing_is_told() -> None:
    """As it was written, in order."""
    patterns = ["Read", "Gerp", "mcp__files__*", "mcp__nobody__x"]
    assert unmatched(patterns, TOOLS) == ("Gerp", "mcp__nobody__x")
    assert unmatched(None, TOOLS) == ()


@pytest.mark.parametrize(
    "pattern",
    ["", "Read(x)", "Read(...)", "mcp__*", "*", "mcp__files__r*", "mcp__files__write(a=1)"],
)
def test_what_can_not_be_read_is_an_error(pattern: str) -> None:
    """Never an offer of nothing, and never of everything."""
    with pytest.raises(ConfigError, match="the offer"):
        bind_offer([pattern], TOOLS)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("Read(./x)", "write Read here, and Read(./x) under permissions"),
        ("mcp__files__write(a=1)", "write mcp__files__write here"),
        ("mcp__files(a=1)", "name one tool, and no arguments"),
    ],
)
def test_what_a_tool_is_called_with_is_no_matter_of_an_offer(pattern: str, hint: str) -> None:
    """Offered is not allowed: the error says where it belongs."""
    with pytest.raises(ConfigError, match="where only tools are named") as refused:
        bind_offer([pattern], TOOLS)
    assert hint in (refused.value.problems[0].hint or "")


PATTERNS = st.lists(
    st.sampled_from([*TOOLS.entries, "mcp__files", "mcp__files__*", "mcp__git__*", "Nobody"])
)


LEVELS = st.sampled_from(SideEffectLevel)


def seen(bounds: Bounds) -> set[str]:
    """What is shown within bounds."""
    return {tool.name for tool in shown(TOOLS, bounds)}


@pytest.mark.req("B-04")
@pytest.mark.req("S0-06")
@given(st.none() | PATTERNS, st.none() | PATTERNS, LEVELS, LEVELS)
def test_what_a_child_is_offered_is_never_more_than_its_parent_has(
    of_parent: list[str] | None, of_child: list[str] | None, high: SideEffectLevel,
    low: SideEffectLevel,
) -> None:  # fmt: skip
    """Nor more than it was offered itself, whatever patterns either is written with."""
    parent = whole(high, bind_offer(of_parent, TOOLS))
    wish = whole(low, bind_offer(of_child, TOOLS))
    child = narrow(parent, wish)
    assert seen(child) <= seen(parent) & seen(wish)
    if child.offer is not None and not child.offer:
        assert seen(child) == set()
    assert seen(narrow(child, wish)) == seen(child)


@pytest.mark.req("B-04")
@given(PATTERNS, st.sampled_from(["Read", "mcp__files", "mcp__git__*", "Nobody"]))
def test_a_pattern_less_never_shows_more(patterns: list[str], further: str) -> None:
    """Every pattern only adds what it names."""
    fewer, more = bind_offer(patterns, TOOLS), bind_offer([*patterns, further], TOOLS)
    assert fewer is not None
    assert more is not None
    assert fewer <= more


@given(PATTERNS, PATTERNS)
def test_an_offer_never_reaches_beyond_what_is_registered(one: list[str], two: list[str]) -> None:
    """It holds registered names only, and joining lists joins what they mean."""
    first, second = bind_offer(one, TOOLS), bind_offer(two, TOOLS)
    both = bind_offer([*one, *two], TOOLS)
    assert first is not None
    assert second is not None
    assert first <= set(TOOLS.entries)
    assert both == first | second
