"""Asking the person at the terminal: no is the default, and everything unclear means no (S0-09)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from lockgate.bridges.question import (
    MIN_WIDTH,
    has_secrets,
    render_question,
    render_summary,
    row,
)
from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.bridges.voice import Voice
from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope
from lockgate.showing import folded, quoted, visible

_NO: Final = re.compile(r"no?\b[\s,.:;-]*(.*)", re.IGNORECASE | re.DOTALL)
_MAX_WIDTH: Final = 100
_MAX_NOTE: Final = 1_000


class TerminalApprover:
    """An approver that asks on a terminal, one question at a time.

    Answers are `no` (the default; what follows it is told to the model), `once` and, where there is
    a session, `session`; `reveal` shows masked values and asks again. End of input, Ctrl+C, an
    empty line and any other word mean no, as does a terminal too narrow to show a question. With no
    terminal to ask on it passes. A question that is cancelled is withdrawn, and the terminal left
    as it was found.
    """

    name = "terminal"
    scopes = frozenset({Scope.ONCE, Scope.SESSION})

    def __init__(self, device: Path | None = None, voice: Voice | None = None) -> None:
        """`device` is the terminal to ask on; by default the one the program was started from.

        `voice` is what other lines are said with on that terminal: it keeps them until the answer.
        """
        self._device = device
        self._voice = voice or Voice()

    async def __call__(self, question: Question) -> Reply:
        """Ask, and wait for as long as it takes; the caller bounds it. Raises nothing."""
        async with self._voice.asking():
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
            text += _choices(question, width, revealable=revealable)
            summary = render_summary(question, text.count("\n"), width)
            await terminal.show(f"\n{text}{summary}")
            typed = await terminal.ask("answer [no]: ", reminder=summary)
            if not revealable or typed is None or typed.casefold() not in ("r", "reveal"):
                break
            reveal = True
        answer, remark = _understood(typed, question)
        if remark:
            begin = "\n" if typed is None else ""  # nothing has ended the line of the prompt
            await terminal.show(begin + "\n".join(folded(remark, width)) + "\n")
        return answer


def _choices(question: Question, width: int, *, revealable: bool) -> str:
    lines = [
        "answers",
        *_choice("n, no", "do not call it (default); words after it are told to the model", width),
        *_choice("o, once", "make this call, this time", width),
    ]
    if question.session_id is not None:
        what = "exactly this call" if question.destructive else "every call of this tool"
        lines += _choice("s, session", f"{what}, until the session ends", width)
    if revealable:
        lines += _choice("r, reveal", "show the masked values and ask again", width)
    return "\n".join(lines) + "\n"


def _choice(words: str, meaning: str, width: int) -> list[str]:
    return row(f"  {words}", meaning, width, column=14)


def _understood(typed: str | None, question: Question) -> tuple[Answer, str]:
    """What a line means, and what is said to the person about it."""
    name = TerminalApprover.name
    if typed is None:
        return Answer(False, name), "no"
    word = typed.casefold()
    if word in ("o", "once"):
        return Answer(True, name), ""
    if word in ("s", "session") and question.session_id is not None:
        return Answer(True, name, Scope.SESSION), ""
    refusal = _NO.fullmatch(typed)
    if refusal is not None:
        return Answer(False, name, note=visible(refusal[1][:_MAX_NOTE])), ""
    return Answer(False, name), f"{quoted(typed[:40])} is none of the answers: no" if typed else ""
