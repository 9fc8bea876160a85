"""Changing files on a person's behalf, and what that does to their acceptance."""

from __future__ import annotations

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.acceptance import Acceptance, AcceptedFiles
from lockgate.settings.atomic import write_atomically
from lockgate.settings.entry import ServerEntry
from lockgate.settings.filelock import locked
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending
from lockgate.settings.survey import survey
from lockgate.settings.writing import erase_server, server_names, write_servers

A = ServerEntry("a", "x")


@pytest.fixture
def layers(project: Path, environ: dict[str, str]) -> Layers:
    """A project without a file."""
    return locate(project, environ)


def state(layers: Layers) -> Acceptance:
    """Whether the project's file is accepted as it is."""
    waiting = pending(layers)
    assert waiting is not None
    return waiting.acceptance


@pytest.mark.req("B-13")
def test_a_new_file_is_accepted_by_being_written(layers: Layers, environ: dict[str, str]) -> None:
    """The person gave the command: nothing asks afterwards."""
    written = write_servers(layers, layers.project, [A])
    assert (written.created, written.accepted) == (True, True)
    assert [server.name for server in load(layers, environ).servers] == ["a"]


@pytest.mark.req("B-13")
def test_an_accepted_file_stays_accepted(layers: Layers) -> None:
    """Adding to it and taking out of it keep the person's word."""
    write_servers(layers, layers.project, [A])
    write_servers(layers, layers.project, [ServerEntry("b", "y")])
    assert state(layers) is Acceptance.ACCEPTED
    erase_server(layers, layers.project, "a")
    assert state(layers) is Acceptance.ACCEPTED


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    "content", ["mcp: {servers: [{name: evil, command: evil}]}\n", "agent: {}\n"]
)
def test_a_file_nobody_accepted_stays_so(layers: Layers, content: str) -> None:
    """Writing one entry is no word on the others."""
    layers.project.write_text(content)
    assert not write_servers(layers, layers.project, [A]).accepted
    assert state(layers) is Acceptance.NEW


def test_the_persons_own_file(layers: Layers) -> None:
    """It is made with its directory, readable by its owner alone, and needs no acceptance."""
    assert write_servers(layers, layers.person, [A]).accepted
    assert stat.S_IMODE(layers.person.stat().st_mode) == 0o600
    assert server_names(layers.person) == ("a",)
    assert server_names(layers.project) == ()


def test_permissions_and_links_are_kept(layers: Layers, tmp_path: Path) -> None:
    """An existing file keeps its mode, and one behind a link is written where it is."""
    real = tmp_path / "real.yaml"
    real.write_text("")
    real.chmod(0o640)
    layers.project.symlink_to(real)
    write_servers(layers, layers.project, [A])
    assert layers.project.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert server_names(real) == ("a",)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_a_byte_order_mark_stays(layers: Layers) -> None:
    """Files of Windows editors keep what their editors want."""
    layers.project.write_bytes(b"\xef\xbb\xbf# c\r\n")
    write_servers(layers, layers.project, [A])
    data = layers.project.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# c\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_name_that_is_there_is_never_replaced(layers: Layers) -> None:
    """Neither is a faulty file touched, nor one in which the entry would be a fault."""
    write_servers(layers, layers.project, [A])
    before = layers.project.read_bytes()
    for entry in (A, ServerEntry("Bad Name", "x"), ServerEntry("c", "x", ("${",))):
        with pytest.raises(ConfigError):
            write_servers(layers, layers.project, [entry])
    with pytest.raises(ConfigError, match='no server called "z"'):
        erase_server(layers, layers.project, "z")
    assert layers.project.read_bytes() == before
    layers.project.write_text("mcp: {sevrers: []}")
    with pytest.raises(ConfigError, match="servers"):
        write_servers(layers, layers.project, [A])


