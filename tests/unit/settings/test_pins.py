"""The file of pins: stable, readable, checked in every hash, and accepted like configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError
from lockgate.mcp.client.tools import ListedTools
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.seen import sighted
from lockgate.mcp.host.settings import PinPolicy, ServerSettings
from lockgate.mcp.protocol.results import ListedTool, ServerProfile, read_tool
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, NotAccepted
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending
from lockgate.settings.pins import PinnedTool, Pins, pin_of
from lockgate.settings.pins_file import change_pins, load_pins, pending_pins, undo
from lockgate.settings.pins_text import read_pins, write_pins

FILE = Path("lockgate.pins.json")
ENDPOINT = StdioEndpoint("serve", ("--token", "hidden-value"))


def _pin(name: str = "t", instructions: str | None = "Hi.", **fields: Any) -> PinnedTool:
    tool = read_tool({"name": name, "inputSchema": {"type": "object"}, **fields})
    assert isinstance(tool, ListedTool)
    profile = ServerProfile(instructions=instructions)
    seen = sighted(ServerSettings("s", ENDPOINT), profile, ListedTools((tool,)), 1.0)
    return pin_of(seen, ENDPOINT, tool)


def _pins(*tools: PinnedTool) -> Pins:
    return Pins().accepting("s", {tool.name: tool for tool in tools})


def _problems(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        read_pins(data, FILE)
    assert all(problem.file == FILE for problem in caught.value.problems)
    return [(problem.path, problem.message) for problem in caught.value.problems]


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Half a surrogate pair is read as U+FFFD long before anything is pinned.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inside, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.req("B-06")
@given(_json, _json, st.text(st.characters(exclude_categories=["Cs"])))
def test_pins_come_back_as_they_were_written(
    annotations: Any, default: Any, description: str
) -> None:
    """Any definition: equal values, equal fingerprints, and the same bytes when written again."""
    schema = {"type": "object", "default": default}
    pins = _pins(
        _pin(annotations=annotations, inputSchema=schema, description=description),
        _pin("u", None),
    )
    data = write_pins(pins)
    assert read_pins(data, FILE) == pins
    assert write_pins(read_pins(data, FILE)) == data


def test_the_order_of_accepting_does_not_show() -> None:
    """The file is sorted: two people who pin the same get the same file."""
    one, two = _pin("a"), _pin("b")
    forth = Pins().accepting("s", {"a": one}).accepting("s", {"b": two}).accepting("q", {"a": one})
    back = Pins().accepting("q", {"a": one}).accepting("s", {"b": two, "a": one})
    assert write_pins(forth) == write_pins(back)
    assert len(forth) == 3
    assert forth.accepting("s", {"a": None, "b": None}).servers.keys() == {"q"}


@pytest.mark.req("B-06")
def test_no_argument_is_in_the_file_and_nothing_hides_in_it() -> None:
    """People commit it: of how a server is reached the command and a hash, and what a server wrote
    shows what it holds."""
    data = write_pins(_pins(_pin(description="a\u202eb\u200b\x1b[2J 한글"))).decode()
    assert "hidden-value" not in data
    assert "--token" not in data
    assert '"serve"' in data
    assert "\\u202e" in data
    assert "\\u001b" in data
    assert "한글" in data
    assert not any(ord(c) < 0x20 and c != "\n" for c in data)


def _changed(path: str, value: Any, *, drop: bool = False) -> bytes:
    document = json.loads(write_pins(_pins(_pin())))
    place = document
    *inner, last = path.split("/")
    for key in inner:
        place = place[key]
    if drop:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document).encode()


_TOOL = "servers/s/tools/t"


@pytest.mark.req("B-06")
@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (_changed("lockgatePins", 2), "lockgatePins", "must be 1"),
        (_changed("more", 1), "more", "unknown key"),
        (_changed("servers", [], drop=True), "", "lacks the key 'servers'"),
        (_changed("servers", []), "servers", "must be an object"),
        (_changed("servers/S!", {}), "servers.S!", "is no name of a server"),
        (_changed("servers/s/extra", 1), "servers.s.extra", "unknown key"),
        (
            _changed(f"{_TOOL}/digest", "0" * 64),
            "servers.s.tools.t.digest",
            "is not the hash of its",
        ),
        (_changed(f"{_TOOL}/digest", None), "servers.s.tools.t.digest", "is not the hash of its"),
        (
            _changed(f"{_TOOL}/definition/description", "other"),
            "servers.s.tools.t.fields.description",
            "is not the hash of what stands there",
        ),
        (
            _changed(f"{_TOOL}/fields/title", "0" * 64),
            "servers.s.tools.t.fields.title",
            "is not the hash of what stands there",
        ),
        (_changed(f"{_TOOL}/fields/endpoint", 5), "servers.s.tools.t.fields.endpoint", "must be a"),
        (
            _changed(f"{_TOOL}/fields/endpoint", "0" * 64),
            "servers.s.tools.t.digest",
            "is not the hash of its fields",
        ),
        (
            _changed(f"{_TOOL}/definition/title", 0, drop=True),
            "servers.s.tools.t.definition",
            "lacks the key 'title'",
        ),
        (_changed("servers/s/commands", {}), "servers.s.commands", "has no "),
        (
            _changed("servers/s/instructions/" + "0" * 64, "Other."),
            "servers.s.instructions." + "0" * 64,
            "is not the hash of its text",
        ),
    ],
)
def test_what_does_not_fit_together_is_an_error_with_its_key_path(
    data: bytes, path: str, message: str
) -> None:
    """Unknown keys, missing ones, other kinds, and every hash that is not that of its text."""
    found = _problems(data)
    assert any(where == path and text.startswith(message) for where, text in found), found


def test_keys_that_stand_twice_are_named_with_their_path() -> None:
    """A merge can leave two of a kind; which one was meant is not for a reader to guess."""
    text = write_pins(_pins(_pin())).decode()
    twice = text.replace('"tools": {', '"tools": {"t": {}, ')
    assert _problems(twice.encode()) == [("servers.s.tools", "has the key 't' twice")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"<<<<<<< ours\n{}\n>>>>>>> theirs", "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[" * 500 + b"]" * 500, "is nested too deeply"),
        (b'{"a": 1, "a": ' + b"[" * 500 + b"]" * 500 + b"}", "is nested too deeply"),
        (b'{"a": NaN}', "holds a number"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "holds a number"),
        (b"\xff\xfe", "is UTF-16"),
        (b"\xff", "is not UTF-8"),
        (b"null", "must be an object"),
    ],
)
def test_what_is_no_file_of_pins_is_an_error(data: bytes, message: str) -> None:
    """Broken JSON stops the start, as a broken configuration does."""
    assert _problems(data)[0][1].startswith(message)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document, as the keys that lead to it."""
    inside: list[tuple[Any, ...]] = [path] if path else []
    items = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    for key, each in items.items():
        inside += _places(each, (*path, key))
    return inside


