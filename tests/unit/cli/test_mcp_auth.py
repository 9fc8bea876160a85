"""`lockgate mcp add`, `list` and `get` with who asks: what is written, shown and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from lockgate.cli.config import config_group
from lockgate.cli.mcp import mcp_group
from lockgate.errors import ConfigError
from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.testing.endpoints import address_of

Run = Callable[..., Result]
URL = "https://x.example/mcp"
FOUND = f"""\
mcp:
  servers:
    - {{name: crm, transport: streamable-http, url: '{URL}', auth: oauth}}
"""


@pytest.fixture
def run(run_command: Run) -> Run:
    """Runs one command of the group."""
    return partial(run_command, mcp_group)


@pytest.fixture
def add(run: Run) -> Run:
    """`add(*words)`: adds the server crm at an address."""
    return partial(run, "add", "-t", "http", "crm", URL)


def the_server(folder: Path, environ: dict[str, str]) -> Any:
    """The one that is configured."""
    (server,) = load(locate(folder, environ), environ).servers
    return server


def test_a_login(add: Run, folder: Path, environ: dict[str, str]) -> None:
    """One word in the file."""
    assert add("--auth", "oauth").exit_code == 0
    assert "auth: oauth\n" in (folder / "lockgate.yaml").read_text()
    assert the_server(folder, environ).auth == OAuthPlan()


def test_all_that_a_login_can_say(add: Run, folder: Path, environ: dict[str, str]) -> None:
    """A client of one's own, by reference; into a file that is the same afterwards."""
    result = add(
        *("--auth", "oauth", "--client-id", "me", "--client-secret-env", "CRM_SECRET"),
        *("--issuer", "https://as.example", "--oauth-scope", "read write", "--oauth-scope", "more"),
        *("--redirect-port", "7777"),
    )
    assert result.exit_code == 0, result.output
    assert "CRM_SECRET is not set" in result.stderr
    environ |= {"CRM_SECRET": "abc"}
    grant = AuthorizationCode("me", "abc", redirect_port=7777)
    expected = OAuthPlan(grant, ("read", "write", "more"), "https://as.example")
    assert the_server(folder, environ).auth == expected


def test_a_token(add: Run, folder: Path, environ: dict[str, str]) -> None:
    """From the environment."""
    assert add("--auth", "bearer", "--token-env", "CRM_TOKEN").exit_code == 0
    environ |= {"CRM_TOKEN": "abc"}
    server = the_server(folder, environ)
    assert address_of(server).headers == {"Authorization": "Bearer abc"}


def test_files_are_found_from_where_they_were_typed(
    run: Run, folder: Path, environ: dict[str, str]
) -> None:
    """Into another directory's file they go as full paths, into this one's as they are."""
    words = (
        "-t",
        "http",
        URL,
        "--auth",
        "bearer",
        "--token-file",
        "t/token",
        "--ca-file",
        "ca.pem",
    )
    assert run("add", "here", *words).exit_code == 0
    assert run("add", "mine", "--user", *words).exit_code == 0
    found = {s.name: s for s in load(locate(folder, environ), environ).servers}
    for server in found.values():
        assert server.auth == BearerFile(folder / "t/token")
        assert address_of(server).ca_file == folder / "ca.pem"
    assert "tokenFile: t/token" in (folder / "lockgate.yaml").read_text()


def test_certificates_and_a_proxy(add: Run, folder: Path, environ: dict[str, str]) -> None:
    """All that a file can say of them."""
    result = add(
        *("--ca-file", "ca.pem", "--client-cert", "~/me.pem", "--client-key", "/k.pem"),
        *("--proxy", "http://proxy.example:3128"),
    )
    assert result.exit_code == 0, result.output
    endpoint = address_of(the_server(folder, environ))
    assert endpoint.ca_file == folder / "ca.pem"
    assert endpoint.client_cert == Path(environ["HOME"]) / "me.pem"
    assert endpoint.client_key == Path("/k.pem")
    assert endpoint.proxy == "http://proxy.example:3128"


@pytest.mark.parametrize(("user", "told"), [("me:SEKRET", True), ("${WHO}", False)])
def test_a_password_of_a_proxy_is_told(add: Run, user: str, told: bool) -> None:
    """It stands in the file then, as one of the address itself would; a reference may."""
    result = add("--proxy", f"http://{user}@proxy.example:3128")
    assert result.exit_code == 0, result.output
    assert ("the proxy looks as if it held a secret" in result.output) is told
    assert "SEKRET" not in result.output


def test_no_proxy_at_all(add: Run, folder: Path, environ: dict[str, str]) -> None:
    """Said as an empty one."""
    assert add("--proxy", "").exit_code == 0
    assert address_of(the_server(folder, environ)).proxy == ""


