"""Asking the person at the terminal what a server wants to know (client/elicitation)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from lockgate.bridges.address import Browse, ask_to_open
from lockgate.bridges.form import FormFilling, Judge
from lockgate.bridges.question import MIN_WIDTH
from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.bridges.visit import read_visit
from lockgate.bridges.voice import Voice
from lockgate.mcp.client.services import Elicit, Occasion, Refusal
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.mcp.protocol.jsonrpc import INVALID_PARAMS
from lockgate.policy.approval import TakesTurns
from lockgate.schema.validate import SchemaError, compile_schema
from lockgate.showing import visible
from lockgate.web.location import LocationError

_MAX_WIDTH: Final = 100
_OF_ONE: Final = ("$schema", "$defs", "definitions", "properties")
"""What of a form's schema says something of its fields one by one."""


class TerminalElicitation(TakesTurns[Elicit]):
    """An `Elicit` that asks on a terminal, one question at a time, those of the gate among them.

    A form is filled in field by field and shown before it is sent; an address is shown whole and
    opened after a yes. End of input, Ctrl+C, a terminal that is gone or too narrow, and none at
    all mean cancel. A question that is cancelled is withdrawn, and the terminal left as it was.
    """

    def __init__(
        self, voice: Voice, browse: Browse | None = None, device: Path | None = None
    ) -> None:
        """`voice` has the floor of that terminal; `browse` opens an address; `device` is the
        terminal, by default the one that the program was started from."""
        self._voice = voice
        self._browse = browse
        self._device = device

    async def __call__(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        """Ask, and wait for as long as it takes; the caller bounds it. Raises `Refusal` for an
        address that nobody should open."""
        async with self.turn() as put:
            return await put(asked, occasion)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Elicit]:
        async with self._voice.asking():
            yield self._put

    async def _put(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        terminal = open_terminal(self._device)
        if terminal is None:
            return ElicitAnswer(Action.CANCEL)
        try:
            return await self._ask(terminal, asked, occasion)
        except OSError:  # the terminal went away in the middle: nobody answered
            return ElicitAnswer(Action.CANCEL)
        except asyncio.CancelledError:
            terminal.show_now("\n[the question is withdrawn]\n")
            raise
        finally:
            terminal.close()

    async def _ask(
        self, terminal: Terminal, asked: Elicitation, occasion: Occasion
    ) -> ElicitAnswer:
        width = min(terminal.width, _MAX_WIDTH)
        if width < MIN_WIDTH:
            await terminal.show("\na server asks you something: it needs a wider terminal\n")
            return ElicitAnswer(Action.CANCEL)
        if asked.url is None:
            schema = asked.schema or {}
            # Values that are not there yet are no fault of one that is.
            alone = {key: schema[key] for key in _OF_ONE if key in schema}
            judge, each = _judge(schema), _judge(alone)
            return await FormFilling(terminal, asked, occasion, judge, each, width).answer()
        try:
            visit = read_visit(asked.url)
        except LocationError as error:
            server = visible(occasion.server)
            await terminal.show(f"\n{server} wants an address opened; it is refused: {error}\n")
            raise Refusal(INVALID_PARAMS, f"the address is refused: {error}") from None
        return await ask_to_open(terminal, asked, visit, occasion, self._browse, width)


def _judge(schema: Mapping[str, Any]) -> Judge:
    """Judges by the whole schema; by nothing where it can not be compiled."""
    try:
        compiled = compile_schema(dict(schema))
    except SchemaError:
        return lambda values: ()
    return lambda values: tuple(map(str, compiled.violations(values)))
