"""URL patterns: hosts compared as wholes, paths in every way a server may read them."""

from __future__ import annotations

from posixpath import normpath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from lockgate.rules.matcher import Match
from lockgate.rules.url import UrlPattern, UrlPatternError, resolve_url
from lockgate.tools.subject import ResolvedUrl, SubjectKind


def allows(pattern: str, address: str) -> bool:
    """What an allow rule with this pattern would say."""
    return UrlPattern.parse(pattern).allows(resolve_url(address))


def catches(pattern: str, address: str) -> Match:
    """What a deny rule with this pattern would say."""
    return UrlPattern.parse(pattern).catches(resolve_url(address))


@pytest.mark.parametrize(
    ("pattern", "address", "allowed", "caught"),
    [
        # the host itself, in every spelling of it, and over either scheme and any port
        ("domain:example.com", "https://example.com/", True, True),
        ("domain:example.com", "http://EXAMPLE.com.:8080/a?b", True, True),
        ("domain:EXAMPLE.com.", "https://example.com/", True, True),
        ("domain:bücher.de", "https://xn--bcher-kva.de/", True, True),
        ("domain:xn--bcher-kva.de", "https://BÜCHER.de/", True, True),
        # hosts below a domain that can be owned
        ("domain:example.com", "https://a.b.example.com/", True, True),
        ("domain:example.co.uk", "https://a.example.co.uk/", True, True),
        ("domain:me.github.io", "https://a.me.github.io/", True, True),
        # never a part of a text
        ("domain:example.com", "https://evilexample.com/", False, False),
        ("domain:example.com", "https://example.com.evil.de/", False, False),
        ("domain:example.com", "https://evil.de/example.com", False, False),
        ("domain:example.com", "https://evil.de/?example.com", False, False),
        ("domain:example.com", "https://evil.de#example.com", False, False),
        ("domain:example.com", "https://example.comx/", False, False),
        ("domain:example.com", "https://com/", False, False),
        # a host that is no domain of its own means itself; a deny means what is below as well
        ("domain:docs.example.com", "https://docs.example.com/", True, True),
        ("domain:docs.example.com", "https://a.docs.example.com/", False, True),
        ("domain:docs.example.com", "https://example.com/", False, False),
        # names below that are someone else's
        ("domain:amazonaws.com", "https://amazonaws.com/", True, True),
        ("domain:amazonaws.com", "https://a.s3.amazonaws.com/", False, True),
        # names that the list does not know, and addresses
        ("domain:localhost", "http://localhost/", True, True),
        ("domain:wiki.corp", "https://wiki.corp/", True, True),
        ("domain:wiki.corp", "https://a.wiki.corp/", False, True),
        ("domain:127.0.0.1", "http://127.0.0.1:8000/", True, True),
        ("domain:[::1]", "http://[0:0::1]/", True, True),
        ("domain:127.0.0.1", "http://127.0.0.11/", False, False),
    ],
)
def test_domains(pattern: str, address: str, allowed: bool, caught: bool) -> None:
    """An allow means the host, and what lies below if one owner has it; a deny all below."""
    assert allows(pattern, address) is allowed
    assert catches(pattern, address) is (Match.YES if caught else Match.NO)


ODD = [
    "http://user@example.com/",
    "http://example.com:secret@example.com/",
    "http://example.com@evil.de/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://127.1/",
    "http://[::ffff:7f00:1]/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "https:example.com",
    "//example.com/",
    "example.com",
    "",
    "https://exa%6dple.com/",
    "https://example.com\\@evil.de/",
    "https://example.com:port/",
    " https://example.com/",
]


@pytest.mark.parametrize("address", ODD)
@pytest.mark.parametrize(
    "pattern", ["domain:example.com", "domain:127.0.0.1", "https://example.com/**", "*", "**"]
)
def test_what_can_not_be_read_is_never_allowed_and_always_denied(
    pattern: str, address: str
) -> None:
    """Userinfo, odd numbers and all that is no address: no allow rule answers for it."""
    assert not allows(pattern, address)
    assert catches(pattern, address) is Match.YES


def test_a_problem_says_what_it_is_without_the_address() -> None:
    """The reason may be shown and logged; the address may hold a secret."""
    resolved = resolve_url("https://user:SECRET@example.com/")
    assert resolved.problem == "the address holds a user name or a password"
    assert resolved.host == ""


