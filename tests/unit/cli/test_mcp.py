"""`lockgate mcp`: files change as asked, nothing is started, no secret is shown."""

from __future__ import annotations

import json
import os
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
from lockgate.testing.endpoints import program_of

Run = Callable[..., Result]


@pytest.fixture
def run(run_command: Run) -> Run:
    """Runs one command of the group."""
    return partial(run_command, mcp_group)


def error_of(result: Result) -> str:
    """The configuration error that ended a command."""
    assert isinstance(result.exception, ConfigError), result.output
    return str(result.exception)


def data_of(result: Result) -> Any:
    """The JSON that a command printed."""
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


@pytest.mark.req("B-13")
def test_a_server_that_was_added_can_be_used(
    run: Run, folder: Path, environ: dict[str, str]
) -> None:
    """It stands in the project's file, its options intact, and needs no further acceptance."""
    result = run(
        "add", "git", "-e", "LEVEL=warn", "--", "uvx", "mcp-server-git", "--repository", "."
    )
    assert result.exit_code == 0, result.output
    (server,) = load(locate(folder, environ), environ).servers
    assert (server.name, program_of(server).command) == ("git", "uvx")
    assert program_of(server).args == ("mcp-server-git", "--repository", ".")
    assert dict(program_of(server).env) == {"LEVEL": "warn"}


def test_dashes_are_needed_for_the_servers_own_options(run: Run) -> None:
    """Without options no `--` is needed; with one, the error says where it goes."""
    assert run("add", "git", "uvx", "mcp-server-git").exit_code == 0
    result = run("add", "other", "uvx", "x", "--repository", ".")
    assert result.exit_code == 2
    assert "put -- before its command" in result.output


def test_a_variable_without_a_value_is_a_reference(run: Run, folder: Path) -> None:
    """The secret stays in the environment; one that is not set is told."""
    result = run("add", "a", "-e", "TOKEN", "--", "x")
    assert 'TOKEN: "${TOKEN}"' in (folder / "lockgate.yaml").read_text()
    assert "TOKEN is not set" in result.stderr


@pytest.mark.req("S0-14")
def test_a_literal_secret_is_told_unseen(run: Run, folder: Path) -> None:
    """It is written, with advice, and shown by no command."""
    words = (
        "add",
        "a",
        "-e",
        "TOKEN=SEKRET1",
        "--",
        "x",
        "--api-key=SEKRET2",
        "--token",
        "SEKRET3",
    )
    shown = [
        run(*words),
        run("list"),
        run("get", "a"),
        run("list", "--json"),
        run("get", "a", "--json"),
    ]
    assert (folder / "lockgate.yaml").read_text().count("SEKRET") == 3
    assert all(result.exit_code == 0 for result in shown)
    assert all("SEKRET" not in result.output for result in shown)
    assert "-e TOKEN" in shown[0].stderr
    again = run("add", "a", "-e", "TOKEN=SEKRET1", "--", "x")
    assert "SEKRET" not in error_of(again)


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (("add", "Git", "--", "x"), "for instance git"),
        (("add", "a_b", "--", "x"), "for instance a-b"),
        (("add", "a", "--", ""), "empty"),
        (("add", "a", "--", "uvx mcp-server-git"), "lockgate mcp add a -- uvx mcp-server-git"),
        (("add", "a", "--", "uvx x", "y"), "holds white space"),
        (("add", "a", "--", "~someone/x"), "the whole path"),
        (("add", "a", "--", "x", "${"), "no reference"),
        (("get", "z"), "none is configured"),
        (("remove", "z"), "none is configured"),
        (("list", "-c", "nope.yaml"), "no such file"),
    ],
)
def test_what_can_not_be_done_is_a_configuration_error(
    run: Run, folder: Path, words: tuple[str, ...], word: str
) -> None:
    """With a remedy, and without a trace in the file."""
    assert word in error_of(run(*words))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("add", "a"),
        ("add",),
        ("add", "a", "-e", "1=x", "--", "x"),
        ("add", "a", "-e", "", "--", "x"),
        ("add", "a", "-e", "A=1", "-e", "A=2", "--", "x"),
        ("get",),
        ("nope",),
    ],
)
def test_bad_command_lines(run: Run, words: tuple[str, ...]) -> None:
    """Usage errors end with 2."""
    assert run(*words).exit_code == 2


