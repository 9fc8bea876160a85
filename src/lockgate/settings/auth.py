"""What a server's `auth` says, as the value that a token source is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    Grant,
    OAuthPlan,
)
from lockgate.settings.auth_keys import AUTH
from lockgate.settings.expansion import has_reference
from lockgate.settings.findings import Findings
from lockgate.settings.reading import Draft, Given

MAX_SECRET_BYTES: Final = 64 * 1024
_SOMEWHERE: Final = "https://of-the-reader.invalid/client"
"""Stands for an address that a variable is part of, where nothing is expanded."""
_SOMETHING: Final = "x"
"""The same for what stands in a file."""


@dataclass(frozen=True, slots=True)
class BearerHeader:
    """A token that stands in the environment: sent as a header is."""

    value: str = field(repr=False)


Auth: TypeAlias = OAuthPlan | BearerFile | BearerHeader


def auth_of(server: str, given: Given, findings: Findings) -> Auth | None:
    """What `auth` of this server means; None after a finding.

    Files of secrets are read where the configuration is read in order to be used. `Auth` of the
    reader (`auth_keys`) has seen that the keys go together.
    """
    read = _Reader(server, given, findings)
    if read["type"] == "bearer":
        token: str | None = read["token"]
        if token is not None:
            return BearerHeader(f"Bearer {token.strip()}")
        return BearerFile(Path(read["tokenFile"]))
    before = len(findings.problems)
    try:
        plan = OAuthPlan(read.grant(), read["scopes"] or (), read.address("issuer"))
    except ValueError as error:
        findings.add(given.place, given.path, f'server "{server}": {error}')
        return None
    return plan if len(findings.problems) == before else None


class _Reader:
    """The values of one `auth`, with the defaults of its keys."""

    def __init__(self, server: str, given: Given, findings: Findings) -> None:
        self._server = server
        self._draft: Draft = given.value
        self._findings = findings

    def __getitem__(self, key: str) -> Any:
        given = self._draft.get(key)
        return AUTH[key].default if given is None else given.value

    def address(self, key: str) -> str | None:
        found: str | None = self[key]
        return _SOMEWHERE if found is not None and has_reference(found) else found

    def grant(self) -> Grant:
        """Raises ValueError for what can not be used."""
        secret = self._secret("clientSecret")
        method = {} if self["secretMethod"] is None else {"method": self["secretMethod"]}
        port: int | str | None = self["redirectPort"]
        match self["grant"]:
            case "client-credentials":
                return ClientCredentials(
                    self["clientId"],
                    secret,
                    private_key=self._secret("privateKey"),
                    algorithm=self["keyAlgorithm"],
                    **method,
                )
            case "enterprise-managed":
                file = self["identityTokenFile"]
                return EnterpriseManaged(
                    self["clientId"],
                    secret or _SOMETHING,
                    self.address("identityProvider") or "",
                    self["identityClientId"],
                    self["identityClientSecret"],
                    self["identityToken"],
                    None if file is None else Path(file),
                    **method,
                )
            case _:
                return AuthorizationCode(
                    self["clientId"],
                    secret,
                    metadata_url=self.address("clientMetadataUrl"),
                    redirect_port=None if isinstance(port, str) else port,
                    **method,
                )

    def _secret(self, key: str) -> str | None:
        """The secret `key`, or what stands in its file; a placeholder after a finding."""
        if (said := self[key]) is not None:
            return said.strip()
        given = self._draft.get(f"{key}File")
        if given is None:
            return None
        if not isinstance(given.value, Path):
            return _SOMETHING  # read as it was written: nothing is looked up
        try:
            with given.value.open("rb") as file:
                data = file.read(MAX_SECRET_BYTES + 1)
            text = data.decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            self._fault(given, f"can not be read: {reason or type(error).__name__}")
            return _SOMETHING
        if not text or len(data) > MAX_SECRET_BYTES:
            self._fault(given, "is empty" if not text else "is too large to be a secret")
            return _SOMETHING
        return text

    def _fault(self, given: Given, what: str) -> None:
        message = f'server "{self._server}": {given.value} {what}'
        self._findings.add(given.place, given.path, message, "name the file that holds the secret")
