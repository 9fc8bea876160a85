"""The keyring of the person's system: Keychain, Secret Service, KWallet, Credential Manager.

Reached through the `keyring` package, where it is installed. It may have no backend, be locked, ask
the person in a window of its own, or wait for a bus that never answers: all of it is one answer
here, within a bound. What it raises is never told further than by its kind: texts of backends have
held what was to be kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Final, Protocol, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

SERVICE: Final = "lockgate"
"""Under which entries stand in it."""
PATIENCE: Final = 10.0
"""Seconds that one access may take."""
PATIENCE_WITH_A_PERSON: Final = 60.0
"""The same where a person is there, whom it may ask to unlock it."""
SLOW: Final = 3.0
"""Seconds after which a person is told that it is waited for."""
_RECOMMENDED: Final = 1
"""Priority from which a backend keeps secrets: below are files of plain text, and nothing at all.
"""


class Backend(Protocol):
    """What is used of `keyring.backend.KeyringBackend`."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


class KeyringUnusable(Exception):
    """The keyring can not be used; says why, without anything that was to be kept."""


class SystemKeyring:
    """Texts by name. Used from any thread; every access is bounded."""

    def __init__(
        self,
        *,
        patience: float = PATIENCE,
        find: Callable[[], Backend] | None = None,
        slow: Callable[[], None] | None = None,
        slow_after: float = SLOW,
    ) -> None:
        """`find` says which backend there is, and raises `KeyringUnusable`; by default the one of
        the system, looked for when it is first needed. `slow` is called, from any thread, when an
        access takes over `slow_after` seconds: it may wait for the person to unlock it."""
        self._patience = patience
        self._slow = slow
        self._slow_after = min(slow_after, patience)
        self._find = find or system_backend
        self._backend: Backend | None = None
        self._unusable: str | None = None

    @property
    def is_installed(self) -> bool:
        """Whether there is anything to look for one with."""
        return self._find is not system_backend or find_spec("keyring") is not None

    def get(self, name: str) -> str | None:
        """The text, or None. Raises `KeyringUnusable`."""
        return self._bounded(lambda: self._found().get_password(SERVICE, name))

    def set(self, name: str, text: str) -> None:
        """Keep a text, in place of another of that name. Raises `KeyringUnusable`."""

        def put() -> None:
            backend = self._found()
            backend.set_password(SERVICE, name, text)
            # Some drop what they are given, and say nothing.
            if backend.get_password(SERVICE, name) != text:
                raise KeyringUnusable("it does not keep what it is given")

        self._bounded(put)

    def delete(self, name: str) -> None:
        """Forget a text; one that is not there is none. Raises `KeyringUnusable`."""

        def take() -> None:
            backend = self._found()
            if backend.get_password(SERVICE, name) is not None:
                backend.delete_password(SERVICE, name)

        self._bounded(take)

    def _found(self) -> Backend:
        if self._backend is None:
            self._backend = self._find()
        return self._backend

    def _bounded(self, work: Callable[[], T]) -> T:
        """The result of `work`. One that hung is not asked again: its thread hangs still."""
        if self._unusable is not None:
            raise KeyringUnusable(self._unusable)
        results: SimpleQueue[tuple[bool, T | Exception]] = SimpleQueue()

        def run() -> None:
            try:
                results.put((True, work()))
            except Exception as error:  # noqa: BLE001 - backends raise whatever their libraries do
                results.put((False, error))

        threading.Thread(target=run, name="lockgate-keyring", daemon=True).start()
        try:
            worked, found = self._awaited(results)
        except Empty:
            self._unusable = f"it did not answer within {self._patience:g} s"
            raise KeyringUnusable(self._unusable) from None
        if worked:
            return found  # pyright: ignore[reportReturnType] - what worked is a result
        if isinstance(found, KeyringUnusable):
            raise found from None
        raise KeyringUnusable(_kind(found)) from None

    def _awaited(self, results: SimpleQueue[R]) -> R:
        """The result, within the bound. Raises `Empty`."""
        try:
            return results.get(timeout=self._slow_after)
        except Empty:
            if self._slow is not None:
                self._slow()
            return results.get(timeout=self._patience - self._slow_after)


def system_backend() -> Backend:
    """The backend of this system. Raises `KeyringUnusable`."""
    try:
        import keyring
    except ImportError:
        raise KeyringUnusable("the package keyring is not installed") from None
    backend = keyring.get_keyring()
    if backend.priority < _RECOMMENDED:
        raise KeyringUnusable("this system has none that it could find")
    # Its methods are wrapped without types.
    return cast("Backend", backend)


def _kind(error: object) -> str:
    """What an error of a backend means, by its class alone."""
    name = type(error).__name__
    known = {
        "KeyringLocked": "it is locked, and was not unlocked",
        "NoKeyringError": "this system has none that it could find",
        "InitError": "it could not be opened",
        "PasswordSetError": "it would not keep this",
        "PasswordDeleteError": "it would not forget this",
    }
    return known.get(name, f"it failed ({name})")
