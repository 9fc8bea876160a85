"""Children: bounds, the session they share, bounds on how many, interrupts, tokens, and ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lockgate.agent.children import Child, ChildRefused, Children
from lockgate.agent.events import ChildEvent, Event, TurnFinished, TurnStarted
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import ModelReply, Usage
from lockgate.agent.run import RunResult, RunStatus
from lockgate.agent.wish import Wish
from lockgate.calls.limit import Limit
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook, HookFunction
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Scope
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING


class Delegate(DeclaredTool):
    """A tool whose calls are the work of a child: what it wishes is set from outside."""

    def __init__(self, children: Children, wish: Wish) -> None:
        definition = ToolDefinition(
            "delegate",
            "Have it done.",
            {"type": "object"},
            Origin("local", None, "delegate", Fingerprint("0" * 64, ())),
        )
        super().__init__(definition, level=READ_ONLY, concurrent=True)
        self._children = children
        self.wish = wish
        self.results: list[RunResult] = []
        self.refused: list[ChildRefused] = []

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            result = await self._children.run(self.wish, context)
        except ChildRefused as refused:
            self.refused.append(refused)
            return ToolResult.error(ErrorKind.TOOL_ERROR, str(refused), reason=refused.reason)
        self.results.append(result)
        return ToolResult.of(str(result))


@dataclass(frozen=True)
class Bench:
    """A workbench with a tool that delegates."""

    bench: Workbench
    children: Children
    delegate: Delegate
    events: list[Event] = field(default_factory=list[Event])


def a_wish(**more: Any) -> Wish:
    """A wish for a helper."""
    return Wish("helper", "subagent", "Help.", "do it", **more)


@asynccontextmanager
async def a_bench(
    tmp_path: Path, *tools: ScriptedTool, wish: Wish | None = None, **more: Any
) -> AsyncGenerator[Bench]:
    """A bench whose approver says yes, unless another is given."""
    how = {key: more.pop(key) for key in ("model", "limits", "max_depth", "at_once") if key in more}
    children = Children(**how)
    delegate = Delegate(children, wish or a_wish())
    more.setdefault("approvers", [ScriptedApprover.always(True)])
    async with Workbench(tmp_path, [*tools, delegate], **more) as bench:
        children.serve(bench.runtime)
        yield Bench(bench, children, delegate)
        assert len(children) == 0
        assert len(bench.runtime.under_way) == 0


@pytest.mark.req("B-04")
async def test_a_child_has_its_parents_session_and_names_its_call(tmp_path: Path) -> None:
    """Its record names road, sub-agent and parent call; its answer is the result of the call."""
    tool = ScriptedTool("look", level=READ_ONLY)
    async with a_bench(tmp_path, tool) as b:
        model = FakeModel([asking("delegate"), asking("look"), ModelReply("helped")])
        agent = b.bench.agent(model)
        result = await agent.run("go", sink=b.events.append)
        assert result.answered
        assert len(model.seen[1].transcript) == 1
        child = next(d for d in b.bench.ledger.decisions if d.tool == "look")
        parent = next(d for d in b.bench.ledger.decisions if d.tool == "delegate")
        assert (child.entry, child.agent, child.parent_call) == ("subagent", "helper", parent.call)
        assert child.execution != parent.execution
        assert b.delegate.results[0].text == "helped"
        inner = [event for event in b.events if isinstance(event, ChildEvent)]
        assert {(event.agent, event.call_id) for event in inner} == {("helper", parent.call)}
        assert isinstance(inner[0].event, TurnStarted)
        assert isinstance(inner[-1].event, TurnFinished)


@pytest.mark.req("B-04")
@pytest.mark.req("S0-06")
async def test_a_child_is_shown_what_it_may_call(tmp_path: Path) -> None:
    """Ceiling and offer are its parent's and its wish's; the hidden is refused, schema untold."""
    tools = (
        ScriptedTool("look", level=READ_ONLY),
        ScriptedTool("write"),
        ScriptedTool("other", level=READ_ONLY),
    )
    wish = a_wish(ceiling=READ_ONLY, offer=("look", "write", "delegate"))
    async with a_bench(tmp_path, *tools, wish=wish) as b:
        model = FakeModel([asking("delegate"), asking("write", "other"), ModelReply("helped")])
        await b.bench.agent(model).run("go")
        assert model.seen[1].names == ("look", "delegate")
        results = [made.result for made in b.delegate.results[0].calls]
        assert [r.kind for r in results if isinstance(r, ToolResult)] == [
            ErrorKind.ABOVE_CEILING,
            ErrorKind.NOT_OFFERED,
        ]
        assert not any(tool.runs for tool in tools)


@pytest.mark.req("B-04")
async def test_a_wish_for_more_gets_no_more(tmp_path: Path) -> None:
    """A wish above the parent's ceiling or outside its offer is cut to what the parent has."""
    tools = ScriptedTool("look", level=READ_ONLY), ScriptedTool("write")
    wish = a_wish(ceiling=MUTATING, offer=("look", "write"))
    async with a_bench(tmp_path, *tools, wish=wish) as b:
        model = FakeModel([asking("delegate")])
        await b.bench.agent(model, ceiling=READ_ONLY, offer=("delegate", "write")).run("go")
        assert model.seen[1].names == ()


