"""Single values: durations, switches, words, paths, lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import Problem
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.settings.config import Config
from lockgate.testing.endpoints import program_of

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


def server(line: str) -> str:
    """A configuration with one server and one more line in it."""
    return f"mcp:\n  servers:\n    - name: a\n      command: x\n      {line}\n"


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30", 30),
        ("30s", 30),
        ("'30'", 30),
        ("500ms", 0.5),
        ("2m", 120),
        ("1h", 3600),
        ("24h", 86400),
        ("0.5", 0.5),
        ("1.5s", 1.5),
        ("86400", 86400),
    ],
)
def test_durations(load_text: Load, written: str, seconds: float) -> None:
    """A number of seconds, or a number with its unit."""
    assert load_text(server(f"requestTimeout: {written}")).servers[0].request_timeout == seconds


@pytest.mark.parametrize(
    "written",
    [
        *("0", "-1", "0s", "1e9", "1e2", "86401", "25h", "30 s", "30S", "1d", "abc", "''", "true"),
        *(".inf", ".nan", "0x50", "1_000", "9" * 400, "[30]", "{s: 30}", "+5", "1.", ".5"),
    ],
)
def test_bad_durations(problems_of: Problems, written: str) -> None:
    """Nothing is clamped or guessed: the message shows how to write one."""
    (problem,) = problems_of(server(f"requestTimeout: {written}"))
    assert problem.path == "mcp.servers[0].requestTimeout"
    assert "500ms" in (problem.hint or "")


def test_null_is_no_duration(problems_of: Problems) -> None:
    """A key with nothing behind it is a mistake, not the default."""
    (problem,) = problems_of(server("requestTimeout:"))
    assert problem.hint == "give one, or remove the key (default: 30s)"


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("True", True), ("FALSE", False), ("'true'", True), ("${T}", True)],
)
def test_switches(load_text: Load, environ: dict[str, str], written: str, value: bool) -> None:
    """true and false in the spellings of YAML, also as text and from a variable."""
    environ["T"] = "true"
    assert load_text(server(f"required: {written}")).servers[0].required is value


@pytest.mark.parametrize("written", ["yes", "on", "1", "0", "tRUE", "''", "[true]", "treu"])
def test_bad_switches(problems_of: Problems, written: str) -> None:
    """Nothing else is a switch."""
    (problem,) = problems_of(server(f"required: {written}"))
    assert "true" in problem.message


@pytest.mark.parametrize(
    ("written", "trust"),
    [
        ("ignore", AnnotationTrust.IGNORE),
        ("IGNORE", AnnotationTrust.IGNORE),
        ("trust", AnnotationTrust.TRUST),
        ("TRUST", AnnotationTrust.TRUST),
    ],
)
def test_annotation_trust(load_text: Load, written: str, trust: AnnotationTrust) -> None:
    """Exactly two values, in two spellings each."""
    assert load_text(server(f"annotationTrust: {written}")).servers[0].annotation_trust is trust


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("written", ["trsut", "Trust", "true", "[TRUST]", "{}", "''", "${T}", "1"])
def test_a_misspelt_trust_stops_the_start(
    problems_of: Problems, environ: dict[str, str], written: str
) -> None:
    """Any other value, also one from a variable, is refused with file, line, path and the words."""
    environ["T"] = "trust"
    (problem,) = problems_of(server(f"annotationTrust: {written}"))
    assert problem.path == "mcp.servers[0].annotationTrust"
    assert problem.file is not None
    assert (problem.line, problem.column) == (5, 24)
    assert "trust" in (problem.hint or "")


@pytest.mark.parametrize("transport", ["http", "streamable"])
def test_the_newer_transport_under_its_nicknames_is_told(
    problems_of: Problems, transport: str
) -> None:
    """It is named as what to write, not as a slip."""
    (problem,) = problems_of(server(f"transport: {transport}"))
    assert "write streamable-http" in (problem.hint or "")


@pytest.mark.parametrize("transport", ["stdio", "STDIO"])
def test_stdio_is_a_transport(load_text: Load, transport: str) -> None:
    """In both spellings."""
    assert load_text(server(f"transport: {transport}")).servers


def endpoint(load_text: Load, command: str, more: str = "") -> tuple[str, Path | None]:
    """Command and directory of one server."""
    text = f"mcp: {{servers: [{{name: a, command: {command}{more}}}]}}"
    found = program_of(load_text(text).servers[0])
    return found.command, found.cwd


def test_a_bare_command_is_left_to_path(load_text: Load) -> None:
    """A name without a slash is looked up when the server starts."""
    assert endpoint(load_text, "npx")[0] == "npx"


def test_paths_are_relative_to_the_file(load_text: Load, project: Path) -> None:
    """A relative program or directory starts from the file's directory and is not normalised."""
    assert endpoint(load_text, "./srv.py", ", cwd: sub") == (
        str(project / "srv.py"),
        project / "sub",
    )
    assert endpoint(load_text, "../x/y")[0] == str(project) + "/../x/y"
    assert endpoint(load_text, "/abs", ", cwd: /nope") == ("/abs", Path("/nope"))