def test_bytes_that_are_no_text_are_refused(run: Run, folder: Path) -> None:
    """An argument that is not UTF-8 can not be written to a YAML file."""
    result = run("add", "a", "--", "x", os.fsdecode(b"\xff"))
    assert result.exit_code == 2
    assert list(folder.iterdir()) == []


def test_the_users_own_file(run: Run, folder: Path, environ: dict[str, str]) -> None:
    """--user and -s user write there; a relative program keeps meaning the same program."""
    assert run("add", "--user", "a", "--", "./srv").exit_code == 0
    assert run("add", "-s", "user", "b", "--cwd", "sub", "--", "x").exit_code == 0
    assert list(folder.iterdir()) == []
    first, second = load(locate(folder, environ), environ).servers
    assert program_of(first).command == str(folder / "srv")
    assert program_of(second).cwd == folder / "sub"


def test_another_file(run: Run, folder: Path) -> None:
    """-c takes the place of the project's file, also for a file that is not there yet."""
    assert run("add", "-c", "sub/other.yaml", "a", "--", "./srv").exit_code == 0
    assert [
        server["name"]
        for server in data_of(run("list", "-c", "sub/other.yaml", "--json"))["servers"]
    ] == ["a"]
    assert str(folder / "srv") in (folder / "sub" / "other.yaml").read_text()
    assert not (folder / "lockgate.yaml").exists()


def test_listing(run: Run, folder: Path) -> None:
    """One line a server, with its trust and its file; nothing configured says what to do."""
    assert "lockgate mcp add" in run("list").stdout
    run("add", "a", "--", "npx", "-y", "some server")
    run("add", "--user", "b", "--", "y")
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["NAME", "TRUST", "COMMAND", "OR", "URL", "FROM"]
    assert lines[2] == "a     ignore  npx -y 'some server'  lockgate.yaml"
    assert [server["name"] for server in data_of(run("list", "--json"))["servers"]] == ["b", "a"]


@pytest.mark.req("B-13")
def test_a_listing_tells_what_is_not_accepted(run: Run, folder: Path) -> None:
    """A found file is shown, harmlessly, with the command that accepts it."""
    (folder / "lockgate.yaml").write_text(
        'mcp: {servers: [{name: a, command: "x\\e[2J", env: {A: SEKRET}}]}'
    )
    result = run("list")
    assert "x\\x1b[2J" in result.stdout
    assert "lockgate config accept" in result.stderr
    assert "\x1b" not in result.output
    assert "SEKRET" not in result.output
    assert data_of(run("list", "--json"))["notAccepted"] == str(folder / "lockgate.yaml")


def test_a_listing_fits_the_terminal(run: Run, folder: Path) -> None:
    """What is too wide goes on below, and nothing is left out."""
    words = [f"--option-{number}={number}" for number in range(12)]
    run("add", "a", "--", "npx", "-y", "@some/server", *words)
    lines = run("list").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    column = lines[0].index("COMMAND")
    end = lines[0].index("FROM")
    told = "".join(line[column:end].rstrip().removeprefix("  | ") for line in lines[1:])
    assert told.replace(" ", "") == "".join(("npx", "-y", "@some/server", *words))


@pytest.mark.req("B-13")
def test_what_nobody_accepted_is_shown_whole(run: Run, folder: Path) -> None:
    """Masking hides no part of a command that a file found here would start."""
    (folder / "lockgate.yaml").write_text(
        "mcp: {servers: [{name: a, command: sh, args: [-c, 'TOKEN=1; touch PWNED']}]}"
    )
    for words in (("list",), ("list", "--json"), ("get", "a"), ("get", "a", "--json")):
        assert "touch PWNED" in run(*words).stdout


