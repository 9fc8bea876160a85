"""Field cases about configuration: what people really write into such files."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.cli.exit import Exit, of_error
from lockgate.errors import ConfigError, Problem
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.testing.endpoints import program_of

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with nothing in it but a home."""
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def load_text(tmp_path: Path, environ: dict[str, str]) -> Load:
    """Loads a text as a file that was named with -c."""

    def load_it(text: str) -> Config:
        file = tmp_path / "lockgate.yaml"
        file.write_text(text)
        return load(locate(tmp_path, environ, file), environ)

    return load_it


@pytest.fixture
def problems_of(load_text: Load) -> Problems:
    """The findings about a text, which end a command with the exit code for configuration."""

    def problems(text: str) -> tuple[Problem, ...]:
        with pytest.raises(ConfigError) as caught:
            load_text(text)
        assert of_error(caught.value) is Exit.USAGE
        return caught.value.problems

    return problems


def entry(line: str) -> str:
    """A configuration with one server and one more line in its entry."""
    return f"mcp:\n  servers:\n    - name: git\n      command: x\n      {line}\n"


def endpoint(load_text: Load, line: str) -> StdioEndpoint:
    """What one server is reached by."""
    return program_of(load_text(entry(line)).servers[0])


def test_pb_026_programs_and_paths(load_text: Load, problems_of: Problems, tmp_path: Path) -> None:
    """Programs are not looked for: `~/` is expanded, `./` is the file's, `~x` is refused."""
    config = load_text(
        "mcp: {servers: [{name: a, command: no-such-cmd}, {name: b, command: ./srv.py},"
        " {name: c, command: .}, {name: d, command: ~/bin/srv}, {name: e, command: x, cwd: /nope}]}"
    )
    assert [program_of(server).command for server in config.servers[:4]] == [
        *("no-such-cmd", str(tmp_path / "srv.py"), "."),
        str(tmp_path / "home" / "bin" / "srv"),
    ]
    assert program_of(config.servers[4]).cwd == Path("/nope")
    (problem,) = problems_of("mcp: {servers: [{name: a, command: ~other/srv}]}")
    assert "write the whole path" in (problem.hint or "")


@pytest.mark.parametrize("timeout", ["0", "-1", "1e9", "null", "'30 seconds'", "thirty"])
def test_pb_034_bad_timeouts(problems_of: Problems, timeout: str) -> None:
    """Refused at load, by name; nothing is clamped in silence."""
    (problem,) = problems_of(entry(f"requestTimeout: {timeout}"))
    assert problem.path == "mcp.servers[0].requestTimeout"
    assert 'server "git"' in problem.message


@pytest.mark.parametrize("timeout", ["30", "30s", "'30s'"])
def test_pb_034_good_timeouts(load_text: Load, timeout: str) -> None:
    """A number of seconds and a number with a unit are the same."""
    assert load_text(entry(f"requestTimeout: {timeout}")).servers[0].request_timeout == 30


@pytest.mark.parametrize(
    "name",
    ["Atlassian Rovo", "UPPER", "under_score", "a__b", "-lead", "trail-", "''", "한글", "1234"],
)
def test_pb_104_server_names(problems_of: Problems, name: str) -> None:
    """Refused where they stand, with the pattern or the quotes; never renamed in silence."""
    (problem,) = problems_of(f"mcp:\n  servers:\n    - name: {name}\n      command: x\n")
    assert problem.line == 3
    assert "names match ^[a-z0-9]" in (problem.hint or "") or name == "1234"


