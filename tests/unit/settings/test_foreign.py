"""Servers from other programs' files: what is taken over, what is told, what is left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.entry import ServerEntry
from lockgate.settings.foreign import Found, read_foreign, usual_places


def one(folder: Path, server: Any, *, name: str = "a", file: str = ".mcp.json") -> Found:
    """One server in a file of the folder it is taken over into."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": {name: server}}))
    (found,) = read_foreign(path, folder)
    return found


def entry_of(found: Found) -> ServerEntry:
    """The entry of a server that is taken over."""
    assert found.entry is not None, found.notes
    return found.entry


def test_a_server_is_taken_over(tmp_path: Path) -> None:
    """Command, arguments, variables and directory come as they are."""
    found = one(
        tmp_path,
        {
            **{"type": "stdio", "command": "npx", "args": ["-y", "x", 8080]},
            **{"env": {"LEVEL": "warn", "PORT": 1, "ON": True}, "cwd": "sub"},
        },
    )
    assert found.notes == ()
    assert entry_of(found) == ServerEntry(
        "a", "npx", ("-y", "x", "8080"), {"LEVEL": "warn", "PORT": "1", "ON": "true"}, "sub"
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        {"mcpServers": {"a": {"command": "x"}}, "globalShortcut": ""},
        {"servers": {"a": {"command": "x"}}, "inputs": []},
        {"mcp": {"servers": {"a": {"command": "x"}}}, "editor.fontSize": 12},
    ],
)
def test_the_usual_maps(tmp_path: Path, wrapped: Any) -> None:
    """Claude, Cursor and others say mcpServers, VS Code servers, its settings mcp.servers."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps(wrapped))
    (found,) = read_foreign(path, tmp_path)
    assert entry_of(found) == ServerEntry("a", "x")


@pytest.mark.parametrize(
    ("name", "ours"), [("Git Hub", "git-hub"), ("under_score", "under-score"), ("Ünï", "uni")]
)
def test_a_name_is_made_valid_and_told(tmp_path: Path, name: str, ours: str) -> None:
    """The new name resembles the old one, which is kept for display."""
    found = one(tmp_path, {"command": "x"}, name=name)
    assert (found.original, entry_of(found).name) == (name, ours)
    assert f'"{name}" is renamed to "{ours}"' in found.notes


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("args", "note"),
    [
        (["x", "--token", "SEKRET"], "its argument 3 looks like a secret"),
        (["--api-key=SEKRET"], "its argument 1 looks like a secret"),
        (["--token=SEKRET", "-k", "ghp_SEKRET1234567"], "each of its arguments 1, 3 looks"),
    ],
)
def test_a_secret_among_the_arguments_is_told_unseen(
    tmp_path: Path, args: list[str], note: str
) -> None:
    """It is copied, with advice, by its number; a reference is none."""
    found = one(tmp_path, {"command": "x", "args": args})
    assert any(told.startswith(note) for told in found.notes)
    assert "SEKRET" not in "".join(found.notes)
    assert one(tmp_path, {"command": "x", "args": ["--token", "${env:TOKEN}"]}).notes == ()


def test_a_directory_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    """A program that no YAML file can name is left out; others of that file are taken."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "x.json").write_text(
        json.dumps({"servers": {"a": {"command": "./x"}, "b": {"command": "y"}}})
    )
    first, second = read_foreign(folder / "x.json", tmp_path)
    assert first.entry is None
    assert "not UTF-8" in first.notes[0]
    assert entry_of(second).command == "y"


