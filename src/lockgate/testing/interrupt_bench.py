"""A turn with everything in it, ended at any moment; and what has to hold after each of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias

from lockgate.agent.agent import Agent
from lockgate.agent.events import Event
from lockgate.agent.model import Hearing, Message, ModelReply, ModelRequest, ToolCall, UserMessage
from lockgate.agent.ownership import Owned
from lockgate.agent.run import RunResult, RunStatus
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookResult
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.mcp.transport.base import Transport
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.provider_rules import refusals_of
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Answer as Says
from lockgate.testing.steps import Sleep
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.workbench import Workbench
from lockgate.tools.context import InterruptToken, ToolContext
from lockgate.tools.naming import server_tool_name
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

End: TypeAlias = Literal["interrupt", "cancel"]
"""How the turn is ended."""
Moment: TypeAlias = Callable[[Callable[[], object]], Callable[[], bool]]
"""Has what it is given called at some moment of the turn that begins now. What it returns takes
that back, and says whether it has been called."""

PATIENCE: Final = 20.0
"""Seconds that anything may take."""
_SETTLING: Final = 2.0
_READ: Final = server_tool_name("s", "read")
_ADD: Final = server_tool_name("s", "add")
_TURN: Final = (
    (
        "I look at everything, and put it in order.",
        ("look", "put", "put", "wipe", "hold", _READ, _ADD),
    ),
    ("", (_ADD, "put", "hold")),
    ("All is in order.", ()),
)
_NEXT: Final = (("", ("look", _READ)), ("Still is.", ()))


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a turn that was to be ended."""

    hit: bool
    """Whether the moment came before the turn was over."""
    wrong: tuple[str, ...]
    """What was not as it has to be."""


class InterruptBench:
    """One runtime, with tools of ours and of a server; a session for each turn that is ended.

    async with InterruptBench(tmp_path) as bench:
        ended = await bench.ended("interrupt", loop.after(17))
        assert ended.wrong == ()
    """

    def __init__(self, directory: Path, *, process: bool = False) -> None:
        """`directory` is for the state. With `process` the server is a process of its own that
        takes its time, else it is in this loop."""
        self._directory = directory
        self._process = process
        self._server = LoopServer(_SERVER)
        self._heard: list[HookEvent] = []
        self._tools = (
            _Stepping("look", level=SideEffectLevel.READ_ONLY, concurrent=True, interruptible=True),
            _Stepping("put", destructive=False, interruptible=True),
            _Stepping("wipe", interruptible=True),
            _Stepping("hold", destructive=False),
        )

    async def __aenter__(self) -> InterruptBench:
        endpoint = StdioEndpoint("none")
        if self._process:
            slow = replace(_SERVER, rules=(When("tools/call", Sleep(0.002), Says(text="seen")),))
            endpoint = slow.endpoint(file=self._directory / "server.script")
        settings = ServerSettings("s", endpoint, annotation_trust=AnnotationTrust.TRUST)
        self._manager = Manager((settings,), connect=self._transport)
        self._bench = Workbench(
            self._directory,
            self._tools,
            approvers=[_Approver()],
            exempt=SideEffectLevel.MUTATING,
            servers=self._manager,
            hooks=[Hook(event, self._hooked, event.value) for event in HookEvent],
            owned=(Owned("servers", self._manager.close),),
        )
        await self._manager.start(self._bench.registry)
        result = await _turn(self._bench.agent(_Model()), "go")
        if not result.answered or any(_failed(call.result) for call in result.calls):
            raise AssertionError(f"the turn does not work when it is left alone: {result}")
        self._tasks = asyncio.all_tasks()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with self._bench:
            pass

    def _transport(self, settings: ServerSettings) -> Transport:
        if self._process and isinstance(settings.endpoint, StdioEndpoint):
            return StdioTransport(settings.endpoint, peer="s", environ=dict(os.environ))
        return self._server.transport(peer="s")

    async def ended(self, end: End, moment: Moment, leave: Moment | None = None) -> Ended:
        """Run a turn that is ended at a `moment`, and once more, by a cancellation, if `leave` says
        so; then another turn. What was not as it has to be, at the end or after it."""
        self._forget()
        token = InterruptToken()
        agent = self._bench.agent(_Model())
        turn = asyncio.create_task(_turn(agent, "go", token))
        disarm = moment(token.interrupt if end == "interrupt" else turn.cancel)
        stay = (lambda: False) if leave is None else leave(turn.cancel)
        result: RunResult | None = None
        try:
            result = await turn
        except asyncio.CancelledError:
            cancelled = True
        else:
            cancelled = False
        hit, left = disarm(), stay()
        wrong = [*refusals_of(agent.transcript), *await self._left(), *self._records()]
        wrong += self._hooks(hurried=left)
        if cancelled and not (left or (hit and end == "cancel")):
            wrong.append("an interrupt became a cancellation")
        if result is not None:
            wrong += self._of(result)
        after = await _turn(agent, "and now?")
        wrong += refusals_of(after.transcript)
        if str(after) != "Still is." or any(_failed(call.result) for call in after.calls):
            wrong.append(f"the next turn did not work: {after.status}, {after.reason}, {after}")
        await agent.close()
        return Ended(hit, tuple(wrong))

    def _forget(self) -> None:
        self._bench.ledger.records.clear()
        self._heard.clear()
        for each in self._tools:
            each.begun.clear()

    async def _hooked(self, told: HookInput) -> HookResult | None:
        """Every hook there is, and none has an opinion."""
        self._heard.append(told.event)
        await asyncio.sleep(0)
        return None

    def _hooks(self, *, hurried: bool) -> list[str]:
        """Whoever was told that the turn begins was told that it is over; unless it was cancelled
        once more, which waits for nobody."""
        began, over = map(self._heard.count, (HookEvent.TURN_START, HookEvent.TURN_STOP))
        if over == began or (hurried and over < began):
            return []
        return [f"hooks were told of {began} turns that begin, and of {over} that are over"]

    def _of(self, result: RunResult) -> list[str]:
        ended = (RunStatus.INTERRUPTED, RunStatus.ANSWERED)
        if result.status not in ended:
            return [f"the turn ended as {result.status}, {result.reason}"]
        wanted = sum(len(m.calls) for m in result.transcript if isinstance(m, ModelReply))
        if len(result.calls) != wanted:
            return [f"{wanted} calls were wanted, and {len(result.calls)} have a result"]
        return []

    async def _left(self) -> list[str]:
        """What still runs, once what was ended had time to end."""
        try:
            async with asyncio.timeout(_SETTLING):
                while asyncio.all_tasks() - self._tasks:  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0)
        except TimeoutError:
            left = asyncio.all_tasks() - self._tasks
            return [f"tasks are left: {sorted(task.get_name() for task in left)}"]
        found = [f"{tool.name} still runs" for tool in self._tools if tool.running]
        if len(self._bench.road.lanes):
            found.append(f"{len(self._bench.road.lanes)} lanes are held")
        if len(self._bench.runtime.under_way):
            found.append("an execution is under way")
        return found

    def _records(self) -> list[str]:
        """A decision about each call that was begun, and an outcome for each that was to run."""
        ledger = self._bench.ledger
        decided = [record.call for record in ledger.decisions]
        run = [record.call for record in ledger.decisions if record.decision == "run"]
        found: list[str] = []
        if len(set(decided)) < len(decided):
            found.append("a call was decided about twice")
        if sorted(run) != sorted(record.call for record in ledger.outcomes):
            found.append(f"{len(run)} calls were run, and {len(ledger.outcomes)} have an outcome")
        begun = [call for each in self._tools for call in each.begun]
        if not set(begun) <= set(run):
            found.append("a tool ran without a decision")
        return found


