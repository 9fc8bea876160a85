"""Where a name's owner begins, from the public suffix list."""

from __future__ import annotations

import pytest
from publicsuffixlist import PublicSuffixList

from lockgate.web.suffixes import Suffixes


@pytest.fixture(scope="module")
def whole() -> PublicSuffixList:
    """The whole list, as its library reads it."""
    return PublicSuffixList(accept_unknown=False)


@pytest.mark.parametrize(
    ("host", "owned", "suffix"),
    [
        ("example.com", "example.com", False),
        ("a.b.example.com", "example.com", False),
        ("com", None, True),
        ("example.co.uk", "example.co.uk", False),
        ("co.uk", None, True),
        ("me.github.io", "me.github.io", False),
        ("github.io", None, True),
        ("a.s3.amazonaws.com", "a.s3.amazonaws.com", False),
        ("amazonaws.com", "amazonaws.com", False),
        ("city.kawasaki.jp", "city.kawasaki.jp", False),
        ("a.kawasaki.jp", None, True),
        ("xn--55qx5d.cn", None, True),
        ("x.xn--fiqs8s", "x.xn--fiqs8s", False),
        ("localhost", None, False),
        ("wiki.corp", None, False),
        ("xn--.com", "xn--.com", False),
        ("a.xn--zz\u00e9", None, False),
    ],
)
def test_names_and_their_owners(
    whole: PublicSuffixList, host: str, owned: str | None, suffix: bool
) -> None:
    """Private suffixes, wildcards, exceptions and international names count as listed."""
    part = Suffixes(host)
    assert (part.owned(host), part.holds(host)) == (owned, suffix)
    assert (whole.privatesuffix(host), whole.is_public(host)) == (owned, suffix)


def test_a_part_of_the_list_says_what_the_whole_says(whole: PublicSuffixList) -> None:
    """Reading only what ends in the same label leaves nothing out that matters."""
    for top in ("com", "uk", "io", "jp", "ck", "xn--fiqs8s", "no", "net"):
        part = Suffixes(top)
        for name in ("", "co", "s3.amazonaws", "github", "kawasaki", "city.kawasaki", "www", "x.y"):
            host = f"{name}.{top}" if name else top
            for below in (host, f"a.{host}", f"b.a.{host}"):
                assert part.owned(below) == whole.privatesuffix(below)
                assert part.holds(below) == whole.is_public(below)
