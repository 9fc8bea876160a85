"""Path patterns: what they mean for an allow rule, and what for one that has to hold."""

from __future__ import annotations

import unicodedata

import pytest

from lockgate.rules.matcher import Match
from lockgate.rules.path import PathPattern, PathPatternError
from lockgate.tools.subject import ResolvedPath, SubjectKind

BASE, HOME = "/data/shop", "/home/ann"


def pattern(text: str) -> PathPattern:
    return PathPattern.parse(text, base=BASE, home=HOME, source="lockgate.yaml")


def path(
    real: str, lexical: str | None = None, *, folds: bool = False, directory: bool = False
) -> ResolvedPath:
    inside = real == BASE or real.startswith(BASE + "/")
    name = real if lexical is None else lexical
    return ResolvedPath(name, name, real, BASE if inside else None, folds, directory)


@pytest.mark.parametrize(
    ("text", "meant", "not_meant"),
    [
        (".env", ["/data/shop/.env", "/data/shop/a/b/.env"], ["/data/shop/.env2", "/data/shop"]),
        ("*.pem", ["/data/shop/a.pem", "/data/shop/x/.pem"], ["/data/shop/a.pem/b"]),
        ("**/keys/*", ["/data/shop/keys/a", "/data/shop/x/keys/a"], ["/data/shop/keys/a/b"]),
        ("./a", ["/data/shop/a"], ["/data/shop/x/a", "/data/shop/a/b"]),
        ("docs/a?", ["/data/shop/docs/a1"], ["/data/shop/docs/a", "/data/shop/x/docs/a1"]),
        ("docs/*", ["/data/shop/docs/.hidden"], ["/data/shop/docs/a/b", "/data/shop/docs"]),
        ("docs/**", ["/data/shop/docs/a/b"], ["/data/shop/docs", "/data/shop/d/a"]),
        ("a/**/b", ["/data/shop/a/b", "/data/shop/a/x/y/b"], ["/data/shop/a/x/b/c"]),
        ("a/../b", ["/data/shop/b"], ["/data/shop/a/b"]),
        ("a//./b", ["/data/shop/a/b"], ["/data/shop/a"]),
        ("[a-c]x", ["/data/shop/bx"], ["/data/shop/dx", "/data/shop/Bx"]),
        ("[!a-c]x", ["/data/shop/dx"], ["/data/shop/bx", "/data/shop/x"]),
        ("[]]x", ["/data/shop/]x"], ["/data/shop/[x"]),
        (r"\*", ["/data/shop/*"], ["/data/shop/a"]),
        (r"\!a\[b", ["/data/shop/!a[b"], ["/data/shop/a"]),
        ("/data/shop/x", ["/data/shop/x"], ["/data/shop/y"]),
        ("/etc/*.conf", ["/etc/a.conf"], ["/etc/x/a.conf", "/data/shop/etc/a.conf"]),
        ("~/notes/**", ["/home/ann/notes/a/b"], ["/home/ann/notes", "/data/shop/notes/a"]),
        (".", ["/data/shop"], ["/data/shop/a"]),
        ("/", ["/data/shop/a", "/etc/passwd"], []),
        ("**", ["/data/shop/a", "/data/shop"], ["/etc/passwd"]),
    ],
)  # fmt: skip
def test_an_allow_rule_means_exactly_what_is_written(
    text: str, meant: list[str], not_meant: list[str]
) -> None:
    """A pattern allows the entries it describes, no more and no fewer."""
    written = pattern(text)
    assert [p for p in meant if not written.allows(path(p))] == []
    assert [p for p in not_meant if written.allows(path(p))] == []


def test_a_slash_at_the_end_means_a_directory_and_what_is_below() -> None:
    """`docs/` is the directory and everything in it, at any depth, and no file of that name."""
    docs = pattern("./docs/")
    assert docs.allows(path(BASE + "/docs", directory=True))
    assert docs.allows(path(BASE + "/docs/a/b"))
    assert not docs.allows(path(BASE + "/docs"))
    assert pattern("docs/").allows(path(BASE + "/x/docs/a"))


