"""The revisions and what depends on them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.protocol.eras import (
    LATEST_LEGACY,
    LATEST_MODERN,
    REVISIONS,
    Era,
    Revision,
    header_value,
    known,
)

SPEC = Path(__file__).parents[4] / "spec"


def test_every_published_revision_is_known_and_no_other() -> None:
    """The table and the schemas in spec/ name the same revisions, the newest first."""
    published = sorted(p.stem.removeprefix("mcp-schema-") for p in SPEC.glob("*.json"))
    assert [revision.name for revision in REVISIONS] == published[::-1]
    assert all(known(revision.name) is revision for revision in REVISIONS)


@pytest.mark.parametrize("name", ["2099-01-01", "", "2025-11-25 ", "draft", "1900-01-01"])
def test_a_version_that_is_not_in_the_table_is_not_guessed_at(name: str) -> None:
    """It has to be refused by name."""
    assert known(name) is None


def test_an_era_is_told_by_its_schema() -> None:
    """Legacy revisions have `initialize`, modern ones `server/discover`."""
    for revision in REVISIONS:
        schema = json.loads((SPEC / f"mcp-schema-{revision.name}.json").read_text("utf-8"))
        names = (schema.get("$defs") or schema["definitions"]).keys()
        assert ("DiscoverRequest" in names) is (revision.era is Era.MODERN)
        assert ("InitializeRequest" in names) is (revision.era is Era.LEGACY)
        assert ("JSONRPCBatchRequest" in names) is revision.batches
    assert LATEST_MODERN.era is Era.MODERN
    assert LATEST_LEGACY.era is Era.LEGACY


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("2024-11-05", ()),
        ("2025-03-26", ()),
        ("2025-06-18", (("MCP-Protocol-Version", "2025-06-18"),)),
        ("2025-11-25", (("MCP-Protocol-Version", "2025-11-25"),)),
        (
            "2026-07-28",
            (
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "get_weather"),
            ),
        ),
    ],
)
def test_headers_of_each_revision(name: str, headers: tuple[tuple[str, str], ...]) -> None:
    """The version since 2025-06-18, method and name since 2026-07-28 (Request Metadata)."""
    revision = known(name)
    assert isinstance(revision, Revision)
    assert revision.headers("tools/call", "get_weather") == headers


def test_a_method_without_a_name_has_no_name_header() -> None:
    """Only tools/call, prompts/get and resources/read mirror one."""
    assert [key for key, _ in LATEST_MODERN.headers("tools/list")] == [
        "MCP-Protocol-Version",
        "Mcp-Method",
    ]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ("us-west1", "us-west1"),
        ("a b\tc", "a b\tc"),
        ("x", "x"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("", "=?base64??="),
    ],
)
def test_header_values_are_encoded_as_the_specification_shows(value: str, encoded: str) -> None:
    """The examples of 2026-07-28, Value Encoding, and the empty string."""
    assert header_value(value) == encoded


@given(st.text(max_size=30))
def test_a_header_value_is_safe_and_says_what_it_was(value: str) -> None:
    """Never a control character, never ambiguous: decoding gives the value back."""
    encoded = header_value(value)
    assert encoded.isascii()
    assert all(" " <= c <= "~" or c == "\t" for c in encoded)
    if encoded.startswith("=?base64?") and encoded.endswith("?="):
        assert base64.b64decode(encoded[9:-2]).decode() == value
    else:
        assert encoded == value
