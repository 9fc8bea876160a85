"""One question, one answer: what an approver is asked and what it may say.

An approver is one async callable. "Pass it on" and "later" are values it returns; nobody answered
means no (S0-09). An approver that raises, or overruns its time, has said no.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast

import msgspec

from lockgate.decision import Reason
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_Asks = TypeVar("_Asks")


class Scope(enum.Enum):
    """How far one answer reaches."""

    ONCE = "once"
    """This call."""
    SESSION = "session"
    """A non-destructive tool: the tool. A destructive one: this exact call (same digest)."""
    ALWAYS = "always"
    """Calls with exactly these arguments, in attended runs, while the definition stays as it is: an
    allow rule in the person's own answers."""
    READ_ONLY = "read-only"
    """This call; and from the next start on the tool counts as one that only reads, while its
    definition stays as it is: a verdict in the person's own answers."""
    ADDITIVE = "additive"
    """This call; and from the next start on the tool counts as one that can not destroy, likewise.
    """


LASTING: Final = frozenset({Scope.ALWAYS, Scope.READ_ONLY, Scope.ADDITIVE})
"""Answers that are written down for good. Only a yes has such a scope."""


class Question(msgspec.Struct, frozen=True):
    """Everything a person needs to answer for a call."""

    call_id: str
    tool: str
    """Registered name."""
    origin: Origin
    level: SideEffectLevel
    destructive: bool
    arguments: Mapping[str, Any]
    """In full. Whoever shows them makes control characters visible and masks secrets."""
    digest: str
    """Over the tool's fingerprint and the exact arguments; what is approved is what runs (B-01)."""
    reasons: tuple[Reason, ...]
    """Why it is asked."""
    execution_id: str
    session_id: str | None
    principal: str | None
    resolved: Mapping[str, str] = _NOTHING
    """Paths among the arguments, where the real one is another than what is written: by argument,
    several in one line each. What is approved is this one."""
    always: str | None = None
    """The rule that ALWAYS would write, which holds no secret; None: ALWAYS is not offered."""
    agent: str | None = None
    """The sub-agent, skill or hook that asks (`Execution.agent`); None: the agent itself."""
    judgeable: bool = False
    """Whether READ_ONLY and ADDITIVE are offered: a word about the tool can be kept."""

    def offers(self, scope: Scope) -> bool:
        """Whether an answer to this question may reach so far."""
        match scope:
            case Scope.ONCE:
                return True
            case Scope.SESSION:
                return self.session_id is not None
            case Scope.ALWAYS:
                return self.always is not None
            case Scope.READ_ONLY:
                return self.judgeable and self.level is not SideEffectLevel.READ_ONLY
            case Scope.ADDITIVE:
                return self.judgeable and self.destructive


class Answer(msgspec.Struct, frozen=True):
    """Yes or no, by whom, and how far it reaches."""

    approved: bool
    approver: str
    """Which approver answered: `terminal`, `rule`, `grant`, ..."""
    scope: Scope = Scope.ONCE
    note: str = ""
    """What the person said with it; shown to the model on a no."""


class Pass(enum.Enum):
    """The next approver is asked."""

    PASS = "pass"  # noqa: S105 - a word, not a password


PASS: Final = Pass.PASS


class Later(msgspec.Struct, frozen=True):
    """The answer will come elsewhere: the call is suspended under a ticket."""

    expires: float | None = None
    """Unix time after which the ticket is answered no; None leaves it to the ticket store."""


Reply: TypeAlias = Answer | Pass | Later


class AnswerBook(Protocol):
    """Where answers with a `LASTING` scope are written down, for this start and later ones."""

    def keep(self, question: Question, answer: Answer) -> None:
        """Write down what `answer`, a yes to `question`, says for good: all of it or nothing.

        Raises `LockgateError` if it can not; the person has then been told, and the answer counts
        once.
        """
        ...


class Approver(Protocol):
    """Whoever can answer."""

    @property
    def name(self) -> str:
        """Word for it in records and configuration."""
        ...

    @property
    def scopes(self) -> frozenset[Scope]:
        """The scopes it may grant; an answer with another one counts as ONCE."""
        ...

    async def __call__(self, question: Question) -> Reply: ...


class TakesTurns(ABC, Generic[_Asks]):
    """Whoever can put one question at a time, such as to the person at a terminal.

    The time for an answer begins with the turn, so none runs out before the question can be seen.
    """

    @abstractmethod
    def turn(self) -> AbstractAsyncContextManager[_Asks]:
        """Waits until nobody else asks there, and gives what to ask with, once.

        The wait is as long as the questions before need, each of which has its own time.
        """


def turn_of(asks: _Asks) -> AbstractAsyncContextManager[_Asks]:
    """The turn of whoever takes turns; of others, which ask at any time, themselves at once."""
    if isinstance(asks, TakesTurns):
        return cast("TakesTurns[_Asks]", asks).turn()
    return nullcontext(asks)
