"""However a path is spelled and wherever links lead: what is decided about is what is opened."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lockgate.builtin.files import door
from lockgate.builtin.files.stamp import NotOpened
from lockgate.calls.paths import resolve_path
from lockgate.rules.matcher import Match
from lockgate.rules.path import PathPattern
from lockgate.tools.context import Environment
from lockgate.tools.subject import ResolvedPath

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="what the kernel opened is read from /proc"
)

NAMES = ("a", "b", "f", "k.pem", "secret", "l1", "l2", "l3", "new")
FILES = ("f", "a/f", "a/k.pem", "a/b/f", "a/b/k.pem", "b/f", "secret/f", "secret/b/k.pem")
PARTS = st.sampled_from((*NAMES, "..", ".", "", "..", "a", "l1", "l2"))
STARTS = st.sampled_from(("", "", "./", "~/", "<root>/", "<root>//", "../../"))
ENDS = st.sampled_from(("", "", "", "/", "/.", "/.."))
DETOURS = st.sampled_from(("a/..", "a/b/../..", "l1", "l2", "l1/..", "l2/b", ".", "secret/..", ""))


@st.composite
def paths(draw: st.DrawFn) -> str:
    """Names at random, or a file by way of detours, which is more often there."""
    if draw(st.booleans()):
        parts = draw(st.lists(PARTS, min_size=1, max_size=7))
    else:
        file = draw(st.sampled_from((*FILES, "b", "f", "k.pem", "new")))
        parts = [*draw(st.lists(DETOURS, max_size=3)), file]
    return draw(STARTS) + "/".join(parts) + draw(ENDS)


@st.composite
def links_of(draw: st.DrawFn) -> dict[str, str]:
    """Links, by where they stand, and what is written in them."""
    places = [d + n for d in ("", "a/", "a/b/", "secret/") for n in ("l1", "l2", "l3")]
    standing = draw(st.lists(st.sampled_from(places), unique=True, max_size=6))
    inside = st.sampled_from(("a", "a/b", "secret", "../secret", "b", "f", "../f", "..", "l2"))
    return {place: draw(st.one_of(inside, paths())).replace("~", "..") or "." for place in standing}


TEXTS = st.lists(paths(), min_size=1, max_size=12)
LINKS = links_of()
PATTERNS = (
    *("./a/**", "./a/b/", "a/*", "a/b/f", "*.pem", "f", "**/b/*", "./secret/**", "secret"),
    *("./**/b/**", "[ab]/?", "~/f", "<root>/a/**", "/**", "./l1", "./l1/**", "**/l2/f", "."),
)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def tree(links: dict[str, str]) -> Generator[tuple[Path, Environment]]:
    """A root with files and `links`; its `a` is the only file root, calls start in it."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name)
        for name, target in links.items():
            (root / name).symlink_to(rooted(target, root) or ".")
        yield root, Environment(root, roots=(root / "a",), home=root)


def rooted(text: str, root: Path) -> str:
    return text.replace("<root>", str(root))


def opened_by_the_kernel(path: str) -> str | OSError:
    """Where the kernel ends up with `path`, or why it does not."""
    return _led(path, os.O_PATH)


def made_by_the_kernel(path: str) -> str | OSError:
    """Where the kernel makes a file for `path`, which is then removed again."""
    made = _led(path, os.O_WRONLY | os.O_CREAT)
    if isinstance(made, str):
        Path(made).unlink()
    return made


def _led(path: str, flags: int) -> str | OSError:
    try:
        fd = os.open(path, flags | os.O_CLOEXEC)
    except OSError as error:
        return error
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - the text, as the kernel has it
    finally:
        os.close(fd)


def whole(given: str, root: Path) -> str:
    """The path from the root of the file system, with nothing else changed."""
    if given == "~" or given.startswith("~/"):
        return f"{root}{given[1:]}"
    return given if not given or given.startswith("/") else f"{root}/{given}"


@given(links=LINKS, texts=TEXTS)
@example(links={"l1": "a/b"}, texts=["l1/../f"])
@example(links={"l1": "l2", "l2": "l1"}, texts=["l1/f"])
@example(links={"l1": "a/new", "a/l2": "../secret"}, texts=["l1"])
@example(links={"l1": "f/"}, texts=["l1"])
@example(links={"l1": "secret/"}, texts=["l1/../l1/./b//k.pem"])
@MANY
def test_a_path_leads_where_the_kernel_goes(links: dict[str, str], texts: list[str]) -> None:
    """What exists is where the kernel opens it, what does not is where it would be made, and what
    is a problem the kernel does not open either."""
    with tree(links) as (root, environment):
        for text in (rooted(text, root) for text in texts):
            found = resolve_path(text, environment)
            real = opened_by_the_kernel(whole(text, root))
            if isinstance(real, str):
                assert (found.problem, found.real) == (None, real)
                assert found.directory == Path(real).is_dir()
                inside = real == f"{root}/a" or real.startswith(f"{root}/a/")
                assert (found.root is not None) == inside
            elif found.problem is None:
                assert real.errno == errno.ENOENT
                assert not os.path.lexists(found.real)
                if not found.real.startswith(f"{root}/"):  # nothing is made outside
                    continue
                made = made_by_the_kernel(whole(text, root))
                if isinstance(made, str):
                    assert made == found.real
                else:
                    assert made.errno in (errno.ENOENT, errno.EISDIR)
            else:
                assert real.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


