"""`lockgate mcp import`: shown, written, and nothing replaced."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from lockgate.cli.mcp import mcp_group
from lockgate.errors import ConfigError
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.testing.endpoints import address_of, program_of

Import = Callable[..., Result]

SERVERS = {
    "git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"API_TOKEN": "SEKRET"}},
    "My Files": {"command": "npx", "args": ["-y", "files", "--key=SEKRET"]},
    "remote": {"url": "https://example.com/mcp", "headers": {"Authorization": "SEKRET"}},
}


@pytest.fixture
def take(run_command: Import) -> Import:
    """Runs the import."""
    return partial(run_command, mcp_group, "import")


def on_terminal(
    words: list[str], answer: bytes, folder: Path, environ: dict[str, str]
) -> tuple[int, str]:
    """Run the program on a terminal of its own; its exit code, and what it showed."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "lockgate", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **environ},
        cwd=folder,
        start_new_session=True,
    )
    try:
        os.write(ours, answer)
        code = program.wait(timeout=30)
        return code, os.read(ours, 65_536).decode()
    finally:
        program.kill()
        program.wait()
        os.close(ours)
        os.close(theirs)


def put(path: Path, servers: Any = SERVERS) -> None:
    """Write a foreign file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))


@pytest.mark.req("B-13")
def test_a_projects_servers_are_taken_over(
    take: Import, folder: Path, environ: dict[str, str]
) -> None:
    """Without a name the project's own files are read; what was written is accepted."""
    put(folder / ".mcp.json")
    result = take("--yes")
    assert result.exit_code == 0, result.exception
    environ["REMOTE_AUTHORIZATION"] = "abc"
    config = load(locate(folder, environ), environ)
    assert [server.name for server in config.servers] == ["git", "my-files", "remote"]
    assert address_of(config.servers[2]).headers == {"Authorization": "abc"}
    for word in (
        'renamed to "my-files"',
        "+ remote: https://example.com/mcp",
        "set REMOTE_AUTHORIZATION",
        "API_TOKEN: ${API_TOKEN}",
    ):
        assert word in result.stdout
    assert "Wrote 3 servers to lockgate.yaml." in result.stdout


@pytest.mark.req("S0-14")
def test_no_secret_is_shown(take: Import, folder: Path) -> None:
    """Neither of variables nor of arguments nor of headers, for people and for programs."""
    put(folder / ".mcp.json")
    for words in (("--dry-run",), ("--dry-run", "--json"), (), ("--yes",)):
        assert "SEKRET" not in take(*words).output


def test_a_dry_run_writes_nothing(take: Import, folder: Path) -> None:
    """It shows the same."""
    put(folder / ".mcp.json")
    result = take("--dry-run")
    assert "+ git: uvx mcp-server-git" in result.stdout
    assert "Nothing was written." in result.stdout
    assert not (folder / "lockgate.yaml").exists()


def test_nothing_is_replaced(take: Import, folder: Path) -> None:
    """A server of that name stays as it is, and so does every byte around the new one."""
    text = "# ours\nmcp:\n  servers:\n    - name: git   # mine\n      command: mine\n"
    (folder / "lockgate.yaml").write_text(text)
    put(folder / ".mcp.json")
    result = take("--yes")
    written = (folder / "lockgate.yaml").read_text()
    assert written.startswith(text)
    assert "my-files" in written
    assert "git is in lockgate.yaml already" in result.stdout
    assert "not accepted" in result.stderr
    assert "Nothing was written." in take().stdout
    assert (folder / "lockgate.yaml").read_text() == written


def test_several_files_at_once(take: Import, folder: Path) -> None:
    """All usual files of the project are read; the first of two equal names is taken."""
    put(folder / ".mcp.json", {"a": {"command": "x"}})
    put(folder / ".vscode" / "mcp.json", {"a": {"command": "y"}, "b": {"command": "y"}})
    plan = json.loads(take("--json", "--yes").stdout)
    assert [(s["original"], s["fate"]) for s in plan["servers"]] == [
        ("a", "add"),
        ("a", "exists"),
        ("b", "add"),
    ]
    assert plan["written"]


