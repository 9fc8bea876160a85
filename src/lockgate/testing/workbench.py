"""A runtime with everything real but the record and the clock: for trying tools, models, agents."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from lockgate.agent.agent import Agent, AgentPlan
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Model
from lockgate.agent.ownership import Owned
from lockgate.agent.runtime import AgentRuntime, Servers
from lockgate.agent.witness import Witness
from lockgate.calls.invoke import Invoker
from lockgate.calls.lanes import Lanes
from lockgate.calls.unknowns import MemoryUnknowns
from lockgate.policy.approval import Approver
from lockgate.policy.grants import MemoryGrants
from lockgate.rules.rule import Rule, RuleSet
from lockgate.stores.state import open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.testing.clock import FakeClock
from lockgate.testing.ledger import MemoryLedger
from lockgate.tools.context import Environment
from lockgate.tools.registry import Registry
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel


class Workbench:
    """Tools, and the whole road to them, in memory but for tickets. Use it as a context manager.

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
        rules: Iterable[Rule] = (),
        exempt: SideEffectLevel | None = SideEffectLevel.READ_ONLY,
        servers: Servers | None = None,
        owned: Sequence[Owned] = (),
    ) -> None:
        """`directory` is for the tickets; `exempt` is `exempt_at_or_below`; `owned` is closed with
        the runtime, in that order. To be made inside a running loop. Ids count up from 1."""
        self.registry = Registry()
        self.registry.register_all(tools)
        self.ledger = MemoryLedger()
        self.clock = FakeClock()
        self._directory = directory
        self._state = open_state(directory / "state.db", "workbench")
        self._count = itertools.count(1)
        witness = Witness(self.ledger)
        self.invoker = Invoker(
            rules=RuleSet(tuple(rules)),
            exempt=exempt,
            attended=approvers,
            unattended=(),
            ledger=witness,
            grants=MemoryGrants(),
            unknowns=MemoryUnknowns(),
            tickets=SqliteTickets(self._state),
            lanes=Lanes(),
            current=self.registry.snapshot,
            time=self.clock,
            monotonic=self.clock,
            new_id=self._new_id,
            digest_key=bytes(32),
        )
        self.runtime = AgentRuntime(
            id="agent:workbench",
            registry=self.registry,
            invoker=self.invoker,
            servers=servers,
            witness=witness,
            owned=owned,
            make_id=self._new_id,
        )

    def agent(
        self,
        model: Model,
        *,
        attended: bool = True,
        ceiling: SideEffectLevel = SideEffectLevel.MUTATING,
        offer: tuple[str, ...] | None = None,
        limits: TurnLimits | None = None,
    ) -> Agent:
        """An agent on these tools, in a session of its own; see `AgentPlan`."""
        plan = AgentPlan(
            model,
            Environment(self._directory),
            attended,
            ceiling,
            offer,
            limits=limits or TurnLimits(),
        )
        return Agent(self.runtime, plan)

    async def __aenter__(self) -> Workbench:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.runtime.close()
        self._state.close()

    def _new_id(self) -> str:
        return f"id-{next(self._count)}"
