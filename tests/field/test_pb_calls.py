"""Field cases about approvals, retries and refusals, on the road itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.calls.batch import run_batch
from lockgate.decision import Decision
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.policy.approval import Answer, Question, Reply, Scope
from lockgate.policy.ceiling import narrow, whole
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.traits import SideEffectLevel

READ, MUTATE = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


@pytest.fixture
def roads(tmp_path: Path) -> Iterator[list[Road]]:
    """Roads that are closed after the test."""
    made: list[Road] = []
    yield made
    for road in made:
        road.close()


def a_road(roads: list[Road], directory: Path, *tools: ScriptedTool, **settings: Any) -> Road:
    """A road over `tools`, closed after the test."""
    roads.append(Road(directory, tools, owner=f"road{len(roads)}", **settings))
    return roads[-1]


class ByArguments:
    """A person who looks at the arguments, and answers the second call first if they may."""

    name = "person"
    scopes = frozenset(Scope)

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []

    async def __call__(self, question: Question) -> Reply:
        """Yes to b alone."""
        self.shown.append(dict(question.arguments))
        await asyncio.sleep(0)
        return Answer(question.arguments["path"] == "b", "person")


async def test_pb_091_parallel_calls_are_asked_about_apart(
    roads: list[Road], tmp_path: Path
) -> None:
    """Two calls of one destructive tool in one reply: two prompts, each with its own arguments;
    approving the second and denying the first swaps nothing and stops nothing."""
    person, tool = ByArguments(), ScriptedTool("remove")
    road = a_road(roads, tmp_path, tool, attended=[person])
    calls = [road.call("remove", {"path": path}) for path in ("a", "b")]
    first, second = await run_batch(road.invoker.invoke, calls, road.snapshot)
    assert person.shown == [{"path": "a"}, {"path": "b"}]
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert (first.reason, second.is_error) == ("said_no", False)
    assert tool.runs == [{"path": "b"}]


@pytest.mark.parametrize("trusted_idempotent", [False, True])
async def test_pb_092_a_lost_answer_runs_nothing_twice(
    roads: list[Road], tmp_path: Path, trusted_idempotent: bool
) -> None:
    """A server that acts and dies: one effect, told as outcome unknown, do not assume it failed.
    Only where idempotency is believed is there one further try."""
    replies = [lost() for _ in range(9)]
    tool = ScriptedTool(
        "append", server="x", destructive=False, idempotent=trusted_idempotent, replies=replies
    )
    road = a_road(roads, tmp_path, tool, exempt=MUTATE)
    result = await road.invoke(road.call("mcp__x__append"))
    assert result.kind is ErrorKind.OUTCOME_UNKNOWN
    assert "do not assume it failed" in result.text
    assert len(tool.runs) == (2 if trusted_idempotent else 1)


@pytest.mark.parametrize("level", SideEffectLevel)
async def test_pb_093_an_answered_error_is_never_retried(
    roads: list[Road], tmp_path: Path, level: SideEffectLevel
) -> None:
    """-32602, -32603 and isError are answers: one call each, and the original text arrives."""
    refused = [
        PeerError(
            f"error {code}: these very words",
            peer="x",
            phase=Phase.REQUEST,
            fault=Fault.REFUSED,
            fate=Fate.ANSWERED,
            code=code,
        )
        for code in (-32602, -32603)
    ]
    reported = Outcome(ToolResult.error(ErrorKind.TOOL_ERROR, "isError: these very words"))
    tool = ScriptedTool(
        "t", level=level, destructive=False, idempotent=True, replies=[*refused, reported]
    )
    road = a_road(roads, tmp_path, tool, exempt=MUTATE)
    for count in (1, 2, 3):
        result = await road.invoke(road.call("t"))
        assert result.kind is ErrorKind.TOOL_ERROR
        assert "these very words" in result.text
        assert len(tool.runs) == count


async def test_pb_147_without_a_terminal(roads: list[Road], tmp_path: Path) -> None:
    """Nobody there: what a rule allows and what is exempt run, the third is denied plainly."""
    rules = RuleSet((parse_rule("allowed", Decision.ALLOW, when="unattended"),))
    tools = [
        ScriptedTool("allowed", destructive=False),
        ScriptedTool("reads", level=READ),
        ScriptedTool("other", destructive=False),
    ]
    road = a_road(roads, tmp_path, *tools, rules=rules)
    results = [
        await road.invoke(road.call(tool.name, attended=False, session=None)) for tool in tools
    ]
    assert [result.is_error for result in results] == [False, False, True]
    assert results[2].reason == "nobody_to_ask"
    assert "tty" not in results[2].text
    assert tools[2].runs == []


async def test_pb_148_seven_causes_seven_reasons(roads: list[Road], tmp_path: Path) -> None:
    """Deny rule, ceiling, nobody to ask, unknown tool, server down, a person's no, a handler that
    raised: told apart for programs and in words, and the raising handler counts as no."""
    down = PeerError(
        "files is not connected: it exited with 1",
        peer="files",
        phase=Phase.REQUEST,
        fault=Fault.NOT_CONNECTED,
        fate=Fate.NOT_SENT,
    )
    person = ScriptedApprover([Answer(False, "", note="not today"), RuntimeError("no display")])
    tools = [
        ScriptedTool("denied"),
        ScriptedTool("removes"),
        ScriptedTool("down", server="files", level=READ, replies=[down, down]),
    ]
    road = a_road(
        roads,
        tmp_path,
        *tools,
        rules=RuleSet((parse_rule("denied", Decision.DENY),)),
        attended=[person],
    )
    results = [
        await road.invoke(call)
        for call in (
            road.call("denied"),
            road.call("removes", bounds=whole(READ)),
            road.call("removes", attended=False),
            road.call("vanished"),
            road.call("mcp__files__down"),
            road.call("removes"),
            road.call("removes"),
        )
    ]
    assert [(result.kind, result.reason) for result in results] == [
        (ErrorKind.DENIED, "deny_rule"),
        (ErrorKind.ABOVE_CEILING, "above_ceiling"),
        (ErrorKind.NOT_APPROVED, "nobody_to_ask"),
        (ErrorKind.UNKNOWN_TOOL, "no_such_tool"),
        (ErrorKind.NOT_CONNECTED, "not_connected"),
        (ErrorKind.NOT_APPROVED, "said_no"),
        (ErrorKind.NOT_APPROVED, "approver_failed"),
    ]
    advice = (
        "way around",
        "higher ceiling",
        "person present",
        "exactly",
        "exited",
        "today",
        "failure",
    )
    for result, words in zip(results, advice, strict=True):
        assert words in result.text
    assert len({result.text for result in results}) == 7
    assert [tool.runs for tool in tools[:2]] == [[], []]


@pytest.mark.parametrize(
    "name",
    ["mcp__x__write", "MCP__x__write", "mcp__x__write ", "mcp__x__Write", "x__write", "write"],
)
@pytest.mark.parametrize("child", [False, True])
async def test_pb_152_a_hidden_tool_under_any_name(
    roads: list[Road], tmp_path: Path, name: str, child: bool
) -> None:
    """Under a READ_ONLY ceiling no spelling reaches a hidden tool, from a turn or a sub-agent;
    nothing is sent and nothing of its schema is told."""
    schema = {"type": "object", "properties": {"hidden_word": {"type": "string"}}}
    tool = ScriptedTool("write", server="x", input_schema=schema)
    road = a_road(roads, tmp_path, tool, attended=[ScriptedApprover.always(True)])
    bounds = whole(READ)
    if child:
        bounds = narrow(bounds, whole(MUTATE, frozenset({"mcp__x__write"})))
    result = await road.invoke(road.call(name, {"hidden_word": 5}, bounds=bounds))
    exact = name == "mcp__x__write"
    assert result.kind is (ErrorKind.ABOVE_CEILING if exact else ErrorKind.UNKNOWN_TOOL)
    assert "hidden_word" not in result.text
    assert "mean" not in result.text
    assert tool.runs == []