def test_a_persons_servers(take: Import, folder: Path, environ: dict[str, str]) -> None:
    """With --user the files of the home are read, and the person's own file is written."""
    home = Path(environ["HOME"])
    put(home / ".config" / "Claude" / "claude_desktop_config.json", {"a": {"command": "./x"}})
    assert take("--user", "--yes").exit_code == 0
    (server,) = load(locate(folder, environ), environ).servers
    assert program_of(server).command == str(home / ".config" / "Claude" / "x")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_variable_that_is_not_set_is_told(
    take: Import, folder: Path, environ: dict[str, str], scope: str
) -> None:
    """Whom it concerns as well: with --user every project. What has a default, or is set, does
    not."""
    environ |= {"THERE": "x", "BLANK": " "}
    env = {"A": "${CX_TOKEN}", "B": "${THERE}", "C": "${OTHER:-}", "D": "${BLANK}", "E": "$${NO}"}
    server = {"command": "x", "args": ["${CX_TOKEN}"], "env": env}
    put(folder / "theirs.json", {"a": server, "b": {"command": "y", "args": ["${HOME}"]}})
    words = ("theirs.json", "--scope", scope)
    told = take(*words, "--yes").stdout
    whom = {"user": "in every project of yours", "project": "in this project"}[scope]
    assert told.count("not set in your environment now") == 1
    assert f"now: CX_TOKEN, BLANK; until that is done, commands that start servers fail {whom}" in (
        told
    )
    assert "environment now" not in take(*words, "--dry-run").stdout  # it is there already


def test_no_file_anywhere_says_where_it_looked(take: Import) -> None:
    """The error names the usual files and how to name another."""
    result = take()
    assert isinstance(result.exception, ConfigError)
    assert ".mcp.json" in str(result.exception)


@pytest.mark.req("B-13")
@pytest.mark.parametrize("words", [(), ("--json",), ("--user", "-c", "other.yaml")])
def test_nobody_to_ask_writes_nothing(
    take: Import, folder: Path, environ: dict[str, str], words: tuple[str, ...]
) -> None:
    """What is written is armed: without a terminal only --yes says that somebody wants it."""
    put(folder / ".mcp.json")
    put(Path(environ["HOME"]) / ".cursor" / "mcp.json", {"a": {"command": "x"}})
    result = take(*words)
    assert isinstance(result.exception, ConfigError)
    assert "--yes" in str(result.exception)
    assert [path.name for path in folder.iterdir()] == [".mcp.json"]
    assert not (Path(environ["HOME"]) / ".config").exists()


@pytest.mark.req("B-13")
@pytest.mark.parametrize("words", [(), ("--json",)])
@pytest.mark.parametrize(("answer", "written"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_person_is_asked_on_a_terminal(
    folder: Path, environ: dict[str, str], words: tuple[str, ...], answer: bytes, written: bool
) -> None:
    """Only yes writes, for programs as for people."""
    put(folder / ".mcp.json", {"a": {"command": "sh", "args": ["-c", "TOKEN=1; touch PWNED"]}})
    done, shown = on_terminal(["mcp", "import", *words], answer, folder, environ)
    assert done == 0
    assert 'a: sh -c "TOKEN=1; touch PWNED"' in shown
    assert "Write 1 server to lockgate.yaml?" in shown
    assert (folder / "lockgate.yaml").exists() is written


def test_a_server_that_could_not_be_loaded_is_not_taken_over(
    take: Import, folder: Path, environ: dict[str, str]
) -> None:
    """It is told with its reason, and the others are taken."""
    put(folder / ".mcp.json", {"a": {"command": "uvx x"}, "b": {"command": "~who/x"}})
    result = take("--yes")
    assert 'a: not taken over: server "a": holds white space' in result.stdout
    assert "b: not taken over" in result.stdout
    put(folder / ".mcp.json", {"a": {"command": "uvx x"}, "c": {"command": "y"}})
    assert take("--yes").exit_code == 0
    assert [server.name for server in load(locate(folder, environ), environ).servers] == ["c"]


def test_a_bad_file_writes_nothing(take: Import, folder: Path) -> None:
    """One file that can not be read stops the whole import."""
    put(folder / "good.json")
    (folder / "bad.json").write_text("{")
    result = take("good.json", "bad.json")
    assert isinstance(result.exception, ConfigError)
    assert not (folder / "lockgate.yaml").exists()


def test_a_file_with_nothing_to_take(take: Import, folder: Path) -> None:
    """Every entry has its reason, and no file is made."""
    put(folder / "x.json", {"r": {"url": ["https://h"]}})
    result = take("x.json")
    assert (result.exit_code, (folder / "lockgate.yaml").exists()) == (0, False)
    assert "r: not taken over" in result.stdout