def test_two_names_that_become_one_are_told(tmp_path: Path) -> None:
    """The first is taken over, the second is not."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"servers": {"a b": {"command": "x"}, "A_B": {"command": "y"}}}))
    first, second = read_foreign(path, tmp_path)
    assert entry_of(first).command == "x"
    assert second.entry is None
    assert "a-b" in second.notes[0]


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ({"type": "websocket", "url": "ws://h/mcp"}, "websocket"),
        ({"type": "http"}, "no url"),
        ({"url": ["http://h"]}, "no url"),
        ({"url": "http://h", "headers": ["A: b"]}, "headers"),
        ({"url": "http://h", "headers": {"A": 1}}, "its header A"),
        ({"command": "x", "disabled": True}, "switched off"),
        ({"command": "x", "enabled": False}, "switched off"),
        ({}, "no command"),
        ({"command": ""}, "no command"),
        ({"command": ["x"]}, "no command"),
        ({"command": "x", "args": "-y"}, "args"),
        ({"command": "x", "args": [["-y"]]}, "args"),
        ({"command": "x", "args": [True]}, "args"),
        ({"command": "x", "env": ["A=1"]}, "env"),
        ({"command": "x", "env": {"A": {}}}, "env A"),
        ({"command": "x", "env": {"A=B": "1"}}, "env"),
        ({"command": "x", "cwd": 1}, "cwd"),
        ({"command": "x", "args": ["a\0b"]}, "characters"),
        ({"command": "x", "args": ["\ud800"]}, "characters"),
        ({"command": "x", "args": ["${config:a.b}"]}, "${config:a.b}"),
        ("x", "no object"),
        (None, "no object"),
    ],
)
def test_what_can_not_be_taken_over_says_why(tmp_path: Path, server: Any, word: str) -> None:
    """One bad entry has its reason, and does not spoil the file."""
    found = one(tmp_path, server)
    assert found.entry is None
    assert word in found.notes[0]


@pytest.mark.parametrize("name", ["한글", "", "!!!"])
def test_a_name_with_nothing_to_keep_is_refused(tmp_path: Path, name: str) -> None:
    """No name is invented."""
    assert one(tmp_path, {"command": "x"}, name=name).entry is None


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("${TOKEN}", "${TOKEN}"),
        ("${TOKEN:-x}", "${TOKEN:-x}"),
        ("${env:TOKEN}", "${TOKEN}"),
        ("${input:github-token}", "${GITHUB_TOKEN}"),
        ("${workspaceFolder}/docs", "./docs"),
        ("${userHome}/x", "${HOME}/x"),
        ("a${/}b", "a/b"),
        ("US$5 $1 pa$$w0rd", "US$5 $1 pa$$w0rd"),
        ("${#a[@]}", "$${#a[@]}"),
        ("${", "$${"),
    ],
)
def test_references_are_translated(tmp_path: Path, theirs: str, ours: str) -> None:
    """Their spellings become ours; what is no reference stays literal."""
    assert entry_of(one(tmp_path, {"command": "x", "args": [theirs]})).args == (ours,)


def test_an_input_is_told(tmp_path: Path) -> None:
    """What another program asks for has to be set in the environment, and that is said."""
    found = one(tmp_path, {"command": "x", "env": {"T": "${input:gh}"}})
    assert any("set GH in your environment" in note for note in found.notes)


@pytest.mark.req("S0-14")
def test_a_literal_secret_is_told_unseen(tmp_path: Path) -> None:
    """It is copied, with the advice to put it into the environment; no note shows it."""
    found = one(tmp_path, {"command": "x", "env": {"API_KEY": "SEKRET", "B_TOKEN": "${B_TOKEN}"}})
    assert entry_of(found).env["API_KEY"] == "SEKRET"
    (note,) = found.notes
    assert "API_KEY: ${API_KEY}" in note
    assert "SEKRET" not in note
    assert "SEKRET" not in repr(found)


def test_what_lockgate_has_no_word_for_is_told(tmp_path: Path) -> None:
    """Nothing is dropped in silence, least of all what lets calls pass."""
    found = one(
        tmp_path,
        {"command": "x", "autoApprove": ["a"], "timeout": 5, "envFile": ".env", "odd": 1},
    )
    assert len(found.notes) == 4
    assert any("permissions" in note for note in found.notes)


def test_relative_paths_of_another_directory_are_rebased(tmp_path: Path) -> None:
    """A file of another project keeps naming that project's programs."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ours.mkdir()
    path = theirs / ".vscode" / "mcp.json"
    path.parent.mkdir(parents=True)
    servers = {
        "a": {"command": "./srv", "cwd": "sub"},
        "b": {"command": "node", "args": ["./x.js", "${workspaceFolder}"]},
        "c": {"command": "/abs/x", "cwd": "/abs"},
    }
    path.write_text(json.dumps({"servers": servers}))
    first, second, third = (entry_of(found) for found in read_foreign(path, ours))
    assert (first.command, first.cwd) == (str(theirs / "srv"), str(theirs / "sub"))
    assert (second.args, second.cwd) == (("./x.js", str(theirs)), str(theirs))
    assert (third.command, third.cwd) == ("/abs/x", "/abs")
    first, second, _ = (entry_of(found) for found in read_foreign(path, theirs))
    assert (first.command, first.cwd, second.args) == ("./srv", "sub", ("./x.js", "."))


