"""Path patterns against the plainest way to say what they mean, and against each other."""

from __future__ import annotations

import contextlib
import unicodedata
from fnmatch import fnmatchcase

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lockgate.rules.glob import Glob
from lockgate.rules.matcher import Match
from lockgate.rules.path import PathPattern, PathPatternError
from lockgate.tools.subject import ResolvedPath

BASE = "/p"
GLOBS = st.text("aabAé.*?*", min_size=1, max_size=8).filter(
    lambda t: "**" not in t and t not in (".", "..")
)
CLASSES = st.sampled_from(("[ab]", "[!a]", "[a-c]?", "*[.]a", "[!.]*", "a[b]*"))
WORDS = st.one_of(GLOBS, CLASSES, st.sampled_from(("**", "a", "b")))
NAMES = st.text("aabAé.", min_size=1, max_size=9).filter(lambda t: t not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(lambda names: "/" + "/".join(names))
ANY = settings(max_examples=300, deadline=None)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """A pattern, most of the time."""
    start = draw(st.sampled_from(("", "./", "/", "**/", "~/")))
    words = draw(st.lists(WORDS, min_size=1, max_size=4))
    return start + "/".join(words) + draw(st.sampled_from(("", "/", "/**")))


def parsed(text: str) -> PathPattern:
    """The pattern; what is none is no example."""
    with contextlib.suppress(PathPatternError):
        return PathPattern.parse(text, base=BASE, home="/h")
    assume(False)
    raise AssertionError


def resolved(path: str, *, folds: bool = False, directory: bool = False) -> ResolvedPath:
    """A path in a file root that holds everything."""
    return ResolvedPath(path, path, path, "/", folds, directory)


def means(parts: list[str], names: list[str]) -> bool:
    """Part by part, trying everything."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(means(parts[1:], names[at:]) for at in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], parts[0]) and means(parts[1:], names[1:])


def written(text: str) -> list[str]:
    """The parts of a pattern from the root of the file system."""
    body = text.rstrip("/")
    if text.startswith("~/"):
        body = "/h" + body[1:]
    elif not text.startswith("/"):
        anywhere = "/" not in body or body.split("/")[0] == "**"
        body = f"/**/{body}" if anywhere and body != "." else f"{BASE}/{body}"
    return [part for part in body.split("/") if part not in ("", ".")]


@given(text=patterns(), path=PATHS, inside=st.booleans())
@example(text="**/a/**/b", path="/a/b/a/b", inside=False)
@example(text="**/a*b*/**/a", path="/ab/a", inside=False)
@ANY
def test_a_pattern_means_what_it_plainly_says(text: str, path: str, inside: bool) -> None:
    """Of a file: an allow rule exactly that, a deny rule also everything below."""
    pattern = parsed(text)
    path = f"{BASE}{path}" if inside else path
    names, parts = path.strip("/").split("/"), written(text)
    below = len(parts) > 1 and parts[-1] == "**"
    if text.endswith("/"):
        plain = any(means(parts, names[:end]) for end in range(len(names)))
    elif below and any(part != "**" for part in parts):
        plain = any(means(parts[:-1], names[:end]) for end in range(len(names)))
    else:
        plain = means(parts, names)
    assert pattern.allows(resolved(path)) == plain
    while parts and parts[-1] == "**":
        parts = parts[:-1]
    strict = any(means(parts, names[:end]) for end in range(len(names) + 1)) or not parts
    assert (pattern.catches(resolved(path)) is Match.YES) == strict


@given(text=patterns(), path=PATHS, more=NAMES, folds=st.booleans(), directory=st.booleans())
@ANY
def test_a_deny_means_at_least_what_an_allow_does(
    text: str, path: str, more: str, folds: bool, directory: bool
) -> None:
    """The same text in the other list; and what is below what it means, however it is folded."""
    pattern = parsed(text)
    for one in (path, BASE + path):
        found = resolved(one, folds=folds, directory=directory)
        if pattern.allows(found):
            assert pattern.catches(found) is Match.YES
        if pattern.catches(found) is Match.YES:
            assert pattern.catches(resolved(f"{one}/{more}", folds=folds)) is Match.YES
            above = one.rpartition("/")[0] or "/"
            assert pattern.may_lie_below(resolved(above, folds=folds, directory=True))
        link = ResolvedPath(one, one, "/elsewhere", None)
        if pattern.catches(resolved(one)) is Match.YES:
            assert pattern.catches(link) is Match.YES


@given(text=patterns(), path=PATHS)
@ANY
def test_folding_only_ever_means_more(text: str, path: str) -> None:
    """What is meant where case counts is meant where it does not, in any case and form."""
    pattern = parsed(text)
    if pattern.catches(resolved(path)) is Match.YES:
        for other in (path, path.upper(), path.swapcase(), unicodedata.normalize("NFD", path)):
            if "[" not in text:  # a class of lower letters means no upper one by its negation
                assert pattern.catches(resolved(other, folds=True)) is Match.YES
    if pattern.allows(resolved(path)) and "[!" not in text:
        assert pattern.allows(resolved(path, folds=True))


@given(glob=st.one_of(GLOBS, CLASSES), name=NAMES)
@ANY
def test_one_part_means_what_it_plainly_says(glob: str, name: str) -> None:
    """Looking for each piece once, from the left, finds what trying everything finds."""
    assert Glob.parse(glob).means(name, folds_case=False) == fnmatchcase(name, glob)


@given(text=st.text(max_size=40))
@ANY
def test_any_text_is_a_pattern_or_an_error(text: str) -> None:
    """Nothing else is raised, and what is read can be asked."""
    pattern = None
    with contextlib.suppress(PathPatternError):
        pattern = PathPattern.parse(text, base=BASE, home=None)
    if pattern is not None:
        assert pattern.text == text
        assert pattern.catches(resolved("/p/a")) in (Match.NO, Match.YES)