@pytest.mark.req("B-04")
async def test_answers_of_the_session_hold_for_the_child(tmp_path: Path) -> None:
    """A no and a yes "for this session" that the parent was given are not asked about again."""
    tool = ScriptedTool("add", destructive=False)
    approver = ScriptedApprover.always(True, scope=Scope.SESSION)
    async with a_bench(tmp_path, tool, approvers=[approver]) as b:
        model = FakeModel([asking("add"), asking("delegate"), asking("add"), ModelReply("ok")])
        await b.bench.agent(model).run("go")
        assert len(tool.runs) == 2
        assert len(approver.questions) == 1


async def test_the_question_names_the_sub_agent(tmp_path: Path) -> None:
    """Whoever is asked is told for whom, in the session that invited it."""
    approver = ScriptedApprover.always(True)
    async with a_bench(tmp_path, ScriptedTool("wipe"), approvers=[approver]) as b:
        agent = b.bench.agent(FakeModel([asking("delegate"), asking("wipe")]))
        await agent.run("go")
        (question,) = approver.questions
        assert (question.agent, question.session_id) == ("helper", agent.session_id)


@pytest.mark.req("B-04")
async def test_a_childs_answer_holds_for_the_session(tmp_path: Path) -> None:
    """What is answered to a child "for this session" is answered to its parent as well."""
    tool = ScriptedTool("add", destructive=False)
    approver = ScriptedApprover.always(True, scope=Scope.SESSION)
    async with a_bench(tmp_path, tool, approvers=[approver]) as b:
        model = FakeModel([asking("delegate"), asking("add"), ModelReply("ok"), asking("add")])
        await b.bench.agent(model).run("go")
        assert len(tool.runs) == 2
        assert len(approver.questions) == 1


async def test_nobody_is_asked_where_nobody_is(tmp_path: Path) -> None:
    """A child is attended exactly if its parent is."""
    tool = ScriptedTool("wipe")
    async with a_bench(tmp_path, tool) as b:
        model = FakeModel([asking("delegate"), asking("wipe")])
        await b.bench.agent(model, attended=False).run("go")
        assert not tool.runs


async def test_children_within_children_end(tmp_path: Path) -> None:
    """The depth has a bound, and the one that meets it is told to do it itself."""
    async with a_bench(tmp_path, max_depth=2) as b:
        model = FakeModel([asking("delegate")] * 3)
        await b.bench.agent(model).run("go")
        assert [refused.reason for refused in b.delegate.refused] == ["too_deep"]
        assert len(b.delegate.results) == 2


async def test_children_at_once_have_a_bound(tmp_path: Path) -> None:
    """One too many is refused at once: waiting could be for one that waits itself."""
    slow = ScriptedTool("slow", level=READ_ONLY, concurrent=True, hold=True)
    async with a_bench(tmp_path, slow, at_once=2) as b:
        steps = [asking("delegate", "delegate", "delegate"), asking("slow"), asking("slow")]
        task = asyncio.create_task(b.bench.agent(FakeModel(steps)).run("go"))
        async with asyncio.timeout(5):
            await slow.started.wait()
            slow.release()
            await task
        assert [refused.reason for refused in b.delegate.refused] == ["too_many"]
        assert len(b.delegate.results) == 2


