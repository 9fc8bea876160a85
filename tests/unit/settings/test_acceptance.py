"""A found file starts nothing and loosens nothing until its exact content was accepted."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.acceptance import (
    Acceptance,
    AcceptedFiles,
    NotAccepted,
    digest_of,
)
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending

TEXT = """
mcp:
  servers:
    - name: git
      command: ./server.py
      args: [--repository, ., --api-key=SEKRET, "${UNSET}", "\\e[2Jx"]
      env: {TOKEN: SEKRET, OTHER: "${UNSET}"}
      annotationTrust: trust
      verdicts: {git_log: {level: read-only}}
agent: {ceiling: mutating}
approvals: {exemptAtOrBelow: mutating}
permissions: {allow: [mcp__git__git_commit]}
"""


@pytest.fixture
def found(project: Path, environ: dict[str, str]) -> Layers:
    """A configuration found in the working directory."""
    (project / "lockgate.yaml").write_text(TEXT)
    return locate(project, environ)


def refuse(layers: Layers, environ: dict[str, str]) -> NotAccepted:
    """The refusal to use what was found."""
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    return caught.value


def accept(layers: Layers) -> None:
    """Accept what is found, as it is now."""
    waiting = pending(layers)
    assert waiting is not None
    AcceptedFiles(layers.accepted_dir).accept(waiting.path, waiting.sha256)


@pytest.mark.req("B-13")
def test_a_found_file_is_not_used(found: Layers, environ: dict[str, str]) -> None:
    """Loading it is refused as a configuration error, before any variable is looked at."""
    error = refuse(found, environ)
    assert isinstance(error, ConfigError)
    assert error.pending.acceptance is Acceptance.NEW
    assert "lockgate config accept" in str(error)


@pytest.mark.req("B-13")
def test_the_refusal_says_what_the_file_would_do(found: Layers, environ: dict[str, str]) -> None:
    """Programs with their arguments, names of variables, and everything it would loosen."""
    error = refuse(found, environ)
    (start,) = error.pending.starts
    assert (start.server, start.env) == ("git", ("TOKEN", "OTHER"))
    assert start.command.startswith("./server.py --repository . ")
    assert "${UNSET}" in start.command
    assert error.pending.loosens == (
        "believe what git says of its own tools",
        "take its own word on tools of git: git_log",
        "ask about destructive calls only",
        "allow mcp__git__git_commit without asking you",
    )
    for line in (str(start), *error.pending.loosens):
        assert line in str(error)


@pytest.mark.req("B-13")
def test_the_refusal_shows_no_secret_and_obeys_no_escape(
    found: Layers, environ: dict[str, str]
) -> None:
    """Secrets are masked and control characters visible: the text comes from a stranger."""
    text = str(refuse(found, environ))
    assert "SEKRET" not in text
    assert "\x1b" not in text
    assert "\\x1b[2J" in text


@pytest.mark.req("B-13")
def test_an_accepted_file_is_used(found: Layers, environ: dict[str, str]) -> None:
    """After acceptance it loads, again and again."""
    accept(found)
    environ["UNSET"] = "set"
    for _ in range(2):
        assert load(found, environ).servers[0].name == "git"


@pytest.mark.req("B-13")
@pytest.mark.parametrize("change", ["\n", " ", "# c\n", "x"])
def test_any_change_asks_again(found: Layers, environ: dict[str, str], change: str) -> None:
    """The exact bytes count, also a comment; going back to the accepted ones is fine."""
    accept(found)
    found.project.write_text(TEXT + "# " + change)
    assert refuse(found, environ).pending.acceptance is Acceptance.CHANGED
    found.project.write_text(TEXT)
    environ["UNSET"] = "set"
    load(found, environ)


def test_accepting_another_content_takes_the_place_of_the_first(
    found: Layers, environ: dict[str, str]
) -> None:
    """One content is accepted at a time: an older one asks again."""
    accept(found)
    found.project.write_text(TEXT + "# more\n")
    accept(found)
    found.project.write_text(TEXT)
    refuse(found, environ)


def test_acceptance_is_for_one_place(found: Layers, environ: dict[str, str]) -> None:
    """The same content elsewhere names other programs, so it asks for itself; a link too."""
    accept(found)
    other = found.project_dir.parent / "other"
    other.mkdir()
    (other / "lockgate.yaml").symlink_to(found.project)
    refuse(locate(other, environ), environ)


def test_the_same_directory_through_a_link_is_the_same_place(
    found: Layers, environ: dict[str, str], tmp_path: Path
) -> None:
    """A project that is reached another way was accepted already."""
    accept(found)
    (tmp_path / "link").symlink_to(found.project_dir)
    waiting = pending(locate(tmp_path / "link", environ))
    assert waiting is not None
    assert waiting.acceptance is Acceptance.ACCEPTED


@pytest.mark.req("B-13")
def test_a_named_file_needs_no_acceptance(found: Layers, environ: dict[str, str]) -> None:
    """Naming it with -c is the person's word for this time."""
    environ["UNSET"] = "set"
    load(locate(found.project_dir, environ, "lockgate.yaml"), environ)
    refuse(found, environ)


