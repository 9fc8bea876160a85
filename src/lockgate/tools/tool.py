"""The tool contract: one base class for local and remote tools alike (S3-01).

A subclass gives a definition, declares its traits, and implements `_run`. `execute` is final: it
takes a permit that only the road of a call can make, and is the one place where an exception
becomes an error result (S3-04). Cancellation passes.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, final

from lockgate.content import JSONObject
from lockgate.errors import Fate, Fault, PeerError
from lockgate.tools.context import ToolContext
from lockgate.tools.origin import Origin
from lockgate.tools.permit import Permit
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.subject import Subject
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What the model is shown of a tool, and where the tool comes from."""

    name: str
    """Registered name, `[A-Za-z0-9_-]{1,64}`."""
    description: str
    input_schema: JSONObject
    """JSON Schema of the arguments, exactly as its owner wrote it (S3-05)."""
    origin: Origin
    title: str | None = None
    output_schema: JSONObject | None = None
    category: str | None = None
    """A word for grouping in lists; decides nothing."""
    subjects: tuple[Subject, ...] = ()
    """The arguments that rules can speak of as `Tool(...)`, which means the first one. Tools of our
    own only: of a server's tool, rules name the parameters."""


class Declared(Protocol):
    """A declaration, as decisions read it: of a `Tool`, or what the registry has read of one."""

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> ToolDefinition: ...
    @property
    def side_effect_level(self) -> SideEffectLevel: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def is_destructive(self) -> bool: ...
    @property
    def is_idempotent(self) -> bool: ...


class Tool(abc.ABC):
    """Something an agent can call. Traits default to the worst case (S0-02).

    A declaration holds for the life of the tool: it is read once, when the tool is registered.
    """

    _FINAL: ClassVar[frozenset[str]] = frozenset(
        {"name", "is_read_only", "is_destructive", "is_idempotent", "execute"}
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a subclass that redefines what is derived or final (S0-03)."""
        super().__init_subclass__(**kwargs)
        for name in Tool._FINAL & cls.__dict__.keys():
            raise TypeError(f"{cls.__name__}.{name} is derived by Tool and can not be overridden")

    @property
    @abc.abstractmethod
    def definition(self) -> ToolDefinition:
        """The definition; the same object for the life of the tool."""

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return SideEffectLevel.MUTATING

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        """Declared here, read through `is_destructive`."""
        return DestructiveBehavior.DESTRUCTIVE

    @property
    def idempotency_behavior(self) -> IdempotencyBehavior:
        """Declared here, read through `is_idempotent`."""
        return IdempotencyBehavior.NON_IDEMPOTENT

    @property
    def concurrency_behavior(self) -> ConcurrencyBehavior:
        return ConcurrencyBehavior.SEQUENTIAL

    @property
    def interrupt_behavior(self) -> InterruptBehavior:
        return InterruptBehavior.NON_INTERRUPTIBLE

    @property
    def lane(self) -> str:
        """The lane that a SEQUENTIAL tool holds while it runs; by default its own name."""
        return self.name

    @final
    @property
    def name(self) -> str:
        return self.definition.name

    @final
    @property
    def is_read_only(self) -> bool:
        return self.side_effect_level is SideEffectLevel.READ_ONLY

    @final
    @property
    def is_destructive(self) -> bool:
        """MUTATING and DESTRUCTIVE. Under READ_ONLY the second trait is not even read (S0-04)."""
        return (
            not self.is_read_only and self.destructive_behavior is DestructiveBehavior.DESTRUCTIVE
        )

    @final
    @property
    def is_idempotent(self) -> bool:
        """MUTATING and IDEMPOTENT. Under READ_ONLY the second trait is not even read (S0-04)."""
        return not self.is_read_only and self.idempotency_behavior is IdempotencyBehavior.IDEMPOTENT

    @abc.abstractmethod
    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        """Do the work. May raise anything; a bare result means its fate is ANSWERED."""

    @final
    async def execute(self, arguments: Mapping[str, Any], permit: Permit) -> Outcome:
        """Run the tool under a permit. Never raises, cancellation excepted (S3-04)."""
        try:
            done = await self._run(arguments, permit.context)
        except PeerError as error:
            return Outcome(_peer_failure(error), error.fate, error.final)
        except Exception as error:  # noqa: BLE001 - the one place: a failure is a result
            text = f"{type(error).__name__}: {_text_of(error)}"
            return Outcome(ToolResult.error(ErrorKind.TOOL_ERROR, text, reason="raised"))
        if isinstance(done, Outcome):
            return done
        if isinstance(done, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance] - a tool without a type checker
            return Outcome(done)
        text = f"the tool ran, but returned a {type(done).__name__} instead of a result"
        return Outcome(ToolResult.error(ErrorKind.TOOL_ERROR, text, reason="no_result"))

    def __repr__(self) -> str:
        traits = "READ_ONLY" if self.is_read_only else "MUTATING"
        if not self.is_read_only:
            traits += " DESTRUCTIVE" if self.is_destructive else " NON_DESTRUCTIVE"
            traits += " IDEMPOTENT" if self.is_idempotent else " NON_IDEMPOTENT"
        else:
            traits += " NON_DESTRUCTIVE"
        return f"<{type(self).__name__} {self.name} {traits}>"


_KIND_OF_FAULT: Mapping[Fault, ErrorKind] = {
    Fault.NOT_CONNECTED: ErrorKind.NOT_CONNECTED,
    Fault.NOT_STARTED: ErrorKind.NOT_CONNECTED,
    Fault.TIMEOUT: ErrorKind.TIMEOUT,
    Fault.UNAUTHORIZED: ErrorKind.UNAUTHORIZED,
    Fault.RATE_LIMITED: ErrorKind.RATE_LIMITED,
    Fault.CLOSED: ErrorKind.NOT_CONNECTED,
}
"""Faults that have a kind of their own; the others are the tool's error. An unknown fate is told
as OUTCOME_UNKNOWN by `calls.replay`, never as TIMEOUT."""


def _text_of(error: Exception) -> str:
    """What an exception says; one that fails at that too says nothing."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - it is a stranger's code as much as the tool itself
        return "(no message)"


def _peer_failure(error: PeerError) -> ToolResult:
    kind = _KIND_OF_FAULT.get(error.fault, ErrorKind.TOOL_ERROR)
    if error.fate is Fate.UNKNOWN:
        kind = ErrorKind.OUTCOME_UNKNOWN
    return ToolResult.error(kind, str(error), reason=error.fault.value)
