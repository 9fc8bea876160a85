"""Asking the person who typed a command, on their terminal; nobody else can answer."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from lockgate.bridges.tty import Terminal, open_terminal
from lockgate.errors import ConfigError, Problem


@contextmanager
def terminal() -> Generator[Terminal | None]:
    """The terminal the command was typed on; None where input or output goes elsewhere."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield None
        return
    found = open_terminal()
    try:
        yield found
    finally:
        if found is not None:
            found.close()


async def confirmed(question: str) -> bool:
    """Ask for a yes; anything else is a no. What was typed before the question is thrown away.

    Raises `ConfigError` where there is no terminal, and KeyboardInterrupt for Ctrl+C.
    """
    with terminal() as found:
        if found is None:
            hint = "say --yes if you have read it"
            raise ConfigError(Problem("there is no terminal to ask on", hint=hint))
        answer = await found.ask(f"{question} [y/N]: ")
    if answer is None:
        raise KeyboardInterrupt
    return answer.lower() in ("y", "yes")
