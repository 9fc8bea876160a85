"""Notes and knowledge through a gate: kept in its state, found by the next one, out of reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.app.gate import Gate
from lockgate.calls.call import Suspended
from lockgate.settings.config import ApprovalSettings, Config
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

TOOLS = ("append_note", "read_notes", "knowledge_add", "knowledge_search", "Read", "Write")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A gate that exempts what adds, over a project of its own."""
    project = tmp_path / "project"
    project.mkdir()
    return Config(
        builtin=TOOLS,
        roots=(project,),
        project_dir=project,
        state_dir=tmp_path / "state",
        approvals=ApprovalSettings(exempt_at_or_below=SideEffectLevel.MUTATING),
    )


def around(tmp_path: Path, **environ: str) -> Surroundings:
    """A person of their own, and a clock that stands."""
    variables: Mapping[str, str] = {"HOME": str(tmp_path), **environ}
    return Surroundings(environ=variables, cwd=tmp_path, time=lambda: 1_800_000_000.0)


async def made(gate: Gate, name: str, arguments: Mapping[str, str] | None = None) -> ToolResult:
    """A call that nobody has to wait for."""
    result = await gate.call(name, arguments)
    assert not isinstance(result, Suspended)
    return result


async def test_what_one_gate_keeps_the_next_one_finds(tmp_path: Path, config: Config) -> None:
    """In the state directory, with the time of the gate's own clock."""
    async with lockgate.open(config, surroundings=around(tmp_path)) as gate:
        added = await made(gate, "append_note", {"text": "one"})
        assert added.structured == {"time": "2027-01-15T08:00:00Z"}
        kept = await made(gate, "knowledge_add", {"id": "a", "content": "서버 재시작"})
        assert not kept.is_error, kept.text
    async with lockgate.open(config, surroundings=around(tmp_path)) as gate:
        assert (await made(gate, "read_notes")).structured["all"] == 1
        found = await made(gate, "knowledge_search", {"query": "서버"})
        assert found.structured["found"] == 1
    names = {path.name for path in (tmp_path / "state").iterdir()}
    assert {"notes.md", "knowledge.db"} <= names


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
async def test_the_database_is_out_of_reach_of_file_tools(
    tmp_path: Path, config: Config, end: str
) -> None:
    """Also where a configuration puts it into the project."""
    config = replace(config, knowledge=config.roots[0] / "k.db")
    async with lockgate.open(config, surroundings=around(tmp_path)) as gate:
        await made(gate, "knowledge_add", {"id": "a", "content": "x"})
        for name, more in (("Read", {}), ("Write", {"content": "x"})):
            refused = await made(gate, name, {"path": f"k.db{end}", **more})
            assert refused.kind is ErrorKind.DENIED, refused.text
            assert "lockgate's own state" in refused.text


async def test_notes_in_the_project_are_a_file_of_it(tmp_path: Path, config: Config) -> None:
    """A person put them there to be read with everything else."""
    config = replace(config, notes=config.roots[0] / "NOTES.md")
    async with lockgate.open(config, surroundings=around(tmp_path)) as gate:
        await made(gate, "append_note", {"text": "one"})
        read = await made(gate, "Read", {"path": "NOTES.md"})
        assert "2027-01-15T08:00:00Z one" in read.text
