"""Who asks, in other programs' files: what is taken over, and that no secret comes along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.foreign import Found, read_foreign, usual_places
from lockgate.settings.writing import check_entry

URL = "https://x.example/mcp"


def one(folder: Path, **server: Any) -> Found:
    """One server at an address, in a file of the folder it is taken over into."""
    path = folder / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a-b": {"type": "http", "url": URL, **server}}}))
    (found,) = read_foreign(path, folder)
    if found.entry is not None:
        check_entry(found.entry, folder / "lockgate.yaml")
    return found


CLAUDE = {
    "clientId": "me",
    "callbackPort": 7777,
    "scopes": "read write",
    "authServerMetadataUrl": "https://as.example/.well-known/oauth-authorization-server/tenant",
}


@pytest.mark.parametrize(
    ("server", "auth", "told"),
    [
        ({}, None, ()),
        ({"auth": "oauth"}, "oauth", ()),
        ({"oauth": {}}, "oauth", ()),
        ({"oauth": True}, "oauth", ()),
        ({"oauth": False}, None, ()),
        ({"oauth": {"enabled": False, "clientId": "me"}}, None, ()),
        (
            {"oauth": CLAUDE},
            {
                "type": "oauth",
                "clientId": "me",
                "issuer": "https://as.example/tenant",
                "scopes": ("read", "write"),
                "redirectPort": "7777",
            },
            ("its issuer is taken from",),
        ),
        (
            {"oauth": {"authServerMetadataUrl": "https://as.example/about"}},
            "oauth",
            ("say issuer",),
        ),
        (
            {"auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "SEKRET", "scopes": ["read"]}},
            {"type": "oauth", "clientId": "me", "scopes": ("read",)},
            ("its client secret is not taken over",),
        ),
        (
            {"oauth": {"clientId": "me", "clientSecret": "SEKRET", "issuer": "https://as.example"}},
            {
                "type": "oauth",
                "clientId": "me",
                "issuer": "https://as.example",
                "clientSecret": "${A_B_CLIENT_SECRET}",
            },
            ("its client secret was not copied: set A_B_CLIENT_SECRET",),
        ),
        (
            {
                "oauth": {
                    "clientId": "${env:ID}",
                    "clientSecret": "${env:SECRET}",
                    "issuer": "https://as.example",
                }
            },
            {
                "type": "oauth",
                "clientId": "${ID}",
                "issuer": "https://as.example",
                "clientSecret": "${SECRET}",
            },
            (),
        ),
        (
            {"oauth": {"authorizationUrl": "https://as.example/a", "tokenUrl": "https://x/t"}},
            "oauth",
            ("its authorizationUrl is not taken over", "its tokenUrl is not taken over"),
        ),
        ({"oauth": {"xaa": True}}, "oauth", ("oauth.xaa is not taken over",)),
        (
            {"oauth": {"metadataUrl": "https://as.example/.well-known/openid-configuration"}},
            {"type": "oauth", "issuer": "https://as.example"},
            ("its issuer is taken from",),
        ),
        (
            {"auth": "SEKRET"},
            {"type": "bearer", "token": "${A_B_TOKEN}"},
            ("the token in its auth was not copied: set A_B_TOKEN",),
        ),
        (
            {"auth": "Bearer SEKRET${MORE}"},
            {"type": "bearer", "token": "${A_B_TOKEN}"},
            ("the token in its auth was not copied: set A_B_TOKEN",),
        ),
        (
            {"auth": {"issuer": URL, "clientId": "me", "clientSecret": "${OF_ME:-SEKRET}"}},
            {
                "type": "oauth",
                "clientId": "me",
                "issuer": URL,
                "clientSecret": "${A_B_CLIENT_SECRET}",
            },
            ("its client secret was not copied: set A_B_CLIENT_SECRET",),
        ),
        ({"auth": "Bearer ${TOKEN}"}, {"type": "bearer", "token": "${TOKEN}"}, ()),
        (
            {"oauth": {}, "headers": {"authorization": "Bearer ${TOKEN}"}},
            None,
            ("its header Authorization says who asks",),
        ),
        ({"headersHelper": "get-token"}, None, ("headersHelper is not taken over",)),
    ],
)
def test_their_words_for_it(
    tmp_path: Path, server: dict[str, Any], auth: Any, told: tuple[str, ...]
) -> None:
    """Claude Code, VS Code, Cursor, Gemini and FastMCP; the entry can be used as it is."""
    found = one(tmp_path, **server)
    assert found.entry is not None, found.notes
    assert found.entry.auth == auth
    assert len(found.notes) == len(told)
    for words, note in zip(told, found.notes, strict=True):
        assert words in note
    assert "SEKRET" not in str(found.notes) + str(found.entry.data())


@pytest.mark.parametrize("auth", [7, ["oauth"]])
def test_what_makes_no_sense_is_told(tmp_path: Path, auth: Any) -> None:
    """And the server is not taken over in part."""
    found = one(tmp_path, oauth=auth)
    assert found.entry is None
    assert "nothing that lockgate knows" in found.notes[0]


@pytest.mark.parametrize("auth", ["https://[as", "https://me:SEKRET@as.example"])
def test_an_issuer_that_can_not_be_taken_over_is_told(tmp_path: Path, auth: str) -> None:
    """An address that is none, and one with a password in it; nothing of that comes along."""
    url = f"{auth}/.well-known/openid-configuration"
    found = one(tmp_path, oauth={"authServerMetadataUrl": url})
    assert found.entry is None or found.entry.auth == "oauth"
    assert "where its authorization server describes itself" in found.notes[0]
    assert "SEKRET" not in str(found.notes)


CODEX = """
model = "x"
[mcp_servers.docs]
url = "https://x.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { X-Team = "core", X-Odd = "${NOT_A_REFERENCE}" }
env_http_headers = { X-Key = "DOCS_KEY" }
startup_timeout_sec = 20

