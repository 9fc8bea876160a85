"""Names: what is valid, and what a server's tool is registered under."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockgate.tools.naming import (
    MAX_NAME,
    NAME,
    is_reserved,
    is_tool_name,
    near_tool_names,
    server_of,
    server_prefix,
    server_tool_name,
)

SERVERS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
LONG_SERVERS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,90}[a-z0-9])?", fullmatch=True)
ORIGINALS = st.text(max_size=200)


def digits(text: str) -> str:
    """The eight digits that an altered name ends in."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@pytest.mark.req("S3-02")
@pytest.mark.parametrize(
    ("original", "registered"),
    [
        ("git_log", "mcp__git__git_log"),
        ("__init__", "mcp__git____init__"),
        ("UPPER_case", "mcp__git__UPPER_case"),
        ("kebab-case", "mcp__git__kebab-case"),
        ("a" * 54, "mcp__git__" + "a" * 54),
    ],
)
def test_a_name_that_fits_is_left_alone(original: str, registered: str) -> None:
    """`mcp__<server>__<tool>`, to the letter, up to 64 characters in all."""
    assert server_tool_name("git", original) == registered


@pytest.mark.req("S3-02")
@pytest.mark.parametrize(
    ("original", "begins"),
    [
        ("admin.tools.list", "mcp__x__admin_tools_list_"),
        ("user/update", "mcp__x__user_update_"),
        ("한글도구", "mcp__x__" + "_" * 5),
        ("has space", "mcp__x__has_space_"),
        ("", "mcp__x___"),
        ("a" * 200, "mcp__x__" + "a" * 47 + "_"),
        ("x;rm -rf", "mcp__x__x_rm_-rf_"),
        ("tool\nname", "mcp__x__tool_name_"),
    ],
)
def test_an_altered_name_ends_in_eight_digits_of_the_originals_hash(
    original: str, begins: str
) -> None:
    """Odd characters become underscores, what is too long is cut, and the hash tells them apart."""
    name = server_tool_name("x", original)
    assert name == begins + digits(original)
    assert len(name) <= MAX_NAME


@pytest.mark.req("S3-02")
@given(LONG_SERVERS, ORIGINALS)
@example("x", "\ud800")
@example("a" * 64, "b")
def test_every_name_is_valid(server: str, original: str) -> None:
    """Whatever a server calls its tool, models accept the registered name."""
    assert NAME.fullmatch(server_tool_name(server, original))


@pytest.mark.req("S3-02")
@given(SERVERS, ORIGINALS)
def test_a_name_is_stable(server: str, original: str) -> None:
    """It follows from server and original alone; listing order has no part in it."""
    name = server_tool_name(server, original)
    assert name == server_tool_name(server, original)
    assert name.startswith(server_prefix(server))


@pytest.mark.req("S3-02")
@given(st.sets(st.tuples(LONG_SERVERS, ORIGINALS), min_size=2, max_size=20))
@example({("a" * 60, "tool"), ("a" * 60 + "b", "tool")})
@example({("x", "a.b"), ("x", "a/b"), ("x", "a_b")})
def test_different_tools_have_different_names(tools: set[tuple[str, str]]) -> None:
    """No two tools of any servers share a name."""
    names = {server_tool_name(server, original) for server, original in tools}
    assert len(names) == len(tools)


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 64])
def test_valid_names(name: str) -> None:
    """Letters, digits, underscore and hyphen, 1 to 64 of them."""
    assert is_tool_name(name)


@pytest.mark.parametrize("name", ["", "x" * 65, "a b", "a.b", "a\n", "é", "a\x00"])
def test_invalid_names(name: str) -> None:
    """Everything else, a trailing newline included."""
    assert not is_tool_name(name)


def test_what_is_reserved_for_servers() -> None:
    """A name that looks like a server's tool is one."""
    assert is_reserved("mcp__x__y")
    assert not is_reserved("mcp_x")


SHOWN = ("mcp__git__git_log", "mcp__git__git_status", "Read", "Write")


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("mcp__git__git_logg", ("mcp__git__git_log",)),
        ("git_log", ("mcp__git__git_log",)),
        ("GIT_LOG", ("mcp__git__git_log",)),
        ("mcp__git__git_log ", ("mcp__git__git_log",)),
        ("MCP__git__git_log", ("mcp__git__git_log",)),
        ("read", ("Read",)),
        ("Raed", ("Read",)),
        ("Wriet", ("Write",)),
        ("frobnicate", ()),
        ("", ()),
        ("x" * 100_000, ()),
    ],
)
def test_near_names_come_from_what_is_shown(wanted: str, near: tuple[str, ...]) -> None:
    """By spelling or by the bare name of a server's tool; a stranger gets no guess."""
    assert near_tool_names(wanted, SHOWN) == near


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=8))
def test_nothing_is_suggested_that_is_not_shown(wanted: str, shown: list[str]) -> None:
    """A hidden name never appears among the suggestions (PB-152)."""
    assert set(near_tool_names(wanted, shown)) <= set(shown)


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("mcp__git__git_log", "git"),
        ("mcp__a-b__x__y", "a-b"),
        ("git_log", None),
        ("mcp__git", None),
        ("mcp__git__", None),
        ("mcp____x", None),
        ("", None),
    ],
)
def test_the_server_of_a_name(name: str, server: str | None) -> None:
    """Told by the name alone: a server's own name holds no underscore (S3-11)."""
    assert server_of(name) == server
