"""Opening a gate for a command: configuration, a word on progress, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from lockgate.app.build import Surroundings
from lockgate.app.build import open as open_gate
from lockgate.app.entries import Entry
from lockgate.app.gate import Gate
from lockgate.app.narrowed import for_servers, for_tool
from lockgate.bridges.voice import Voice
from lockgate.cli.options import find_layers, short
from lockgate.settings.acceptance import AcceptedFiles, NotAccepted
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers
from lockgate.settings.loading import load
from lockgate.showing import visible, visible_lines

PROGRESS_AFTER = 1.0
"""Seconds after which a command that still works says so."""

ASKED_ABOUT = 20
"""Things of a project that have to be accepted at most: the configuration, the pins, and each path
of definitions."""

MAX_TOLD = 3
"""Rules and offers without a tool that are told one by one."""


@asynccontextmanager
async def opened(
    config: Path | None,
    *,
    tolerant: bool = False,
    attended: bool | None = None,
    for_call: str | None = None,
    servers: Collection[str] | None = None,
    before: Callable[[Config], object] | None = None,
    tell: bool = True,
    recall: bool = False,
    voice: Voice | None = None,
) -> AsyncGenerator[Gate]:
    """The gate of a command.

    A project's file that is not accepted yet is asked about on a terminal, and refused without one.
    While servers start, a terminal is told so after a second. With `for_call`, the name of a tool,
    no server is started that its call does not need, if the name says its server; with `recall`,
    none that is known from the last time; with `servers`, none but those. `before` sees the
    configuration before anything is started, and may raise. Unless `tell` is off, tools are told
    that are not what was pinned, and rules and offers that name no tool there is. While a person is
    asked, what the program logs or says with `voice` waits for the answer.
    """
    voice = voice or Voice()
    settings = settled_config(find_layers(config))
    if for_call is not None:
        settings = for_tool(settings, for_call, promises=not tolerant)
    if servers is not None:
        settings = for_servers(settings, servers)
    if before is not None:
        before(settings)
    names = ", ".join(server.name for server in settings.servers)
    around = Surroundings(voice=voice, reread=lambda: load(find_layers(config), os.environ))
    gate = open_gate(
        settings,
        tolerant=tolerant,
        recall=recall,
        attended=attended,
        entry=Entry.CLI,
        surroundings=around,
    )
    with _logging(voice):
        async with AsyncExitStack() as stack:
            with Progress(f"starting {names} ..."):
                opened = await stack.enter_async_context(gate)
            if tell:
                _tell_changed(opened)
                _tell_unmatched(opened)
            yield opened


@contextmanager
def _logging(voice: Voice) -> Generator[None]:
    """Within the block the program's log is said with `voice`, harmless on a terminal."""
    handler = _Told(voice)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


class _Told(logging.Handler):
    """Says a warning on one line, what follows its first one indented: it begins no other line."""

    def __init__(self, voice: Voice) -> None:
        super().__init__(logging.WARNING)
        self._voice = voice

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):  # nobody hears it any more
            self._voice.say(visible_lines(self.format(record)).replace("\n", "\n  "))


def _tell_changed(gate: Gate) -> None:
    """One line for each server with tools that are not what was pinned."""
    for status in gate.mcp.statuses if gate.mcp is not None else ():
        if status.change is not None:
            click.echo(f"warning: {status.change}", err=True)


def _tell_unmatched(gate: Gate) -> None:
    """One line for each of the first few, so that a slip in a deny rule does not stay unseen."""
    found = gate.unmatched
    for finding in found[:MAX_TOLD]:
        hint = f"; {visible(finding.hint)}" if finding.hint else ""
        click.echo(f"warning: {visible(finding.text)}{hint}", err=True)
    if len(found) > MAX_TOLD:
        more = len(found) - MAX_TOLD
        click.echo(f"warning: {more} more of that kind, see: lockgate doctor", err=True)


def settled_config(layers: Layers) -> Config:
    """The configuration, once the project's files are accepted: asked about on a terminal (B-13).

    The configuration first, then its pins, then the definitions that it names.
    """
    for _ in range(ASKED_ABOUT):
        try:
            return load(layers, os.environ)
        except NotAccepted as error:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            waiting = error.pending
            click.echo(f"{visible(short(waiting.path))} is not accepted yet.", err=True)
            for line in waiting.summary:
                click.echo(f"  {line}", err=True)
            if not click.confirm("Accept it and go on?", default=False, err=True):
                raise
            AcceptedFiles(layers.accepted_dir).accept_all(waiting)
    return load(layers, os.environ)


class Progress:
    """Say `text` on the terminal if the block takes over a second; nothing anywhere else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PROGRESS_AFTER, self._say)

    def _say(self) -> None:
        click.echo(self._text, err=True)

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command's work on a loop of its own and return its exit code.

    SIGTERM, SIGHUP and SIGQUIT cancel it, so that everything is closed before the program ends, and
    a terminal it asks on left as it was; the exit code is then 128 plus the signal's number, as a
    shell counts. Ctrl+C raises KeyboardInterrupt.
    """
    got: list[int] = []

    async def main() -> int:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            got.append(number)
            if task is not None:
                task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            loop.add_signal_handler(number, end, number)
        return await work()

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if got:
            return 128 + got[0]
        raise