async def _turn(agent: Agent, prompt: str, token: InterruptToken | None = None) -> RunResult:
    async with asyncio.timeout(PATIENCE):
        return await agent.run(prompt, interrupt=token, sink=_watch)


class _Stepping(ScriptedTool):
    """A tool that takes a few steps of the loop, and knows whether it runs."""

    def __init__(self, name: str, **traits: Any) -> None:
        super().__init__(name, **traits)
        self.running = 0
        self.begun: list[str] = []

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        self.running += 1
        self.begun.append(context.call_id)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
        finally:
            self.running -= 1
        return ToolResult.of("ok")


class _Approver:
    """Thinks for a few steps, and says yes."""

    name = "person"
    scopes = frozenset({Scope.ONCE})

    async def __call__(self, question: Question) -> Answer:
        for _ in range(3):
            await asyncio.sleep(0)
        return Answer(True, self.name)


class _Model:
    """Writes its replies word by word; which one follows from what was said."""

    name = "stepping"

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The next reply of the turn that is under way."""
        text, tools = _next(request.transcript)
        for word in text.split():
            await asyncio.sleep(0)
            if heard is not None:
                heard(f"{word} ")
        await asyncio.sleep(0)
        return ModelReply(text, tuple(ToolCall("", name, {}) for name in tools))


def _next(transcript: Sequence[Message]) -> tuple[str, tuple[str, ...]]:
    last = max(at for at, said in enumerate(transcript) if isinstance(said, UserMessage))
    prompt = transcript[last]
    script = _TURN if isinstance(prompt, UserMessage) and prompt.text == "go" else _NEXT
    return script[sum(isinstance(said, ModelReply) for said in transcript[last:])]


def _failed(result: object) -> bool:
    return not isinstance(result, ToolResult) or result.is_error


def _watch(event: Event) -> None:
    """Somebody watches, so that the model is heard while it writes."""


_SERVER: Final = ScriptedServer(
    tools=(
        tool("read", annotations={"readOnlyHint": True}),
        tool("add", annotations={"readOnlyHint": False, "destructiveHint": False}),
    ),
)