@pytest.mark.parametrize("text", ["x", "*", "**", "**/x", "./../../etc/x", "*/"])
def test_an_allow_rule_reaches_out_of_the_roots_only_if_it_says_so(text: str) -> None:
    """What is no path from the root or the home directory allows nothing outside of all roots."""
    assert not pattern(text).allows(path("/etc/x"))
    assert pattern("/etc/x").allows(path("/etc/x"))
    assert pattern("~/x").allows(path("/home/ann/x"))


def test_an_allow_rule_looks_at_the_real_path_alone() -> None:
    """The name of a link that leads elsewhere is allowed nothing."""
    assert not pattern("./cfg/**").allows(path(BASE + "/secret/key", BASE + "/cfg/a"))
    assert pattern("./secret/**").allows(path(BASE + "/secret/key", BASE + "/cfg/a"))


@pytest.mark.parametrize(
    ("text", "real", "lexical"),
    [
        (".env", "/data/shop/x/.env", None),
        (".env", "/anywhere/.env", None),
        ("./secret", "/data/shop/secret/a/b", None),
        ("./secret/*", "/data/shop/secret/a/b", None),
        ("./secret/**", "/data/shop/secret", None),
        ("./secret/", "/data/shop/secret", None),
        ("./secret/**", "/data/shop/secret/key", "/data/shop/cfg/a"),
        ("./cfg/**", "/elsewhere/key", "/data/shop/cfg/a"),
        ("*.pem", "/x/dir.pem/a/b", None),
    ],
)
def test_a_deny_rule_means_what_lies_below_and_both_names(
    text: str, real: str, lexical: str | None
) -> None:
    """The real path, the one that is written, or a directory above either: each is enough."""
    assert pattern(text).catches(path(real, lexical)) is Match.YES


def test_a_deny_rule_leaves_others_alone() -> None:
    """What is beside or above what is denied is not."""
    for text, other in [
        ("./secret", "/data/shop/secrets"),
        ("./secret/**", "/data/shop"),
        ("./.env", "/data/shop/src"),
        (".env", "/data/shop/.env.example"),
        ("~/notes/**", "/home/bob/notes/a"),
    ]:
        assert pattern(text).catches(path(other)) is Match.NO


def test_what_can_not_be_resolved_is_denied_and_never_allowed() -> None:
    """A problem, or a subject of another kind, closes both doors."""
    broken = ResolvedPath("x", "", "", BASE, problem="it is a loop of links")
    for subject in (broken, object(), None, ()):
        assert not pattern("**").allows(subject)
        assert pattern("./nowhere").catches(subject) is Match.YES
        assert pattern("./nowhere").may_lie_below(subject)


def test_where_a_leading_directory_really_is_is_denied_too() -> None:
    """`/var/run` is a link to `/run`: what is denied by the one name is denied by the other; and
    allowed it is only by its own."""
    links = {"/var/run/secrets": "/run/secrets"}
    written = PathPattern.parse(
        "/var/run/secrets/**", base=BASE, home=None, real=lambda p: links.get(p, p)
    )
    assert written.catches(path("/run/secrets/a")) is Match.YES
    assert written.catches(path("/var/run/secrets/a")) is Match.YES
    assert not written.allows(path("/run/secrets/a"))


def test_what_may_lie_below_a_directory() -> None:
    """Of a directory it is said whether something that is meant may be in it; of a file, no."""
    assert pattern("./.env").may_lie_below(path(BASE, directory=True))
    assert not pattern("./.env").may_lie_below(path(BASE + "/src", directory=True))
    assert pattern(".env").may_lie_below(path(BASE + "/src", directory=True))
    assert pattern("./src/*/x").may_lie_below(path(BASE + "/src/a", directory=True))
    assert not pattern("./src/*/x").may_lie_below(path(BASE + "/src/a/b", directory=True))
    assert not pattern(".env").may_lie_below(path(BASE + "/src"))


