"""The real shell starts nothing that the analysis of an allowed line does not list."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from differential import compare, compare_tool, faults, made_lines
from lockgate.decision import Decision
from lockgate.rules.command.line import analyse
from recording_shell import BASH, RecordingShell
from shell_corpus import cases

pytestmark = pytest.mark.skipif(not Path(BASH).exists(), reason=f"NOT CHECKED: no {BASH}")


@pytest.mark.req("B-09")
def test_the_shell_does_what_the_corpus_says(tmp_path: Path) -> None:
    """Lines of the corpus that may run start what was listed, and make no file."""
    lines = [case.line for case in cases() if case.expected is Decision.ALLOW]
    found, started = compare(lines, len(lines), tmp_path)
    assert found == []
    assert len(started) > 150


@pytest.mark.req("B-09")
def test_the_shell_does_what_was_understood(tmp_path: Path) -> None:
    """So do lines made up at random, under a rule that allows every command."""
    found, started = compare(made_lines(20_261_130), 150, tmp_path)
    assert found == []
    assert len(started) > 200


@pytest.mark.req("B-09")
async def test_the_tool_runs_what_was_understood_and_nothing_else(tmp_path: Path) -> None:
    """By whole calls, unattended: a line that rules let through starts what was listed; one that
    they do not let through starts nothing."""
    found, started, refused = await compare_tool(made_lines(20_261_201), 60, tmp_path)
    assert found == []
    assert started > 80
    assert refused > 60


@pytest.mark.req("B-09")
async def test_the_tool_runs_the_corpus(tmp_path: Path) -> None:
    """Lines of the corpus that may not run under their own rules, under rules that allow every
    stub: those that are then let through, and all others."""
    lines = [case.line for case in cases() if case.expected is not Decision.ALLOW]
    found, started, refused = await compare_tool(lines, len(lines), tmp_path)
    assert found == []
    assert started > 40
    assert refused > 300


def test_a_planted_miss_is_seen(tmp_path: Path) -> None:
    """The comparison reports a command and a file that the analysis does not list."""
    shell = RecordingShell(tmp_path)
    nothing = analyse("ls")
    assert "started ('touch', 'a b')" in faults("touch 'a b'", nothing, shell)[0]
    assert "started ('nowhere', 'x')" in faults("nowhere x", nothing, shell)[0]
    assert "started ('echo', 'x')" in faults("if true; then echo x; fi", nothing, shell)[1]
    assert (
        "made the file 'made'"
        in chain.from_iterable([faults(": >made", nothing, shell)]).__next__()
    )
    assert "started ('rm', 'x')" in faults("bash -c 'rm x'", nothing, shell)[1]
