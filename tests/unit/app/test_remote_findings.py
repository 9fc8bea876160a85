"""What `check` says of servers over HTTP, without reaching any."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.app.findings import findings
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config

KEY = {"X-Api-Key": "hidden"}


def found(endpoint: HttpEndpoint, **environ: str) -> list[str]:
    """What is said of one server."""
    told = findings(Config(servers=(ServerSettings("far", endpoint),)), environ)
    text = "\n".join(f"{each.where}: {each.text} {each.hint}" for each in told)
    assert "hidden" not in text
    return text.splitlines()


@pytest.mark.req("B-05")
@pytest.mark.parametrize("host", ["x.example", "10.0.0.1", "192.168.1.2:8080"])
def test_headers_that_go_unencrypted_are_told(host: str) -> None:
    """Whoever is in between reads them, in a private network too."""
    (line,) = found(HttpEndpoint(f"http://{host}/mcp", KEY))
    assert line.startswith("server far: its headers go to ")
    assert "unencrypted" in line
    assert line.endswith("write https in its url")


@pytest.mark.parametrize(
    "endpoint",
    [
        HttpEndpoint("http://127.0.0.1:8000/mcp", KEY),
        HttpEndpoint("http://[::1]/mcp", KEY),
        HttpEndpoint("http://localhost/mcp", KEY),
        HttpEndpoint("http://x.example/mcp"),
        HttpEndpoint("https://x.example/mcp", KEY),
    ],
)
def test_what_gives_nothing_away_is_no_finding(endpoint: HttpEndpoint) -> None:
    """This machine, nothing to read, or nobody who could."""
    assert found(endpoint) == []


def test_certificates_that_can_not_be_used_are_told(tmp_path: Path) -> None:
    """Each with its file, before anything is started."""
    other = tmp_path / "other.pem"
    other.write_text("no certificate")
    (line,) = found(HttpEndpoint("https://x.example/", ca_file=tmp_path / "missing.pem"))
    assert "missing.pem" in line
    (line,) = found(HttpEndpoint("https://x.example/", client_cert=other))
    assert "other.pem" in line


def test_a_proxy_that_can_not_be_used_is_told() -> None:
    """By the variable that names it."""
    (line,) = found(HttpEndpoint("http://x.example/"), HTTP_PROXY="socks5://p/")
    assert "HTTP_PROXY" in line
