"""The assertion of the organisation's identity provider (ID-JAG) that stands for a person.

extensions/auth/enterprise-managed-authorization; RFC 8693 (token exchange). The package leaves this
part to its user.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from lockgate.mcp.client.oauth.guarded import Guarded
from lockgate.mcp.client.oauth.plan import EnterpriseManaged
from lockgate.mcp.client.oauth.sdk.requests import LONGEST
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.client.oauth.wishes import document, error_in
from lockgate.process.hidden import Hidden, Learned

ASSERTION: Final = "urn:ietf:params:oauth:token-type:id-jag"
_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_IDENTITY: Final = "urn:ietf:params:oauth:token-type:id_token"
_FORM: Final = (("Content-Type", "application/x-www-form-urlencoded"),)
LARGEST: Final = 64 * 1024
"""Bytes of a file that holds an identity token."""


class IdentityProvider:
    """Asks for assertions, each for one use."""

    def __init__(
        self, grant: EnterpriseManaged, guarded: Guarded, learned: Learned, scope: str | None
    ) -> None:
        self._grant = grant
        self._guarded = guarded
        self._learned = learned
        self._scope = scope

    async def assertion(self, audience: str, resource: str) -> str:
        """For the authorization server `audience`, good for `resource`. Raises `OAuthTrouble`."""
        grant = self._grant
        fields = {
            "grant_type": _EXCHANGE,
            "requested_token_type": ASSERTION,
            "audience": audience,
            "resource": resource,
            "subject_token": await self._identity(),
            "subject_token_type": _IDENTITY,
            "client_id": grant.identity_client_id,
        }
        if grant.identity_client_secret is not None:
            fields["client_secret"] = grant.identity_client_secret
        if self._scope:
            fields["scope"] = self._scope
        body = urlencode(fields).encode()
        reply = await self._guarded.ask("POST", grant.identity_provider, _FORM, body)
        if reply.status >= 500 or reply.status == 429:
            text = f"the identity provider could not answer (HTTP {reply.status})"
            raise OAuthTrouble(text, Need.TIME)
        found = document(reply.body) or {}
        assertion = found.get("access_token")
        if reply.status != 200 or not isinstance(assertion, str):
            code, description = error_in(reply.body)
            said = ": ".join(filter(None, (code, description)))
            told = Hidden(learned=self._learned).line(said, LONGEST) or "no assertion"
            text = f"the identity provider refused (HTTP {reply.status}): {told}"
            raise OAuthTrouble(f"{text}; the identity token may have run out", Need.OPERATOR)
        self._learned.learn(assertion)
        if found.get("issued_token_type") != ASSERTION:
            raise OAuthTrouble("the identity provider gave a token that is no assertion (ID-JAG)")
        return assertion

    async def _identity(self) -> str:
        file = self._grant.identity_token_file
        if file is None:
            return self._grant.identity_token or ""
        try:
            text = await asyncio.to_thread(_read, file)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise OAuthTrouble(f"the identity token in {file} can not be read: {why}") from None
        self._learned.learn(text)
        if not text:
            raise OAuthTrouble(f"the file of the identity token, {file}, is empty")
        return text


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(LARGEST).decode("ascii").strip()
