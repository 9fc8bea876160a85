"""What `check` says of servers over HTTP, without reaching any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.app.findings import findings
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config, CredentialSettings
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.system_keyring import SystemKeyring
from lockgate.testing.keyring import some_credentials

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


# ------------------------------------------------------------------ logins


def with_login(url: str, file: Path | None = None, **keys: Any) -> Config:
    """A configuration with one server that people log in to."""
    server = ServerSettings("far", HttpEndpoint(url), auth=OAuthPlan(**keys))
    return Config(servers=(server,), credentials=CredentialSettings(file=file))


def told(config: Config, now: float = 0.0) -> list[tuple[str, bool]]:
    """Each finding, and whether it is a note."""
    return [(f"{f.where}: {f.text}: {f.hint}", f.note) for f in findings(config, {}, now=now)]


def test_tokens_that_go_unencrypted_are_told() -> None:
    """As headers are."""
    ((text, note),) = told(with_login("http://x.example/mcp"))
    assert "its tokens go to x.example unencrypted" in text
    assert not note
    assert told(with_login("http://127.0.0.1:8000/mcp")) == []


async def test_a_login_that_is_missing_is_a_note(tmp_path: Path) -> None:
    """It will keep the server from starting, and nothing in the configuration is wrong."""
    url = "https://x.example/mcp"
    path = tmp_path / "credentials.json"
    store = KeptCredentials(path, new_id=lambda: "x", keyring=SystemKeyring(), kept_in="file")
    config = with_login(url, store.path)
    ((text, note),) = told(config)
    assert "server far: nobody is logged in to it: lockgate mcp login far" in text
    assert note
    login = some_credentials()
    await store.save(Place("far", url), login)
    assert told(config, now=1e12) == []  # it is renewed by itself
    tokens = login.tokens
    assert tokens is not None
    ended = Credentials(tokens=msgspec.structs.replace(tokens, refresh_token=None))
    await store.save(Place("far", url), ended)
    assert told(config) == []
    for left, now in ((ended, 1e12), (Credentials(ended=True), 0.0)):
        await store.save(Place("far", url), left)
        ((text, note),) = told(config, now=now)
        assert "the login to it has ended" in text
        assert note


def test_a_file_of_logins_that_can_not_be_used_is_a_finding(tmp_path: Path) -> None:
    """Others can read it: no server that needs a login will start."""
    file = tmp_path / "credentials.json"
    file.write_text("{}")
    file.chmod(0o644)
    ((text, note),) = told(with_login("https://x.example/mcp", file))
    assert "can be read by others" in text
    assert "chmod 600" in text
    assert not note
