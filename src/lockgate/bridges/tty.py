"""The terminal of the person who started the program: a line of theirs, without blocking the loop.

Everything works on descriptors of our own, opened anew, so that nothing set here is seen by whoever
shares the standard streams. What is set on the terminal itself is put back, whatever happens.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

if sys.platform != "win32":  # where there is no such terminal, nobody is asked on one
    import termios

CONTROLLING: Final = Path("/dev/tty")
"""The terminal a process belongs to, whatever its streams are connected to."""

_INTERRUPT: Final = b"\x03"
_QUIT: Final = b"\x1c"
_MAX_LINE: Final = 4096


@dataclass(frozen=True, slots=True)
class Terminal:
    """Two open descriptors, often of one device. Close it."""

    source: int
    sink: int

    @property
    def width(self) -> int:
        """Columns, 80 if the terminal does not say."""
        try:
            return os.get_terminal_size(self.sink).columns or 80
        except OSError:
            return 80

    def close(self) -> None:
        """Close both; once."""
        os.close(self.source)
        if self.sink != self.source:
            os.close(self.sink)

    async def show(self, text: str) -> None:
        """Write all of `text`; waits while the terminal is stopped. OSError means it is gone."""
        data = memoryview(text.encode("utf-8", "backslashreplace"))
        while data:
            try:
                data = data[os.write(self.sink, data[:8192]) :]
            except BlockingIOError:
                await _ready(self.sink, writing=True)

    def show_now(self, text: str) -> None:
        """Write what can be written at once; for a last word while being cancelled."""
        with suppress(OSError):
            os.write(self.sink, text.encode("utf-8", "backslashreplace"))

    async def ask(self, prompt: str) -> str | None:
        """Show `prompt` and wait for one line; None for end of input, Ctrl+C and Ctrl+\\.

        What was typed before the prompt is thrown away. Raises OSError if the terminal is gone.
        """
        with _answerable(self.source):
            await self.show(prompt)
            return await self._line()

    async def _line(self) -> str | None:
        typed = b""
        while not typed.endswith(b"\n") and len(typed) < _MAX_LINE:
            try:
                part = os.read(self.source, _MAX_LINE)
            except BlockingIOError:
                await _ready(self.source, writing=False)
                continue
            typed += part
            if not part or _INTERRUPT in part or _QUIT in part:
                return None
        return typed.decode("utf-8", "replace").strip()


def open_terminal(device: Path | None = None) -> Terminal | None:
    """The terminal `device`; by default the controlling one, else that of the standard streams.

    None if there is none, or if the program runs in the background of it: nobody is looking then.
    """
    if sys.platform == "win32":
        return None
    if device is not None:
        return _opened(device, device)
    found = _opened(CONTROLLING, CONTROLLING)
    if found is None:
        try:
            found = _opened(Path(os.ttyname(0)), Path(os.ttyname(2)))
        except OSError:
            return None
    if found is not None and _in_background(found.source):
        found.close()
        return None
    return found


def _opened(source: Path, sink: Path) -> Terminal | None:
    try:
        reading = os.open(source, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        writing = (
            reading if sink == source else os.open(sink, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        )
    except OSError:
        os.close(reading)
        return None
    terminal = Terminal(reading, writing)
    if os.isatty(reading) and os.isatty(writing):
        return terminal
    terminal.close()
    return None


def _in_background(descriptor: int) -> bool:
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:  # not the controlling terminal: there is no background to be in
        return False


@contextmanager
def _answerable(descriptor: int) -> Generator[None]:
    """Whole lines with echo; Ctrl+C and Ctrl+\\ are characters that end one. Discards typed-ahead.

    As signals they would end the program, when all the person means is no; and the second one
    would end it at once, with the terminal left as it is set here.
    """
    try:
        before = termios.tcgetattr(descriptor)
        ours: list[Any] = [*before[:6], list(before[6])]
        ours[0] |= termios.ICRNL
        ours[3] |= termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN
        none = bytes([os.fpathconf(descriptor, "PC_VDISABLE") & 0xFF])
        ours[6][termios.VINTR] = ours[6][termios.VQUIT] = none
        ours[6][termios.VEOL], ours[6][termios.VEOL2] = _INTERRUPT, _QUIT
        termios.tcsetattr(descriptor, termios.TCSANOW, ours)
    except termios.error as error:
        raise OSError(*error.args) from error
    try:
        with suppress(termios.error):
            termios.tcflush(descriptor, termios.TCIFLUSH)
        yield
    finally:
        with suppress(termios.error):  # it is gone, and its settings with it
            termios.tcsetattr(descriptor, termios.TCSANOW, before)


async def _ready(descriptor: int, *, writing: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    add, remove = (
        (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    )

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    add(descriptor, wake)
    try:
        await ready
    finally:
        remove(descriptor)