def test_into_a_list_in_brackets(run: Run, folder: Path, environ: dict[str, str]) -> None:
    """What is nested is written on one line there."""
    (folder / "lockgate.yaml").write_text("mcp: {servers: [{name: a, command: x}]}\n")
    words = ("--auth", "oauth", "--client-id", "me", "--oauth-scope", "read")
    assert run("add", "-c", "lockgate.yaml", "b", "-t", "http", URL, *words).exit_code == 0
    server = load(locate(folder, environ, folder / "lockgate.yaml"), environ).servers[1]
    assert server.auth == OAuthPlan(AuthorizationCode("me"), ("read",))


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--auth", "basic"), "basic"),
        (("--auth", "bearer"), "needs --token-env NAME or --token-file FILE"),
        (("--token-env", "T"), "say --auth bearer"),
        (("--client-id", "me"), "say --auth oauth"),
        (("--auth", "bearer", "--token-env", "T", "--client-id", "me"), "alone"),
        (("--auth", "oauth", "--token-env", "T"), "are for --auth bearer"),
        (("--auth", "bearer", "--token-env", "T", "--token-file", "f"), "one of them"),
        (("--auth", "bearer", "--token-env", "SEKRET-value"), "takes the name of a variable"),
        (("--auth", "oauth", "--client-secret-env", "T"), "without a clientId"),
        (("--auth", "oauth", "--client-id", "a", "--client-secret-env", "T"), "whom it is for"),
        (("--auth", "oauth", "--issuer", "http://as.example"), "is not encrypted"),
        (("--auth", "oauth", "--oauth-scope", 'a"b'), "a scope is printable"),
        (("--auth", "oauth", "--redirect-port", "0"), "0"),
        (("--auth", "oauth", "-H", "Authorization: ${T}"), "has auth, and a header"),
        (("--client-key", "k"), "a client key without"),
        (("--proxy", "socks5://p/"), "only http and https"),
    ],
)
def test_what_can_not_be_added(add: Run, folder: Path, words: tuple[str, ...], told: str) -> None:
    """Each says what to do; no file is made, and no secret is shown."""
    result = add(*words)
    assert result.exit_code != 0
    assert told in str(result.exception) + result.output
    assert "SEKRET" not in str(result.exception) + result.output
    assert not (folder / "lockgate.yaml").exists()


@pytest.mark.parametrize("option", ["--auth", "--ca-file", "--proxy"])
def test_a_program_takes_none_of_it(run: Run, option: str) -> None:
    """The option is named, with what it is for."""
    result = run("add", option, "oauth", "git", "--", "uvx", "mcp-server-git")
    assert f"{option} is for a server at a URL" in result.output


# ------------------------------------------------------------------ shown


def test_what_is_shown_of_it(run: Run, folder: Path) -> None:
    """References and names; the state of the login, asking nobody."""
    (folder / "lockgate.yaml").write_text(
        "mcp:\n  servers:\n"
        "    - {name: near, command: x}\n"
        "    - {name: plain, transport: streamable-http, url: 'https://y.example/'}\n"
        "    - name: crm\n      transport: streamable-http\n      url: https://${HOST:-x.example}/\n"
        "      auth:\n        clientId: me\n        clientSecret: ${CRM_SECRET:-SEKRET}\n"
        "        issuer: https://as.example/?key=SEKRET\n        scopes: [read]\n"
    )
    listed = run("list")
    assert "LOGIN" in listed.stdout
    assert "not logged in" in listed.stdout
    got = run("get", "crm")
    for line in (
        "auth type: oauth",
        "auth clientId: me",
        "auth clientSecret: ${CRM_SECRET:-[masked, 6 characters]}",
        "auth scopes: read",
        "login: not logged in: lockgate mcp login crm",
    ):
        assert f"  {line}\n" in got.stdout
    data = json.loads(run("list", "--json").stdout)["servers"]
    assert [server["login"] and server["login"]["state"] for server in data] == [None, None, "none"]
    assert "SEKRET" not in listed.output + got.output + run("get", "crm", "--json").output


def test_without_logins_there_is_no_column(run: Run, folder: Path) -> None:
    """Lists stay as they were."""
    (folder / "lockgate.yaml").write_text("mcp: {servers: [{name: near, command: x}]}\n")
    assert "LOGIN" not in run("list").stdout


def test_logging_in_needs_an_accepted_file(run: Run, folder: Path) -> None:
    """It reaches the server that the file names."""
    (folder / "lockgate.yaml").write_text(FOUND)
    result = run("login", "crm")
    assert isinstance(result.exception, ConfigError)
    assert "is not accepted yet" in str(result.exception)


def test_a_file_that_was_found_says_who_would_ask(
    run_command: Run, folder: Path, environ: dict[str, str]
) -> None:
    """Before it is accepted."""
    (folder / "lockgate.yaml").write_text(FOUND)
    result = run_command(config_group, "accept", "--yes")
    assert "auth: oauth" in result.output
