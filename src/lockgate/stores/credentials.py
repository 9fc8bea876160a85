"""Where logins are kept: the keyring of the person's system, or one file (docs/decisions/0037).

What is known of a login without its tokens stands in the file either way, so that lists ask no
keyring. A login belongs to the server's name and its address together, and its tokens name who gave
them: under another address there is none.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.stores.beside import beside
from lockgate.stores.credentials_file import CredentialsFile, KeptIn, Login, login_of
from lockgate.stores.system_keyring import KeyringUnusable, SystemKeyring

_log: Final = logging.getLogger(__name__)

_NOTHING: Final = Credentials()
_STEP: Final = 0.02
_LONGEST_STEP: Final = 0.25
"""Seconds between two looks at a lock that another program holds."""


class KeptCredentials:
    """The `CredentialStore` of one person. Its `repr` holds no token."""

    def __init__(
        self,
        path: Path,
        *,
        new_id: Callable[[], str],
        keyring: SystemKeyring,
        kept_in: KeptIn | None = None,
        anew: bool = False,
        note: Callable[[str], None] = _log.warning,
    ) -> None:
        """`path` is the file. `kept_in` "keyring": there or nowhere; None: there where it can be
        used, else in the file, and what is in the file stays there unless it is `anew`, so that a
        program which nobody watches asks no keyring that could not be used when somebody did.
        `note` is told what a person should know: that one could not be used."""
        self._file = CredentialsFile(path, new_id=new_id)
        self._new_id = new_id
        self._keyring = keyring
        self._kept_in = kept_in
        self._anew = anew
        self._note = note

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def logins(self) -> tuple[Login, ...]:
        """What is known of every login, without its tokens where the keyring has them; asks no
        keyring. Raises `ConfigError`."""
        return self._file.read()

    def login(self, place: Place) -> Login | None:
        """The same of one."""
        return _of(self._file.read(), place)

    def discard(self) -> bool:
        """Remove the file where it can not be used; see `CredentialsFile.discard`. What a keyring
        holds of its logins stays there, and nothing names it any more."""
        return self._file.discard()

    async def load(self, place: Place) -> Credentials:
        """What is kept; empty if nothing is."""
        return await beside(lambda: self._load(place), name="logins")

    async def save(self, place: Place, credentials: Credentials) -> None:
        """Keep this in place of what was kept; empty credentials are removed."""
        await beside(lambda: self._save(place, credentials), name="logins")

    @asynccontextmanager
    async def exclusive(self, place: Place, *, login: bool = False) -> AsyncGenerator[None]:
        """Nobody else is inside for this place, in this process or another one.

        The system frees the lock when its holder ends, however it ends.
        """
        descriptor = self._opened(self._file.lock_of(place, login=login))
        try:
            step = _STEP
            while not _locked(descriptor):
                await asyncio.sleep(step)
                step = min(step * 1.5, _LONGEST_STEP)
            yield
        finally:
            os.close(descriptor)

    # -------------------------------------------------------------- in a thread

    def _load(self, place: Place) -> Credentials:
        login = self.login(place)
        if login is None:
            return _NOTHING
        if login.credentials is not None or login.kept_in == "file":
            return login.credentials or _NOTHING
        try:
            text = self._keyring.get(login.id)
        except KeyringUnusable as error:
            raise self._unusable(place, error) from None
        if text is None:  # forgotten there, by hand: a person's right
            return _NOTHING
        try:
            return msgspec.json.decode(text, type=Credentials)
        except msgspec.DecodeError:
            message = f"what the keyring has of {place.server} can not be read"
            hint = f"log in anew: lockgate mcp login {place.server}"
            raise ConfigError(Problem(message, hint=hint)) from None

    def _save(self, place: Place, credentials: Credentials) -> None:
        before = self.login(place)
        if credentials == _NOTHING:
            self._forget(place, before)
            return
        id = before.id if before is not None else self._new_id()
        # The keyring first: a program that ends in between leaves an entry that nothing names.
        kept_in: KeptIn = "file"
        if self._wants_keyring(before):
            kept_in = self._keep(place, id, credentials)
        login = login_of(place, id, kept_in, credentials)
        self._file.change(lambda logins: (*_others(logins, place), login))
        if before is not None and before.kept_in == "keyring" and kept_in == "file":
            self._forget_in_keyring(before)

    def _wants_keyring(self, before: Login | None) -> bool:
        if self._kept_in is not None:
            return self._kept_in == "keyring"
        if before is not None and before.kept_in == "file" and not self._anew:
            return False
        return self._keyring.is_installed

    def _keep(self, place: Place, id: str, credentials: Credentials) -> KeptIn:
        """Put it into the keyring; where it is now."""
        try:
            self._keyring.set(id, msgspec.json.encode(credentials).decode())
        except KeyringUnusable as error:
            if self._kept_in == "keyring":
                raise self._unusable(place, error) from None
            self._note(
                f"the keyring of this system can not be used ({error}): the login of "
                f"{place.server} is kept in {self.path}, which only you can read"
            )
            return "file"
        return "keyring"

    def _forget(self, place: Place, login: Login | None) -> None:
        if login is None:
            return
        if login.kept_in == "keyring":
            self._forget_in_keyring(login)
        self._file.change(lambda logins: _others(logins, place))

    def _forget_in_keyring(self, login: Login) -> None:
        try:
            self._keyring.delete(login.id)
        except KeyringUnusable as error:
            self._note(
                f"the login of {login.server} is forgotten, and the keyring may hold its entry "
                f'"{login.id}" of lockgate still: {error}'
            )

    def _unusable(self, place: Place, error: KeyringUnusable) -> ConfigError:
        hint = (
            "unlock it, or run this where you log in to your desktop; or say mcp.credentials: file,"
            f" and log in anew: lockgate mcp login {place.server}"
        )
        message = f"the keyring, for the login of {place.server}, can not be used: {error}"
        return ConfigError(Problem(message, hint=hint))

    def _opened(self, lock: Path) -> int:
        try:
            lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigError(Problem(f"can not be locked: {reason}", file=lock)) from None

    def __repr__(self) -> str:
        return f"<KeptCredentials in {self.path}>"


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: there is nobody to wait for that could be seen
    return True


def _of(logins: tuple[Login, ...], place: Place) -> Login | None:
    return next((login for login in logins if login.place == place), None)


def _others(logins: tuple[Login, ...], place: Place) -> tuple[Login, ...]:
    return tuple(login for login in logins if login.place != place)