def test_comments_and_trailing_commas_are_fine(tmp_path: Path) -> None:
    """VS Code writes JSON with comments; text that looks like one stays."""
    path = tmp_path / "x.json"
    path.write_text(
        '{ // c\n "servers": /* x, } */'
        ' {"a": {"command": "x", "args": ["http://h", "/*", ",}",],},},\n}'
    )
    (found,) = read_foreign(path, tmp_path)
    assert entry_of(found).args == ("http://h", "/*", ",}")


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("", "not JSON", 1),
        ('{"servers": {}', "not JSON", 1),
        ('{\n"servers": {"a" "SEKRET"}}', "not JSON", 2),
        ("{'servers': {}}", "not JSON", 1),
        ("[1]", "no map of servers", None),
        ("{}", "no map of servers", None),
        ('{"mcpServers": []}', "no map of servers", None),
        ('{"servers": {"a": {}, "a": {}}}', "twice", None),
        ("[" * 100_000, "deep", None),
    ],
)
def test_files_that_hold_no_servers(tmp_path: Path, text: str, word: str, line: int | None) -> None:
    """Each is refused with its place, and without a piece of its content."""
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=word) as caught:
        read_foreign(path, tmp_path)
    assert caught.value.problems[0].line == line
    assert "SEKRET" not in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """It was named, so it must be there."""
    with pytest.raises(ConfigError, match="no such file"):
        read_foreign(tmp_path / "x.json", tmp_path)


def test_the_usual_places_of_a_project_and_of_a_person(tmp_path: Path) -> None:
    """Without a name, a project's files are looked at, or those in a home; never both."""
    assert tmp_path / ".mcp.json" in usual_places(tmp_path, {"HOME": "/h"}, personal=False)
    own = usual_places(tmp_path, {"HOME": "/h", "APPDATA": "/r"}, personal=True)
    assert {Path("/h/.claude.json"), Path("/h/.config/Claude/claude_desktop_config.json")} <= set(
        own
    )
    assert Path("/r/Claude/claude_desktop_config.json") in own
    assert usual_places(tmp_path, {}, personal=True) == ()


@pytest.mark.parametrize(
    ("server", "transport"),
    [
        ({"type": "http", "url": "http://h/mcp"}, "streamable-http"),
        ({"type": "streamable-http", "url": "http://h/mcp"}, "streamable-http"),
        ({"type": "streamableHttp", "url": "http://h/mcp"}, "streamable-http"),
        ({"transport": "STREAMABLE_HTTP", "url": "http://h/mcp"}, "streamable-http"),
        ({"type": "sse", "serverUrl": "http://h/mcp"}, "sse"),
        ({"httpUrl": "http://h/sse"}, "streamable-http"),
        ({"url": "http://h/mcp"}, "streamable-http"),
        ({"url": "http://h/sse?x=1"}, "sse"),
    ],
)
def test_servers_at_an_address_are_taken_over(
    tmp_path: Path, server: dict[str, str], transport: str
) -> None:
    """By the transport that the file names or, said so, by the looks of the address."""
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": server}}))
    (found,) = read_foreign(path, tmp_path)
    entry = entry_of(found)
    assert entry.transport == transport
    assert (entry.url or "").startswith("http://h/")
    guessed = not {"type", "transport", "httpUrl"} & set(server)
    assert any("guess" in note for note in found.notes) == guessed


def test_one_program_calls_the_older_transport_url(tmp_path: Path) -> None:
    """There `url` is an SSE server, whatever it looks like."""
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"a": {"url": "http://h/mcp"}}}))
    (found,) = read_foreign(path, tmp_path)
    assert entry_of(found).transport == "sse"


def test_secrets_in_headers_are_not_copied(tmp_path: Path) -> None:
    """A reference takes their place, and a note says what to set; references become ours."""
    headers = {
        "Authorization": "Bearer SEKRET",
        "X-API-Key": "SEKRET",
        "X-Team": "one",
        "X-Other-Token": "${env:OTHER}",
        "X-Asked": "Basic ${input:my-token}",
    }
    server = {"type": "http", "url": "http://h/mcp", "headers": headers, "env": {"A": "SEKRET"}}
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"crm-one": server}}))
    (found,) = read_foreign(path, tmp_path)
    assert entry_of(found).headers == {
        "Authorization": "Bearer ${CRM_ONE_TOKEN}",
        "X-API-Key": "${CRM_ONE_X_API_KEY}",
        "X-Team": "one",
        "X-Other-Token": "${OTHER}",
        "X-Asked": "Basic ${MY_TOKEN}",
    }
    told = "\n".join(found.notes)
    assert "set CRM_ONE_TOKEN to it in your environment, without Bearer" in told
    assert "set CRM_ONE_X_API_KEY to it in your environment" in told
    assert "env is not taken over" in told
    assert "SEKRET" not in told + repr(found)


def test_what_may_be_a_secret_in_an_address_is_told(tmp_path: Path) -> None:
    """What neither its name nor its look gives away is copied, and said."""
    server = {"type": "http", "url": "http://h/mcp?k=SEKRET"}
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": server}}))
    (found,) = read_foreign(path, tmp_path)
    assert "its url looks as if it held a secret" in found.notes[0]
    assert "SEKRET" not in found.notes[0]