def test_a_secret_among_the_arguments_is_told(run: Run) -> None:
    """By its number, unseen."""
    result = run("add", "a", "--", "x", "--token", "SEKRET")
    assert "argument 2 looks like a secret" in result.stderr
    assert "SEKRET" not in result.output
    assert run("add", "b", "--", "x", "--token", "${TOKEN}").stderr == ""


def test_a_directory_that_was_removed_is_told(run: Run, folder: Path) -> None:
    """There is nothing to be relative to, so no command goes on."""
    folder.rmdir()
    for words in (("list",), ("add", "a", "--", "x"), ("import",), ("get", "a"), ("remove", "a")):
        assert "working directory" in error_of(run(*words))


def test_a_directory_that_is_not_utf_8(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is shown escaped, in JSON as well."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run("add", "a", "--", "x").exit_code == 0
    (server,) = data_of(run("list", "--json"))["servers"]
    assert server["files"][0].endswith("caf\\udce9/lockgate.yaml")
    assert run("list").exit_code == 0
    assert run("add", "-c", "sub/x.yaml", "b", "--", "./x").exit_code == 2


def test_one_server(run: Run, folder: Path) -> None:
    """Everything that is set, by the names of the file; values of variables stay hidden."""
    (folder / "lockgate.yaml").write_text(
        "mcp: {servers: [{name: a, command: x, args: [y], env: {A: '${A}', B: val}, cwd: sub,"
        " required: true, expectTools: [t], verdicts: {t: {level: read-only}}}]}"
    )
    lines = [line.strip() for line in run("get", "a").stdout.splitlines()]
    for line in (
        *("command: x y", "cwd: sub", "required: true", "env A: ${A}", "from: lockgate.yaml"),
        *("env B: [masked, 3 characters]", "expectTools: t", "verdict on t: level: read-only"),
    ):
        assert line in lines
    details = data_of(run("get", "a", "--json"))
    assert details["verdicts"] == {"t": {"level": "read-only"}}
    assert "did you mean a?" in error_of(run("get", "b"))


def test_removing(run: Run, folder: Path) -> None:
    """From the file it stands in; comments around it stay."""
    (folder / "lockgate.yaml").write_text(
        "# ours\nmcp:\n  servers:\n    - name: a\n      command: x\n    # last\n"
    )
    result = run("remove", "a")
    assert result.exit_code == 0, result.exception
    assert (folder / "lockgate.yaml").read_text() == "# ours\nmcp:\n  servers:\n    # last\n"
    assert "lockgate config accept" in result.stderr


def test_removing_from_one_of_two_files(run: Run) -> None:
    """A server that stands in both needs a word on which; the other stays."""
    run("add", "a", "--", "x")
    run("add", "--user", "a", "--", "y")
    assert "--scope" in error_of(run("remove", "a"))
    assert run("remove", "a", "--user").exit_code == 0
    assert data_of(run("get", "a", "--json"))["command"] == "x"
    assert "has no server" in error_of(run("remove", "a", "--user"))


@pytest.mark.parametrize("words", [(), ("add",), ("list",), ("get",), ("remove",), ("import",)])
def test_help_teaches_with_an_example(run: Run, words: tuple[str, ...]) -> None:
    """Every help page has one."""
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert "  lockgate mcp" in result.stdout


def test_what_two_files_together_may_not_do_is_no_server(
    run: Run, folder: Path, environ: dict[str, str]
) -> None:
    """It is refused as everywhere else, not shown as if it were in force; taking it out works."""
    own = Path(environ["XDG_CONFIG_HOME"]) / "lockgate" / "config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("mcp: {servers: [{name: a, command: x, annotationTrust: trust}]}")
    (folder / "lockgate.yaml").write_text("mcp: {servers: [{name: a, args: [y]}]}")
    for words in (("get", "a"), ("get", "a", "--json"), ("list",)):
        result = run(*words)
        assert "changes what is started" in error_of(result)
        assert result.stdout == ""
    assert run("remove", "a", "--scope", "project").exit_code == 0
    assert run("get", "a").exit_code == 0