@given(links=LINKS, texts=TEXTS)
@MANY
def test_what_was_resolved_is_what_is_read(links: dict[str, str], texts: list[str]) -> None:
    """The door opens the file that the kernel would have opened by the name that was given."""
    with tree(links) as (root, environment):
        for text in (rooted(text, root) for text in texts):
            found = resolve_path(text, environment)
            if found.problem is None and Path(found.real).is_file():
                assert door.read(found, limit=100)[0] == Path(whole(text, root)).read_bytes()


@given(links=LINKS, later=LINKS, texts=TEXTS)
@MANY
def test_what_was_decided_is_read_or_nothing(
    links: dict[str, str], later: dict[str, str], texts: list[str]
) -> None:
    """Whatever links are put in place of directories and files after the decision."""
    with tree(links) as (root, environment):
        decided = [resolve_path(rooted(text, root), environment) for text in texts]
        files = {
            found: Path(found.real).read_bytes()
            for found in decided
            if found.problem is None and Path(found.real).is_file()
        }
        for number, (name, target) in enumerate(later.items()):
            place = root / name.replace("l1", "a").replace("l2", "b").replace("l3", "f")
            if os.path.lexists(place):
                place.rename(root / f"gone-{number}")
            if place.parent.is_dir():
                place.symlink_to(rooted(target, root))
        for found in decided:
            try:
                assert door.read(found, limit=100)[0] == files[found]
            except NotOpened:
                pass


def means(parts: list[str], names: list[str]) -> bool:
    """The plainest way to say what a pattern means."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(means(parts[1:], names[at:]) for at in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], parts[0]) and means(parts[1:], names[1:])


def meaning(pattern: str, root: Path) -> list[str]:
    """`pattern` from the root, in parts; what lies below it is not in it."""
    body = pattern.rstrip("/")
    if body.startswith(("<root>", "/")):
        body = rooted(body, root)
    elif body.startswith("~"):
        body = f"{root}{body[1:]}"
    elif body.startswith("**/") or ("/" not in body and body != "."):
        body = f"/**/{body}"
    else:
        body = f"{root}/{body}"
    return [part for part in body.split("/") if part not in ("", ".")]


@given(links=LINKS, texts=TEXTS, pattern=st.sampled_from(PATTERNS))
@example(links={"a/l1": "../secret"}, texts=["a/l1/f"], pattern="./a/**")
@example(links={"l1": "secret"}, texts=["l1/../a/f"], pattern="./a/**")
@MANY
def test_an_allow_rule_lets_no_spelling_out_of_its_pattern(
    links: dict[str, str], texts: list[str], pattern: str
) -> None:
    """What it allows is, where the kernel really opens it, what is written in it, and all of that
    which lies in the file roots is allowed by its own name."""
    with tree(links) as (root, environment):
        rule = PathPattern.parse(rooted(pattern, root), base=str(root), home=str(root))
        parts = meaning(pattern, root)
        for text in (rooted(text, root) for text in texts):
            found = resolve_path(text, environment)
            real = opened_by_the_kernel(whole(text, root))
            names = (real if isinstance(real, str) else found.real).strip("/").split("/")
            meant = means(parts, names) or (pattern.endswith("/") and means([*parts, "**"], names))
            if rule.allows(found):
                assert meant
                assert rule.absolute or found.root is not None
            elif found.root is not None and Path(found.real).is_file():
                assert not meant or pattern.endswith("**")


@given(links=LINKS, texts=TEXTS, pattern=st.sampled_from(PATTERNS))
@example(links={"a/l1": "../secret"}, texts=["a/l1/f"], pattern="./secret/**")
@example(links={"l1": "a/b"}, texts=["l1/../../secret/f"], pattern="secret")
@MANY
def test_no_spelling_escapes_a_deny_rule(
    links: dict[str, str], texts: list[str], pattern: str
) -> None:
    """What the kernel really opens and is meant, or lies below what is meant, is caught; and of a
    directory above it is known that it may lie below."""
    with tree(links) as (root, environment):
        rule = PathPattern.parse(rooted(pattern, root), base=str(root), home=str(root))
        parts = meaning(pattern, root)
        for text in (rooted(text, root) for text in texts):
            found = resolve_path(text, environment)
            real = opened_by_the_kernel(whole(text, root))
            names = (real if isinstance(real, str) else found.real).strip("/").split("/")
            if found.problem is not None or means([*parts, "**"], names):
                assert rule.catches(found) is Match.YES
                above = str(Path(found.real or "/").parent)
                held = ResolvedPath(above, above, above, None, directory=True)
                assert rule.may_lie_below(held)


@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30),
    pattern=st.sampled_from(("./**", "/**", "*")),
)
@example(text="..", pattern="./**")
@example(text="/" * 20, pattern="./**")
@MANY
def test_any_text_is_a_path_or_a_problem(text: str, pattern: str) -> None:
    """Nothing raises, and what an allow rule of the whole root lets through lies in it."""
    with tree({}) as (root, environment):
        found = resolve_path(text, environment)
        rule = PathPattern.parse(pattern, base=str(root / "a"), home=None)
        if rule.allows(found) and not rule.absolute:
            assert found.real == str(root / "a") or found.real.startswith(f"{root}/a/")
        if found.problem is not None:
            assert not rule.allows(found)
            assert rule.catches(found) is Match.YES
