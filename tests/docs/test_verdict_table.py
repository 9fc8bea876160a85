"""The table "when is a call asked about" in the documents is the observed one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.mcp.host.trust import Ruling, resolve
from lockgate.mcp.protocol.claims import parse_claims
from lockgate.policy.gate import asks
from lockgate.testing.tool import ScriptedTool
from lockgate.traits import DestructiveBehavior, SideEffectLevel

PAGE = Path(__file__).parents[2] / "docs" / "tools-and-verdicts.md"

HINTS: dict[str, dict[str, bool]] = {
    "none": {},
    "readOnlyHint: true": {"readOnlyHint": True},
    "destructiveHint: false": {"destructiveHint": False},
    "destructiveHint: true": {"destructiveHint": True},
}
EXEMPT = {
    "exempt: none": None,
    "exempt: read-only": SideEffectLevel.READ_ONLY,
    "exempt: mutating": SideEffectLevel.MUTATING,
}


def ruled(ruling: Ruling) -> ScriptedTool:
    """A tool that declares what a ruling says."""
    destructive = ruling.destructive is DestructiveBehavior.DESTRUCTIVE
    return ScriptedTool("tool", server="files", level=ruling.level, destructive=destructive)


def observed() -> list[list[str]]:
    """The table, from the code: trust, hints, then one cell for each exemption."""
    rows: list[list[str]] = []
    for trust in AnnotationTrust:
        for words, hints in HINTS.items():
            tool = ruled(resolve(parse_claims(hints), trust, None))
            cells = ["asks" if asks(tool, exempt) else "runs" for exempt in EXEMPT.values()]
            rows.append([trust.value, words, *cells])
    return rows


@pytest.mark.req("S0-07")
@pytest.mark.req("S0-12")
def test_pb_158_the_table_in_the_docs_equals_the_observed_one() -> None:
    """Exemption x trust x hints: the documents show exactly what the ruling and the gate do."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text("utf-8").splitlines()
        if re.match(r"\| (trust|ignore) \|", line)
    ]
    head, *body = rows
    assert head == ["trust", "hints", *EXEMPT]
    assert body == observed()


@pytest.mark.req("S0-08")
def test_pb_158_destructive_asks_whatever_the_line() -> None:
    """No exemption silences a tool ruled destructive, and without trust no hint matters."""
    for trust, words, *cells in observed():
        if trust == "ignore" or words in {"none", "destructiveHint: true"}:
            assert set(cells) == {"asks"}, (trust, words)