[mcp_servers.login]
url = "https://y.example/mcp"
scopes = ["read"]

[mcp_servers.login.oauth]
client_id = "me"

[mcp_servers.near]
command = "uvx"
args = ["mcp-server-git"]

[mcp_servers.off]
command = "x"
enabled = false
"""


def test_codex_keeps_them_in_toml(tmp_path: Path) -> None:
    """Variables by name, headers of two kinds; there nothing is a reference."""
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CODEX)
    found = {one.original: one for one in read_foreign(path, tmp_path)}
    docs, login, near = (found[name].entry for name in ("docs", "login", "near"))
    assert docs is not None
    assert login is not None
    assert near is not None
    assert docs.auth == {"type": "bearer", "token": "${DOCS_TOKEN}"}
    assert docs.headers == {
        "X-Team": "core",
        "X-Odd": "$${NOT_A_REFERENCE}",
        "X-Key": "${DOCS_KEY}",
    }
    assert "startup_timeout_sec is not taken over" in found["docs"].notes
    assert login.auth == {"type": "oauth", "clientId": "me", "scopes": ("read",)}
    assert near.command == "uvx"
    assert found["off"].entry is None
    for entry in (docs, login, near):
        check_entry(entry, tmp_path / "lockgate.yaml")


def test_a_broken_file_of_codex_is_told(tmp_path: Path) -> None:
    """With its place."""
    path = tmp_path / "config.toml"
    path.write_text("[mcp_servers\n")
    with pytest.raises(ConfigError, match="is no valid TOML"):
        read_foreign(path, tmp_path)


def test_it_is_looked_for_where_codex_keeps_it(tmp_path: Path) -> None:
    """In a project and at home."""
    assert tmp_path / ".codex/config.toml" in usual_places(tmp_path, {}, personal=False)
    places = usual_places(tmp_path, {"HOME": "/home/me"}, personal=True)
    assert Path("/home/me/.codex/config.toml") in places


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("token=SEKRET", "token=${A_B_URL_TOKEN}"),
        ("a=1&apiKey=SEK%20RET&b=2#f", "a=1&apiKey=${A_B_URL_APIKEY}&b=2#f"),
        ("api%5Fkey=SEKRET", "api%5Fkey=${A_B_URL_API_KEY}"),
        ("token=SEKRET&Token=SEKRET", "token=${A_B_URL_TOKEN}&Token=${A_B_URL_TOKEN_2}"),
        ("x=ghp_SEKRETSEKRET1", "x=${A_B_URL_X}"),
        ("ghp_SEKRETSEKRET1", "${A_B_URL_KEY}"),
        ("token=SEKRET${MORE}", "token=${A_B_URL_TOKEN}"),
        ("token=${OF_ME:-SEKRET}", "token=${A_B_URL_TOKEN}"),
        ("token=${OF_ME}", "token=${OF_ME}"),
        ("token=${env:OF_ME}", "token=${OF_ME}"),
        ("token=&flag", "token=&flag"),
    ],
)
def test_a_secret_in_the_query_of_an_address_is_not_copied(
    tmp_path: Path, query: str, written: str
) -> None:
    """A reference takes its place, and what stands beside it stays."""
    path = tmp_path / ".mcp.json"
    server = {"type": "http", "url": f"{URL}?{query}"}
    path.write_text(json.dumps({"mcpServers": {"a-b": server}}))
    (found,) = read_foreign(path, tmp_path)
    assert found.entry is not None
    assert found.entry.url == f"{URL}?{written}"
    assert "SEK" not in f"{found!r}{found.entry.url}"
    told = [note for note in found.notes if "in its url was not copied: set A_B_URL_" in note]
    assert len(told) == written.count("A_B_URL_")
    if "#" not in query:
        check_entry(found.entry, tmp_path / "lockgate.yaml")
