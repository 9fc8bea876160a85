"""The file of logins: which there are, and, where no keyring keeps them, what they consist of.

It is the person's own (0600) and refused if others can read it. A change is written whole beside it
and put in its place, under a lock that all programs of this person take; a reader sees the old one
or the new one.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.client.oauth.store import Credentials, Place

FORMAT: Final = 1
MAX_BYTES: Final = 16 * 1024 * 1024
PATIENCE: Final = 10.0
"""Seconds to wait for another program; a change takes a few thousandths of one."""
_STEP: Final = 0.01

KeptIn = Literal["keyring", "file"]


class Login(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One login as it stands in the file. Its `repr` holds no token."""

    server: str
    resource: str
    kept_in: KeptIn
    id: str
    """What it is called in the keyring."""
    issuer: str | None = None
    scope: str | None = None
    expires_at: float | None = None
    renewable: bool = False
    """Whether there is a refresh token: an end is no end then."""
    obtained_at: float = 0.0
    wanted: str | None = None
    """Scopes that the server asked for and nobody granted."""
    query: str = ""
    """See `Place.query`."""
    has_tokens: bool = True
    """Else there is only a registration of the client, or what is left of a login."""
    ended: bool = False
    """See `Credentials.ended`."""
    credentials: Credentials | None = None
    """None where the keyring keeps them."""

    @property
    def place(self) -> Place:
        """Whose it is."""
        return Place(self.server, self.resource, self.query)

    def __repr__(self) -> str:
        return f"<Login of {self.server} with {self.issuer}, in the {self.kept_in}>"


def login_of(place: Place, id: str, kept_in: KeptIn, credentials: Credentials) -> Login:
    """What is written of `credentials`."""
    tokens = credentials.tokens
    return Login(
        server=place.server,
        resource=place.resource,
        query=place.query,
        kept_in=kept_in,
        id=id,
        issuer=None if tokens is None else tokens.issuer,
        scope=None if tokens is None else tokens.scope,
        expires_at=None if tokens is None else tokens.expires_at,
        renewable=tokens is not None and tokens.refresh_token is not None,
        obtained_at=0.0 if tokens is None else tokens.obtained_at,
        wanted=credentials.wanted,
        has_tokens=tokens is not None,
        ended=credentials.ended,
        credentials=credentials if kept_in == "file" else None,
    )


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    format: int
    logins: tuple[Login, ...] = ()


class _Head(msgspec.Struct, frozen=True):
    format: int


class CredentialsFile:
    """The file at one path; made, with its directory (0700), when something is kept."""

    def __init__(self, path: Path, *, new_id: Callable[[], str]) -> None:
        """`new_id` gives a word that is another one each time."""
        self.path = path
        self._new_id = new_id

    def read(self) -> tuple[Login, ...]:
        """Every login. Raises `ConfigError` for a file that can not be used."""
        try:
            # Not waiting for whoever writes, where it is a pipe.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unusable(f"can not be read: {_reason(error)}") from None
        try:
            self._check(os.fstat(descriptor))
            data = _content(descriptor)
        except OSError as error:
            raise self._unusable(f"can not be read: {_reason(error)}") from None
        finally:
            os.close(descriptor)
        return self._decoded(data)

    def change(self, change: Callable[[tuple[Login, ...]], tuple[Login, ...]]) -> None:
        """Replace the logins by what `change` makes of them, alone. Raises `ConfigError`.

        On the disk when this returns. `change` may raise: nothing is written then.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(f"can not be written: {_reason(error)}") from None
        with self._alone():
            data = msgspec.json.encode(_Document(FORMAT, change(self.read())))
            if len(data) > MAX_BYTES:  # written, it could not be read any more
                raise self._unusable("would be too large", "log out of servers you do not use")
            try:
                self._replace(data)
            except OSError as error:
                raise self._unusable(f"can not be written: {_reason(error)}") from None

    def discard(self) -> bool:
        """Remove the file, readable or not; whether it was there. Raises `ConfigError` for what is
        no file of this person, and where that can not be done."""
        try:
            with self._alone():
                found = self.path.stat()
                if not stat.S_ISREG(found.st_mode):
                    raise self._unusable("is no file")
                if found.st_uid != os.geteuid():
                    raise self._unusable("belongs to somebody else")
                self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unusable(f"can not be removed: {_reason(error)}") from None
        return True

    def lock_of(self, place: Place, *, login: bool) -> Path:
        """The file whose lock stands for work on one login."""
        import hashlib

        whose = "\n".join(filter(None, (place.server, place.resource, place.query)))
        digest = hashlib.sha256(whose.encode()).hexdigest()[:24]
        folder = self.path.with_name(f"{self.path.stem}.locks")
        return folder / f"{digest}{'-login' if login else ''}.lock"

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise self._unusable("is no file")
        if found.st_uid != os.geteuid():
            hint = "nothing is taken from it; remove it, or have it given to you"
            raise self._unusable("belongs to somebody else", hint)
        if found.st_mode & 0o077:
            hint = (
                f"run: chmod 600 {self.path}; and log in anew where it matters, "
                "for others may have read it"
            )
            raise self._unusable("can be read by others, and holds logins", hint)

    def _decoded(self, data: bytes) -> tuple[Login, ...]:
        damaged = "is damaged: the logins in it can not be read"
        hint = f"remove it, and log in anew: rm {self.path}"
        if len(data) > MAX_BYTES:
            raise self._unusable(damaged, hint)
        try:
            head = msgspec.json.decode(data, type=_Head)
            if head.format == FORMAT:
                return msgspec.json.decode(data, type=_Document).logins
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._unusable(damaged, hint) from None
        what = f"was written by another version of lockgate (format {head.format})"
        raise self._unusable(what, "use that version, or remove the file and log in anew")

    @contextmanager
    def _alone(self) -> Generator[None]:
        lock = self.path.with_name(f"{self.path.stem}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(f"can not be written: {_reason(error)}") from None
        try:
            for _ in range(int(PATIENCE / _STEP)):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(_STEP)
                except OSError:
                    break  # a file system without locks: the last change counts there
                else:
                    break
            else:
                raise self._unusable("is being changed by another program", "try again")
            yield
        finally:
            os.close(descriptor)

    def _replace(self, data: bytes) -> None:
        """Put `data` in its place at once, and on the disk. Raises OSError."""
        path = self.path.resolve()
        for left in path.parent.glob(f".{path.name}.*.tmp"):
            left.unlink(
                missing_ok=True
            )  # of a program that was ended while it wrote: it has tokens
        fresh = path.with_name(f".{path.name}.{self._new_id()}.tmp")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                os.fchmod(descriptor, 0o600)  # whatever the umask says
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        _sync(path.parent)

    def _unusable(self, what: str, hint: str | None = None) -> ConfigError:
        return ConfigError(Problem(f"the file of logins {what}", file=self.path, hint=hint))


def _content(descriptor: int) -> bytes:
    """At most one byte more than may be."""
    data = bytearray()
    while len(data) <= MAX_BYTES and (piece := os.read(descriptor, 1 << 20)):
        data += piece
    return bytes(data)


def _sync(folder: Path) -> None:
    """The new name too, where the file system does that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
