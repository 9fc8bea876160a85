"""A road of one's own: an invoker over given tools, with real stores in a directory."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from lockgate.calls.call import Call, Suspended
from lockgate.calls.declared import DeclaredCall
from lockgate.calls.invoke import Invoker
from lockgate.calls.lanes import Lanes
from lockgate.calls.records import Ledger
from lockgate.calls.suspension import TicketStore
from lockgate.calls.unknowns import OpenUnknown, scope_of
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Hooks
from lockgate.policy.approval import AnswerBook, Approver
from lockgate.policy.ceiling import whole
from lockgate.rules.rule import RuleSet
from lockgate.stores.grants import SqliteGrants
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.testing.clock import FakeClock
from lockgate.testing.ledger import MemoryLedger
from lockgate.tools.context import Bounds, Environment, Execution, InterruptToken
from lockgate.tools.registry import Registry, Snapshot
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import Tool
from lockgate.traits import SideEffectLevel


class Road:
    """What a call meets, ready to be driven by a test. Close it, or use it in a `with`.

    Nobody is there to answer unless approvers are given; records are kept in memory unless
    another ledger is; time stands still.
    """

    def __init__(
        self,
        directory: Path,
        tools: Iterable[Tool] = (),
        *,
        rules: RuleSet | None = None,
        exempt: SideEffectLevel | None = SideEffectLevel.READ_ONLY,
        attended: Sequence[Approver] = (),
        unattended: Sequence[Approver] = (),
        ledger: Ledger | None = None,
        tickets: TicketStore | None = None,
        answer_within: float | None = 30.0,
        owner: str = "road",
        failed: Collection[str] = (),
        environment: Environment | None = None,
        answers: AnswerBook | None = None,
        hooks: Iterable[Hook] = (),
    ) -> None:
        """`directory` holds the state database; two roads over one `directory` share what is
        suspended, granted and open, as two processes do, and then need an `owner` each.
        `failed` are servers that are not there. `environment` is where calls are made; by default
        in `/`, without any file root. `answers` keeps what is answered for good; by default nothing
        does. `hooks` are told of calls."""
        self.hooks = Hooks(hooks)
        self.registry = Registry()
        self.registry.register_all(tools)
        self.clock = FakeClock()
        self.ledger = MemoryLedger()
        self.state = open_state(directory / "state.db", owner)
        self.grants = SqliteGrants(self.state)
        self.unknowns = SqliteUnknowns(self.state)
        self.tickets: TicketStore = tickets or SqliteTickets(self.state)
        self.lanes = Lanes()
        self._ids = itertools.count(1)
        self._owner = owner
        self.environment = environment or Environment(Path("/"))
        self.invoker = Invoker(
            rules=rules or RuleSet(),
            exempt=exempt,
            attended=attended,
            unattended=unattended,
            ledger=ledger or self.ledger,
            grants=self.grants,
            unknowns=self.unknowns,
            tickets=self.tickets,
            lanes=self.lanes,
            current=self.registry.snapshot,
            failed=lambda: failed,
            time=self.clock,
            monotonic=self.clock,
            new_id=lambda: f"{owner}-ticket-{next(self._ids)}",
            digest_key=b"0123456789abcdef",
            answer_within=answer_within,
            answers=answers,
            hooks=self.hooks,
        )

    @property
    def snapshot(self) -> Snapshot:
        """The tools of this moment."""
        return self.registry.snapshot()

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        attended: bool = True,
        session: str | None = "session",
        inviting: str | None = None,
        principal: str | None = None,
        bounds: Bounds | None = None,
        interrupt: InterruptToken | None = None,
        timeout: float | None = None,
        id: str | None = None,
        execution: str = "execution",
        entry: str = "test",
        declared: DeclaredCall | None = None,
        by_model: bool = False,
    ) -> Call:
        """A call of `name`, with a fresh id, in one session, within the widest bounds."""
        return Call(
            id=id or f"{self._owner}-call-{next(self._ids)}",
            name=name,
            arguments={} if arguments is None else arguments,
            execution=Execution(
                id=execution,
                entry=entry,
                bounds=bounds or whole(SideEffectLevel.MUTATING),
                attended=attended,
                environment=self.environment,
                session_id=session,
                inviting_session=inviting,
                principal=principal,
                by_model=by_model,
            ),
            interrupt=interrupt,
            timeout=timeout,
            declared=declared,
        )

    async def invoke(self, call: Call) -> ToolResult:
        """Make `call` on the tools of this moment. Raises `LookupError` if it is suspended."""
        result = await self.invoker.invoke(call, self.snapshot)
        if isinstance(result, Suspended):
            raise LookupError(f"the call waits under {result.ticket}")
        return result

    async def suspend(self, call: Call) -> Suspended:
        """Make `call`, which has to be suspended. Raises `LookupError` for a result."""
        result = await self.invoker.invoke(call, self.snapshot)
        if isinstance(result, ToolResult):
            raise LookupError(f"the call was not suspended: {result.text}")
        return result

    def leave_open(self, call: Call) -> None:
        """Have `call` be one that may have taken effect, and nobody knows."""
        execution = call.execution
        self.unknowns.open(
            OpenUnknown(execution.id, call.id, scope_of(execution), call.name, self.clock())
        )

    def close(self) -> None:
        """Close the state database. Idempotent."""
        self.state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
