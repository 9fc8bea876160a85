"""The handle of an open gate: what a program holds between `lockgate.open` and its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockgate.agent.runtime import AgentRuntime
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.app.entries import Entry
from lockgate.app.finding import Finding
from lockgate.app.hook_findings import known_hook_findings
from lockgate.app.reload import Reloaded
from lockgate.app.reloading import Reloader
from lockgate.app.unmatched import unmatched
from lockgate.calls.call import Call, Suspended
from lockgate.calls.explain import Explanation
from lockgate.errors import LocalError
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.prompts import Prompts
from lockgate.mcp.host.resources import Resources
from lockgate.mcp.host.status import ServerStatus, StartReport
from lockgate.policy.approval import Answer
from lockgate.policy.ceiling import whole
from lockgate.rules.offers import bind_offer
from lockgate.settings.config import Config
from lockgate.tools.context import Bounds, Environment, Execution, ProgressSink
from lockgate.tools.progress import guarded
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import Tool

if TYPE_CHECKING:  # imported with the first agent: a call, a look or a start need none
    from lockgate.agent.agent import Agent
    from lockgate.agent.limits import TurnLimits
    from lockgate.agent.model import Model
    from lockgate.app.sessions import SessionKeeper, Sessions


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What a gate is told about its surroundings."""

    config: Config
    environment: Environment
    attended: bool
    """Whether a person is there to answer (S0-09)."""
    session_id: str | None
    """The session of calls made through `Gate.call`: what was answered "for this session".

    None for a command, which ends with its call: nothing is answered for longer, and a call whose
    outcome nobody knows is asked about in the next command (B-03)."""
    keeper: Callable[[], SessionKeeper]
    """Makes what keeps the sessions of agents; called when one is needed."""
    entry: Entry = Entry.API
    report: StartReport | None = None
    """What came of starting the servers; None where none is configured."""
    reloader: Reloader | None = None
    """Reads the configuration again; None where nothing can."""


