"""Field cases of annotations: what a server says of its own tools, and what follows from it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lockgate.decision import Decision
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.policy.approval import Question
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.fleet import Fleet
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Exit, Sleep
from lockgate.tools.result import ErrorKind

IGNORE, TRUST = AnnotationTrust.IGNORE, AnnotationTrust.TRUST
CAREFUL = {"readOnlyHint": False, "destructiveHint": True}
TORN = {"readOnlyHint": True, "destructiveHint": True}
BRAGS = {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False}


@pytest.mark.req("S0-13")
async def test_pb_131_a_careful_claim_asks_each_time_unless_the_operator_says_otherwise(
    tmp_path: Path,
) -> None:
    """Reads that their server calls destructive: trusted, they are asked about at every call; a
    rule that names one answers for it, and for no other."""
    server = ScriptedServer((tool("look", annotations=CAREFUL), tool("peek", annotations=CAREFUL)))
    text = "mcp__s__look(...)"
    rule = parse_rule(text, Decision.ALLOW, when="any", destructive=True)
    async with Fleet(tmp_path, rules=RuleSet((rule,))) as fleet:
        fleet.add("s", server, annotation_trust=TRUST)
        await fleet.start()
        for n in range(2):
            assert not (await fleet.call("mcp__s__peek", n=n)).is_error
            assert not (await fleet.call("mcp__s__look", n=n)).is_error
        assert [question.tool for question in fleet.approver.questions] == ["mcp__s__peek"] * 2


@pytest.mark.req("S0-13")
def test_pb_131_a_contradiction_is_read_only_in_what_happens_and_in_what_is_shown(
    tmp_path: Path,
) -> None:
    """Trusted, readOnlyHint wins: no question, and every list and explanation says read-only and
    nothing of destroying; not trusted, it is the worst case, and the claim is told as odd."""
    project = Project(tmp_path)
    ledger = project.add("s", ScriptedServer((tool("torn", annotations=TORN),)))
    for trust, runs in (("trust", True), ("ignore", False)):
        project.servers[0]["annotationTrust"] = trust
        assert project.run("call", "mcp__s__torn").returncode == (0 if runs else 3)
        (row,) = project.json("tools")["tools"]
        assert (row["level"], row["destructive"]) == (
            ("read-only", False) if runs else ("mutating", True)
        )
        assert row["now"] == ("runs" if runs else "refused")
        explained = project.run("explain", "mcp__s__torn").stdout
        assert ("destructive       destructive" in explained) is not runs
        assert ("level             read-only" in explained) is runs
        assert "it claims to be read-only and destructive at once" in " ".join(explained.split())
    assert ledger.called == ("torn",)


async def _seen(tmp_path: Path, name: str, annotations: dict[str, Any] | None) -> list[Any]:
    """Two calls at once, then one in which the connection drops: all that a caller sees of it."""
    more: dict[str, Any] = {} if annotations is None else {"annotations": annotations}
    server = ScriptedServer(
        (tool("t", "A tool.", **more),),
        rules=(
            When("tools/call", Sleep(0.2), Answer(), nth=1),
            When("tools/call", Sleep(0.2), Answer(), nth=1),
            When("tools/call", Exit(1)),
        ),
    )
    folder = tmp_path / name
    folder.mkdir()
    async with Fleet(folder) as fleet:
        ledger = fleet.add("s", server, annotation_trust=IGNORE)
        await fleet.start()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        both = await asyncio.gather(*(fleet.call("mcp__s__t", n=n) for n in range(2)))
        apart = loop.time() - begun >= 0.39
        dropped = await fleet.call("mcp__s__t", n=2)
        entry = fleet.registry.snapshot().get("mcp__s__t")
        assert entry is not None
        return [
            [result.is_error for result in both],
            apart,
            (dropped.kind, dropped.reason),
            ledger.called,
            [_asked(question) for question in fleet.approver.questions],
            (entry.side_effect_level, entry.is_destructive, entry.is_idempotent, entry.lane),
        ]


def _asked(question: Question) -> tuple[Any, ...]:
    """A question without the labels that show the claim and that it is not believed."""
    reasons = [(reason.code, reason.text) for reason in question.reasons]
    return (question.tool, question.level, question.destructive, reasons)


@pytest.mark.req("S0-12", "S0-19")
async def test_pb_133_hints_that_are_ignored_change_nothing_at_all(tmp_path: Path) -> None:
    """Under IGNORE: calls wait for each other, a lost one is not made again, and the question is
    worded as for a tool that claims nothing."""
    bragging = await _seen(tmp_path, "bragging", BRAGS)
    silent = await _seen(tmp_path, "silent", None)
    assert bragging == silent
    results, apart, dropped, called, questions, _ = bragging
    assert (results, apart, called) == ([False, False], True, ("t", "t", "t"))
    assert dropped[0] is ErrorKind.OUTCOME_UNKNOWN
    assert len(questions) == 3
