"""Paths of addresses that servers read in ways that can not be told: no allow rule means them."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.rules.url import UrlPattern, resolve_url


def allows(pattern: str, address: str) -> bool:
    """What an allow rule with this pattern would say."""
    return UrlPattern.parse(pattern).allows(resolve_url(address))


_CLIMBS = (
    *(
        "%u002e%u002e",
        "..%20",
        "%20..",
        "%2e%2e%20",
        "..%09",
        "..+",
        "...",
        "..%00",
        "..%3f",
        "..%23",
    ),
    *(
        "\uff0e\uff0e",
        "\u2024\u2024",
        "\u2025",
        "%ef%bc%8e%ef%bc%8e",
        "%c0%ae%c0%ae",
        "%25u002e%25u002e",
    ),
    *(
        "..\u2215",
        "..\uff0f",
        "..\u2044",
        "..%5c",
        "..\uff3c",
        "..;",
        "..;x=1",
        "%252e%252e",
        "..\u00a0",
    ),
    *(
        "..\u200b",
        "\uff05\uff12e\uff05\uff12e",
        "..\ufe68",
        "..\u3000",
        "..%u2215",
        "..%2f",
        "..%c0%af",
    ),
)


@pytest.mark.parametrize("climb", _CLIMBS)
@pytest.mark.parametrize("frame", ["/docs/{}/x", "/docs/a/{}/{}/x", "/docs/{}", "/docs/{}x/y"])
def test_what_a_server_may_take_for_climbing_is_never_allowed(climb: str, frame: str) -> None:
    """Whether any server does is not told from here."""
    if frame == "/docs/{}x/y" and climb in (
        "..+",
        "...",
        "%20..",
        "..%20",
        "%2e%2e%20",
        "..;x=1",
        "..;",
    ):
        return  # with a letter behind it is a name
    address = f"https://example.com{frame.format(climb, climb)}"
    assert not allows("https://example.com/docs/**", address)
    assert not allows("https://example.com/docs/*/x", address)


_STEPS_UP: Final = frozenset({"..%5c", "..%2f", "..;", "..;x=1"})
"""What is one step up, and no more, on each server that takes it for one."""


def leaves(parts: list[str]) -> bool:
    """Whether the parts lead out of their directory somewhere, or nobody can tell. What is plain is
    folded before."""
    folded: list[str] = []
    for part in parts:
        if part == "..":
            if not folded:
                return True
            folded.pop()
        elif part != ".":
            folded.append(part)
    depth = 0
    for part in folded:
        if part in _STEPS_UP:
            depth -= 1
        elif part in _CLIMBS:
            return True
        elif part:
            depth += 1
        if depth < 0:
            return True
    return False


@given(st.lists(st.sampled_from([*_CLIMBS, "a", "..", ".", "", "b%20c"]), min_size=1, max_size=5))
def test_no_mixture_of_odd_parts_leaves_the_directory(parts: list[str]) -> None:
    """One odd part is enough, wherever it stands; dots that are plain are folded."""
    address = "https://example.com/docs/" + "/".join(parts)
    if parts[-1] in _CLIMBS and leaves(parts):
        assert not allows("https://example.com/docs/**", address)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a.b",
        "Apple_Inc.",
        ".well-known",
        "a%20b",
        "b\u00fccher",
        "\ud55c\uae00",
        "a\u2013b",
        "x+y",
        "a(b)",
        "a,b!",
    ],
)
def test_ordinary_names_are_not_odd(name: str) -> None:
    """Of any language."""
    assert allows("https://example.com/docs/**", f"https://example.com/docs/{name}/x")


def test_what_a_pattern_writes_itself_is_meant() -> None:
    """An odd part that an operator wrote out is no surprise."""
    assert allows("https://example.com/a\u2026/*", "https://example.com/a\u2026/b")
