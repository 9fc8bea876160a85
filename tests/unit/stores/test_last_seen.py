"""Servers as they were last seen, on disk: exact, private, and never in the way (B-05)."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.client.tools import ListedTools
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.seen import SeenServer, Sighting, sighted
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.protocol.claims import Claims
from lockgate.mcp.protocol.results import LeftOut, ListedTool, ServerProfile, read_tool
from lockgate.process.hidden import NOTHING, Hidden
from lockgate.stores.last_seen import MAX_BYTES, LastSeenFolder

HIDDEN = "s3cret-value"
SETTINGS = ServerSettings("s", StdioEndpoint("run", ("--token", HIDDEN), {"KEY": HIDDEN}))


def _tool(**fields: Any) -> ListedTool:
    tool = read_tool({"name": "t", "inputSchema": {"type": "object"}, **fields})
    assert isinstance(tool, ListedTool)
    return tool


def _seen(*tools: ListedTool, at: float = 1.0) -> SeenServer:
    listing = ListedTools(tools, (LeftOut("bad", "has no name"),), ("odd",))
    return sighted(SETTINGS, ServerProfile(instructions="Hi."), listing, at)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=10,
)


@pytest.mark.req("B-05")
@given(_json, _json, st.text())
def test_what_is_kept_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, annotations: Any, default: Any, description: str
) -> None:
    """Integers of any length, any text, any value: definition and fingerprint are equal."""
    folder = LastSeenFolder(tmp_path_factory.mktemp("seen"))
    schema = {"type": "object", "properties": {"a": {"default": default}}}
    tool = _tool(annotations=annotations, inputSchema=schema, description=description)
    kept = _seen(tool)
    folder.keep(kept, NOTHING)
    back = folder.last("s")
    assert back is not None
    assert (back.tools, back.instructions, back.left_out, back.remarks) == (
        kept.tools,
        kept.instructions,
        kept.left_out,
        kept.remarks,
    )
    assert (back.endpoint, back.seen, back.sightings) == (kept.endpoint, 1.0, kept.sightings)


def test_claims_that_were_not_believed_are_not_believed_later(tmp_path: Path) -> None:
    """A tool that its server listed twice comes back without its claims, and with the remark."""
    folder = LastSeenFolder(tmp_path)
    raw = {"readOnlyHint": True}
    plain = _tool(annotations=raw)
    doubted = ListedTool(
        plain.name,
        plain.title,
        plain.description,
        plain.input_schema,
        plain.output_schema,
        Claims(raw=raw, remarks=("listed again",)),
        plain.raw,
    )
    folder.keep(_seen(doubted), NOTHING)
    back = folder.last("s")
    assert back is not None
    assert back.tools[0].claims == doubted.claims
    assert back.tools[0].claims.read_only is None


@pytest.mark.req("B-05")
def test_no_argument_and_no_variable_is_in_the_file(tmp_path: Path) -> None:
    """Of how a server is reached only a hash is kept; the file is the person's own."""
    LastSeenFolder(tmp_path / "servers").keep(_seen(_tool()), NOTHING)
    (path,) = (tmp_path / "servers").iterdir()
    text = path.read_text("utf-8")
    assert HIDDEN not in text
    assert "--token" not in text
    assert "KEY" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_first_seen_is_kept_over_later_ones(tmp_path: Path) -> None:
    """Each keeping joins what was known: first seen as what and when, and as what since when."""
    folder = LastSeenFolder(tmp_path)
    first, second = _seen(_tool(), at=1.0), _seen(_tool(description="new"), at=2.0)
    folder.keep(first, NOTHING)
    folder.keep(second, NOTHING)
    back = folder.last("s")
    assert back is not None
    old, new = first.sightings["t"].digest, second.sightings["t"].digest
    assert back.sightings["t"] == Sighting(old, 1.0, new, 2.0, 2.0)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"format": 1}',
        b"\xff",
        b"[" * 100_000,
        b" " * (MAX_BYTES + 1),
    ],
)
def test_a_damaged_file_counts_as_never_seen(tmp_path: Path, damage: bytes) -> None:
    """And the next keeping mends it."""
    folder = LastSeenFolder(tmp_path)
    (tmp_path / "s.json").write_bytes(damage)
    assert folder.last("s") is None
    folder.keep(_seen(_tool()), NOTHING)
    assert folder.last("s") is not None


@pytest.mark.parametrize(
    "change", [{"format": 2}, {"server": "other"}, {"more": 1}, {"tools": [1]}]
)
def test_a_file_of_another_kind_counts_as_never_seen(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """Another format, another server, an unknown key, a definition that can not be used."""
    folder = LastSeenFolder(tmp_path)
    folder.keep(_seen(_tool()), NOTHING)
    document = json.loads((tmp_path / "s.json").read_text("utf-8"))
    (tmp_path / "s.json").write_text(json.dumps({**document, **change}), encoding="utf-8")
    assert folder.last("s") is None


def test_what_can_not_be_kept_harms_nobody(tmp_path: Path) -> None:
    """No folder can be made there, or the list is too long: it is as if it was never seen."""
    (tmp_path / "file").write_text("")
    LastSeenFolder(tmp_path / "file").keep(_seen(_tool()), NOTHING)
    folder = LastSeenFolder(tmp_path / "servers")
    folder.keep(_seen(_tool(description="x" * MAX_BYTES)), NOTHING)
    assert folder.last("s") is None
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.req("B-05")
def test_a_server_that_says_a_configured_secret_is_not_kept(tmp_path: Path) -> None:
    """In whatever form; and what was kept of it before goes too."""
    folder = LastSeenFolder(tmp_path)
    folder.keep(_seen(_tool()), NOTHING)
    folder.keep(_seen(_tool(description=f"Uses {HIDDEN}.")), Hidden([HIDDEN]))
    assert list(tmp_path.iterdir()) == []
