"""Field cases that a turn of an agent decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, ToolAnswer, ToolCall
from lockgate.policy.approval import Answer
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

LIMITS = TurnLimits()


async def test_pb_091_two_calls_of_one_destructive_tool_are_two_questions(tmp_path: Path) -> None:
    """Each shows its own arguments; a no to the first is none to the second, nor swapped."""
    tool = ScriptedTool("remove")
    answers = ScriptedApprover([Answer(False, "person"), Answer(True, "person")])
    reply = ModelReply(
        "", (ToolCall("1", "remove", {"path": "a"}), ToolCall("2", "remove", {"path": "b"}))
    )
    async with Workbench(tmp_path, [tool], approvers=[answers]) as bench:
        result = await bench.agent(FakeModel([reply])).run("go")
    assert [question.arguments for question in answers.questions] == [{"path": "a"}, {"path": "b"}]
    told = [m.result for m in result.transcript if isinstance(m, ToolAnswer)]
    assert [(r.kind, r.reason) for r in told] == [(ErrorKind.NOT_APPROVED, "said_no"), (None, None)]
    assert tool.runs == [{"path": "b"}]


@pytest.mark.parametrize(
    "result",
    [
        ToolResult.of("x" * 5_000_000),
        ToolResult.of("short line\n" * 100_000),
        ToolResult.error(ErrorKind.TOOL_ERROR, "e" * 5_000_000),
        ToolResult.of("y" * 5_000_000, structured={"text": "y" * 5_000_000}),
        ToolResult.of("\ud83d\ude00" * 2_500_000),
    ],
    ids=["one line", "many lines", "an error", "structured", "surrogate pairs"],
)
async def test_pb_125_a_long_result_is_cut_at_the_documented_limit(
    tmp_path: Path, result: ToolResult
) -> None:
    """Head and tail are kept, a note names the original size, no surrogate pair is cut in two."""
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY, replies=[result])
    model = FakeModel([ModelReply("", (ToolCall("1", "look", {}),))])
    async with Workbench(tmp_path, [tool]) as bench:
        run = await bench.agent(model).run("go")
    shown = next(m.result for m in model.seen[1].transcript if isinstance(m, ToolAnswer))
    assert len(shown.text) < LIMITS.result_characters + 100
    head, _, rest = shown.text.partition("\n[...")
    note, _, tail = rest.partition("]\n")
    assert f"of {len(result.text):,} characters" in note
    assert result.text.startswith(head)
    assert result.text.endswith(tail)
    assert min(len(head), len(tail)) >= LIMITS.result_characters // 2 - 1
    assert not "\ud800" <= head[-1] <= "\udbff"
    assert not "\udc00" <= tail[0] <= "\udfff"
    assert (shown.kind, shown.structured) == (result.kind, None)
    assert run.calls[0].result == shown


async def test_pb_125_ten_results_of_one_turn_share_a_limit(tmp_path: Path) -> None:
    """Ten of 100 kB together are cut to what one reply may bring; a short one stays whole."""
    tool = ScriptedTool(
        "look",
        level=SideEffectLevel.READ_ONLY,
        concurrent=True,
        replies=["short", *["x" * 100_000] * 10],
    )
    model = FakeModel([ModelReply("", tuple(ToolCall(str(n), "look", {}) for n in range(11)))])
    async with Workbench(tmp_path, [tool]) as bench:
        await bench.agent(model).run("go")
    texts = [m.result.text for m in model.seen[1].transcript if isinstance(m, ToolAnswer)]
    assert texts[0] == "short"
    assert sum(map(len, texts)) < LIMITS.batch_characters + 1000
    assert all("of 100,000 characters left out" in text for text in texts[1:])


@pytest.mark.parametrize("arguments", ['{"path": "a"}', ["a"], None, 3])
async def test_pb_117_arguments_that_are_no_object_never_crash_a_turn(
    tmp_path: Path, arguments: object
) -> None:
    """A model may send a whole string or a list; it is told so, and the turn goes on."""
    tool = ScriptedTool("look", level=SideEffectLevel.READ_ONLY)
    call = ToolCall("1", "look", arguments)  # pyright: ignore[reportArgumentType] - what a model sends is no type
    async with Workbench(tmp_path, [tool]) as bench:
        result = await bench.agent(FakeModel([ModelReply("", (call,))])).run("go")
    told = next(m.result for m in result.transcript if isinstance(m, ToolAnswer))
    assert told.kind is ErrorKind.INVALID_ARGUMENTS
    assert "must be an object" in told.text
    assert result.answered
    assert tool.runs == []
