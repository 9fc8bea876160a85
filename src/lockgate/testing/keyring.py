"""A keyring without a system, which may fail, forget, or never answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from lockgate.mcp.client.oauth.store import Credentials, Registration, Tokens
from lockgate.stores.credentials import KeptCredentials

MakeStore: TypeAlias = Callable[..., KeptCredentials]
"""Makes a store over one file."""
SECRET_WORDS = ("ACCESS-abc", "REFRESH-def", "CLIENT-ghi")
"""What `some_credentials` holds and nothing may show."""


def some_credentials(access: str = SECRET_WORDS[0]) -> Credentials:
    """A login as it is kept, with the registration of its client."""
    tokens = Tokens(
        issuer="https://as.example",
        client_id="me",
        access_token=access,
        refresh_token=SECRET_WORDS[1],
        scope="read write",
        expires_at=2000.0,
        obtained_at=1000.0,
    )
    client = Registration(issuer=tokens.issuer, client_id="me", client_secret=SECRET_WORDS[2])
    return Credentials(tokens=tokens, registrations=(client,))


@dataclass
class ScriptedKeyring:
    """What `stores.system_keyring.Backend` asks for."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """By service and name."""
    fails: Exception | None = None
    """What everything raises."""
    forgetful: bool = False
    """Whether it drops what it is given, and says nothing."""
    hangs: bool = False
    """Whether it answers nothing until `release`."""
    asked: int = 0
    """How often anything was wanted of it."""
    release: threading.Event = field(default_factory=threading.Event)

    def get_password(self, service: str, username: str) -> str | None:
        """What is kept."""
        self._used()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""
        self._used()
        if not self.forgetful:
            self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget it."""
        self._used()
        del self.kept[service, username]

    def _used(self) -> None:
        self.asked += 1
        if self.hangs:
            self.release.wait(30)
        if self.fails is not None:
            raise self.fails