def test_pb_104_duplicates(problems_of: Problems, load_text: Load) -> None:
    """`a` twice is refused; `A` is no name at all; `mcp` is one like any other."""
    assert len(problems_of("mcp: {servers: [{name: a, command: x}, {name: a, command: x}]}")) == 1
    assert len(problems_of("mcp: {servers: [{name: a, command: x}, {name: A, command: x}]}")) == 1
    assert load_text("mcp: {servers: [{name: mcp, command: x}]}").servers[0].name == "mcp"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("environment: {A: b}", "env"),
        ("commands: x", "command"),
        ("comand: x", "command"),
        ("arg: [x]", "args"),
        ("timout: 5", "requestTimeout"),
        ("annotation_trust: TRUST", "annotationTrust"),
        ("annotationTrust: trsut", "trust"),
        ("annotationTrust: Trust", "trust"),
        ("annotationTrust: true", "trust"),
        ("annotationTrust: [TRUST]", "trust"),
        ("headers: [a]", "write NAME: value"),
        ("url: http://h", "change the transport"),
        ("serverUrl: http://h", "url"),
        ("command: y", "the first is in line 4"),
        ("\tcwd: x", "spaces"),
        ("env: &env {A: b}", "quotes"),
        ("<<: {cwd: x}", "repeat"),
    ],
)
def test_pb_178_slips(problems_of: Problems, line: str, wanted: str) -> None:
    """Each stops the start, names key and server where there is one, and says what to write."""
    (problem,) = problems_of(entry(line))
    assert wanted in (problem.hint or "")
    assert problem.line == 5


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("mcp: {myserver: {command: x}}", "- name: myserver"),
        ("mcpServers: {git: {command: x}}", "lockgate mcp import"),
        ('{"mcpServers": {"git": {"command": "x"}}}', "lockgate mcp import"),
        ('{\n\t"mcpServers": {\n\t\t"git": {"command": "x"}\n\t}\n}', "lockgate mcp import"),
        ("mcp: {server: [{name: git, command: x}]}", "did you mean servers?"),
        ("mcp: {servers: {git: {command: x}}}", "- name: git"),
        ("mcp: [{name: git, command: x}]", "list under mcp, servers"),
        ("servers: [{name: git, command: x}]", "under mcp"),
        ("git: {command: x}", "- name: git"),
        ("just text", "keys: mcp"),
    ],
)
def test_pb_180_the_wrong_place(problems_of: Problems, text: str, word: str) -> None:
    """The hint leads to the right place, or to the command that reads the other format."""
    assert any(word in str(problem) for problem in problems_of(text))


