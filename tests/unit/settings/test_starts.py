"""The summary of a found file shows the programs that it would start, whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.settings.acceptance import NotAccepted
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load
from lockgate.showing import width_of


@pytest.fixture
def found(project: Path, environ: dict[str, str]) -> Layers:
    """Where a configuration will be found."""
    return locate(project, environ)


def refuse(layers: Layers, environ: dict[str, str]) -> NotAccepted:
    """The refusal to use what was found."""
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    return caught.value


def test_a_server_without_a_command_borrows_the_persons(
    found: Layers, environ: dict[str, str]
) -> None:
    """A file that changes the arguments of a program of the person's own shows what would run."""
    found.person.parent.mkdir(parents=True)
    found.person.write_text("mcp: {servers: [{name: a, command: mine, env: {A: '1'}, cwd: /x}]}")
    found.project.write_text("mcp: {servers: [{name: a, args: [--evil], annotationTrust: ignore}]}")
    (start,) = refuse(found, environ).pending.starts
    assert str(start) == "a: mine --evil  (cwd: /x)  (env: A)"


@pytest.mark.req("B-13")
def test_the_summary_shows_what_would_run(found: Layers, environ: dict[str, str]) -> None:
    """The whole command, its directory, and the values of variables that decide what runs."""
    found.project.write_text(
        "mcp: {servers: [{name: a, command: sh, args: [-c, 'TOKEN=1; touch PWNED'], cwd: sub,"
        " env: {LD_PRELOAD: ./evil.so, API_TOKEN: SEKRET, GIVEN: '${HOME}'}}]}"
    )
    told = str(refuse(found, environ))
    for part in ("TOKEN=1; touch PWNED", "cwd: sub", "LD_PRELOAD=./evil.so", "GIVEN=${HOME}"):
        assert part in told
    assert "SEKRET" not in told
    assert "API_TOKEN" in told


@pytest.mark.req("B-13")
def test_a_long_summary_can_pass_for_nothing_else(found: Layers, environ: dict[str, str]) -> None:
    """No line of it is wider than a terminal, none of a stranger's begins one, and all is there."""
    words = [f"w{number}" for number in range(100)]
    found.project.write_text(
        "mcp: {servers: [{name: a, command: x, args:"
        f" ['{' ' * 4000}evil', '{' '.join(words)}', 'a\u3000b', '한글{'한' * 20}글']}}]}}"
    )
    waiting = refuse(found, environ).pending
    lines = "\n".join(f"  {line}" for line in waiting.summary).splitlines()
    assert all(width_of(line) <= 80 for line in lines)
    assert all(line.startswith("      ") for line in lines[1:-1])
    text = "".join(line.removeprefix("      ").removeprefix("  | ") for line in lines)
    assert '1. "\\{4000 times " "}evil"' in text
    assert " ".join(words) in text
    assert "These are 11 lines" in lines[-1] or len(lines) <= 16
