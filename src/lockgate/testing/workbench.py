"""A runtime on a road of its own: for trying tools, models and agents without a configuration."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from lockgate.agent.agent import Agent
from lockgate.agent.journal import Journal
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Model
from lockgate.agent.ownership import Owned
from lockgate.agent.plan import AgentPlan
from lockgate.agent.runtime import AgentRuntime, Servers
from lockgate.agent.witness import Witness
from lockgate.hooks.hook import Hook
from lockgate.policy.approval import Approver
from lockgate.testing.ledger import MemoryLedger
from lockgate.testing.road import Road
from lockgate.tools.context import Environment
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel


class Workbench:
    """Tools, the whole road to them, and a runtime for agents. Use it as a context manager.

    async with Workbench(tmp_path, [tool], approvers=[approver]) as bench:
        result = await bench.agent(model).run("go")
        assert bench.ledger.decisions[0].decision == "run"
    """

    def __init__(
        self,
        directory: Path,
        tools: Iterable[Tool] = (),
        *,
        approvers: Sequence[Approver] = (),
        exempt: SideEffectLevel | None = SideEffectLevel.READ_ONLY,
        servers: Servers | None = None,
        owned: Sequence[Owned] = (),
        hooks: Iterable[Hook] = (),
    ) -> None:
        """`directory` is for the state; `exempt` is `exempt_at_or_below`; `owned` is closed with
        the runtime, in that order; `hooks` are told of calls and of turns. To be made inside a
        running loop."""
        self.ledger = MemoryLedger()
        witness = Witness(self.ledger)
        self.road = Road(
            directory, tools, exempt=exempt, attended=approvers, ledger=witness, hooks=hooks
        )
        self.registry = self.road.registry
        self.invoker = self.road.invoker
        self._directory = directory
        self._ids = itertools.count(1)
        self.runtime = AgentRuntime(
            id="agent:workbench",
            registry=self.registry,
            invoker=self.invoker,
            servers=servers,
            witness=witness,
            hooks=self.road.hooks,
            owned=owned,
            make_id=self._new_id,
            make_session_id=self._new_id,
        )

    def _new_id(self) -> str:
        return f"id-{next(self._ids)}"

    def agent(
        self,
        model: Model,
        *,
        attended: bool = True,
        ceiling: SideEffectLevel = SideEffectLevel.MUTATING,
        offer: tuple[str, ...] | None = None,
        limits: TurnLimits | None = None,
        session_id: str | None = None,
        journal: Journal | None = None,
    ) -> Agent:
        """An agent on these tools, in a session of its own; see `AgentPlan` and `Agent`."""
        plan = AgentPlan(
            model,
            Environment(self._directory),
            attended,
            ceiling,
            offer,
            limits=limits or TurnLimits(),
        )
        return Agent(self.runtime, plan, session_id=session_id, journal=journal)

    async def __aenter__(self) -> Workbench:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.runtime.close()
        self.road.close()
