"""A session that is kept: written as it is said, gone on with, never half."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.agent.message_json import decoded, encoded, encoded_result
from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.agent.run import RunStatus
from lockgate.agent.transcript import unanswered
from lockgate.calls.waiting import Answered
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Later, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.journal import MemoryJournal
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel


class _Doing(ScriptedTool):
    """A tool that looks, or does something to the journal, while it runs."""

    def __init__(self, name: str, do: Callable[[], str]) -> None:
        super().__init__(name, level=SideEffectLevel.READ_ONLY)
        self._do = do

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        self.runs.append(arguments)
        return ToolResult.of(self._do())


def _said(journal: MemoryJournal) -> list[Message]:
    return [decoded(body) for body in journal.messages]


async def test_a_reply_is_written_down_before_its_calls_are_made(tmp_path: Path) -> None:
    """What the tool sees of the journal while it runs holds the reply that asked for it, and after
    the turn everything that was said, in order."""
    journal = MemoryJournal()
    seen: list[list[Message]] = []

    def look() -> str:
        seen.append(_said(journal))
        return "ok"

    tool = _Doing("look", look)
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([asking("look")]), journal=journal)
        result = await agent.run("go")
        assert seen == [[UserMessage("go"), result.transcript[1]]]
        assert tuple(_said(journal)) == result.transcript == agent.transcript
        await agent.close()
        assert journal.closed


async def test_another_process_goes_on_with_it(tmp_path: Path) -> None:
    """The next agent shows its model what was said, and writes on."""
    journal = MemoryJournal()
    async with Workbench(tmp_path) as bench:
        assert not bench.agent(FakeModel(), journal=journal).resumed
        await bench.agent(FakeModel([ModelReply("one")]), journal=journal).run("a")
        model = FakeModel([ModelReply("two")])
        agent = bench.agent(model, journal=journal)
        assert agent.resumed
        await agent.run("b")
    assert model.seen[0].transcript == (UserMessage("a"), ModelReply("one"), UserMessage("b"))
    assert len(journal.messages) == 4


async def test_a_call_that_a_dead_process_left_open_is_answered_as_unknown(tmp_path: Path) -> None:
    """Written down and never answered: whether it took effect is not known (B-03)."""
    call = ToolCall("1", "add", {})
    said = [UserMessage("go"), ModelReply("", (call,))]
    journal = MemoryJournal([encoded(message) for message in said])
    async with Workbench(tmp_path) as bench:
        agent = bench.agent(FakeModel(), journal=journal)
        await agent.run("and?")
    answer = _said(journal)[2]
    assert isinstance(answer, ToolAnswer)
    assert answer.result.kind is ErrorKind.OUTCOME_UNKNOWN


async def test_a_result_is_kept_before_the_others_of_its_reply_are_there(tmp_path: Path) -> None:
    """Of two calls one is done and one runs when the process dies: the next one knows the result
    of the first, and that of the second is not known."""
    journal = MemoryJournal()
    done = ScriptedTool("done", level=SideEffectLevel.READ_ONLY, concurrent=True, replies=["42"])
    runs = ScriptedTool("runs", level=SideEffectLevel.READ_ONLY, concurrent=True, hold=True)
    async with Workbench(tmp_path, [done, runs]) as bench:
        agent = bench.agent(FakeModel([asking("done", "runs")]), journal=journal)
        turn = asyncio.create_task(agent.run("go"))
        await runs.started.wait()
        await turns(20)
        died = MemoryJournal(journal.messages)
        died.calls = dict(journal.calls)
        runs.release()
        assert (await turn).answered
        assert journal.calls == {}
        assert tuple(_said(journal)) == agent.transcript
        later = bench.agent(FakeModel(), journal=died)
        await later.run("on")
    results = [m.result for m in later.transcript if isinstance(m, ToolAnswer)]
    assert [(result.kind, result.text[:2]) for result in results] == [
        (None, "42"),
        (ErrorKind.OUTCOME_UNKNOWN, "No"),
    ]
    assert died.calls == {}


async def test_where_nothing_can_be_written_no_call_is_made(tmp_path: Path) -> None:
    """Not even asked for: the prompt itself is refused; and a reply that can not be kept is not
    taken, so its calls are not made."""
    journal = MemoryJournal()
    tool = ScriptedTool("add", level=SideEffectLevel.READ_ONLY)

    def fill() -> ModelReply:
        journal.full = True
        return asking("add")

    async with Workbench(tmp_path, [tool]) as bench:
        model = FakeModel([fill])
        agent = bench.agent(model, journal=journal)
        with pytest.raises(LocalError, match="disk is full"):
            await agent.run("go")
        with pytest.raises(LocalError, match="disk is full"):
            await agent.run("again")
        assert len(model.seen) == 1
        assert agent.transcript == (UserMessage("go"),)
        journal.full = False
        assert (await agent.run("now")).answered
    assert tool.runs == []


async def test_the_answer_to_a_call_that_was_made_is_not_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If it can not be written it is known here, nothing more is asked for, and it is written with
    the next message: the record has no hole."""
    journal = MemoryJournal()

    def fill() -> str:
        journal.full = True
        return "a secret"

    tool = _Doing("add", fill)
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([asking("add")]), journal=journal)
        with pytest.raises(LocalError, match="disk is full"):
            await agent.run("go")
        assert "add is not written down yet" in caplog.text
        assert "secret" not in caplog.text
        assert not unanswered(agent.transcript)
        journal.full = False
        await agent.run("on")
        assert tuple(_said(journal)) == agent.transcript