def test_the_persons_own_file_needs_none(project: Path, environ: dict[str, str]) -> None:
    """Outside the working directory nobody else put it there."""
    layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text("mcp: {servers: [{name: a, command: x}]}")
    assert load(layers, environ).servers


@pytest.mark.req("B-13")
def test_faults_come_before_the_question(found: Layers, environ: dict[str, str]) -> None:
    """A file that can not be used is not offered for acceptance, and told without its values."""
    found.project.write_text(TEXT + "permision: {}\n")
    with pytest.raises(ConfigError) as caught:
        load(found, environ)
    assert not isinstance(caught.value, NotAccepted)
    with pytest.raises(ConfigError, match="permissions"):
        pending(found)


@pytest.mark.parametrize(
    "text",
    [
        "mcp: {servers: [{name: a, command: uvx mcp-server-git}]}",
        "mcp: {servers: [{name: a, command: ~other/x}]}",
        "mcp: {servers: [{name: a, args: [x]}]}",
        "permissions: {deny: [mcp__nowhere__x]}",
        "agent: {offer: [mcp__]}",
        "mcp: {startupBudget: 24h}",
        "mcp: {servers: [{name: own, command: y}]}",
    ],
)
def test_what_could_not_be_loaded_is_not_offered_for_acceptance(
    found: Layers, environ: dict[str, str], text: str
) -> None:
    """All that is known without variables and servers is looked at before the question."""
    found.person.parent.mkdir(parents=True)
    found.person.write_text("mcp: {servers: [{name: own, command: x, annotationTrust: trust}]}")
    found.project.write_text(text)
    with pytest.raises(ConfigError) as caught:
        pending(found)
    assert not isinstance(caught.value, NotAccepted)
    with pytest.raises(ConfigError) as again:
        load(found, environ)
    assert str(again.value) == str(caught.value)


def test_what_a_variable_will_hold_keeps_nothing_from_being_accepted(found: Layers) -> None:
    """A number or a switch may come from the environment, which is not looked at here."""
    found.project.write_text(
        "mcp: {startupBudget: 5m, servers: [{name: a, command: '${X} y', cwd: '${Y}',"
        " requestTimeout: '${T}', progressExtends: 5s, required: '${R}'},"
        " {name: b, command: x, progressExtends: '${T}'}]}"
    )
    waiting = pending(found)
    assert waiting is not None


def test_an_empty_file_has_nothing_to_accept(found: Layers, environ: dict[str, str]) -> None:
    """Nothing in it starts or loosens anything."""
    found.project.write_text("# nothing\n")
    assert load(found, environ).servers == ()


def test_a_tightening_file_says_so(found: Layers, environ: dict[str, str]) -> None:
    """A file that starts and loosens nothing is still somebody's: it asks, and says that."""
    found.project.write_text("permissions: {deny: [Write]}")
    assert refuse(found, environ).pending.summary == ("It starts no program and loosens nothing.",)


def test_what_is_remembered_is_private(found: Layers) -> None:
    """The record is readable by its owner alone and holds no content."""
    accept(found)
    (record,) = found.accepted_dir.iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.accepted_dir.stat().st_mode) == 0o700
    assert digest_of(TEXT.encode()) in record.read_text()
    assert "SEKRET" not in record.read_text()


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"path": 1}', b"\xff", b'{"path":"","sha256":"","x":1}']
)
def test_a_damaged_record_accepts_nothing(
    found: Layers, environ: dict[str, str], damage: bytes
) -> None:
    """It counts as not accepted, that is said, and accepting again mends it."""
    accept(found)
    (record,) = found.accepted_dir.iterdir()
    record.write_bytes(damage)
    error = refuse(found, environ)
    assert error.pending.acceptance is Acceptance.DAMAGED
    assert "damaged" in str(error)
    accept(found)
    environ["UNSET"] = "set"
    load(found, environ)


def test_a_record_that_can_not_be_written_is_an_error(found: Layers) -> None:
    """A state directory that is a file is told, not skipped."""
    found.accepted_dir.parent.mkdir(parents=True)
    found.accepted_dir.write_text("")
    with pytest.raises(ConfigError, match="can not be written"):
        accept(found)


def test_nothing_is_pending_where_there_is_no_file(project: Path, environ: dict[str, str]) -> None:
    """No file, no question."""
    assert pending(locate(project, environ)) is None