@pytest.mark.parametrize(
    ("pattern", "address", "allowed", "caught"),
    [
        ("https://a.de/docs/**", "https://a.de/docs/x", True, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/", True, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/x/y?z=1#f", True, Match.YES),
        ("https://a.de/docs/**", "https://a.de/./x/../docs/%78", True, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/ä b".replace(" ", "%20"), True, Match.YES),
        ("https://a.de/d(o)cs/ä", "https://a.de/d%28o%29cs/%C3%A4", True, Match.YES),
        ("https://A.de:443/docs/**", "https://a.de/docs/x", True, Match.YES),
        # an allow means what is written; a deny also the directory, other letter case, what is
        # below, and every scheme and port
        ("https://a.de/docs/**", "https://a.de/docs", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/DOCS/x", False, Match.YES),
        ("https://a.de/docs", "https://a.de/docs/", False, Match.YES),
        ("https://a.de/docs", "https://a.de/docs/x", False, Match.YES),
        ("https://a.de/docs/**", "http://a.de/docs/x", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de:8443/docs/x", False, Match.YES),
        ("http://a.de/**", "https://a.de/", False, Match.YES),
        # another host, another path
        ("https://a.de/docs/**", "https://b.a.de/docs/x", False, Match.NO),
        ("https://a.de/docs/**", "https://a.de/docsx/y", False, Match.NO),
        ("https://a.de/docs/**", "https://a.de/x?/docs/y", False, Match.NO),
        ("https://a.de/", "https://a.de/", True, Match.YES),
        ("https://a.de/", "https://a.de/x", False, Match.YES),
        ("https://a.de/**", "https://a.de", True, Match.YES),
        # stars
        ("https://a.de/*/x", "https://a.de/1/x", True, Match.YES),
        ("https://a.de/*/x", "https://a.de/1/2/x", False, Match.NO),
        ("https://a.de/**/x", "https://a.de/1/2/x", True, Match.YES),
        ("https://a.de/**/x", "https://a.de/x", True, Match.YES),
        ("https://a.de/v*.*.html", "https://a.de/v1.2.html", True, Match.YES),
        ("https://a.de/v*.*.html", "https://a.de/v1.html", False, Match.NO),
        ("https://a.de/a*a", "https://a.de/a", False, Match.NO),
        ("https://a.de/*", "https://a.de/", True, Match.YES),
        ("https://a.de/*/b", "https://a.de//b", False, Match.YES),
        # what some server would take for a way out, or in
        ("https://a.de/docs/**", "https://a.de/docs/../x", False, Match.NO),
        ("https://a.de/docs/**", "https://a.de/docs/%2e%2e/x", False, Match.NO),
        ("https://a.de/docs/**", "https://a.de/docs/..%2fx", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/%252e%252e%252fx", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/..%5cx", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/..;a=b/x", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de//docs/x", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/x/..%2fdocs/y", False, Match.YES),
        ("https://a.de/docs/**", "https://a.de/docs/%c0%ae%c0%ae/x", False, Match.MAYBE),
        ("https://a.de/docs/**", "https://a.de/docs/%00", False, Match.MAYBE),
        ("https://a.de/docs/**", "https://a.de/docs/%25252525252525252e", False, Match.MAYBE),
        ("https://a.de/docs/**", "https://b.de/docs/%00", False, Match.NO),
    ],
)
def test_paths(pattern: str, address: str, allowed: bool, caught: Match) -> None:
    """An allow has to fit in every way of reading a path, a deny in one."""
    assert allows(pattern, address) is allowed
    assert catches(pattern, address) is caught


@pytest.mark.parametrize("pattern", ["*", "**"])
def test_a_star_means_every_address_and_constrains_nothing(pattern: str) -> None:
    """It can not stand for the constraint that an allow rule needs."""
    parsed = UrlPattern.parse(pattern)
    assert not parsed.constrains
    assert allows(pattern, "https://example.com/")
    assert catches(pattern, "https://example.com/") is Match.YES


def test_what_a_pattern_says_of_itself() -> None:
    """Its text, its source, and the kind of subject it is for."""
    parsed = UrlPattern.parse("domain:example.com", "lockgate.yaml: permissions.allow[0]")
    assert (parsed.text, parsed.kind) == ("domain:example.com", SubjectKind.URL)
    assert parsed.source == "lockgate.yaml: permissions.allow[0]"
    assert parsed.constrains


def test_what_is_no_address_at_all_is_no_subject() -> None:
    """A subject of another kind is never allowed, and held to be meant by a deny."""
    parsed = UrlPattern.parse("domain:example.com")
    assert not parsed.allows("https://example.com/")
    assert parsed.catches("https://example.com/") is Match.YES


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "no address", "domain:"),
        (" domain:a.de", "space", "domain:"),
        ("example.com", "neither", "domain:<host>"),
        ("ftp://example.com/", "neither", "https://"),
        ("url:https://a.de/", "neither", "https://"),
        ("domain:com", "public suffix", "domain:example.com"),
        ("domain:co.uk", "public suffix", "domain:example.co.uk"),
        ("domain:github.io", "public suffix", "domain:example.github.io"),
        ("domain:公司.cn", "public suffix", "xn--55qx5d.cn"),
        ("domain:", "can not be read", ""),
        ("domain:.", "can not be read", ""),
        ("domain:a..b", "can not be read", ""),
        ("domain:0x7f.1", "can not be read", ""),
        ("domain:a_b.c!", "can not be read", ""),
        ("domain:*.example.com", "has a *", "domain:example.com"),
        ("domain:exa*.com", "more than a host", "alone"),
        ("domain:example.com/x", "more than a host", "https://"),
        ("domain:me@example.com", "more than a host", "alone"),
        ("domain:example.com:80", "port", "https://"),
        ("domain:::1", "port", ""),
        ("domain:[::1", "port", ""),
        ("domain:[::ffff:1.2.3.4]", "can not be read", ""),
        ("https://example.com", "no path", "https://example.com/**"),
        ("https://example.com/a?b=*", "query", "leave out"),
        ("https://example.com/a#b", "fragment", "leave out"),
        ("https://*.example.com/**", "its host", "domain:"),
        ("https://example.com:*/**", "its host", "domain:"),
        ("https://user@example.com/", "user name", ""),
        ("https://127.1/**", "number", ""),
        ("https://a.de/x**", "stands alone", ""),
        ("https://a.de/**/", "slash behind", ""),
        ("https://a.de/../x", "..", ""),
        ("https://a.de/%2e%2e/x", "..", ""),
        ("https://a.de/%2Fx", "escape", ""),
        ("https://a.de/a;b", "semicolon", ""),
        ("https://a.de/%00", "escape", ""),
        ("https://a.de/%ff", "escape", ""),
        ("https://a.de/a b", "space", ""),
    ],
)
def test_a_pattern_that_means_nothing_is_an_error(text: str, message: str, hint: str) -> None:
    """Above all a deny must not silently match nothing: what is wrong, and what to write."""
    with pytest.raises(UrlPatternError) as raised:
        UrlPattern.parse(text)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


LABELS = st.text(alphabet="ab-x", min_size=1, max_size=3)
NAMES = st.lists(LABELS, min_size=0, max_size=3).map(lambda labels: ".".join([*labels, "com"]))
HOSTS = st.one_of(
    NAMES,
    NAMES.map(lambda name: f"{name}.a.com"),
    NAMES.map(lambda name: f"a.com.{name}"),
    NAMES.map(lambda name: f"{name}a.com"),
    st.sampled_from(["A.COM", "a.com.", "user@a.com", "a.com@b", "a.com\\b", "a%2ecom", "127.1"]),
    st.text(max_size=8),
)
TAILS = st.text(alphabet="/a.com?#@:%2e\\;*", max_size=12)
ADDRESSES = st.builds(
    "{}{}{}{}".format, st.sampled_from(["http://", "https://", "//", ""]), HOSTS, TAILS, TAILS
)


@given(ADDRESSES)
def test_no_other_host_is_ever_allowed(address: str) -> None:
    """Whatever the address looks like: allowed are the host itself and hosts below it, no others.

    The host is the one that the HTTP library would connect to, read from the normalised text.
    """
    resolved = resolve_url(address)
    if UrlPattern.parse("domain:a.com").allows(resolved):
        host = URL(resolved.text).raw_host or ""
        assert host == "a.com" or host.endswith(".a.com")
        assert resolved.problem is None


@given(ADDRESSES)
def test_what_is_allowed_is_caught(address: str) -> None:
    """A deny with the same text means at least what an allow means: adding it never allows more."""
    resolved = resolve_url(address)
    for text in ("domain:a.com", "domain:b.a.com", "https://a.com/a/**", "https://a.com/*", "*"):
        pattern = UrlPattern.parse(text)
        assert pattern.catches(resolved) is Match.YES or not pattern.allows(resolved)


@given(ADDRESSES)
def test_resolving_again_changes_nothing(address: str) -> None:
    """The tool reads the normalised text; it has to mean what was judged."""
    resolved = resolve_url(address)
    if resolved.problem is not None:
        return
    again = resolve_url(resolved.text)
    assert again == ResolvedUrl(
        resolved.text, resolved.text, resolved.scheme, resolved.host, resolved.port, resolved.path
    )


def test_judging_takes_time_in_proportion_to_the_address() -> None:
    """A long path of many parts, and stars in the pattern, do not multiply."""
    address = "https://a.de/" + "a/" * 3900
    for pattern in ("https://a.de/**/b", "https://a.de/a*a*a*b/**", "https://a.de/**/a/**/b"):
        assert not allows(pattern, address)
        assert catches(pattern, address) is Match.NO


PIECES = st.sampled_from(
    [
        "docs",
        "..",
        ".",
        "x",
        "",
        "%2e%2e",
        "..%2f",
        "%252e%252e%252f",
        "..;a",
        "%5c..",
        "a;b",
        "%2f",
    ]
)


@given(st.lists(PIECES, max_size=6))
def test_no_reading_of_an_allowed_path_leaves_the_directory(pieces: list[str]) -> None:
    """However often a server decodes, and whatever it takes for a slash: it stays below."""
    resolved = resolve_url("https://a.com/docs/" + "/".join(pieces))
    if not UrlPattern.parse("https://a.com/docs/**").allows(resolved):
        return
    path = resolved.path
    for _ in range(5):
        parts = [part.partition(";")[0] for part in path.replace("\\", "/").split("/")]
        for way in (path.replace("\\", "/"), "/".join(parts)):
            assert normpath(way).startswith("/docs"), resolved.path
        path = unquote(path)
