"""Offers: which tools an execution is shown at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError
from lockgate.rules.offers import bind_offer, unmatched
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot


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


@pytest.mark.parametrize("pattern", ["", "Read(x)", "mcp__*", "*", "mcp__files__r*"])
def test_what_can_not_be_read_is_an_error(pattern: str) -> None:
    """Never an offer of nothing, and never of everything."""
    with pytest.raises(ConfigError, match="the offer"):
        bind_offer([pattern], TOOLS)


PATTERNS = st.lists(
    st.sampled_from([*TOOLS.entries, "mcp__files", "mcp__files__*", "mcp__git__*", "Nobody"])
)


@given(PATTERNS, PATTERNS)
def test_an_offer_never_reaches_beyond_what_is_registered(one: list[str], two: list[str]) -> None:
    """It holds registered names only, and joining lists joins what they mean."""
    first, second = bind_offer(one, TOOLS), bind_offer(two, TOOLS)
    both = bind_offer([*one, *two], TOOLS)
    assert first is not None
    assert second is not None
    assert first <= set(TOOLS.entries)
    assert both == first | second