async def test_an_interrupt_ends_the_child_with_a_result_for_each_call(tmp_path: Path) -> None:
    """The interrupt is passed on, so that the child's transcript stays acceptable."""
    token = InterruptToken()
    async with a_bench(tmp_path) as b:
        model = FakeModel([asking("delegate"), lambda: stop(token)])
        result = await b.bench.agent(model).run("go", interrupt=token)
        assert result.status is RunStatus.INTERRUPTED
        (inner,) = b.delegate.results
        assert inner.status is RunStatus.INTERRUPTED
        assert [c.result.kind for c in inner.calls if isinstance(c.result, ToolResult)] == [
            ErrorKind.SKIPPED
        ]


def stop(token: InterruptToken) -> ModelReply:
    """Interrupt, and ask for one more call."""
    token.interrupt()
    return asking("delegate")


async def test_a_cancelled_parent_takes_its_children_along(tmp_path: Path) -> None:
    """Nothing is left under way, and no place stays taken."""
    slow = ScriptedTool("slow", level=READ_ONLY, concurrent=True, hold=True)
    async with a_bench(tmp_path, slow) as b:
        model = FakeModel([asking("delegate", "delegate"), asking("slow"), asking("slow")])
        task = asyncio.create_task(b.bench.agent(model).run("go"))
        async with asyncio.timeout(5):
            await slow.started.wait()
        assert len(b.children) == 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(b.children) == 0


async def test_tokens_of_a_child_are_its_parents(tmp_path: Path) -> None:
    """A parent's bound is not to be had around through children; nor is a child's own. The result
    tells what both have cost."""
    dear = ModelReply("so far", asking("look").calls, usage=Usage(output=60))
    async with a_bench(tmp_path, ScriptedTool("look", level=READ_ONLY)) as b:
        model = FakeModel([asking("delegate"), dear, dear, dear])
        result = await b.bench.agent(model, limits=TurnLimits(tokens=100)).run("go")
        assert (b.delegate.results[0].status, b.delegate.results[0].reason) == (
            RunStatus.BOUND,
            "tokens",
        )
        assert (result.status, result.reason) == (RunStatus.BOUND, "tokens")
        assert (result.usage.total, result.child_tokens, result.tokens) == (60, 120, 180)
        assert b.delegate.results[0].usage.total == 120
        b.delegate.wish = a_wish(tokens=50)
        model = FakeModel([asking("delegate"), dear])
        result = await b.bench.agent(model).run("go")
        assert result.answered
        assert b.delegate.results[1].reason == "tokens"


async def test_a_call_that_no_model_made_has_the_configured_model(tmp_path: Path) -> None:
    """Where none is configured, the refusal says what to set."""
    async with a_bench(tmp_path, model=FakeModel([ModelReply("from afar")])) as b:
        result = await b.bench.road.invoke(b.bench.road.call("delegate"))
        assert result.text == "from afar"
    async with a_bench(tmp_path / "other") as b:
        result = await b.bench.road.invoke(b.bench.road.call("delegate"))
        assert (result.reason, "set agent.model" in result.text) == ("no_model", True)


async def test_and_is_bounded_as_configured(tmp_path: Path) -> None:
    """By the limits of the configuration, tokens among them: nobody else bounds it."""
    dear = ModelReply("so far", asking("look").calls, usage=Usage(output=60))
    for limits, reason in (
        (TurnLimits(iterations=1), "iterations"),
        (TurnLimits(tokens=50), "tokens"),
    ):
        model = FakeModel([dear, ModelReply("too far")])
        async with a_bench(tmp_path / reason, model=model, limits=limits) as b:
            await b.bench.road.invoke(b.bench.road.call("delegate"))
            assert [result.reason for result in b.delegate.results] == [reason]


async def test_an_offer_that_can_not_be_read_starts_nothing(tmp_path: Path) -> None:
    """A slip in a wish is told, and never an offer of everything."""
    async with a_bench(tmp_path, wish=a_wish(offer=("look(",))) as b:
        await b.bench.agent(FakeModel([asking("delegate")])).run("go")
        assert [refused.reason for refused in b.delegate.refused] == ["unusable"]


