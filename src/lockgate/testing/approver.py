"""An approver that answers from a script and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope


class ScriptedApprover:
    """Gives its replies in order, one for each question, then none: nobody is there any more.

    A scripted `Exception` is raised instead of returned. With `hold`, a question is only answered
    after `release` was called, or never: for time limits and cancellation.
    """

    def __init__(
        self,
        replies: Iterable[Reply | Exception] = (),
        *,
        name: str = "scripted",
        scopes: Iterable[Scope] = (Scope.ONCE, Scope.SESSION),
        hold: bool = False,
    ) -> None:
        self._replies = list(replies)
        self._name = name
        self._scopes = frozenset(scopes)
        self._released = asyncio.Event()
        if not hold:
            self._released.set()
        self.questions: list[Question] = []
        """Every question that was asked, in order."""
        self.asked = asyncio.Event()
        """Set once the first question has arrived."""

    @classmethod
    def always(
        cls, approved: bool, *, scope: Scope = Scope.ONCE, times: int = 100
    ) -> ScriptedApprover:
        """One that says the same to the next `times` questions."""
        return cls([Answer(approved, "scripted", scope)] * times)

    @property
    def name(self) -> str:
        return self._name

    @property
    def scopes(self) -> frozenset[Scope]:
        return self._scopes

    def release(self) -> None:
        """Let held questions be answered."""
        self._released.set()

    async def __call__(self, question: Question) -> Reply:
        """The next reply of the script; `PASS` once it is at its end."""
        self.questions.append(question)
        self.asked.set()
        await self._released.wait()
        if not self._replies:
            return PASS
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def __repr__(self) -> str:
        asked, left = len(self.questions), len(self._replies)
        return f"<ScriptedApprover {self._name}: {asked} asked, {left} left>"