@pytest.mark.parametrize("text", ["mcp: null", "mcp:", "", "# nothing", "mcp: {servers: }"])
def test_pb_180_nothing_configured(
    load_text: Load, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    """Zero servers is no error, and the log says so."""
    with caplog.at_level(logging.INFO):
        assert load_text(text).servers == ()
    assert "no MCP servers are configured" in caplog.text


def test_pb_180_a_missing_file(tmp_path: Path, environ: dict[str, str]) -> None:
    """An error if the path was given, and none if it was not."""
    with pytest.raises(ConfigError, match="no such file"):
        load(locate(tmp_path, environ, "nope.yaml"), environ)
    assert load(locate(tmp_path, environ), environ).servers == ()


@pytest.mark.parametrize("value", [None, "", "   ", "SEKRET\r\nX: y", "SEK\nRET", "SEKRET\x00"])
@pytest.mark.parametrize("line", ["args: ['Bearer ${TOK}']", "cwd: '${TOK}'"])
def test_pb_183_bad_variables(
    problems_of: Problems, environ: dict[str, str], line: str, value: str | None
) -> None:
    """Unset, empty, blank, with a line end: variable, server and field, never the value."""
    if value is not None:
        environ["TOK"] = value
    (problem,) = problems_of(entry(line))
    assert "TOK" in problem.message
    assert 'server "git"' in problem.message
    assert problem.path.startswith(f"mcp.servers[0].{line.split(':')[0]}")
    assert "SEK" not in str(problem)


@pytest.mark.parametrize("value", ["SEKRET\n", "SEKRET\r\n"])
def test_pb_183_a_trailing_newline(load_text: Load, environ: dict[str, str], value: str) -> None:
    """It is trimmed, once: secrets that were read from files have one."""
    environ["TOK"] = value
    found = endpoint(load_text, "args: ['${TOK}']\n      env: {A: 'Bearer ${TOK}'}")
    assert (found.args, dict(found.env)) == (("SEKRET",), {"A": "Bearer SEKRET"})


@pytest.mark.parametrize("value", ["pa$$w0rd", "${HOME}", 'a b"c', "$(id)", "`id`", "%PATH%"])
def test_pb_184_expanded_once(load_text: Load, environ: dict[str, str], value: str) -> None:
    """What a variable holds arrives as it is."""
    environ["TOK"] = value
    found = endpoint(load_text, "args: ['--x=${TOK}']\n      env: {A: '${TOK}'}")
    assert (found.args, dict(found.env)) == ((f"--x={value}",), {"A": value})


@pytest.mark.parametrize(
    "value", ["$1", "US$5", "^foo$", "%d", "\\\\n", "pa$$w0rd", "$HOME", "{a}"]
)
def test_pb_184_other_dollars(load_text: Load, value: str) -> None:
    """A value with a `$` that is no reference stays as it is; `$${` is a literal `${`."""
    found = endpoint(load_text, f"args: ['{value}', '$${{X}}']\n      env: {{A: '{value}'}}")
    assert (found.args, dict(found.env)) == ((value, "${X}"), {"A": value})


@pytest.mark.parametrize(
    ("value", "seconds"), [("30", 30.0), ("80.5", 80.5), ("500ms", 0.5), (None, 10.0), ("", 10.0)]
)
def test_pb_185_numbers_from_variables(
    load_text: Load, environ: dict[str, str], value: str | None, seconds: float
) -> None:
    """By the same rule as written ones; unset or empty is the default."""
    if value is not None:
        environ["T"] = value
    config = load_text(entry("requestTimeout: ${T:-10}"))
    assert config.servers[0].request_timeout == seconds


@pytest.mark.parametrize("value", ["", "abc", "0x50", "99999", "-1", "1e3", "0"])
@pytest.mark.parametrize("line", ["requestTimeout: ${VAR}", "required: ${VAR}"])
def test_pb_185_others_are_refused(
    problems_of: Problems, environ: dict[str, str], line: str, value: str
) -> None:
    """With the name of the variable, and without what it holds."""
    environ["VAR"] = value
    (problem,) = problems_of(entry(line))
    assert "${VAR}" in problem.message
    assert f"'{value}'" not in str(problem)


@pytest.mark.parametrize(("value", "required"), [("false", False), ("true", True), ("TRUE", True)])
def test_pb_185_switches_from_variables(
    load_text: Load, environ: dict[str, str], value: str, required: bool
) -> None:
    """true and false, in the spellings of YAML."""
    environ["FLAG"] = value
    assert load_text(entry("required: ${FLAG}")).servers[0].required is required


@pytest.mark.parametrize(
    "line",
    [
        "env: [TOKEN=SEKRET3]",
        "env: {TOKEN: [SEKRET3]}",
        "env: {TOKEN: *SEKRET3}",
        "env: {TOKEN: !SEKRET3 x}",
        "env: {TOKEN: SEKRET3",
        "env: {TOKEN: 'SEKRET3${'}",
        "args: '--api-key=SEKRET3'",
        "args: [--api-key=SEKRET3, [x]]",
        "args: ['--api-key=SEKRET3${']",
        "args: {--api-key: SEKRET3}",
        "command: [x, --api-key=SEKRET3]",
        "url: https://me:SEKRET3@h/mcp?key=SEKRET3",
        "headers: {Authorization: SEKRET3}",
        "token: SEKRET3",
        "env: {TOKEN: SEKRET3}\n      env: {TOKEN: SEKRET3}",
        "env:\n      TOKEN: SEKRET3",
        "env:\n\tTOKEN: SEKRET3",
    ],
)
def test_pb_186_no_secret_in_findings(
    problems_of: Problems, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    """However a secret-bearing key is mistyped, its value is in no message and no log."""
    with caplog.at_level(logging.DEBUG):
        problems = problems_of(entry(line))
    assert all("SEKRET3" not in f"{problem!r} {problem}" for problem in problems)
    assert "SEKRET3" not in caplog.text


def test_pb_186_no_secret_in_a_configuration(
    load_text: Load, environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """A loaded configuration can be printed and logged: names only."""
    environ["TOK"] = "SEKRET1"
    with caplog.at_level(logging.DEBUG):
        config = load_text(entry("args: [--api-key=SEKRET3]\n      env: {A: '${TOK}', B: SEKRET2}"))
    assert "SEKRET" not in f"{config!r} {caplog.text}"
