"""A server's form on a terminal: field by field, and shown in full before it is sent.

2026-07-28 and 2025-11-25, client/elicitation.

At each prompt the person can say no, leave, or go back. Nothing is sent that they have not seen as
it will be sent, and nothing that does not fit what was asked for (PB-054).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from lockgate.bridges.field import (
    Given,
    field_lines,
    prompt_of,
    remark_lines,
    understood_value,
    value_text,
)
from lockgate.bridges.question import row
from lockgate.bridges.secrecy import speaks_of_secret
from lockgate.bridges.stranger import heading, labelled, their_words, who_asks
from lockgate.bridges.tty import Terminal
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.form import Field, Form
from lockgate.showing import quoted, visible

_MAX_TRIES: Final = 50
"""Lines that one form takes beside one for each field; somebody who types more answers nothing."""
_BACK: Final = "/back"
_SAID: Final[Mapping[str, Action]] = {"/decline": Action.DECLINE, "/cancel": Action.CANCEL}

Judge = Callable[[Mapping[str, Any]], tuple[str, ...]]
"""Says what is wrong with all the values together, by the whole schema; one sentence each."""


class FormFilling:
    """One form on one terminal, from the first line to what comes of it."""

    def __init__(
        self,
        terminal: Terminal,
        asked: Elicitation,
        occasion: Occasion,
        judge: Judge,
        each: Judge,
        width: int,
    ) -> None:
        """`judge` is of all values together, `each` of one of them by itself."""
        self._terminal = terminal
        self._message = asked.message
        self._occasion = occasion
        self._server = visible(occasion.server)
        self._form = asked.form or Form()
        self._judge = judge
        self._each = each
        self._width = width
        self._given: dict[str, Given] = {}
        self._tries = 0

    async def answer(self) -> ElicitAnswer:
        """Ask, until the values are sent, or not. Raises OSError if the terminal is gone."""
        await self._show(self._introduction())
        fields, index = self._form.fields, 0
        while True:
            while index < len(fields):
                said = await self._field(index)
                if isinstance(said, Action):
                    return ElicitAnswer(said)
                index = max(index - 1, 0) if said is None else index + 1
            reviewed = await self._review()
            if not isinstance(reviewed, int):
                return reviewed
            index = len(fields)
            said = await self._field(reviewed)
            if isinstance(said, Action):
                return ElicitAnswer(said)

    def _introduction(self) -> Iterator[str]:
        width, fields = self._width, self._form.fields
        yield heading("a server asks you something", width)
        yield from who_asks(self._occasion, width)
        yield from their_words(self._message, width)
        if speaks_of_secret(self._message):
            what = "it speaks of a secret: servers must not have one entered in a form"
            yield from row("CAREFUL", what, width)
        required = sum(field.required for field in fields)
        wants = f"{len(fields)} value{'' if len(fields) == 1 else 's'}, {required} of them required"
        yield from row("wants", wants if fields else "a yes, and nothing to be filled in", width)
        ways = "/decline says no, /cancel or Ctrl+C leaves it unanswered, /back goes back"
        yield from row("any time", ways, width)
        yield from row("sent", "nothing, before you have seen all of it and said so", width)

    async def _field(self, index: int) -> Given | Action | None:
        """Ask for one value; None to go back to the one before."""
        field, fields = self._form.fields[index], self._form.fields
        remark = ""
        while True:
            title = f"{self._server} asks: {index + 1} of {len(fields)}"
            lines = [heading(title, self._width), *field_lines(field, self._width)]
            if remark:
                lines += remark_lines(remark, self._width)
            await self._show(iter(lines))
            typed = await self._line(prompt_of(field), f"{title}\n")
            if typed is None:
                return Action.CANCEL
            if (said := _SAID.get(typed)) is not None:
                return said
            if typed == _BACK:
                return None
            understood = understood_value(field, typed)
            if isinstance(understood, Given):
                wrong = self._wrong(field, understood)
                if not wrong:
                    self._given[field.name] = understood
                    return understood
                understood = wrong
            remark = understood

    def _wrong(self, field: Field, given: Given) -> str:
        """What the server's schema finds wrong with one value, such as by a pattern; else ""."""
        if given.left_out:
            return ""
        return visible("; ".join(self._each({field.name: given.value})))

    async def _review(self) -> ElicitAnswer | int:
        """Show what would be sent; the answer, or the index of a field to be changed."""
        fields = self._form.fields
        remarks: tuple[str, ...] = ()
        while True:
            values = self._values()
            wrong = tuple(self._faults(values))
            lines = [heading(f"what goes to {self._server}", self._width)]
            for number, field in enumerate(fields, 1):
                lines += labelled(f"{number}", self._entry(field), self._width)
            for remark in (*wrong, *remarks):
                lines += remark_lines(remark, self._width)
            lines.append("answers")
            if not wrong:
                lines += row("  send", f"send this to {self._server}", self._width, 14)
            if fields:
                numbers = "1" if len(fields) == 1 else f"1 to {len(fields)}"
                lines += row(f"  {numbers}", "change that value", self._width, 14)
            lines += row("  /decline", "say no; none of this is sent", self._width, 14)
            lines += row("  /cancel", "leave it unanswered", self._width, 14)
            await self._show(iter(lines))
            typed = await self._line("answer: ", f"what goes to {self._server}\n")
            if typed is None:
                return ElicitAnswer(Action.CANCEL)
            if (said := _SAID.get(typed)) is not None:
                return ElicitAnswer(said)
            if typed == "send" and not wrong:
                return ElicitAnswer(Action.ACCEPT, values)
            if typed == _BACK and fields:
                return len(fields) - 1
            if typed.isascii() and typed.isdecimal() and 0 < int(typed[:6]) <= len(fields):
                return int(typed[:6]) - 1
            remarks = (f"{quoted(typed[:40])} is none of the answers",) if typed else ()

    def _entry(self, field: Field) -> str:
        given = self._given.get(field.name)
        held = "is left out" if given is None or given.left_out else value_text(given.value)
        return f"{quoted(field.name)}: {held}"

    def _values(self) -> dict[str, Any]:
        return {name: given.value for name, given in self._given.items() if not given.left_out}

    def _faults(self, values: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with all of it: the fields by themselves, then the schema as a whole."""
        found = self._form.faults(values)
        for name, wrong in found.items():
            yield f"{quoted(name)} {wrong}"
        if not found:
            yield from map(visible, self._judge(values))

    async def _line(self, prompt: str, reminder: str) -> str | None:
        self._tries += 1
        if self._tries > _MAX_TRIES + len(self._form.fields):
            await self._terminal.show("\ntoo many lines for one form: nothing is sent\n")
            return None
        return await self._terminal.ask(prompt, reminder=reminder)

    async def _show(self, lines: Iterator[str]) -> None:
        await self._terminal.show("\n" + "\n".join(lines) + "\n")