def test_case_counts_as_the_file_system_has_it() -> None:
    """On a file system that folds case `.ENV` is `.env`, elsewhere it is another file. Tested on
    scripted paths: no file system that folds case is at hand."""
    for other in ("/data/shop/.ENV", "/data/shop/.Env"):
        assert pattern(".env").catches(path(other, folds=True)) is Match.YES
        assert pattern(".env").catches(path(other)) is Match.NO
        assert pattern(".[A-F]nv").catches(path(other.lower(), folds=True)) is Match.YES
        assert pattern("*.env").catches(path(other, folds=True)) is Match.YES
        assert pattern("./.env").allows(path(other, folds=True))
        assert not pattern("./.env").allows(path(other))
    assert pattern("straße").catches(path("/data/shop/STRASSE", folds=True)) is Match.YES
    assert not pattern("straße").allows(path("/data/shop/STRASSE", folds=True))


def test_an_allow_rule_tells_unicode_forms_apart_and_a_deny_does_not() -> None:
    """Two forms of a name may be two files, but nobody can see which of them a rule holds."""
    composed = "한글é.txt"
    decomposed = unicodedata.normalize("NFD", composed)
    for text in (composed, "한*.txt", "*글é.txt"):
        for name in (composed, decomposed):
            assert pattern(text).catches(path(f"{BASE}/{name}")) is Match.YES
    assert pattern(decomposed).catches(path(f"{BASE}/{composed}")) is Match.YES
    assert not pattern(composed).allows(path(f"{BASE}/{decomposed}"))
    assert pattern(composed).allows(path(f"{BASE}/{decomposed}", folds=True))


@pytest.mark.parametrize(
    "text", ["*", "**", "/**", "/", "**/*", "*/", "**/**", "/*/**", "?*", "**/"]
)
def test_what_means_everything_constrains_nothing(text: str) -> None:
    """Such a pattern is no reason to let a destructive call through."""
    assert not pattern(text).constrains


@pytest.mark.parametrize("text", ["./**", "a", "*.md", "~/**", "/srv/**", "/*", "[a-c]*"])
def test_what_means_something_constrains(text: str) -> None:
    """A name, a directory or a depth is a constraint."""
    assert pattern(text).constrains


@pytest.mark.parametrize(
    ("text", "part_of_message"),
    [
        ("", "no file"),
        (" a", "space"),
        ("a ", "space"),
        ("!a", "begins with !"),
        ("a\0b", r"U\+0000"),
        ("a\nb", r"U\+000A"),
        ("a\x1b[0m", r"U\+001B"),
        ("a\u202eb", r"U\+202E"),
        ("a\ud800", r"U\+D800"),
        ("~bob/x", "user"),
        ("~bob", "user"),
        ("a**", r"\*\*"),
        ("a/**.py", r"\*\*"),
        ("a/*/../b", r"\.\."),
        ("**/../b", r"\.\."),
        ("/..", "above the root"),
        ("../../../x", "above the root"),
        ("a[b", r"\["),
        ("a[b/c]", r"\["),
        ("[z-a]", "empty"),
        ("[[:alpha:]]", "class"),
        ("a\\", "backslash"),
        ("C:\\Users", "backslash"),
        ("*.{pem,key}", "alternatives"),
        ("$HOME/x", "variable"),
        ("/x/${A}", "variable"),
        ("a" * 5000, "longer"),
    ],
)
def test_what_can_not_be_read_is_an_error(text: str, part_of_message: str) -> None:
    """A pattern that would silently mean nothing stops the start and says what is wrong."""
    with pytest.raises(PathPatternError, match=part_of_message):
        pattern(text)


def test_without_a_home_a_tilde_is_an_error() -> None:
    """It would stand for nothing."""
    with pytest.raises(PathPatternError, match="no home"):
        PathPattern.parse("~/x", base=BASE, home=None)


def test_a_pattern_says_what_it_is() -> None:
    """Its text, where it stands, and that it is about paths."""
    written = pattern("./a")
    assert (written.text, written.source, written.kind) == (
        "./a",
        "lockgate.yaml",
        SubjectKind.PATH,
    )


def test_no_pattern_is_slow() -> None:
    """Many stars take time in proportion to the name, not to the number of ways to place them."""
    stars = pattern("*a" * 60 + "b")
    assert stars.catches(path("/" + "a" * 250)) is Match.NO
    depths = pattern("**/a/" * 60 + "b")
    assert depths.catches(path("/a" * 250)) is Match.NO