_WHOLE = json.loads(write_pins(_pins(_pin(annotations={"a": [1]}), _pin("u", None))))


@pytest.mark.req("B-06")
@given(st.sampled_from(_places(_WHOLE)), _json)
def test_whatever_stands_there_is_read_or_refused_with_its_place(
    place: tuple[Any, ...], value: Any
) -> None:
    """Any value at any place: an error of the operator's, or pins whose hashes all hold."""
    document = json.loads(json.dumps(_WHOLE))
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    changed = holder[place[-1]] != value
    holder[place[-1]] = value
    data = json.dumps(document).encode()
    try:
        pins = read_pins(data, FILE)
    except ConfigError:
        assert changed
        assert all(_problems(data))
    else:
        assert read_pins(write_pins(pins), FILE) == pins


@pytest.fixture
def found(project: Path, environ: dict[str, str]) -> Layers:
    """The files of a project that was found, not named."""
    return locate(project, environ)


@pytest.mark.req("B-13")
def test_a_found_file_of_pins_counts_once_it_is_accepted(
    found: Layers, environ: dict[str, str]
) -> None:
    """New, accepted, changed: whoever can write the file could pass a change for reviewed."""
    found.pins.write_bytes(write_pins(_pins(_pin())))
    with pytest.raises(NotAccepted, match="is not accepted yet") as caught:
        load(found, environ)
    waiting = caught.value.pending
    assert waiting.path == found.pins
    assert waiting.summary == ("It would take as reviewed 1 tool(s) of s: t",)
    AcceptedFiles(found.accepted_dir).accept(waiting.path, waiting.sha256)
    assert load(found, environ).pins == _pins(_pin())
    found.pins.write_bytes(write_pins(_pins(_pin(description="other"))))
    with pytest.raises(NotAccepted, match="has changed since"):
        load(found, environ)
    assert pending(found) is None
    told = pending_pins(found)
    assert told is not None
    assert told.acceptance is Acceptance.CHANGED