@pytest.mark.parametrize(
    "entry",
    [
        ServerEntry("b", "uvx mcp-server-git"),
        ServerEntry("b", "~someone/x"),
        ServerEntry("b", "x", cwd="~someone"),
        ServerEntry("trusted", "another"),
    ],
)
def test_nothing_is_written_that_could_not_be_loaded(
    layers: Layers, environ: dict[str, str], entry: ServerEntry
) -> None:
    """What is refused when a server starts is refused before it is written."""
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text(
        "mcp: {servers: [{name: trusted, command: x, annotationTrust: trust}]}"
    )
    write_servers(layers, layers.project, [A])
    before = layers.project.read_bytes()
    with pytest.raises(ConfigError):
        write_servers(layers, layers.project, [entry])
    assert layers.project.read_bytes() == before
    load(layers, environ)


def test_a_server_that_a_rule_names_is_not_taken_out(
    layers: Layers, environ: dict[str, str]
) -> None:
    """The file would be of no use afterwards; a fault that was there before keeps nothing out."""
    layers.project.write_text(
        "mcp:\n  servers:\n    - name: a\n      command: x\n    - name: b\n      command: y\n"
        "permissions: {deny: [mcp__a__x]}\n"
    )
    with pytest.raises(ConfigError, match="'a', which is not configured"):
        erase_server(layers, layers.project, "a")
    assert server_names(layers.project) == ("a", "b")
    layers.project.write_text(layers.project.read_text().replace("mcp__a__x", "mcp__c__x"))
    erase_server(layers, layers.project, "a")
    assert server_names(layers.project) == ("b",)


def test_changes_at_the_same_time_are_all_kept(layers: Layers, environ: dict[str, str]) -> None:
    """Each waits for the one before and adds to what that one wrote."""
    names = [f"s{number}" for number in range(8)]
    together = threading.Barrier(len(names))

    def add(name: str) -> None:
        together.wait(10)
        write_servers(layers, layers.project, [ServerEntry(name, "x")])

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(add, names))
    assert sorted(server.name for server in load(layers, environ).servers) == names
    assert [path.name for path in layers.project_dir.iterdir()] == ["lockgate.yaml"]


def test_a_lock_that_is_held_is_not_waited_for_without_end(layers: Layers) -> None:
    """After its patience a change is given up with an error; a lock that is freed is taken."""
    with (
        locked(layers.project),
        pytest.raises(ConfigError, match="by another program"),
        locked(layers.project, patience=0.05),
    ):
        pass
    with locked(layers.project, patience=0.05):
        pass


def test_a_directory_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    """The old content stays, and the error says why."""
    (tmp_path / "file").write_text("old")
    with pytest.raises(ConfigError, match="can not be written"):
        write_atomically(tmp_path / "file" / "below", b"new")
    assert (tmp_path / "file").read_text() == "old"


def test_a_survey_shows_what_is_written(layers: Layers) -> None:
    """All servers with their files and defaults, no variable expanded, no acceptance needed."""
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text("mcp: {servers: [{name: a, command: x, args: ['${UNSET}']}]}")
    layers.project.write_text("mcp: {servers: [{name: b, command: y}, {name: a, lane: server}]}")
    found = survey(layers)
    assert found.waiting == layers.project
    assert found.files == (layers.person, layers.project)
    first, second = found.servers
    assert (first.name, first["args"], first["lane"]) == ("a", ("${UNSET}",), "server")
    assert first.files == (layers.person, layers.project)
    assert (second["requestTimeout"], second.files) == (30.0, (layers.project,))
    AcceptedFiles(layers.accepted_dir)
    waiting = pending(layers)
    assert waiting is not None
    AcceptedFiles(layers.accepted_dir).accept(waiting.path, waiting.sha256)
    assert survey(layers).waiting is None


def test_a_survey_has_findings_too(layers: Layers) -> None:
    """A file that can not be read is told, not shown in part."""
    layers.project.write_text("mcp: {servers: [{name: A, command: y}]}")
    with pytest.raises(ConfigError, match="for instance a"):
        survey(layers)


def test_a_survey_knows_what_two_files_together_may_not_do(layers: Layers) -> None:
    """Each can be read: so a server can still be shown to be removed, and nothing else is said."""
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text("mcp: {servers: [{name: a, command: x, annotationTrust: trust}]}")
    layers.project.write_text("mcp: {servers: [{name: a, args: [y]}]}")
    found = survey(layers)
    assert [server.name for server in found.servers] == ["a"]
    with pytest.raises(ConfigError, match="changes what is started"):
        found.faults.raise_any()
