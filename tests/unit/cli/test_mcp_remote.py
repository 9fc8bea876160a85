"""`lockgate mcp` with servers at an address: what is written, shown and refused."""

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
from lockgate.mcp.endpoint import SseEndpoint
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.testing.endpoints import address_of

Run = Callable[..., Result]
BEARER = "Authorization: Bearer ${CRM_TOKEN}"


@pytest.fixture
def run(run_command: Run) -> Run:
    """Runs one command of the group."""
    return partial(run_command, mcp_group)


def data_of(result: Result) -> Any:
    """The JSON that a command printed."""
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    "words",
    [
        ("add", "crm", "--transport", "http", "https://x.example/mcp", "--header", BEARER),
        ("add", "--transport", "http", "crm", "https://x.example/mcp", "-H", BEARER),
        ("add", "-t", "streamable-http", "-H", BEARER, "crm", "--", "https://x.example/mcp"),
    ],
)
@pytest.mark.req("B-13")
def test_an_address_that_was_added_can_be_used(
    run: Run, folder: Path, environ: dict[str, str], words: tuple[str, ...]
) -> None:
    """Options before or behind the name, as other programs have it."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "Added crm to lockgate.yaml: https://x.example/mcp" in result.stdout
    assert "CRM_TOKEN is not set" in result.stderr
    environ |= {"CRM_TOKEN": "abc"}
    (server,) = load(locate(folder, environ), environ).servers
    assert address_of(server).url == "https://x.example/mcp"
    assert address_of(server).headers == {"Authorization": "Bearer abc"}


def test_an_older_server(run: Run, folder: Path, environ: dict[str, str]) -> None:
    """`--transport sse`; into a list in brackets as well."""
    (folder / "lockgate.yaml").write_text("mcp: {servers: [{name: a, command: x}]}\n")
    result = run(
        "add", "-c", "lockgate.yaml", "old", "-t", "sse", "http://127.0.0.1:1/sse", "-H", "X-A: b"
    )
    assert result.exit_code == 0, result.output
    file = folder / "lockgate.yaml"
    server = load(locate(folder, environ, file), environ).servers[1]
    assert isinstance(server.endpoint, SseEndpoint)
    assert address_of(server).headers == {"X-A": "b"}


@pytest.mark.parametrize(
    "header", ["Authorization: Bearer SEKRET", "X-API-Key: SEKRET", "Cookie: sid=SEKRET"]
)
@pytest.mark.req("S0-14")
def test_a_secret_as_it_is_is_not_written(run: Run, folder: Path, header: str) -> None:
    """The error shows how to write it by reference, and nothing of the secret."""
    result = run("add", "crm", "-t", "http", "https://x.example/mcp", "-H", header)
    assert isinstance(result.exception, ConfigError)
    name = header.partition(":")[0]
    assert f"--header '{name}: " in str(result.exception)
    assert "${VARIABLE}'" in str(result.exception)
    assert "SEKRET" not in str(result.exception) + result.output
    assert not (folder / "lockgate.yaml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-t", "stdio", "https://x.example/mcp"), "that is an address"),
        (("https://me:SEKRET@x.example/",), "a user name or a password"),
        (("https://x.example/", "more"), "takes one URL"),
        (("-e", "A=b", "https://x.example/"), "are for a program"),
        (("-t", "http", "x.example/mcp"), "no absolute address"),
        (("-t", "http", "https://me:SEKRET@x.example/"), "a user name or a password"),
        (("-t", "http", "https://x.example/", "more"), "takes one URL"),
        (("-t", "http", "-e", "A=b", "https://x.example/"), "are for a program"),
        (("-t", "http", "--cwd", "d", "https://x.example/"), "are for a program"),
        (("-t", "http", "-H", "nothing", "https://x.example/"), "'NAME: VALUE'"),
        (("-t", "http", "-H", "A: b", "-H", "a: c", "https://x.example/"), "given twice"),
        (("-t", "http", "-H", "Content-Type: a/b", "https://x.example/"), "transport"),
        (("-H", "A: b", "npx"), "say --transport http"),
        (("-t", "ws", "wss://x.example/"), "ws"),
    ],
)
def test_what_can_not_be_added(run: Run, folder: Path, words: tuple[str, ...], told: str) -> None:
    """Each says what to do; no file is made."""
    result = run("add", "crm", *words)
    assert result.exit_code != 0
    assert told in str(result.exception) + result.output
    assert "SEKRET" not in str(result.exception) + result.output
    assert not (folder / "lockgate.yaml").exists()


@pytest.mark.parametrize(
    ("url", "transport"),
    [
        ("https://x.example/mcp", "streamable-http"),
        ("HTTP://x.example/sse/?a=b", "sse"),
        ("https://x.example/assess", "streamable-http"),
    ],
)
def test_an_address_needs_no_transport(run: Run, url: str, transport: str) -> None:
    """It is guessed as it is in files that are imported, and said to be a guess."""
    result = run("add", "crm", url, "-H", "X-A: b")
    assert result.exit_code == 0, result.exception
    assert f"{transport} is a guess from its address" in result.stderr
    assert data_of(run("get", "crm", "--json"))["transport"] == transport
    said = run("add", "other", "-t", "http", url)
    assert "guess" not in said.output


def test_a_secret_in_an_address_is_noted(run: Run) -> None:
    """As one in an argument is; lists show its length."""
    result = run("add", "crm", "-t", "http", "https://x.example/mcp?apiKey=SEKRET")
    assert "better write ${NAME}" in result.stderr
    shown = result.output + run("list").output + run("get", "crm").output
    shown += run("list", "--json").output + run("get", "crm", "--json").output
    assert "SEKRET" not in shown
    assert "https://x.example/mcp?apiKey=" in shown


@pytest.mark.req("S0-14")
def test_what_is_shown_of_a_server_at_an_address(run: Run, folder: Path) -> None:
    """Where it is, and of headers what variables they are made of."""
    (folder / "lockgate.yaml").write_text(
        "mcp: {servers: [{name: crm, transport: sse, url: 'https://x.example/sse', proxy: "
        "'http://p.example:3128', tls: {caFile: ca.pem}, headers: {Authorization: "
        "'Bearer ${CRM_TOKEN}', X-Team: SEKRET, X-Two: 'SEKRET${A:-SEKRET}'}}]}"
    )
    assert "crm   ignore  https://x.example/sse" in run("list").stdout
    shown = run("get", "crm")
    for line in (
        "  url: https://x.example/sse",
        "  transport: sse",
        "  proxy: http://p.example:3128",
        "  header Authorization: Bearer ${CRM_TOKEN}",
        "  tls caFile: ca.pem",
    ):
        assert line in shown.stdout.splitlines()
    data = data_of(run("get", "crm", "--json"))
    assert (data["transport"], data["url"]) == ("sse", "https://x.example/sse")
    assert data["headers"]["Authorization"] == "Bearer ${CRM_TOKEN}"
    assert data["command"] is None
    assert "SEKRET" not in shown.output + json.dumps(data)


@pytest.mark.req("B-13")
def test_who_accepts_a_file_is_told_what_it_connects_to(run_command: Run, folder: Path) -> None:
    """With every variable of theirs that would be sent there."""
    (folder / "lockgate.yaml").write_text(
        "mcp: {servers: [{name: crm, transport: streamable-http, url: 'https://x.example/${USER}', "
        "headers: {X-A: 'v${AWS_SECRET_ACCESS_KEY}', B: SEKRET}, proxy: 'http://p.example/'}]}"
    )
    result = run_command(config_group, "accept", "--yes")
    told = " ".join(result.stdout.split())
    assert "It would connect to crm: https://x.example/${USER}" in told
    assert "${AWS_SECRET_ACCESS_KEY}" in told
    assert "proxy: http://p.example/" in told
    again = run_command(config_group, "accept", "--json")
    (start,) = data_of(again)["starts"]
    assert start["url"] == "https://x.example/${USER}"
    assert start["headers"][0].endswith("${AWS_SECRET_ACCESS_KEY}")
    assert start["through"] == ["proxy: http://p.example/"]
    assert "SEKRET" not in result.output + again.output


def test_an_address_can_be_removed(run: Run, folder: Path) -> None:
    """Like any other server."""
    run("add", "crm", "-t", "http", "https://x.example/mcp", "-H", BEARER)
    assert run("remove", "crm").exit_code == 0
    assert "x.example" not in (folder / "lockgate.yaml").read_text()
