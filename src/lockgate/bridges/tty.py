"""The terminal of the person who started the program: a line of theirs, without blocking the loop.

Everything works on descriptors of our own, opened anew, so that nothing set here is seen by whoever
shares the standard streams. What is set on the terminal itself is put back, whatever happens.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
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

    async def ask(self, prompt: str, reminder: str = "") -> str | None:
        """Show `prompt` and wait for one line; None for end of input, Ctrl+C and Ctrl+\\.

        What was typed before the prompt is thrown away. Where the program was stopped meanwhile
        (Ctrl+Z), the prompt is shown again, after `reminder`. Raises OSError if the terminal is
        gone.
        """
        with (
            _Answerable(self.source) as setting,
            # Before the prompt: who sees it may press Ctrl+Z at once.
            _stoppable(setting, lambda: self.show_now(f"\n{reminder}{prompt}")),
        ):
            await self.show(prompt)
            typed = await self._line()
            if typed is None:  # nothing has ended the line of the prompt
                self.show_now("\n")
            return typed

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


class _Answerable:
    """Whole lines with echo; Ctrl+C and Ctrl+\\ are characters that end one. Discards typed-ahead.

    As signals they would end the program, when all the person means is no; and the second one
    would end it at once, with the terminal left as it is set here.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> _Answerable:
        try:
            self._before = termios.tcgetattr(self._descriptor)
            self._ours = _with_answers(self._descriptor, self._before)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._ours)
        except termios.error as error:
            raise OSError(*error.args) from error
        self._flush()
        return self

    def __exit__(self, *_: object) -> None:
        self.put_back()

    def put_back(self) -> None:
        """The settings of before."""
        with suppress(termios.error):  # it is gone, and its settings with it
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

    def set_again(self) -> None:
        """Those that a question needs."""
        with suppress(termios.error):
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._ours)
        self._flush()

    def _flush(self) -> None:
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)


def _with_answers(descriptor: int, before: list[Any]) -> list[Any]:
    ours: list[Any] = [*before[:6], list(before[6])]
    ours[0] |= termios.ICRNL
    ours[3] |= termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN
    none = bytes([os.fpathconf(descriptor, "PC_VDISABLE") & 0xFF])
    ours[6][termios.VINTR] = ours[6][termios.VQUIT] = none
    ours[6][termios.VEOL], ours[6][termios.VEOL2] = _INTERRUPT, _QUIT
    return ours


@contextmanager
def _stoppable(setting: _Answerable, ask_again: Callable[[], None]) -> Generator[None]:
    """Ctrl+Z stops the program with the terminal as it was: not every shell puts it right itself.

    Left alone where the program deals with that signal in its own way, or runs beside the main
    thread, where no signal can be caught.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
        yield
        return

    def stop() -> None:
        setting.put_back()
        os.kill(os.getpid(), signal.SIGSTOP)  # and here it goes on, when somebody wants it to
        setting.set_again()
        ask_again()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)


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