@pytest.mark.req("B-13")
def test_pins_beside_a_named_file_need_no_acceptance(
    project: Path, environ: dict[str, str], load_text: Callable[[str], Config]
) -> None:
    """Who names the configuration has named its directory."""
    (project / "lockgate.pins.json").write_bytes(write_pins(_pins(_pin())))
    assert load_text("").pins.pinned("s").keys() == {"t"}


@pytest.mark.req("B-13")
def test_what_a_command_writes_is_accepted_by_being_written(found: Layers) -> None:
    """Made, changed and taken back; a content that nobody accepted is not written over."""
    made = change_pins(found, lambda pins: pins.accepting("s", {"t": _pin()}))
    assert (made.created, made.changed) == (True, True)
    assert load_pins(found) == _pins(_pin())
    same = change_pins(found, lambda pins: pins)
    assert (same.created, same.changed) == (False, False)
    more = change_pins(found, lambda pins: pins.accepting("s", {"u": _pin("u")}))
    assert load_pins(found).pinned("s").keys() == {"t", "u"}
    undo(found, more)
    assert load_pins(found) == _pins(_pin())
    undo(found, made)
    assert not found.pins.exists()
    found.pins.write_bytes(write_pins(_pins(_pin("foreign"))))
    with pytest.raises(NotAccepted):
        change_pins(found, lambda pins: pins.accepting("s", {"t": _pin()}))


@pytest.mark.req("S0-14")
def test_faults_of_pins_are_told_with_those_of_the_configuration(
    project: Path, problems_of: Callable[[str], Any]
) -> None:
    """All at once, each with its file."""
    (project / "lockgate.pins.json").write_text("{}")
    files = {problem.file.name for problem in problems_of("agent: {ceiling: low}")}
    assert files == {"lockgate.yaml", "lockgate.pins.json"}


def test_the_key_pins_is_read(load_text: Callable[[str], Config]) -> None:
    """off, warn (the default) and block, for each server."""
    text = "mcp: {servers: [{name: a, command: x, pins: %s}]}"
    assert load_text(text % "block").servers[0].pins is PinPolicy.BLOCK
    assert load_text(text % "off").servers[0].pins is PinPolicy.OFF
    assert load_text("mcp: {servers: [{name: a, command: x}]}").servers[0].pins is PinPolicy.WARN


@pytest.mark.req("B-13")
def test_turning_pins_off_is_told_before_a_found_file_is_accepted(
    project: Path, found: Layers, environ: dict[str, str]
) -> None:
    """It loosens: a changed definition would pass unnoticed."""
    (project / "lockgate.yaml").write_text("mcp: {servers: [{name: a, command: x, pins: off}]}")
    with pytest.raises(NotAccepted) as caught:
        load(found, environ)
    assert "It would take no notice when tools of a change" in caught.value.pending.summary