async def test_a_child_that_never_began_gives_its_place_back(tmp_path: Path) -> None:
    """`close` does, once."""
    async with a_bench(tmp_path, model=FakeModel()) as b:
        context = ToolContext(b.bench.road.call("delegate").execution, "call")
        child: Child = b.children.prepared(a_wish(), context)
        assert len(b.children) == 1
        child.close()
        child.close()
        assert len(b.children) == 0


def hearing(told: list[HookInput], result: HookResult | None = None) -> HookFunction:
    """What a hook runs: it notes what it is told, and says `result`."""

    async def run(heard: HookInput) -> HookResult | None:
        told.append(heard)
        return result

    return run


async def test_hooks_are_told_of_children(tmp_path: Path) -> None:
    """Of its beginning, to which they may add, and of its end; both name the sub-agent."""
    told: list[HookInput] = []
    begin = hearing(told, HookResult(context="mind the gap"))
    hooks = [
        Hook(HookEvent.SUBAGENT_START, begin, "begin"),
        Hook(HookEvent.SUBAGENT_STOP, hearing(told), "end"),
    ]
    async with a_bench(tmp_path, hooks=hooks) as b:
        model = FakeModel([asking("delegate"), ModelReply("helped")])
        result = await b.bench.agent(model).run("go")
        assert "mind the gap" in str(model.seen[1].transcript[0])
    start, stop = (heard.data() for heard in told)
    assert (start["agent"], start["subagent"], start["prompt"]) == ("helper", "helper", "do it")
    assert start["parent_execution_id"] == result.execution_id
    assert (stop["subagent"], stop["status"]) == ("helper", "answered")
    assert stop["execution_id"] == start["execution_id"] != result.execution_id


@pytest.mark.req("S0-06")
async def test_a_reload_holds_for_a_child_that_has_begun_and_its_parent(tmp_path: Path) -> None:
    """Both are shown what it has left, and may call no more than that."""
    tool = ScriptedTool("write")

    def tightened() -> ModelReply:
        b.bench.invoker.tighten(RuleSet(()), READ_ONLY, Limit(READ_ONLY, None))
        return asking("write")

    async with a_bench(tmp_path, tool) as b:
        model = FakeModel([asking("delegate"), tightened, ModelReply("helped"), asking("write")])
        result = await b.bench.agent(model).run("go")
        less, both = ("delegate",), ("write", "delegate")
        assert [seen.names for seen in model.seen] == [both, both, less, less, less]
        made = (*b.delegate.results[0].calls, *result.calls[1:])
        kinds = [each.result.kind for each in made if isinstance(each.result, ToolResult)]
    assert kinds == [ErrorKind.ABOVE_CEILING] * 2
    assert tool.runs == []


async def test_hooks_are_told_of_a_child_that_is_cancelled(tmp_path: Path) -> None:
    """Of each, before the cancellation passes on."""
    told: list[HookInput] = []
    slow = ScriptedTool("slow", level=READ_ONLY, concurrent=True, hold=True)
    hooks = [Hook(HookEvent.SUBAGENT_STOP, hearing(told), "end")]
    async with a_bench(tmp_path, slow, hooks=hooks) as b:
        model = FakeModel([asking("delegate", "delegate"), asking("slow"), asking("slow")])
        task = asyncio.create_task(b.bench.agent(model).run("go"))
        async with asyncio.timeout(5):
            await slow.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [heard.details["status"] for heard in told] == ["cancelled"] * 2
    assert {heard.agent for heard in told} == {"helper"}


async def test_a_hook_may_refuse_a_child(tmp_path: Path) -> None:
    """No model is asked then, and the reason is the result."""
    no = hearing([], HookResult(HookDecision.DENY, reason="not on Mondays"))
    async with a_bench(tmp_path, hooks=[Hook(HookEvent.SUBAGENT_START, no, "no")]) as b:
        model = FakeModel([asking("delegate")])
        await b.bench.agent(model).run("go")
        (refused,) = b.delegate.refused
        assert refused.reason == "denied_by_hook"
        assert "not on Mondays" in str(refused)
        assert len(model.seen) == 2
