"""A file that a person or a stranger wrote, read once: regular, bounded, UTF-8, or told why not."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from lockgate.errors import ConfigError, Problem

MAX_BYTES: Final = 256 * 1024
"""Size of a file unless its reader says otherwise: a YAML parser in Python takes a second for it.
"""


def read_file(path: Path, *, limit: int = MAX_BYTES) -> bytes | None:
    """The bytes of a regular file, read once; None when there is none. Never waits for a writer.

    Raises `ConfigError` for a file that can not be read, is not a file, or is over `limit` bytes.
    """
    try:
        # Without O_NONBLOCK a FIFO would wait for a writer that never comes.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        if path.is_symlink():
            raise ConfigError(Problem("is a link to nothing", file=path)) from None
        return None
    except NotADirectoryError:
        return None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a usable path"
        raise ConfigError(Problem(f"can not be read: {reason}", file=path)) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ConfigError(Problem("is not a regular file", file=path))
    with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise ConfigError(Problem(f"can not be read: {error.strerror}", file=path)) from None
    if len(data) > limit:
        raise ConfigError(Problem(f"is over {limit // 1024} KiB", file=path))
    return data


def text_of(data: bytes, file: Path) -> str:
    """The text of a file in UTF-8, a byte order mark taken off. Raises `ConfigError` with its place
    for anything else."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigError(Problem("is UTF-16", file=file, hint="save it as UTF-8"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise ConfigError(
            Problem("is not UTF-8", file=file, line=line, column=column, hint="save it as UTF-8")
        ) from None
