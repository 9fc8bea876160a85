"""Cases met in the field: where answers are kept, and what happens when that place fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.policy.approval import Answer, Scope
from lockgate.stores.state import StateError, open_state
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.project import Project
from lockgate.testing.road import Road
from lockgate.testing.script import ScriptedServer, tool
from lockgate.testing.tool import ScriptedTool

TOOLS = ("drop", "purge")


async def suspended(project: Project) -> list[str]:
    """The tickets of two calls of one session that wait; of two tools, since a call stands in the
    way of the next of its tool until it is known how it ended."""
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with lockgate.open(project.write(), attended=True, surroundings=around) as gate:
        calls = [await gate.call(f"mcp__db__{name}", {"table": "a"}) for name in TOOLS]
    return [call.ticket for call in calls if isinstance(call, lockgate.Suspended)]


@pytest.mark.parametrize(("scope", "kept"), [("session", "grants"), ("always", "answers")])
def test_pb_157_answers_given_at_the_same_time_are_all_kept(
    tmp_path: Path, scope: str, kept: str
) -> None:
    """Two processes that remember an answer at once lose neither, for the session or for good."""
    project = Project(tmp_path)
    project.sections["approvals"] = {"attended": ["queue"]}
    ledger = project.add("db", ScriptedServer(tools=tuple(map(tool, TOOLS))))
    tickets = asyncio.run(suspended(project))
    command = [sys.executable, "-m", "lockgate", "-c", str(project.file), "approvals", "answer"]
    both = [
        subprocess.Popen(
            [*command, ticket, "yes", "--scope", scope],
            cwd=project.root,
            env=project.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        for ticket in tickets
    ]
    assert [process.wait(50) for process in both] == [0, 0]
    assert len(project.json("grants", "list")[kept]) == 2
    assert sorted(ledger.called) == sorted(TOOLS)


async def test_pb_157_a_damaged_answer_is_no_answer(tmp_path: Path) -> None:
    """A remembered yes that can not be read lets nothing run."""
    called = ScriptedTool("remove")
    person = ScriptedApprover([Answer(True, "person", Scope.SESSION)])
    with Road(tmp_path, [called], attended=[person]) as road:
        assert not (await road.invoke(road.call("remove"))).is_error
        with road.state.writing() as connection:
            connection.execute("UPDATE grants SET body = '{\"approved\": true'")
        assert (await road.invoke(road.call("remove"))).is_error
    assert len(called.runs) == 1


def test_pb_157_a_damaged_store_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    """No answers, a message that says what to do, and the file as it was found."""
    path = tmp_path / "state.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StateError, match=r"move the file away|another program"):
        open_state(path, "here")
    assert path.read_bytes() == b"no database at all" * 100