def test_home_is_expanded(load_text: Load, tmp_path: Path) -> None:
    """`~/` is the HOME of the environment that was handed in."""
    assert endpoint(load_text, "~/bin/srv")[0] == str(tmp_path / "home" / "bin" / "srv")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("command: ''", "empty"),
        ("command: ' '", "empty"),
        ("command: [npx, -y]", "one program"),
        ("command: npx -y server", "white space"),
        ("command: ~other/bin", "~NAME"),
        ('command: "a\\0b"', "NUL"),
        ("command: {a: b}", "one program"),
        ("command:", "no value"),
        ("command: x\n      cwd: ''", "empty"),
        ("command: x\n      cwd: [a]", "a path"),
        ('command: x\n      args: ["a\\0"]', "NUL"),
        ("command: x\n      args: -y server", "must be a list"),
        ("command: x\n      args: [[a]]", "must be text"),
        ("command: x\n      args: [null]", "not nothing"),
        ("command: x\n      expectTools: [a, a]", "twice"),
        ("command: x\n      expectTools: ['']", "empty"),
    ],
)
def test_bad_programs_and_lists(problems_of: Problems, line: str, word: str) -> None:
    """Each is refused where it stands, in words that say what to write."""
    (problem,) = problems_of(f"mcp:\n  servers:\n    - name: a\n      {line}\n")
    assert word in problem.message
    assert problem.path.startswith("mcp.servers[0].")


def test_home_must_be_set(load_text: Load, problems_of: Problems, environ: dict[str, str]) -> None:
    """Without a HOME `~` can not be expanded, and that is said."""
    environ["XDG_CONFIG_HOME"] = environ["XDG_STATE_HOME"] = environ.pop("HOME")
    (problem,) = problems_of("mcp: {servers: [{name: a, command: ~/x}]}")
    assert "HOME" in problem.message


def test_arguments_are_the_text_that_was_written(load_text: Load) -> None:
    """Numbers and switches keep their spelling; equal and empty arguments are fine."""
    found = load_text(
        "mcp: {servers: [{name: a, command: x, args: [8080, 0x50, true, '', a, a, off]}]}"
    )
    assert program_of(found.servers[0]).args == ("8080", "0x50", "true", "", "a", "a", "off")


def test_a_model_is_a_script(load_text: Load, project: Path) -> None:
    """`scripted:` and a path, relative to the file that names it."""
    assert load_text("agent: {model: 'scripted:demo.yaml'}").agent.model == (
        f"scripted:{project}/demo.yaml"
    )


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-4-6", "openai-chat:a/b:c", "later:x"])
def test_a_model_of_a_provider_is_a_name(load_text: Load, name: str) -> None:
    """It is taken as it stands: whether there is such a provider shows when it is used."""
    assert load_text(f"agent: {{model: '{name}'}}").agent.model == name


@pytest.mark.parametrize("model", ["claude", "scripted:", ":x", "''", "[a]"])
def test_what_names_no_model_is_refused(problems_of: Problems, model: str) -> None:
    """A name has a provider and a model."""
    (problem,) = problems_of(
        f"agent: {{model: '{model}'}}".replace("'[a]'", "[a]").replace("''''", "''")
    )
    assert "scripted:PATH" in (problem.hint or "")
