"""Through which proxy an address is reached."""

from __future__ import annotations

import pytest

from lockgate.web.location import LocationError
from lockgate.web.proxies import proxy_for
from lockgate.web.target import read_target

ENVIRON = {"HTTPS_PROXY": "http://secure:1", "http_proxy": "plain:2", "HTTP_PROXY": "http://no:3"}


def found(text: str, environ: dict[str, str], explicit: str | None = None) -> str | None:
    """The origin of the proxy."""
    proxy = proxy_for(read_target(text), environ, explicit)
    return None if proxy is None else proxy.origin


def test_the_environment_names_a_proxy_for_each_scheme() -> None:
    """The lower case first; without a scheme it is http."""
    assert found("https://example.com/", ENVIRON) == "http://secure:1"
    assert found("http://example.com/", ENVIRON) == "http://plain:2"
    assert found("https://example.com/", {"https_proxy": " "}) is None
    assert found("https://example.com/", {}) is None


def test_the_operators_word_goes_before_the_environment() -> None:
    """An address is used, and an empty one means none, for local addresses too."""
    assert found("https://example.com/", ENVIRON, "http://mine:9") == "http://mine:9"
    assert found("http://127.0.0.1/", ENVIRON, "http://mine:9") == "http://mine:9"
    assert found("https://example.com/", ENVIRON, "") is None


@pytest.mark.parametrize("text", ["http://localhost/", "http://127.0.0.9/", "https://[::1]/"])
def test_this_machine_is_reached_directly(text: str) -> None:
    """Whatever the environment names."""
    assert found(text, ENVIRON) is None


@pytest.mark.parametrize(
    ("rules", "direct"),
    [
        ("*", True),
        ("example.com", True),
        (".example.com", True),
        ("*.example.com", True),
        ("EXAMPLE.com", True),
        ("other, api.example.com", True),
        ("other api.example.com", True),
        ("api.example.com:8443", True),
        ("api.example.com:443", False),
        ("ample.com", False),
        ("example.com.evil", False),
        ("10.0.0.0/8", False),
        ("", False),
    ],
)
def test_no_proxy_names_hosts_as_wholes(rules: str, direct: bool) -> None:
    """A host, a domain above it, a port with it; never a part of a name."""
    proxy = found("https://api.example.com:8443/", {**ENVIRON, "NO_PROXY": rules})
    assert (proxy is None) is direct


@pytest.mark.parametrize(
    ("host", "rules", "direct"),
    [
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "1.2.3", False),
        ("10.1.2.3", "nonsense/8", False),
        ("[2001:db8::1]", "2001:db8::/32", True),
        ("[2001:db8::1]", "[2001:db8::1]", True),
        ("[2001:db8::1]", "2001:db8:0::1", True),
    ],
)
def test_no_proxy_names_addresses_and_networks(host: str, rules: str, direct: bool) -> None:
    """By what they are, not by how they are written."""
    proxy = found(f"https://{host}/", {**ENVIRON, "no_proxy": rules})
    assert (proxy is None) is direct


def test_a_visitors_header_is_no_proxy() -> None:
    """In a CGI program HTTP_PROXY is what a visitor sent."""
    environ = {"HTTP_PROXY": "http://evil:1", "REQUEST_METHOD": "GET"}
    assert found("http://example.com/", environ) is None


def test_a_proxy_that_can_not_be_used_is_named() -> None:
    """By its variable, without its value."""
    with pytest.raises(LocationError, match="HTTPS_PROXY") as caught:
        found("https://example.com/", {"HTTPS_PROXY": "socks5://user:t0psecret@h:1"})
    assert "t0psecret" not in str(caught.value)