class Gate:
    """Tools behind one gate. Made by `lockgate.open`; lives on the loop it was opened on.

    Every call made through it, and every call of its agents, goes down the same road: the
    configuration's ceiling and offer, permission rules, the gate, the record.
    """

    def __init__(self, runtime: AgentRuntime, manager: Manager | None, plan: GatePlan) -> None:
        self._runtime = runtime
        self._manager = manager
        self._plan = plan
        self._invoker = runtime.invoker
        self._entry = plan.entry.value
        self._kept: SessionKeeper | None = None
        self._within: tuple[Snapshot, Bounds] | None = None
        """The bounds for the tools of the last call's snapshot: nearly always that of the next."""

    @property
    def config(self) -> Config:
        """The configuration that is in force: what it was opened with, and what `reload` took."""
        return self._plan.config

    @property
    def attended(self) -> bool:
        """Whether questions are put to the attended approvers."""
        return self._plan.attended

    @property
    def mcp(self) -> Manager | None:
        """The MCP servers, their states and reasons; None when none is configured (S3-12)."""
        return self._manager

    @property
    def resources(self) -> Resources:
        """What MCP servers offer to be read: list, read, watch; by server and URI (S3-19).

        Reading here is the program's own and asks no gate; for agents there are the tools
        `ListResources` and `ReadResource`. Raises `LocalError` where the gate can not be used.
        """
        self._runtime.check()
        return Resources(self._manager, attended=self._plan.attended)

    @property
    def prompts(self) -> Prompts:
        """The prompts of MCP servers: list them, get the messages of one (S3-19). Raises as
        `resources` does."""
        self._runtime.check()
        return Prompts(self._manager, attended=self._plan.attended)

    @property
    def id(self) -> str:
        """What its runtime is called: `agent:main`, or by the `name` it was opened with. The same
        after a restart."""
        return self._runtime.id

    @property
    def sessions(self) -> Sessions:
        """The kept sessions of its project: list them, read one, remove some. `agent(session=...)`
        goes on with one. Raises `LocalError` where the gate can not be used."""
        return self._keeper().sessions

    def last_session(self) -> str:
        """The id of the session that was used last of those made by a gate of this name, project
        and configuration. Raises `LocalError` if there is none."""
        return self._keeper().last()

    def _keeper(self) -> SessionKeeper:
        self._runtime.check()
        if self._kept is None:
            self._kept = self._plan.keeper()
        return self._kept

    @property
    def failed(self) -> Mapping[str, str]:
        """Configured servers that are not there: name to reason (S3-10)."""
        return self._manager.failed if self._manager is not None else {}

    @property
    def unmatched(self) -> tuple[Finding, ...]:
        """Rules, offers and hooks that name a tool which no server that is there has: slips, most
        likely; and hooks that call what is above the ceiling.

        A deny rule among them protects nothing (PB-177). Servers that are not there say nothing.
        """
        statuses = self._manager.statuses if self._manager is not None else ()
        config, snapshot = self._plan.config, self._snapshot()
        hooks = known_hook_findings(config, snapshot)
        return (*unmatched(config, snapshot, statuses), *hooks)

    @property
    def report(self) -> StartReport | None:
        """What came of starting the servers; None when none is configured."""
        return self._plan.report

    @property
    def skills(self) -> tuple[SkillDefinition, ...]:
        """The skills there are, those that are kept from models or from people among them."""
        return self._plan.config.agent.skills

    def tools(self) -> tuple[Tool, ...]:
        """Every registered tool, in the order of registration, whether an agent is shown it or not.

        A tool can be looked at here; it is run by `call`, which asks the gate.
        """
        return self._snapshot().tools

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: ProgressSink | None = None,
    ) -> ToolResult | Suspended:
        """Make one call down the whole road.

        `name` is the registered name. `timeout` bounds the execution in seconds; waiting for a
        person is not counted. `progress` is told how far the call is, by a tool that reports that:
        so far, in all or None, in words or None; if it fails, that is logged and harms nothing. A
        refusal, a failure or a time-out is an error result, never an exception. `Suspended` means
        that an approver will answer elsewhere. Raises `LocalError` for a name that is no string and
        a timeout that is no number over 0, after closing, and on another loop or thread.
        Cancellation passes through, and so does what ends a program (KeyboardInterrupt, SystemExit)
        if a tool or an approver raises it; it is recorded.
        """
        snapshot = self._snapshot()
        call = self._call(name, arguments, snapshot, timeout, progress)
        return await self._invoker.invoke(call, snapshot)

    def explain(self, name: str, arguments: Mapping[str, Any] | None = None) -> Explanation:
        """What `call` would do and exactly why. Runs nothing and asks nobody (B-05).

        With `arguments` None the question is about the tool, and the arguments are left aside.
        """
        snapshot = self._snapshot()
        call = self._call(name, arguments, snapshot, None)
        return self._invoker.explain(call, snapshot, any_arguments=arguments is None)

    async def resume(self, ticket: str, answer: bool | Answer) -> ToolResult | Suspended:
        """Answer a suspended call and see it through, on today's rules, tools and bounds (B-14).

        `answer` is yes or no, or an `Answer` with its approver and scope. The records of the
        resumed call name this gate's entry. If the tool of the call is not there, a yes is not used
        up: the result is an error (`unknown_tool`, `not_connected`) and the ticket stays open.
        A kept session in which the call was made is told the result when its next turn begins.
        Raises `LocalError` for a ticket that was never issued or is used up, and for an answer that
        is none of these.
        """
        _must_be(ticket, str, "ticket")
        _must_be(answer, (bool, Answer), "answer")
        if isinstance(answer, bool):
            answer = Answer(answer, self._entry)
        snapshot, keeper = self._snapshot(), self._keeper()
        result = await self._invoker.resume(
            ticket,
            answer,
            snapshot,
            within=self._bounds(snapshot),
            environment=self._plan.environment,
            entry=self._entry,
        )
        keeper.answered(ticket, result)
        return result

    async def reconnect(
        self, name: str | None = None, *, failed_only: bool = True
    ) -> tuple[ServerStatus, ...]:
        """Have MCP servers connected anew and now; how each of them is doing then (S3-17).

        `name` is one server, None all; with `failed_only` those that are there are left alone. A
        server that was lost comes back by itself, so this is for one that did not start, or not to
        wait. See `Manager.reconnect` for what happens meanwhile. Raises `LocalError` for a name
        that no server has, and where the gate can not be used.
        """
        self._runtime.check()
        if self._manager is None:
            raise LocalError("no MCP servers are configured")
        return await self._manager.reconnect(name, failed_only=failed_only)

    async def reload(self) -> Reloaded:
        """Read the configuration again, and put into force at once what tightens it.

        New deny and ask rules, allow rules that are gone, a lower ceiling, a narrower offer, more
        questions, more hooks: from the next call on, also in sessions that have begun; calls under
        way keep what was decided about them. What would loosen is not taken and is told item by
        item, and so is what needs a restart. Hooks of `config_reload` may refuse all of it. Raises
        `ConfigError` for files that can not be used or are not accepted, and `LocalError` for a
        configuration that a program made, and where the gate can not be used; then nothing has
        changed.
        """
        self._runtime.check()
        reloader = self._plan.reloader
        if reloader is None:
            raise LocalError("this gate can not read its configuration again")
        found = await reloader.reload(lambda: self._plan.config)
        self._plan = replace(self._plan, config=found.config)
        self._within = None
        return found

    def agent(
        self,
        *,
        model: Model | str | None = None,
        instructions: str | None = None,
        limits: TurnLimits | None = None,
        session: str | None = None,
    ) -> Agent:
        """An agent on these tools: one session, nothing started again.

        `session` is the id of one that is kept (`Gate.sessions`), to go on with: what was said is
        known, and what was answered for it holds. By default a new one begins, and is kept unless
        `sessions.keep` says never. Any number of agents may run at once, each in its own session.
        `limits` bounds each turn; by default the configuration's `agent.limits` do.
        `model` is a `Model`, or a name such as `anthropic:claude-sonnet-4-6`; by default the
        configuration's `agent.model`. A model that is named is the gate's, and closed with it.
        Raises `LocalError` if there is neither, and for a session that is not there, was made in
        another project or with another configuration, or is open, here or in another process;
        `ConfigError` for a name that no model has or that lacks a key.
        """
        from lockgate.agent.agent import Agent
        from lockgate.agent.instructions import BASE
        from lockgate.agent.plan import AgentPlan
        from lockgate.app.models import chosen_model

        if limits is not None:
            from lockgate.agent.limits import TurnLimits

            _must_be(limits, TurnLimits, "limits")
        if instructions is not None:
            _must_be(instructions, str, "instructions")
        settings = self._plan.config.agent
        plan = AgentPlan(
            model=chosen_model(model, settings.model, self._runtime.model),
            environment=self._plan.environment,
            attended=self._plan.attended,
            ceiling=settings.ceiling,
            offer=settings.offer,
            instructions=instructions or settings.instructions or BASE,
            limits=limits or settings.limits,
            entry=Entry.AGENT.value,
        )
        keeper = self._keeper()
        if session is None:
            session = self._runtime.make_session_id()
            journal = keeper.journal(session, plan.model.name)
        else:
            _must_be(session, str, "session")
            journal = keeper.reopen(session)
        try:
            return Agent(self._runtime, plan, session_id=session, journal=journal)
        except BaseException:
            if journal is not None:
                journal.close()
            raise

    def _snapshot(self) -> Snapshot:
        """The tools of now: each call is a piece of work of its own, and takes the newest ones.

        Raises `LocalError` where the gate can not be used.
        """
        return self._runtime.snapshot()

    def _bounds(self, snapshot: Snapshot) -> Bounds:
        """The configuration's ceiling and offer, for the tools of `snapshot`."""
        if self._within is not None and self._within[0] is snapshot:
            return self._within[1]
        settings = self._plan.config.agent
        bounds = whole(settings.ceiling, bind_offer(settings.offer, snapshot))
        self._within = snapshot, bounds
        return bounds

    def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        snapshot: Snapshot,
        timeout: float | None,
        progress: ProgressSink | None = None,
    ) -> Call:
        plan = self._plan
        if name.__class__ is not str:
            _must_be(name, str, "name")
        if timeout is not None and timeout.__class__ is not float:
            _must_be(timeout, (int, float), "timeout")
        if timeout is not None and not 0 < timeout < math.inf:
            raise LocalError("timeout must be a number of seconds over 0; None sets no bound")
        make_id, within = self._runtime.make_id, self._within
        # By position: names cost as much again for that many, and every call pays it.
        execution = Execution(
            make_id(),
            self._entry,
            self._bounds(snapshot) if within is None or within[0] is not snapshot else within[1],
            plan.attended,
            plan.environment,
            plan.session_id,
        )
        told = None if progress is None else guarded(progress)
        given: Mapping[str, Any] = {} if arguments is None else arguments
        return Call(make_id(), name, given, execution, None, None, timeout, told)

    def __repr__(self) -> str:
        return f"<Gate on {self._runtime!r}>"


def _must_be(value: object, kind: type | tuple[type, ...], name: str) -> None:
    """Raise `LocalError` naming the parameter `name` for a value of another type."""
    if isinstance(value, kind) and not (isinstance(value, bool) and name == "timeout"):
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = " or ".join(k.__name__ for k in kinds)
    raise LocalError(f"{name} must be {wanted}, not {type(value).__name__}")
