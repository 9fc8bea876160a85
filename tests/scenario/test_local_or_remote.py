"""One agent's work twice: with tools of the program, and with the same tools behind a server."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import pytest

import lockgate
from lockgate.agent.events import CallDecided, ChildEvent, Event
from lockgate.agent.model import Message, ModelReply, ToolAnswer, UserMessage
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.app.build import Surroundings
from lockgate.calls.records import DecisionRecord
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.office import PromptedModel, calling, task
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer

SERVER: Final = "box"
SCHEMA: Final = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Where."}},
    "required": ["path"],
    "additionalProperties": False,
}
VERDICTS: Final = {
    "look": {"level": "read-only", "concurrent": True},
    "keep": {"level": "mutating", "destructive": False, "idempotent": True},
    "wipe": {"level": "mutating", "destructive": True, "idempotent": False},
}
"""The operator's word for the server's tools: what the program's declare."""

Seen: TypeAlias = tuple[list[dict[str, Any]], list[Any], list[Any]]
"""Decisions, questions and answers of one run, names of tools without their server."""


@lockgate.tool(level="read-only", concurrent=True)
async def look(path: str) -> str:
    """Look at it.

    Args:
        path: Where.
    """
    del path
    return "look: done"


@lockgate.tool(level="mutating", destructive=False, idempotent=True)
async def keep(path: str) -> str:
    """Keep it.

    Args:
        path: Where.
    """
    del path
    return "keep: done"


@lockgate.tool(level="mutating", destructive=True, idempotent=False)
async def wipe(path: str) -> str:
    """Wipe it.

    Args:
        path: Where.
    """
    del path
    return "wipe: done"


LOCAL: Final = (look, keep, wipe)


def behind_a_server(project: Project) -> None:
    """The same three tools, with the same words and answers, behind MCP."""
    tools = tuple(
        tool(t.name, t.definition.description, inputSchema=SCHEMA, title=t.definition.title)
        for t in LOCAL
    )
    rules = tuple(When("tools/call", Answer(text=f"{t.name}: done"), tool=t.name) for t in LOCAL)
    project.add(SERVER, ScriptedServer(tools=tools, rules=rules), verdicts=VERDICTS, pins="off")


def bare(name: str) -> str:
    """The tool's name without the server's."""
    return name.removeprefix(f"mcp__{SERVER}__")


def plain(record: DecisionRecord) -> dict[str, Any]:
    """What was decided, but for where the tool lives and when it was."""
    kept = ("decision", "level", "destructive", "idempotent", "approver", "approved", "scope")
    found: dict[str, Any] = {name: getattr(record, name) for name in (*kept, "kind", "reason")}
    reasons = [
        (reason.code, reason.text.replace(f"mcp__{SERVER}__", "")) for reason in record.reasons
    ]
    return {
        "tool": bare(record.tool),
        "agent": record.agent,
        "entry": record.entry,
        "reasons": [code if code == "destructive" else (code, text) for code, text in reasons],
        **found,
    }


def said(message: Message) -> Any:
    """One message of the transcript, without ids and servers."""
    match message:
        case ToolAnswer():
            return (
                bare(message.name),
                message.result.is_error,
                message.result.text.replace(f"mcp__{SERVER}__", ""),
            )
        case ModelReply():
            return message.text, [(bare(c.name), c.arguments) for c in message.calls]
        case UserMessage():
            return message.text


async def worked(project: Project, ceiling: str, prefix: str, *, yes: bool) -> Seen:
    """A turn with a sub-agent, a hook, a rule of each kind and calls that can not be; `prefix` is
    the only difference."""
    project.sections = {
        "agent": {"ceiling": ceiling},
        "permissions": {
            "deny": [f"{prefix}wipe(path=secret)"],
            "ask": [f"{prefix}look(path=private)"],
            "allow": [f"{prefix}keep(path=b)"],
        },
    }
    every = [(f"{prefix}{name}", {"path": "a"}) for name in ("look", "keep", "wipe")]
    model = PromptedModel(
        {
            "work": [
                calling(*every, (f"{prefix}wipe", {"path": "secret"})),
                calling((f"{prefix}look", {"path": "private"}), (f"{prefix}wipe", {"path": 3})),
                calling((f"{prefix}LOOK", {"path": "a"}), (f"{prefix}wipe", {"path": "guarded"})),
                task("helper", "help"),
                ModelReply("All done."),
            ],
            "help": [calling(*every), ModelReply("Helped.")],
        }
    )
    helper = AgentDefinition(
        "helper", "Helps.", "You help.", tools=(f"{prefix}look", f"{prefix}wipe")
    )

    @lockgate.hook(lockgate.HookEvent.PRE_TOOL, matcher=f"{prefix}wipe(path=guarded)")
    async def guard(told: lockgate.HookInput) -> lockgate.HookResult:
        assert bare(told.tool_name or "") == "wipe"
        return lockgate.HookResult(lockgate.HookDecision.DENY, "it is guarded")

    decisions: list[DecisionRecord] = []

    def watch(event: Event) -> None:
        while isinstance(event, ChildEvent):
            event = event.event
        if isinstance(event, CallDecided):
            decisions.append(event.record)

    approver = ScriptedApprover.always(yes)
    async with lockgate.open(
        project.write(),
        tools=() if prefix else LOCAL,
        approvers=[approver],
        agents=[helper],
        hooks=[guard],
        surroundings=Surroundings(environ=project.environ(), cwd=project.root),
    ) as gate:
        result = await gate.agent(model=model).run("work", sink=watch)
    assert result.text == "All done."
    questions = [
        (bare(q.tool), q.level, q.destructive, dict(q.arguments), q.agent)
        for q in approver.questions
    ]
    return [plain(d) for d in decisions], questions, [said(m) for m in result.transcript]


@pytest.mark.req("S3-01")
@pytest.mark.req("S0-05")
@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("ceiling", ["read-only", "mutating"])
async def test_only_the_name_differs(project: Project, ceiling: str, yes: bool) -> None:
    """With verdicts that say what the local tools declare, everything is decided, asked, answered
    and told alike: under each ceiling, for the agent and its sub-agent, by rules and hooks."""
    local = await worked(project, ceiling, "", yes=yes)
    behind_a_server(project)
    remote = await worked(project, ceiling, f"mcp__{SERVER}__", yes=yes)
    assert remote == local
    decisions = local[0]
    ran = [d["tool"] for d in decisions if d["decision"] == "run"]
    expected = ["look", "Task", "look"]
    if yes:
        expected += ["look"]
        expected += ["keep", "wipe", "wipe"] if ceiling == "mutating" else []
    assert sorted(ran) == sorted(expected)
