"""Which server gets its credentials from where, and what is loaded for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.app.token_sources import TokenSources, credential_store
from lockgate.errors import LocalError
from lockgate.mcp.client.bearer import BearerFile, BearerFileTokens
from lockgate.mcp.client.handed import HandedTokens
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.tokens import Challenge
from lockgate.settings.config import Config, CredentialSettings
from lockgate.testing.credentials import MemoryCredentials

AT = HttpEndpoint("https://x.example/mcp")
PLAN = OAuthPlan(ClientCredentials("me", "hidden"), issuer="https://as.example")
SERVERS = (
    ServerSettings("near", StdioEndpoint("x")),
    ServerSettings("plain", AT),
    ServerSettings("login", AT, auth=OAuthPlan()),
    ServerSettings("program", AT, auth=PLAN),
    ServerSettings("file", AT, auth=BearerFile(Path("token"))),
)


async def token(challenge: Challenge | None) -> str | None:
    """A program's own."""
    del challenge
    return "Bearer own"


def sources(handed: Any = None) -> tuple[TokenSources, list[MemoryCredentials]]:
    """Those of all the servers, and the stores that were asked for."""
    made: list[MemoryCredentials] = []

    def store() -> MemoryCredentials:
        made.append(MemoryCredentials())
        return made[-1]

    config = Config(servers=SERVERS)
    return TokenSources(config, {}, store, time=lambda: 0.0, handed=handed), made


def test_each_by_what_its_entry_says() -> None:
    """One for each server, for as long as the gate is open; the store is asked for once."""
    found, made = sources()
    kinds = {server.name: type(found.of(server)) for server in SERVERS}
    assert kinds == {
        "near": type(None),
        "plain": type(None),
        "login": OAuthTokens,
        "program": OAuthTokens,
        "file": BearerFileTokens,
    }
    assert found.of(SERVERS[2]) is found.of(SERVERS[2])
    assert len(made) == 1


def test_nothing_is_kept_anywhere_for_servers_without_a_login() -> None:
    """The store is not even made."""
    found, made = sources()
    assert found.of(SERVERS[1]) is None
    assert found.of(SERVERS[4]) is not None
    assert made == []


async def test_a_programs_own_goes_over_what_the_entry_says() -> None:
    """A function, or an object with the methods of a source."""
    own = HandedTokens(token, peer="login")
    found, made = sources({"plain": token, "login": own})
    assert isinstance(found.of(SERVERS[1]), HandedTokens)
    assert found.of(SERVERS[2]) is own
    assert made == []
    assert await own.authorization() == "Bearer own"
    assert found.learned("login") == ("Bearer own", "own")
    assert found.learned("plain") == ()


@pytest.mark.parametrize("name", ["near", "unknown"])
def test_one_for_nobody_is_a_mistake(name: str) -> None:
    """Told before anything is started, with the names that there are."""
    with pytest.raises(LocalError, match="the servers over HTTP are: plain, login, program, file"):
        sources({name: token})


def test_half_a_source_is_none() -> None:
    """What is missing is told at once, and not as a fault of ours when it is first needed."""
    half = type("Half", (), {"authorization": token, "challenged": token})()
    found, _ = sources({"plain": half})
    with pytest.raises(LocalError, match="neither a TokenSource nor a function: Half"):
        found.of(SERVERS[1])


def test_what_is_no_source_is_a_mistake() -> None:
    """By its kind."""
    found, _ = sources({"plain": "Bearer hidden"})
    with pytest.raises(LocalError, match="neither a TokenSource nor a function: str") as raised:
        found.of(SERVERS[1])
    assert "hidden" not in str(raised.value)


def test_a_program_has_no_auth() -> None:
    """It is started, and gets its secrets in `env`."""
    with pytest.raises(ValueError, match="is for a server over HTTP"):
        ServerSettings("near", StdioEndpoint("x"), auth=OAuthPlan())


@pytest.mark.parametrize(
    "endpoint",
    [
        HttpEndpoint("https://x.example/", {"authorization": "Bearer hidden"}),
        HttpEndpoint("https://me:hidden@x.example/"),
    ],
)
def test_one_answer_to_who_asks(endpoint: HttpEndpoint) -> None:
    """In a configuration that is made by hand too."""
    with pytest.raises(ValueError, match="keep one") as raised:
        ServerSettings("far", endpoint, auth=OAuthPlan())
    assert "hidden" not in str(raised.value)


def test_where_logins_are_kept(tmp_path: Path) -> None:
    """The configuration's file, else the person's one for all projects."""
    environ = {"HOME": str(tmp_path)}
    usual = credential_store(Config(), environ, tmp_path)
    assert usual.path == tmp_path / ".local/state/lockgate/credentials.json"
    own = Config(credentials=CredentialSettings("file", tmp_path / "own.json"))
    assert credential_store(own, environ, tmp_path).path == tmp_path / "own.json"


LOADED = """
import asyncio, json, pathlib, sys, lockgate
async def main():
    auth = lockgate.OAuthPlan() if sys.argv[2] == "login" else None
    server = lockgate.ServerSettings("far", lockgate.HttpEndpoint("http://127.0.0.1:9/"), auth=auth)
    config = lockgate.Config(servers=(server,), state_dir=pathlib.Path(sys.argv[1]))
    async with lockgate.open(config, attended=False):
        print(json.dumps(sorted(sys.modules)))
asyncio.run(main())
"""
OF_LOGINS = {
    *("keyring", "mcp", "httpx2", "pydantic", "lockgate.mcp.client.oauth.source"),
    *("lockgate.stores.credentials", "lockgate.mcp.client.oauth.sdk"),
}


@pytest.mark.parametrize(("kind", "loaded"), [("plain", set[str]()), ("login", OF_LOGINS)])
def test_what_logins_need_is_loaded_with_the_first_one(
    tmp_path: Path, kind: str, loaded: set[str]
) -> None:
    """Without one nothing of it is; with one the flow waits until a token has to be got."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path), kind],
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    late = {"keyring", "mcp", "httpx2", "pydantic", "lockgate.mcp.client.oauth.sdk"}
    assert set(json.loads(done.stdout)) & OF_LOGINS == loaded - late
