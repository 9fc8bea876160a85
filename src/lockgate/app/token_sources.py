"""Where the credentials of each server of a gate come from. Brings no flow along until it is used.

One source for each server, for as long as the gate is open: a connection that is made anew goes on
with what was got.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lockgate.errors import LocalError
from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.transport.tokens import TokenSource
from lockgate.process.hidden import Learned
from lockgate.settings.config import Config
from lockgate.settings.layers import locate

if TYPE_CHECKING:  # late where they are needed: most configurations have neither
    from lockgate.mcp.client.handed import TokenFunction
    from lockgate.mcp.client.oauth.store import CredentialStore
    from lockgate.stores.credentials import KeptCredentials

Handed: TypeAlias = "TokenSource | TokenFunction"


class TokenSources:
    """The sources of one gate."""

    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        store: Callable[[], CredentialStore],
        *,
        time: Callable[[], float],
        handed: Mapping[str, Handed] | None = None,
    ) -> None:
        """`store` is asked for once, if a login needs it. `handed` are the program's own, by name
        of the server, over what its configuration says. Raises `LocalError` for a name that no
        server over HTTP has."""
        self._environ = environ
        self._store = store
        self._time = time
        self._handed = dict(handed or {})
        self._made: dict[str, TokenSource] = {}
        self._kept: CredentialStore | None = None
        reached = [s.name for s in config.servers if isinstance(s.endpoint, HttpEndpoint)]
        if unknown := [name for name in self._handed if name not in reached]:
            known = ", ".join(reached) or "none"
            raise LocalError(
                f"token_sources names {unknown[0]!r}, and the servers over HTTP are: {known}"
            )

    def of(self, settings: ServerSettings) -> TokenSource | None:
        """The source of a server; None where its headers hold what is needed."""
        found = self._made.get(settings.name)
        if found is None:
            found = self._make(settings)
            if found is not None:
                self._made[settings.name] = found
        return found

    def learned(self, name: str) -> tuple[str, ...]:
        """What the source of a server got by now, and nothing said of it may hold."""
        found = self._made.get(name)
        return () if found is None else found.learned.values

    def _make(self, settings: ServerSettings) -> TokenSource | None:
        name, endpoint, auth = settings.name, settings.endpoint, settings.auth
        if not isinstance(endpoint, HttpEndpoint):
            return None
        handed = self._handed.get(name)
        if handed is not None:
            return _source(handed, name)
        if isinstance(auth, BearerFile):
            from lockgate.mcp.client.bearer import BearerFileTokens

            return BearerFileTokens(auth, peer=name)
        if isinstance(auth, OAuthPlan):
            from lockgate.mcp.client.oauth.source import OAuthTokens

            if self._kept is None:
                self._kept = self._store()
            return OAuthTokens(
                endpoint,
                auth,
                peer=name,
                store=self._kept,
                environ=self._environ,
                now=self._time,
            )
        return None


def _source(handed: Handed, name: str) -> TokenSource:
    if callable(handed):
        from lockgate.mcp.client.handed import HandedTokens

        return HandedTokens(handed, peer=name)
    methods = ("authorization", "challenged", "settle")
    whole = all(callable(getattr(handed, each, None)) for each in methods)
    if not whole or not isinstance(getattr(handed, "learned", None), Learned):
        kind = type(handed).__name__
        raise LocalError(
            f"the token source of {name} is neither a TokenSource nor a function: {kind}"
        )
    return handed


def credential_store(
    config: Config,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    patience: float | None = None,
    anew: bool = False,
    note: Callable[[str], None] | None = None,
    slow: Callable[[], None] | None = None,
) -> KeptCredentials:
    """Where the logins of a person are kept, as the configuration says. See `KeptCredentials`;
    `patience` is how long the keyring may take, in seconds, and `slow` is called while it does."""
    from lockgate.stores.credentials import KeptCredentials
    from lockgate.stores.system_keyring import PATIENCE, SystemKeyring

    return KeptCredentials(
        config.credentials.file or locate(cwd, environ).credentials,
        new_id=lambda: secrets.token_hex(8),
        keyring=SystemKeyring(patience=patience or PATIENCE, slow=slow),
        kept_in=config.credentials.kept_in,
        anew=anew,
        **({} if note is None else {"note": note}),
    )
