"""Asking the person at the terminal: no is the default, and everything unclear means no (S0-09)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from lockgate.bridges.question import has_secrets, render_question
from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope
from lockgate.showing import quoted, visible

_NO: Final = re.compile(r"no?\b[\s,.:;-]*(.*)", re.IGNORECASE | re.DOTALL)
_MAX_WIDTH: Final = 100
_MAX_NOTE: Final = 1_000


class TerminalApprover:
    """An approver that asks on a terminal, one question at a time.

    Answers are `no` (the default; what follows it is told to the model), `once` and, where there is
    a session, `session`; `reveal` shows masked values and asks again. End of input, Ctrl+C, an
    empty line and any other word mean no. With no terminal to ask on it passes. A question that is
    cancelled is withdrawn, and the terminal left as it was found.
    """

    name = "terminal"
    scopes = frozenset({Scope.ONCE, Scope.SESSION})

    def __init__(self, device: Path | None = None) -> None:
        """`device` is the terminal to ask on; by default the one the program was started from."""
        self._device = device
        self._turn = asyncio.Lock()

    async def __call__(self, question: Question) -> Reply:
        """Ask, and wait for as long as it takes; the caller bounds it. Raises nothing."""
        async with self._turn:
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
        revealed = not has_secrets(question)
        text = render_question(question, width)
        while True:
            await terminal.show(f"\n{text}{_choices(question, revealable=not revealed)}")
            typed = await terminal.ask("answer [no]: ")
            if revealed or typed is None or typed.casefold() not in ("r", "reveal"):
                break
            revealed = True
            text = render_question(question, width, reveal=True)
        answer, remark = _understood(typed, question)
        if remark:
            await terminal.show(remark + "\n")
        return answer


def _choices(question: Question, *, revealable: bool) -> str:
    lines = [
        "answers",
        "  n, no       do not call it (default); words after it are told to the model",
        "  o, once     make this call, this time",
    ]
    if question.session_id is not None:
        what = "exactly this call" if question.destructive else "every call of this tool"
        lines.append(f"  s, session  {what}, until the session ends")
    if revealable:
        lines.append("  r, reveal   show the masked values and ask again")
    return "\n".join(lines) + "\n"


def _understood(typed: str | None, question: Question) -> tuple[Answer, str]:
    """What a line means, and what is said to the person about it."""
    name = TerminalApprover.name
    if typed is None:
        return Answer(False, name), "\nno"
    word = typed.casefold()
    if word in ("o", "once"):
        return Answer(True, name), ""
    if word in ("s", "session") and question.session_id is not None:
        return Answer(True, name, Scope.SESSION), ""
    refusal = _NO.fullmatch(typed)
    if refusal is not None:
        return Answer(False, name, note=visible(refusal[1][:_MAX_NOTE])), ""
    return Answer(False, name), f"{quoted(typed[:40])} is none of the answers: no" if typed else ""
