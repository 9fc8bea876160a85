"""A server's address on a terminal: shown whole, opened after a yes, never looked at by us.

2026-07-28 and 2025-11-25, client/elicitation, URL mode: what is entered there does not pass here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from lockgate.bridges.question import row
from lockgate.bridges.stranger import heading, labelled, their_words, who_asks
from lockgate.bridges.tty import Terminal
from lockgate.bridges.visit import Visit
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.showing import folded, quoted, visible
from lockgate.stores.beside import beside

Browse: TypeAlias = Callable[[str], bool]
"""Opens an address in the person's browser; whether that began. May wait for its program."""

_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no", "/decline"})
_COLUMN: Final = 14


def address_lines(
    asked: Elicitation, visit: Visit, occasion: Occasion, width: int
) -> Iterator[str]:
    """The question: who asks, what for, and where it leads."""
    yield heading("a server asks you to open an address", width)
    yield from who_asks(occasion, width)
    yield from their_words(asked.message, width)
    yield from labelled("address", visit.address, width)
    yield from row("HOST", visit.host, width)
    if visit.owner is not None:
        yield from row("belongs to", visit.owner, width)
    for warning in visit.warnings:
        yield from row("CAREFUL", visible(warning), width)
    what = "what you enter there goes to that host, and nothing of it passes through here"
    yield from row("there", what, width)
    yield "answers"
    yield from row("  y, yes", "open it in your browser", width, _COLUMN)
    yield from row("  n, no", "do not, and tell the server so", width, _COLUMN)
    yield from row("  c, cancel", "leave it unanswered (default)", width, _COLUMN)


async def ask_to_open(
    terminal: Terminal,
    asked: Elicitation,
    visit: Visit,
    occasion: Occasion,
    browse: Browse | None,
    width: int,
) -> ElicitAnswer:
    """Ask, and have it opened by `browse` if the answer is yes; without one the person opens it.

    Raises OSError if the terminal is gone.

    Where the server waits for the answer, a yes is the answer. Else it is made again with the
    answer, so it waits until the person says that they are done there, or the server does.
    """
    lines = address_lines(asked, visit, occasion, width)
    summary = f"{visible(occasion.server)} wants {visit.host} opened\n"
    await terminal.show("\n" + "\n".join(lines) + f"\n{summary}")
    typed = await terminal.ask("open it [cancel]: ", reminder=summary)
    word = "" if typed is None else typed.casefold()
    if word in _NO:
        return ElicitAnswer(Action.DECLINE)
    if word not in _YES:
        if word not in ("", "c", "cancel", "/cancel"):
            told = f"{quoted(word[:40])} is none of the answers: it is left unanswered"
            await terminal.show("\n".join(folded(told, width)) + "\n")
        return ElicitAnswer(Action.CANCEL)
    opened = browse is not None and await beside(lambda: browse(visit.address), name="browser")
    how = "opened in your browser" if opened else "no browser was opened: open it yourself"
    # On a line of its own, unbroken, so that it can be copied.
    await terminal.show(f"\n{how}\n{visit.address}\n")
    if occasion.waits:
        return ElicitAnswer(Action.ACCEPT)
    return await _done(terminal, asked, occasion, width)


async def _done(
    terminal: Terminal, asked: Elicitation, occasion: Occasion, width: int
) -> ElicitAnswer:
    """Wait until it is over: by the person's word, or by the server's."""
    what = f"press Enter once you are done there, so that {visible(occasion.server)} goes on"
    await terminal.show("\n".join(folded(what, width)) + "\n")
    over = occasion.over(asked)
    loop = asyncio.get_running_loop()
    typing = loop.create_task(terminal.ask("done [Enter], or /cancel: "))
    saying = None if over is None else loop.create_task(over.wait())
    waited: list[asyncio.Task[Any]] = [typing] if saying is None else [typing, saying]
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not typing.done():
            await terminal.show("\nthe server says that it is over\n")
            return ElicitAnswer(Action.ACCEPT, finished=True)
        typed = typing.result()
        left = typed is None or typed.casefold() in ("c", "cancel", "/cancel")
        return ElicitAnswer(Action.CANCEL if left else Action.ACCEPT, finished=not left)
    finally:
        for task in waited:
            task.cancel()
        await asyncio.gather(*waited, return_exceptions=True)
