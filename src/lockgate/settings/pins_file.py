"""The file of pins beside a project's configuration: read, accepted and written like that one.

A file that was found counts only once the person has accepted its content: whoever can write it
could have a changed definition pass for a reviewed one (B-13). What our own commands write is
accepted by being written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, NotAccepted, Pending, digest_of
from lockgate.settings.atomic import write_atomically
from lockgate.settings.filelock import locked
from lockgate.settings.layers import Layers
from lockgate.settings.pins import Pins
from lockgate.settings.pins_text import MAX_BYTES, read_pins, write_pins
from lockgate.settings.telling import word
from lockgate.textfile import read_file

_MODE: Final = 0o666
_NAMED: Final = 12
"""Tools of one server that are named before they are only counted."""


def load_pins(layers: Layers) -> Pins:
    """The pins of a project; none if there is no file.

    Raises `NotAccepted` for a file that was found and whose content is not accepted, and
    `ConfigError` for one that can not be used.
    """
    data = read_file(layers.pins, limit=MAX_BYTES)
    if data is None:
        return Pins()
    pins = read_pins(data, layers.pins)
    if not layers.named:
        waiting = _pending(layers, data, pins)
        if waiting.acceptance is not Acceptance.ACCEPTED:
            raise NotAccepted(waiting)
    return pins


def pending_pins(layers: Layers) -> Pending | None:
    """What the file of pins would do, accepted or not; None if there is none.

    Raises `ConfigError` for one that can not be used.
    """
    data = read_file(layers.pins, limit=MAX_BYTES)
    return None if data is None else _pending(layers, data, read_pins(data, layers.pins))


def _pending(layers: Layers, data: bytes, pins: Pins) -> Pending:
    state = AcceptedFiles(layers.accepted_dir).look_up(layers.pins, data)
    return Pending(layers.pins, digest_of(data), state, (), tuple(_told(pins)), data=data)


def _told(pins: Pins) -> Iterator[str]:
    for server, tools in pins.servers.items():
        names = [word(name) for name in tools]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        listed = f"{', '.join(names[:_NAMED])}{more}"
        yield f"take as reviewed {len(names)} tool(s) of {word(server)}: {listed}"


@dataclass(frozen=True, slots=True)
class PinsWritten:
    """What came of a change to the file of pins."""

    path: Path
    changed: bool
    created: bool
    before: bytes | None = field(repr=False)
    """The content that was there; None for no file."""


def change_pins(layers: Layers, change: Callable[[Pins], Pins]) -> PinsWritten:
    """Write the project's pins as `change` makes them of what is there.

    Raises `ConfigError`, and writes nothing, for a file that can not be used, was not accepted, or
    is changed by another program meanwhile.
    """
    path = layers.pins
    with locked(path):
        before = read_file(path, limit=MAX_BYTES)
        old = load_pins(layers)
        data = write_pins(change(old))
        if data == before:
            return PinsWritten(path, False, False, before)
        if len(data) > MAX_BYTES:
            raise ConfigError(Problem(f"would be over {MAX_BYTES // 1024} KiB", file=path))
        if read_file(path, limit=MAX_BYTES) != before:
            message = "was changed by another program at the same time"
            raise ConfigError(Problem(message, file=path, hint="run the command again"))
        _put(layers, data, accept=before is None or _is_accepted(layers, before))
        return PinsWritten(path, True, before is None, before)


def undo(layers: Layers, written: PinsWritten) -> None:
    """Put back what was there before a change. Raises `ConfigError`."""
    if not written.changed:
        return
    with locked(written.path):
        if written.before is None:
            written.path.unlink(missing_ok=True)
        else:
            now = read_file(written.path, limit=MAX_BYTES)
            accept = now is not None and _is_accepted(layers, now)
            _put(layers, written.before, accept=accept)


def _put(layers: Layers, data: bytes, *, accept: bool) -> None:
    write_atomically(layers.pins, data, mode=_MODE)
    if accept:
        AcceptedFiles(layers.accepted_dir).accept(layers.pins, digest_of(data))


def _is_accepted(layers: Layers, data: bytes) -> bool:
    known = AcceptedFiles(layers.accepted_dir).look_up(layers.pins, data)
    return known is Acceptance.ACCEPTED
