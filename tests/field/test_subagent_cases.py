"""Field cases about sub-agents, through a whole gate with a real server process."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.policy.approval import Answer, Question
from lockgate.policy.approval import Scope as AnswerScope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.office import PromptedModel, calling, task
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, tool
from lockgate.tools.result import ToolResult
from lockgate.traits import SideEffectLevel

READS = {"readOnlyHint": True}
SECRET = {"type": "object", "properties": {"hidden_parameter": {"type": "string"}}}
SERVER = ScriptedServer(
    tools=(
        tool("look", annotations=READS),
        tool("other", annotations=READS),
        tool("drop", inputSchema=SECRET),
        tool("write", inputSchema=SECRET),
    )
)


class Place:
    """A project with one server process, and what it was sent."""

    def __init__(self, directory: Path, **sections: Any) -> None:
        self.ledger = ServerLedger(directory / "ledger")
        server = ScriptedServer(tools=SERVER.tools, ledger=self.ledger.path)
        end = server.endpoint(file=directory / "db.script")
        entry = {"name": "db", "command": end.command, "args": list(end.args)}
        servers = [{**entry, "annotationTrust": "trust"}]
        self.file = directory / "lockgate.yaml"
        self.file.write_text(json.dumps({"mcp": {"servers": servers}, **sections}))

    def open(self, *agents: AgentDefinition, **how: Any) -> Any:
        """The gate, with these sub-agents."""
        return lockgate.open(self.file, agents=agents, **how)

    @property
    def processes(self) -> int:
        """How many server processes there ever were."""
        return len({entry.pid for entry in self.ledger.entries()})


def kinds(result: Any) -> list[tuple[str | None, str | None]]:
    """Kind and reason of each result in a transcript."""
    found: list[tuple[str | None, str | None]] = []
    for message in result:
        told = getattr(message, "result", None)
        if isinstance(told, ToolResult):
            found.append((told.kind.value if told.kind else None, told.reason))
    return found


READER = AgentDefinition(
    "reader",
    "Reads.",
    "You read.",
    ("mcp__db__look", "mcp__db__drop", "Bash"),
    SideEffectLevel.READ_ONLY,
)
WORKER = AgentDefinition("worker", "Works.", "You work.", ("mcp__db__*", "Bash"))


@pytest.mark.req("B-04")
async def test_pb_149_a_sub_agent_is_judged_as_its_parent_and_no_wider(tmp_path: Path) -> None:
    """Denied, asked about in its parent's session, unknown to it, or by rule; on one process."""
    place = Place(
        tmp_path,
        builtin=["Bash"],
        permissions={
            "deny": ["mcp__db__drop"],
            "allow": [{"rule": "Bash(true)", "destructive": True}],
        },
    )
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("mcp__db__drop", {}),
        ("mcp__db__write", {}),
        ("mcp__db__other", {}),
        ("mcp__db__look", {}),
        ("Bash", {"command": "true"}),
        ("Bash", {"command": "false"}),
    ]
    tries = calling(*wanted)
    scripts = {"go": [task("worker", "work"), task("reader", "read")]}
    model = PromptedModel({**scripts, "work": [tries], "read": [tries]})
    approver = ScriptedApprover.always(False)
    async with place.open(READER, WORKER, approvers=[approver]) as gate:
        assert (await gate.agent(model=model).run("go")).answered
        work, read = (model.seen(prompt)[1].transcript for prompt in ("work", "read"))
        assert kinds(work) == [
            ("denied", "deny_rule"),
            ("not_approved", "said_no"),
            (None, None),
            (None, None),
            (None, None),
            ("not_approved", "said_no"),
        ]
        assert kinds(read) == [
            ("denied", "deny_rule"),
            ("not_offered", "not_offered"),
            ("not_offered", "not_offered"),
            (None, None),
            ("above_ceiling", "above_ceiling"),
            ("above_ceiling", "above_ceiling"),
        ]
        assert model.seen("read")[0].names == ("mcp__db__look",)
        asked = [(q.tool, q.agent) for q in approver.questions]
        assert asked == [("mcp__db__write", "worker"), ("Bash", "worker")]
        assert "hidden_parameter" not in str(read)
    assert sorted(place.ledger.called) == ["look", "look", "other"]
    assert place.processes == 1


class OneAtATime:
    """An approver that says yes, and notes how many questions it ever had before it at once."""

    name = "person"
    scopes = frozenset({AnswerScope.ONCE})

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.most = 0
        self._open = 0
        self.waiting = asyncio.Event()
        """Set by the test once the children are there to ask."""

    async def __call__(self, question: Question) -> Answer:
        self.questions.append(question)
        self._open += 1
        self.most = max(self.most, self._open)
        await self.waiting.wait()
        self._open -= 1
        return Answer(True, self.name)