async def test_what_is_not_written_yet_is_written_at_the_end(tmp_path: Path) -> None:
    """Closing tries once more; another process may go on in any case."""
    journal = MemoryJournal()

    def fill() -> str:
        journal.full = True
        return "ok"

    tool = _Doing("add", fill)
    async with Workbench(tmp_path, [tool]) as bench:
        agent = bench.agent(FakeModel([asking("add")]), journal=journal)
        with pytest.raises(LocalError):
            await agent.run("go")
        journal.full = False
        await agent.close()
        assert isinstance(_said(journal)[-1], ToolAnswer)
        assert journal.closed


async def test_a_session_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    """By the number of the message; nothing of it is guessed."""
    journal = MemoryJournal([encoded(UserMessage("a")), b'{"said":"secret"}'])
    async with Workbench(tmp_path) as bench:
        with pytest.raises(LocalError, match="message 2 of the session can not be read") as raised:
            bench.agent(FakeModel(), journal=journal)
        assert "secret" not in str(raised.value)
        assert bench.runtime.sessions == ()


@pytest.mark.req("S3-18")
async def test_the_turn_after_tells_what_changed_between_the_processes(tmp_path: Path) -> None:
    """A tool that is new and one that is gone, by name; nothing where nothing changed."""
    journal = MemoryJournal()
    was = [ScriptedTool(name, server="s") for name in ("a", "b")]
    now = [ScriptedTool(name, server="s") for name in ("b", "c")]
    async with Workbench(tmp_path / "1", was) as bench:
        for _ in range(2):
            model = FakeModel()
            await bench.agent(model, journal=journal).run("go")
            assert "have changed" not in model.seen[0].instructions
    async with Workbench(tmp_path / "2", now) as bench:
        model = FakeModel()
        agent = bench.agent(model, journal=journal)
        await agent.run("go")
        await agent.run("go")
    assert "New: mcp__s__c. Gone: mcp__s__a." in model.seen[0].instructions
    assert "have changed" not in model.seen[1].instructions


async def test_what_was_noted_of_the_tools_may_be_damaged(tmp_path: Path) -> None:
    """Then nothing is known of them, and nothing is told; the session goes on."""
    journal = MemoryJournal([encoded(UserMessage("a")), encoded(ModelReply("one"))])
    journal.noted = b"\xff{"
    async with Workbench(tmp_path, [ScriptedTool("a")]) as bench:
        model = FakeModel()
        assert (await bench.agent(model, journal=journal).run("b")).answered
    assert "have changed" not in model.seen[0].instructions


@pytest.mark.parametrize(
    ("answered", "kind", "words"),
    [
        ("open", ErrorKind.NOT_APPROVED, "a person has still to answer"),
        ("refused", ErrorKind.NOT_APPROVED, "was not run"),
        ("unknown", ErrorKind.OUTCOME_UNKNOWN, "not known"),
        ("result", None, "42"),
    ],
)
async def test_a_call_that_waited_gets_what_became_of_it(
    tmp_path: Path, answered: Answered, kind: ErrorKind | None, words: str
) -> None:
    """In the next turn, in this process or another one; what is still open is told so."""
    journal = MemoryJournal()
    tool = ScriptedTool("add")
    later = ScriptedApprover([Later()])
    async with Workbench(tmp_path, [tool], approvers=[later]) as bench:
        first = await bench.agent(FakeModel([asking("add")]), journal=journal).run("go")
        assert first.status is RunStatus.SUSPENDED
        [waiting] = journal.waiting()
        assert (waiting.tool, waiting.ticket) == ("add", first.waiting[0].ticket)
        result = encoded_result(ToolResult.of("42")) if answered == "result" else None
        journal.calls[waiting.call_id] = replace(waiting, answered=answered, result=result)
        agent = bench.agent(FakeModel(), journal=journal)
        await agent.run("on")
    answer = agent.transcript[2]
    assert isinstance(answer, ToolAnswer)
    assert answer.result.kind is kind
    assert words in answer.result.text
    assert bool(journal.waiting()) == (answered == "open")
    assert tool.runs == []


