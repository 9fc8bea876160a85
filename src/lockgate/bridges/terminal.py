"""Asking the person at the terminal: no is the default, and everything unclear means no (S0-09)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from lockgate.bridges.choices import choice_lines, understood
from lockgate.bridges.question import MIN_WIDTH, has_secrets, render_question, render_summary
from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.bridges.voice import Voice
from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope, TakesTurns
from lockgate.showing import folded

_MAX_WIDTH: Final = 100


class TerminalApprover(TakesTurns[Callable[[Question], Awaitable[Reply]]]):
    """An approver that asks on a terminal, one question at a time.

    Answers are `no` (the default; what follows it is told to the model), `once` and, where the
    question offers them, `session`, `always`, `read-only` and `additive`; `reveal` shows masked
    values and asks again. End of input, Ctrl+C, an empty line and any other word mean no, as does a
    terminal too narrow to show a question. With no terminal to ask on it passes. A question that is
    cancelled is withdrawn, and the terminal left as it was found.
    """

    name = "terminal"
    scopes = frozenset(Scope)

    def __init__(self, device: Path | None = None, voice: Voice | None = None) -> None:
        """`device` is the terminal to ask on; by default the one the program was started from.

        `voice` is what other lines are said with on that terminal: it keeps them until the answer.
        """
        self._device = device
        self._voice = voice or Voice()

    async def __call__(self, question: Question) -> Reply:
        """Ask, and wait for as long as it takes; the caller bounds it. Raises nothing."""
        async with self.turn() as put:
            return await put(question)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Callable[[Question], Awaitable[Reply]]]:
        async with self._voice.asking():
            yield self._put

    async def _put(self, question: Question) -> Reply:
        terminal = open_terminal(self._device)
        if terminal is None:
            return PASS
        try:
            return await self._ask(terminal, question)
        except OSError:  # the terminal went away in the middle: nobody answered
            return Answer(False, self.name, note="the terminal was closed")
        except asyncio.CancelledError:
            terminal.show_now("\n[the question is withdrawn]\n")
            raise
        finally:
            terminal.close()

    async def _ask(self, terminal: Terminal, question: Question) -> Answer:
        width = min(terminal.width, _MAX_WIDTH)
        if width < MIN_WIDTH:
            await terminal.show("\na call needs an answer, on a wider terminal\n")
            return Answer(False, self.name, note="the terminal is too narrow to show the question")
        reveal = False
        while True:
            revealable = not reveal and has_secrets(question)
            text = render_question(question, width, reveal=reveal)
            text += "\n".join(choice_lines(question, width, revealable=revealable)) + "\n"
            summary = render_summary(question, text.count("\n"), width)
            await terminal.show(f"\n{text}{summary}")
            typed = await terminal.ask("answer [no]: ", reminder=summary)
            if not revealable or typed is None or typed.casefold() not in ("r", "reveal"):
                break
            reveal = True
        answer, remark = understood(typed, question, self.name)
        if remark:
            await terminal.show("\n".join(folded(remark, width)) + "\n")
        return answer