@pytest.mark.req("B-04")
async def test_pb_150_two_sub_agents_ask_while_their_parent_does(tmp_path: Path) -> None:
    """Each question is put once, one after the other, labelled; nobody waits for another."""
    place = Place(tmp_path)
    together = calling(
        ("mcp__db__write", {"n": 0}),
        ("Task", {"agent": "worker", "prompt": "one"}),
        ("Task", {"agent": "worker", "prompt": "two"}),
    )
    model = PromptedModel(
        {
            "go": [together],
            "one": [calling(("mcp__db__write", {"n": 1}))],
            "two": [calling(("mcp__db__write", {"n": 2}))],
        }
    )
    approver = OneAtATime()
    async with place.open(WORKER, approvers=[approver]) as gate, asyncio.timeout(20):
        turn = asyncio.create_task(gate.agent(model=model).run("go"))
        while not (model.seen("one") and model.seen("two") and approver.questions):  # noqa: ASYNC110 - all have come to their questions
            await asyncio.sleep(0)
        approver.waiting.set()
        assert (await turn).answered
    assert approver.most == 1
    asked = [(q.arguments["n"], q.agent) for q in approver.questions]
    assert sorted(asked, key=lambda pair: pair[0]) == [(0, None), (1, "worker"), (2, "worker")]
    assert len({q.session_id for q in approver.questions}) == 1
    assert len(place.ledger.called) == 3


async def test_pb_150_a_question_that_nobody_answers_has_a_limit(tmp_path: Path) -> None:
    """Then it is a no, for the parent and for both sub-agents, and the turn goes on."""
    place = Place(tmp_path, approvals={"answerWithin": "50ms"})
    together = calling(
        ("mcp__db__write", {"n": 0}),
        ("Task", {"agent": "worker", "prompt": "one"}),
        ("Task", {"agent": "worker", "prompt": "two"}),
    )
    write = calling(("mcp__db__write", {"n": 1}))
    model = PromptedModel({"go": [together], "one": [write], "two": [write]})
    approver = ScriptedApprover(hold=True)
    async with place.open(WORKER, approvers=[approver]) as gate, asyncio.timeout(20):
        assert (await gate.agent(model=model).run("go")).answered
    assert place.ledger.called == ()
    assert kinds(model.seen("one")[1].transcript)[0][0] == "not_approved"


async def test_pb_150_without_anybody_there_it_is_denied_at_once(tmp_path: Path) -> None:
    """As its parent's would be."""
    place = Place(tmp_path)
    model = PromptedModel({"go": [task("worker", "one")], "one": [calling(("mcp__db__write", {}))]})
    async with place.open(WORKER, attended=False) as gate:
        assert (await gate.agent(model=model).run("go")).answered
    assert kinds(model.seen("one")[1].transcript) == [("not_approved", "nobody_to_ask")]


NAMES = (
    "mcp__db__write",
    "MCP__db__write",
    "mcp__db__write ",
    "mcp__db__Write",
    "db__write",
    "write",
)


@pytest.mark.req("S0-06")
async def test_pb_152_a_hidden_tool_through_a_sub_agent(tmp_path: Path) -> None:
    """Refused under any name before anything is sent, without a word of its schema."""
    place = Place(tmp_path)
    nothing: dict[str, Any] = {}
    tries = calling(*((name, nothing) for name in NAMES))
    model = PromptedModel({"go": [task("reader", "read")], "read": [tries]})
    approver = ScriptedApprover.always(True)
    reader = AgentDefinition("reader", "Reads.", "x", None, SideEffectLevel.READ_ONLY)
    async with place.open(reader, approvers=[approver]) as gate:
        await gate.agent(model=model).run("go")
    told = model.seen("read")[1].transcript
    assert [kind for kind, _ in kinds(told)] == ["above_ceiling", *["unknown_tool"] * 5]
    assert "hidden_parameter" not in str(told)
    assert (place.ledger.called, approver.questions) == ((), [])


LINES = (
    "git -c alias.z='!touch t1' z",
    "AV=commit git --config-env=alias.c=AV c",
    "git -c core.sshCommand='touch t2' fetch ssh://x",
    "git grep --open-files-in-pager='touch t3' x",
    "git bisect run touch t4",
    "git submodule foreach 'touch t5'",
    "git rebase -x 'touch t6' HEAD~1",
)


@pytest.mark.req("B-09")
async def test_pb_167_git_that_starts_programs_asks_in_a_sub_agent_too(tmp_path: Path) -> None:
    """The same lines are asked about there, whatever runs without a question beside them."""
    allow: Mapping[str, Any] = {"rule": "Bash(git:*)", "destructive": True}
    place = Place(tmp_path, builtin=["Bash"], permissions={"allow": [allow]})
    lines = calling(*(("Bash", {"command": line}) for line in (*LINES, "git --version")))
    model = PromptedModel({"go": [task("worker", "work")], "work": [lines], "self": [lines]})
    approver = ScriptedApprover.always(False)
    async with place.open(WORKER, approvers=[approver]) as gate:
        await gate.agent(model=model).run("go")
        await gate.agent(model=model).run("self")
    asked = [q.arguments["command"] for q in approver.questions if q.agent == "worker"]
    assert asked == list(LINES)
    assert [q.arguments["command"] for q in approver.questions if q.agent is None] == list(LINES)
    inner, outer = (kinds(model.seen(prompt)[1].transcript) for prompt in ("work", "self"))
    assert inner == outer == [("not_approved", "said_no")] * len(LINES) + [(None, None)]
    made = {entry.name for entry in os.scandir(tmp_path)}
    assert not made & {f"t{number}" for number in range(1, 7)}