@pytest.mark.parametrize(
    ("answered", "result", "words"),
    [
        ("result", ToolResult.of("a secret"), "answered yes since, and it was run"),
        ("result", ToolResult.error(ErrorKind.TOOL_ERROR, "a secret"), "it failed (tool_error)"),
        ("result", ToolResult.error(ErrorKind.NOT_APPROVED, "no"), "it was not run"),
        ("refused", None, "it was not run"),
        ("unknown", None, "not known"),
    ],
)
async def test_a_call_that_was_told_to_wait_is_told_of_once_more(
    tmp_path: Path, answered: Answered, result: ToolResult | None, words: str
) -> None:
    """Its answer in the transcript stands; a notice says what came of it, in no words of the
    tool's, which are no instructions."""
    journal = MemoryJournal()
    later = ScriptedApprover([Later()])
    async with Workbench(tmp_path, [ScriptedTool("add")], approvers=[later]) as bench:
        model = FakeModel([asking("add"), ModelReply("it waits")])
        agent = bench.agent(model, journal=journal)
        await agent.run("go")
        await agent.run("on")
        [waiting] = journal.waiting()
        body = None if result is None else encoded_result(result)
        journal.calls[waiting.call_id] = replace(waiting, answered=answered, result=body)
        await agent.run("and?")
        await agent.run("so?")
    told = [words in shown.instructions for shown in model.seen]
    assert told == [False, False, True, False]
    assert "secret" not in model.seen[2].instructions
    assert journal.waiting() == ()


async def test_a_yes_for_the_session_holds_where_it_goes_on(tmp_path: Path) -> None:
    """Grants are kept under the session's id; another session is asked."""
    yes = ScriptedApprover([Answer(True, "person", Scope.SESSION)])
    tool = ScriptedTool("add", destructive=False)
    journal = MemoryJournal()
    async with Workbench(tmp_path, [tool], approvers=[yes]) as bench:
        first = bench.agent(FakeModel([asking("add")]), journal=journal)
        await first.run("go")
        await first.close()
        again = bench.agent(
            FakeModel([asking("add")]), session_id=first.session_id, journal=journal
        )
        await again.run("go")
        records = bench.ledger.decisions
    assert [record.approver for record in records] == ["scripted", "grant"]


async def test_closing_ends_the_turn_that_is_under_way(tmp_path: Path) -> None:
    """It is interrupted and waited for: every call has its result, and the turn says how it
    ended. With the session, or with the runtime."""
    for whole in (False, True):
        model = FakeModel(hold=True)
        journal = MemoryJournal()
        async with Workbench(tmp_path / str(whole)) as bench:
            agent = bench.agent(model, journal=journal)
            turn = asyncio.create_task(agent.run("go"))
            await model.asked.wait()
            await (bench.runtime.close() if whole else agent.close())
            assert turn.done()
            assert (await turn).status is RunStatus.INTERRUPTED
            assert journal.closed
            with pytest.raises(LocalError, match="closed"):
                await agent.run("more")


async def test_closing_one_session_leaves_the_others(tmp_path: Path) -> None:
    """They share the runtime and nothing else."""
    held, other = FakeModel(hold=True), FakeModel([ModelReply("two")])
    async with Workbench(tmp_path) as bench:
        one, two = bench.agent(other), bench.agent(held)
        turn = asyncio.create_task(two.run("go"))
        await held.asked.wait()
        assert len(bench.runtime.sessions) == 2
        await one.close()
        assert [scope.session_id for scope in bench.runtime.sessions] == [two.session_id]
        held.release()
        assert (await turn).answered


async def test_sessions_share_the_lanes_of_their_runtime(tmp_path: Path) -> None:
    """A tool that is not to run beside itself does not, whichever session asks for it; what was
    answered for one session counts in it alone."""
    yes = ScriptedApprover.always(True, scope=Scope.SESSION)
    tool = ScriptedTool("add", destructive=False, hold=True)
    async with Workbench(tmp_path, [tool], approvers=[yes]) as bench:
        agents = [bench.agent(FakeModel([asking("add")])) for _ in range(2)]
        both = [asyncio.create_task(agent.run("go")) for agent in agents]
        await tool.started.wait()
        await turns(50)
        assert len(tool.runs) == 1
        tool.release()
        assert [(await turn).answered for turn in both] == [True, True]
    assert len(tool.runs) == len(yes.questions) == 2


async def test_sessions_that_nobody_holds_do_not_pile_up(tmp_path: Path) -> None:
    """A program may make an agent for each request and forget it."""
    async with Workbench(tmp_path) as bench:
        for _ in range(20):
            await bench.agent(FakeModel(), journal=MemoryJournal()).run("go")
        gc.collect()
        assert bench.runtime.sessions == ()


async def test_a_session_is_closed_where_it_lives(tmp_path: Path) -> None:
    """Closing it in another thread says so at once."""
    async with Workbench(tmp_path) as bench:
        agent = bench.agent(FakeModel())

        def elsewhere() -> None:
            with pytest.raises(LocalError, match="another thread"):
                asyncio.run(agent.close())

        await asyncio.to_thread(elsewhere)
        await agent.close()
        await agent.close()
