"""Writing a file so that a reader sees the old content or the new one, never a part."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from lockgate.errors import ConfigError, Problem


def write_atomically(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Replace the content of `path`, making its directory (0700) if it is missing.

    An existing file keeps its permissions; a new one gets `mode` less the umask. A link is written
    through. Raises `ConfigError` if the file can not be written; the old content is then untouched.
    """
    try:
        _write(path, data, mode)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(Problem(f"can not be written: {reason}", file=path)) from None


def _write(path: Path, data: bytes, mode: int) -> None:
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    # Made with its final permissions: a secret is never readable for a moment.
    created = mode if kept is None else kept & mode
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, created)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            temporary.chmod(kept)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
