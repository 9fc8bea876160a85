"""Patterns for arguments: what is written, what an allow rule means by it, what a deny catches."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.rules.matcher import Match, ValuePattern
from lockgate.rules.parameters import ValuePatternError, parse_value
from lockgate.rules.path import PathPatternError
from lockgate.rules.places import Places
from lockgate.rules.url import UrlPatternError
from lockgate.rules.values import same
from lockgate.tools.subject import Resolved, ResolvedPath, SubjectKind

ALLOW, DENY = Decision.ALLOW, Decision.DENY
PLACES = Places("/p", "/home/me")
NFC, NFD = "카페", unicodedata.normalize("NFD", "카페")


def read(text: str, decision: Decision = ALLOW) -> ValuePattern:
    """A pattern."""
    return parse_value(text, decision, places=PLACES)


def resolved(value: Any) -> Resolved | None:
    """As `calls.resolving` does it for an argument that is a path, by the letter."""
    if isinstance(value, str):
        return PLACES.resolved(value)
    if isinstance(value, list):
        texts = cast("list[Any]", value)
        return tuple(PLACES.resolved(one) for one in texts if isinstance(one, str))
    return None


def allows(text: str, value: object) -> bool:
    """Whether an allow rule means it."""
    return read(text).allows(value, resolved(value))


def catches(text: str, value: object) -> bool:
    """Whether a deny rule means it."""
    return read(text, DENY).catches(value, resolved(value)) is Match.YES


MEANINGS: tuple[tuple[str, Any, bool, bool], ...] = (
    # numbers by value, and exactly
    ("3", 3, True, True),
    ("3", 3.0, True, True),
    ("3.0", 3, True, True),
    ("3e0", 3, True, True),
    ("-0", 0.0, True, True),
    ("3", True, False, False),
    ("1", True, False, False),
    ("0", False, False, False),
    ("3", 4, False, False),
    ("9007199254740993", 9007199254740993, True, True),
    ("9007199254740993", 9007199254740992, False, False),
    ("9007199254740993", 9007199254740992.0, False, False),
    # without quotes a word of JSON is its value; a rule that has to hold means the text too
    ("3", "3", False, True),
    ("true", "true", False, True),
    ("null", "null", False, True),
    ("007", "007", True, True),
    ("007", 7, False, False),
    # switches and nothing
    ("true", True, True, True),
    ("true", 1, False, False),
    ("false", 0, False, False),
    ("null", None, True, True),
    ("null", 0, False, False),
    ("null", "", False, False),
    # quotes make a text
    ('"3"', "3", True, True),
    ('"3"', 3, False, False),
    ('"a*"', "a*", True, True),
    ('"a*"', "ab", False, False),
    ('""', "", True, True),
    (r'"\u0061\n"', "a\n", True, True),
    ('"/etc"', "/etc", True, True),
    # texts, with stars
    ("main", "main", True, True),
    ("main", "Main", False, False),
    ("main", "main ", False, False),
    ("feature/*", "feature/", True, True),
    ("feature/*", "feature/a/b\nc", True, True),
    ("feature/*", "features", False, False),
    ("*.py", "a.py", True, True),
    ("a*a", "a", False, False),
    ("a*a", "aa", True, True),
    ("a*b*c", "axbbxc", True, True),
    ("a*b*c", "axc", False, False),
    ("a*", 1, False, False),
    ("a*", None, False, False),
    ("docs/*", "docs/a..b/...", True, True),
    ("docs/*", "docs/../x", False, True),
    ("docs/*", "docs/a/..", False, True),
    ("docs/*", "docs/..\\x", False, True),
    ("docs/..", "docs/..", True, True),
    ("a*", "a/../b", True, True),
    ("text:docs/*", "docs/../x", True, True),
    ("text:/etc/*", "/etc/passwd", True, True),
    ("text:3", "3", True, True),
    ("text:3", 3, False, False),
    ("text:path:x", "path:x", True, True),
    # any value that is there
    ("*", None, True, True),
    ("**", {"a": 1}, True, True),
    ("*", [], True, True),
    # an array: all of it, or any of it
    ("main", ["main", "main"], True, True),
    ("main", ["main", "x"], False, True),
    ("main", ["x", "y"], False, False),
    ("main", [], False, False),
    ("main", [["main"]], True, True),
    ("main", [["main"], []], False, True),
    ("main", ["main", 3], False, True),
    ("3", [3, 3.0], True, True),
    ("3", [3, "3"], False, True),
    ("[]", [], True, True),
    ("[]", [[]], True, True),
    ("[1, 2]", [1, 2.0], True, True),
    ("[1, 2]", [2, 1], False, False),
    ("[1, 2]", [[1, 2], [3]], False, True),
    ("a*", ["ab", "ac"], True, True),
    # an object: as it is, or anything in it
    ("main", {"x": "main"}, False, True),
    ("main", {"x": [{"y": "main"}]}, False, True),
    ("main", {"main": "x"}, False, False),
    ("main", [{"x": "main"}], False, True),
    ('{"a": 1, "b": [2]}', {"b": [2.0], "a": 1}, True, True),
    ('{"a": 1}', {"a": 1, "b": 2}, False, False),
    ('{"a": 1}', {"x": {"a": 1}}, False, True),
    # an allow rule goes by the letter, a deny by what it looks like
    (NFC, NFC, True, True),
    (NFC, NFD, False, True),
    (NFD, NFC, False, True),
    (f'"{NFC}"', NFD, False, True),
    (f"{NFC}*", NFD + "x", False, True),
    ("ｍain", "main", False, False),
    # paths, by where they lead
    ("path:./docs/**", "docs/a", True, True),
    ("path:./docs/**", "docs/../x", False, False),
    ("path:./docs/**", "x/../docs/a", True, True),
    ("path:/etc/passwd", "/etc/../etc/passwd", True, True),
    ("path:./docs/**", ["docs/a", "docs/b"], True, True),
    ("path:./docs/**", ["docs/a", "x"], False, True),
    ("path:./docs/**", [], False, False),
    ("path:./docs/**", ["docs/a", 3], False, True),
    ("path:./docs/**", [["docs/a"]], False, True),
    ("path:./docs/**", {"p": "x"}, False, True),
    ("path:./docs/**", 3, False, False),
    ("path:./docs/**", {"p": 3}, False, False),
    ("path: ./docs/**", "docs/a", True, True),
    # addresses, by what they reach
    ("domain:example.com", "https://EXAMPLE.com/x", True, True),
    ("domain:example.com", "https://example.com.evil.org/", False, False),
    ("domain:example.com", "https://example.com@evil.org/", False, True),
    ("domain:example.com", "no address", False, True),
    ("domain:example.com", ["https://example.com/", "https://a.org/"], False, True),
    ("domain:example.com", ["https://example.com/", "https://example.com/b"], True, True),
    ("domain:example.com", {"u": "https://example.com/"}, False, True),
    ("domain:example.com", [], False, False),
    ("domain:example.com", 3, False, False),
    ("url:https://example.com/docs/**", "https://example.com/docs/../x", False, False),
    ("url:https://example.com/docs/**", "https://example.com/docs/a", True, True),
    ("url:domain:example.com", "https://example.com/", True, True),
)


@pytest.mark.parametrize(("text", "value", "allowed", "caught"), MEANINGS)
def test_what_a_pattern_means(text: str, value: object, allowed: bool, caught: bool) -> None:
    """By an allow rule, and by one that has to hold."""
    assert allows(text, value) is allowed
    assert catches(text, value) is caught


@pytest.mark.parametrize(
    ("text", "kind", "constrains"),
    [
        ("*", None, False),
        ("**", None, False),
        ("***", None, False),
        ("text:*", None, False),
        ("text:**", None, False),
        ("path:**", SubjectKind.PATH, False),
        ("path:/**", SubjectKind.PATH, False),
        ("path:*", SubjectKind.PATH, False),
        ("url:*", None, False),
        ("a*", None, True),
        ("null", None, True),
        ("{}", None, True),
        ("path:./**", SubjectKind.PATH, True),
        ("path:*.md", SubjectKind.PATH, True),
        ("domain:example.com", None, True),
    ],
)
def test_what_constrains_nothing_is_known(
    text: str, kind: SubjectKind | None, constrains: bool
) -> None:
    """Such a pattern does not help an allow rule to a destructive call (S0-08)."""
    pattern = read(text)
    assert (pattern.kind, pattern.constrains, pattern.text) == (kind, constrains, text)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "is empty", "write *"),
        ("path:", "has nothing after path:", "write *"),
        ("text: ", "has nothing after text:", "write *"),
        ("'main'", "single quotes", 'write "main"'),
        ("[1", "is no JSON value", "write text:[1"),
        ("[a-z]*", "is no JSON value", "write text:[a-z]*"),
        ('"a', "is no JSON value", ""),
        ('"a" b', "is no JSON value", ""),
        ('{"a": 1, "a": 2}', "has a key twice", ""),
        ("[NaN]", "is no JSON value", ""),
        ("[1e999]", "is no JSON value", ""),
        ("[" * 100_000, "is no JSON value", ""),
        ("paht:./x", "begins with paht:", "did you mean path:?"),
        ("Path:./x", "begins with Path:", "did you mean path:?"),
        ("urls:x", "begins with urls:", "did you mean url:?"),
        ("domian:x.org", "begins with domian:", "did you mean domain:?"),
        ("txt:x", "begins with txt:", "text:txt:x"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_a_fault_is_told(decision: Decision, text: str, message: str, hint: str) -> None:
    """In any list, with what to write."""
    with pytest.raises(ValuePatternError) as refused:
        read(text, decision)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    "text", ["path:{a}", "path:~you/x", "url:nothing", "domain:com", "domain:"]
)
def test_a_fault_in_a_path_or_an_address_is_told(text: str) -> None:
    """By those who read them."""
    with pytest.raises((PathPatternError, UrlPatternError, ValuePatternError)):
        read(text)


@pytest.mark.parametrize(
    "text", ["/srv/x", "./x", "../x", "~/x", "~", "https://x.org/*", "*://x", "/", "./*"]
)
def test_what_looks_resolved_has_to_say_how_it_is_compared(text: str) -> None:
    """In an allow rule: by the letter, `/srv/*` would let `/srv/../etc` pass."""
    with pytest.raises(ValuePatternError, match="does not say how") as refused:
        read(text)
    for form in (f"path:{text}", f"url:{text}", f"text:{text}"):
        assert form in (refused.value.hint or "")
    assert read(text, DENY).catches(text, None) is Match.YES
    assert read(f"text:{text}").allows(text, None)


@pytest.mark.parametrize("text", ["test:unit", "file:x", "a:b", "urn:x", "12:30", "C:x"])
def test_other_words_before_a_colon_are_text(text: str) -> None:
    """Only slips for our own words are suspicious."""
    assert allows(text, text)


def test_a_path_that_could_not_be_resolved_is_caught_and_not_allowed() -> None:
    """Missing, or with a problem."""
    broken = ResolvedPath("x", "", "", None, problem="it can not be looked up")
    for value, found in (("x", None), ("x", broken), (["x"], (broken,)), (["x"], None)):
        assert not read("path:./**").allows(value, found)
        assert read("path:./nothing", DENY).catches(value, found) is Match.YES


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('ab*\\",', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy"), inner, max_size=2),
    max_leaves=6,
)


@given(JSON, JSON)
def test_a_literal_means_its_value_and_no_other(value: Any, other: Any) -> None:
    """Whatever is in it; an array of nothing else aside."""
    pattern = read(json.dumps(value, ensure_ascii=False))
    assert pattern.allows(value, None)
    if pattern.allows(other, None):
        assert _only(other, value)
    assert read(json.dumps(value), DENY).catches(other, None) is not Match.NO or not _only(
        other, value
    )


def _only(other: Any, value: Any) -> bool:
    """Whether `other` is `value`, or arrays of nothing else."""
    if _typed(other) == _typed(value):
        return True
    several = cast("list[Any]", other) if isinstance(other, list) else []
    return bool(several) and all(_only(one, value) for one in several)


def _typed(value: Any) -> object:
    """A JSON value that equals another's only if both mean the same: `True` is not 1."""
    if isinstance(value, bool):
        return ("switch", value)
    if isinstance(value, list):
        return [_typed(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _typed(held) for key, held in cast("dict[str, Any]", value).items()}
    return value


@given(JSON, JSON)
def test_sameness_is_symmetric_and_that_of_json(one: Any, other: Any) -> None:
    """As an oracle has it that marks switches."""
    assert same(one, other) is same(other, one) is (_typed(one) == _typed(other))
    assert same(one, one)


@given(st.text("ab*", min_size=1, max_size=8), st.text("ab*\n", max_size=10))
def test_stars_are_those_of_a_plain_expression(text: str, value: str) -> None:
    """`*` is any run of characters, and nothing else is special."""
    expression = re.escape(text).replace(r"\*", ".*")
    expected = re.fullmatch(expression, value, re.DOTALL) is not None
    if text.strip("*"):
        assert allows(text, value) is expected
        assert catches(text, value) is expected


@given(st.text("ab*1.\"[]{}:,/~'te", max_size=10), JSON)
def test_any_text_is_a_pattern_or_an_error(text: str, value: Any) -> None:
    """What is allowed is caught by the same text, and arguments of any shape are judged."""
    try:
        allowing, denying = read(text), read(text, DENY)
    except (ValuePatternError, PathPatternError, UrlPatternError):
        return
    found = resolved(value)
    if allowing.allows(value, found):
        assert denying.catches(value, found) is Match.YES


def test_stars_take_no_time_of_their_own() -> None:
    """A text that nearly fits many times over is passed through once."""
    pattern = read("*a" * 30 + "*b")
    assert not pattern.allows("a" * 100_000, None)
